/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The default handler: a line each on stderr or in the file that EVALUE_LOGS_OUT names, as text or as JSON; on Android,
 * where EVALUE_LOG_ANDROID is defined, in logcat. Each line is one write, so lines of several threads or processes do
 * not mix.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/auxv.h>
#endif

#ifdef EVALUE_LOG_ANDROID
#include <android/log.h>
#endif

#include "log_internal.h"

enum {
  NAME_SIZE = 81,
  TIME_SIZE = 40,
  LINE_SIZE = 2 * (EVALUE_LOG_MESSAGE_SIZE + 3 * NAME_SIZE) + 300
}; /* JSON escapes */

/* All are set before the first line, under the registry's lock. */
static int out = STDERR_FILENO;
static struct stat out_file; /* what out was opened as */
static bool is_json;

static void write_line(int fd, const char *text, size_t size) {
  while (size > 0) {
    ssize_t n = write(fd, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break; /* there is nobody to tell */
    text += n;
    size -= (size_t)n;
  }
}

void evalue_log_complain(const char *what, const char *text) {
  char line[1200];
  int size = snprintf(line, sizeof line, "%s: %s\n", what, text);
  write_line(STDERR_FILENO, line, size < (int)sizeof line ? (size_t)size : sizeof line - 1);
}

/* A program that runs with more rights than its caller does not append to files that the caller names. */
const char *evalue_log_variable(const char *name) {
#ifdef __linux__
  if (getauxval(AT_SECURE) != 0) return NULL;
#endif
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' ? value : NULL;
}

/*
 * Opens the log. A pipe that nobody reads is none; later, writes may wait. The descriptor is a high one, so that
 * programs that close and open the low ones do not meet it.
 */
static int open_log(const char *path) {
  enum { HIGH = 100 };
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  if (fd < 0) return -1;
  int flags = fcntl(fd, F_GETFL), high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
  if (flags >= 0) fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
  if (high < 0) high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(fd);
  if (high >= 0 && fstat(high, &out_file) != 0) {
    close(high);
    high = -1;
  }
  return high;
}

/* Where lines go: not into a file that the program has opened in the place of a log that it has closed. */
static int find_out(void) {
  struct stat now;
  if (out == STDERR_FILENO) return out;
  bool is_same = fstat(out, &now) == 0 && now.st_dev == out_file.st_dev && now.st_ino == out_file.st_ino;
  return is_same ? out : STDERR_FILENO;
}

static void complain_about_file(const char *path, int error) {
  char text[400];
  evalue_text out_text = evalue_text_start(text, sizeof text);
  evalue_log_put_clean(&out_text, path, strlen(path));
  evalue_text_put(&out_text, ": cannot be opened: ");
  evalue_text_put(&out_text, strerror(error));
  evalue_text_put(&out_text, "; the log goes to stderr");
  evalue_text_end(&out_text);
  evalue_log_complain("EVALUE_LOGS_OUT", text);
}

void evalue_log_default_start(void) {
  const char *path = evalue_log_variable("EVALUE_LOGS_OUT"), *format = evalue_log_variable("EVALUE_LOGS_FORMAT");
  if (path != NULL) {
    int fd = open_log(path);
    if (fd >= 0) out = fd;
    else complain_about_file(path, errno);
  }
  is_json = format != NULL && strcmp(format, "json") == 0;
  if (format != NULL && !is_json && strcmp(format, "text") != 0) {
    evalue_log_complain("EVALUE_LOGS_FORMAT", "expected text or json; the log is text");
  }
}

/* ---- one line ---- */

/*
 * Writes the time in UTC, like 2026-11-30T18:57:01.123Z. By hand: gmtime_r looks at the time zone, which reads files
 * and allocates. Years are counted from March, so that the leap day is a year's last.
 */
static void format_time(int64_t time, char text[TIME_SIZE]) {
  int64_t milliseconds = time / 1000000, seconds = milliseconds / 1000,
          days = seconds / 86400 + 719468; /* since 0000-03-01 */
  int64_t era = days / 146097, of_era = days % 146097;
  int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
  int day = (int)(of_year - (153 * month + 2) / 5 + 1), of_day = (int)(seconds % 86400);
  month = month < 10 ? month + 3 : month - 9;
  year += 400 * era + (month <= 2);
  snprintf(text, TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (int)year, (int)month, day, of_day / 3600,
           of_day / 60 % 60, of_day % 60, (int)(milliseconds % 1000));
}

/* Copies a name, cleaned, and cut when it is very long. */
static const char *clean_name(const char *name, char text[NAME_SIZE]) {
  evalue_text cleaned = evalue_text_start(text, NAME_SIZE);
  evalue_log_put_clean(&cleaned, name, strlen(name));
  evalue_text_end(&cleaned);
  return text;
}

static void put_text(evalue_text *line, const evalue_log_record *r) {
  char time[TIME_SIZE], component[NAME_SIZE], file[NAME_SIZE], place[32];
  format_time(r->time, time);
  snprintf(place, sizeof place, ":%d: ", (int)r->line);
  const char *pieces[] = {time, " ", evalue_log_level_name(r->level), " ", clean_name(r->component, component), " "};
  for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) evalue_text_put(line, pieces[i]);
  if (r->diagnostic != NULL) {
    evalue_text_put(line, r->diagnostic);
    evalue_text_put(line, " ");
  }
  evalue_text_put(line, clean_name(r->file, file));
  evalue_text_put(line, place);
  evalue_text_put(line, r->message);
}

/* Writes a string that has no control characters. */
static void put_json_string(evalue_text *line, const char *key, const char *text) {
  evalue_text_put(line, line->length == 1 ? "\"" : ",\"");
  evalue_text_put(line, key);
  evalue_text_put(line, "\":\"");
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') evalue_text_put(line, "\\");
    evalue_text_piece(line, text, 1);
  }
  evalue_text_put(line, "\"");
}

static void put_json_number(evalue_text *line, const char *key, uint64_t number) {
  evalue_text_put(line, ",\"");
  evalue_text_put(line, key);
  evalue_text_put(line, "\":");
  evalue_text_put_u64(line, number);
}

static void put_json(evalue_text *line, const evalue_log_record *r) {
  char time[TIME_SIZE], component[NAME_SIZE], file[NAME_SIZE];
  format_time(r->time, time);
  evalue_text_put(line, "{");
  put_json_string(line, "time", time);
  put_json_string(line, "level", evalue_log_level_name(r->level));
  put_json_string(line, "component", clean_name(r->component, component));
  if (r->diagnostic != NULL) put_json_string(line, "diagnostic", r->diagnostic);
  put_json_string(line, "file", clean_name(r->file, file));
  put_json_number(line, "line", r->line > 0 ? (uint64_t)r->line : 0);
  if (r->status != EVALUE_OK) put_json_string(line, "status", evalue_status_name(r->status));
  if (r->position != EVALUE_NO_INDEX) put_json_number(line, "position", r->position);
  put_json_string(line, "message", r->message);
  evalue_text_put(line, "}");
}

#ifdef EVALUE_LOG_ANDROID

static void write_logcat(const evalue_log_record *r) {
  static const int priorities[] = {[EVALUE_LOG_DEBUG] = ANDROID_LOG_DEBUG,
                                   [EVALUE_LOG_INFO] = ANDROID_LOG_INFO,
                                   [EVALUE_LOG_WARNING] = ANDROID_LOG_WARN,
                                   [EVALUE_LOG_ERROR] = ANDROID_LOG_ERROR};
  bool is_level = r->level >= EVALUE_LOG_DEBUG && r->level <= EVALUE_LOG_ERROR;
  const char *diagnostic = r->diagnostic != NULL ? r->diagnostic : "";
  __android_log_print(is_level ? priorities[r->level] : ANDROID_LOG_INFO, "evalue", "%s %s%s%s:%d: %s", r->component,
                      diagnostic, diagnostic[0] != '\0' ? " " : "", r->file, (int)r->line, r->message);
}

#endif

void evalue_log_default_handle(const evalue_log_record *record) {
#ifdef EVALUE_LOG_ANDROID
  if (out == STDERR_FILENO) {
    write_logcat(record);
    return;
  }
#endif
  char bytes[LINE_SIZE];
  evalue_text line = evalue_text_start(bytes, sizeof bytes - 1);
  if (is_json) put_json(&line, record);
  else put_text(&line, record);
  evalue_text_end(&line);
  bytes[line.written] = '\n';
  write_line(find_out(), bytes, line.written + 1);
}
