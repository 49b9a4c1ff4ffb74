/* SPDX-License-Identifier: BSD-3-Clause */
/* A bar on stderr for work that takes longer than a moment. Only one is active at a time. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum { PATIENCE = 500, INTERVAL = 100 /* milliseconds */, BAR_WIDTH = 30 };

static cli_progress *active;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static bool can_draw(void) {
  const char *terminal = getenv("TERM");
  return isatty(STDERR_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

void cli_progress_start(cli_progress *progress, const char *what, uint64_t total) {
  memset(progress, 0, sizeof *progress);
  progress->what = what;
  progress->total = total;
  progress->enabled = can_draw();
  if (!progress->enabled) return;
  progress->started = now();
  progress->drawn = progress->started + PATIENCE - INTERVAL;
  active = progress;
}

/* Appends how long it will still take, if it goes on as it did. */
static void put_time_left(const cli_progress *progress, uint64_t done, int64_t elapsed) {
  if (progress->total == 0 || done == 0 || done >= progress->total) return;
  double left = (double)(progress->total - done) / (double)done * (double)elapsed / 1e3 + 0.5;
  if (left >= 360000) return;
  unsigned seconds = (unsigned)left;
  if (seconds >= 3600) fprintf(stderr, " %u:%02u:%02u left", seconds / 3600, seconds / 60 % 60, seconds % 60);
  else fprintf(stderr, " %u:%02u left", seconds / 60, seconds % 60);
}

static void draw(cli_progress *progress, uint64_t done, int64_t elapsed) {
  char bar[BAR_WIDTH + 1];
  double rate = (double)done / 1e3 / (double)(elapsed > 0 ? elapsed : 1);
  fputs("\r\x1b[K", stderr);
  cli_put_escaped(stderr, progress->what, strnlen(progress->what, 40));
  if (progress->total != 0) {
    double part = done < progress->total ? (double)done / (double)progress->total : 1;
    int filled = (int)(part * (double)BAR_WIDTH);
    for (int i = 0; i < BAR_WIDTH; i++) bar[i] = i < filled ? '#' : '.';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, " [%s] %3d%%", bar, (int)(part * 100));
  } else {
    fprintf(stderr, " %.0f MB", (double)done / 1e6);
  }
  fprintf(stderr, " %.0f MB/s", rate);
  put_time_left(progress, done, elapsed);
  fflush(stderr);
  progress->shown = true;
}

void cli_progress_at(cli_progress *progress, uint64_t done) {
  if (!progress->enabled) return;
  int64_t time = now();
  if (time - progress->drawn < INTERVAL) return;
  progress->drawn = time;
  draw(progress, done, time - progress->started);
}

void cli_progress_hide(void) {
  if (active == NULL || !active->shown) return;
  fputs("\r\x1b[K", stderr);
  fflush(stderr);
  active->shown = false;
}

void cli_progress_end(cli_progress *progress) {
  if (active != progress) return;
  cli_progress_hide();
  active = NULL;
}
