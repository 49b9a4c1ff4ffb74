/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `evalue records check`: all checksums and all messages. Several files are checked at once, each by a thread; what is
 * wrong with them is said by the first thread alone, in the order of the files.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "records.h"

static const char help[] =
    "usage: evalue records check [--jobs N] [--faults N] [--frames] FILE...\n"
    "\n"
    "Checks all checksums, and that each record is a good message: says nothing when all is good, otherwise on stderr\n"
    "what is wrong with each bad record, and where.\n"
    "\n"
    "  --jobs N         check so many files at once, from 1 to 256 (default: as many as there are processors)\n"
    "  --faults N       tell at most N faults of a file, and the number of others (default 20)\n"
    "  --frames         check lengths and checksums only: for records that are no messages, such as "
    "tf.Examples\n" RECORDS_HELP_END "\n"
    "FILE may be -, stdin.\n"
    "\n" RECORDS_EXIT_STATUS "\n"
    "example: evalue records check --jobs 4 train-*.tfrecord\n";

enum { MOST_JOBS = 256, FAULTS = 20, INTERVAL = 100000000 /* nanoseconds */ };

typedef struct task {
  const char *name;
  char *texts;
  size_t texts_size;
  int result;
  bool is_done;
} task;

typedef struct work {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  task *tasks;
  size_t count, next; /* next: that no thread has taken yet */
  atomic_ullong done; /* bytes, of all files */
  uint64_t most_faults;
  bool frames_only;
} work;

/* ---- in threads ---- */

static int check_records(work *w, records_file *file) {
  evalue_record record;
  int result;
  do {
    result = records_next(file, &record);
    if (result == CLI_OK && !w->frames_only) result = records_check_message(file, &record);
    atomic_fetch_add_explicit(&w->done, records_progress(file), memory_order_relaxed);
  } while (result == CLI_OK || result == RECORDS_BAD);
  return records_close(file);
}

static int check_file(work *w, task *t, records_file *file) {
  file->texts = open_memstream(&t->texts, &t->texts_size);
  if (file->texts == NULL) return CLI_FAILURE; /* without texts: told as a lack of memory */
  file->most_faults = w->most_faults;
  bool is_open = records_open(file, t->name, RECORDS_GO_ON, NULL);
  int result = is_open ? check_records(w, file) : file->result;
  if (fclose(file->texts) == 0) return result;
  t->texts_size = 0;
  return CLI_FAILURE;
}

static void *check_files(void *context) {
  work *w = (work *)context;
  records_file *file = calloc(1, sizeof *file);
  pthread_mutex_lock(&w->lock);
  while (w->next < w->count) {
    task *t = &w->tasks[w->next++];
    pthread_mutex_unlock(&w->lock);
    int result = file != NULL ? check_file(w, t, file) : CLI_FAILURE;
    pthread_mutex_lock(&w->lock);
    t->result = result;
    t->is_done = true;
    pthread_cond_signal(&w->changed);
  }
  pthread_mutex_unlock(&w->lock);
  free(file);
  return NULL;
}

/* ---- in the first thread ---- */

/* Waits for a file, and moves the bar meanwhile. */
static void wait_for(work *w, const task *t, cli_progress *progress) {
  pthread_mutex_lock(&w->lock);
  while (!t->is_done) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += INTERVAL;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&w->changed, &w->lock, &until);
    cli_progress_at(progress, atomic_load_explicit(&w->done, memory_order_relaxed));
  }
  pthread_mutex_unlock(&w->lock);
}

static int tell(task *t) {
  if (t->result == CLI_FAILURE && t->texts_size == 0) {
    cli_message("%s: out of memory", cli_input_name(t->name));
  } else {
    records_print_texts(t->name, t->texts, t->texts_size);
  }
  free(t->texts);
  t->texts = NULL;
  return t->result;
}

static int collect(work *w, char **names) {
  cli_progress progress;
  int worst = CLI_OK;
  cli_progress_start(&progress, w->count == 1 ? cli_input_name(names[0]) : "records check", records_total(names));
  for (size_t i = 0; i < w->count; i++) {
    progress.what = cli_input_name(w->tasks[i].name);
    wait_for(w, &w->tasks[i], &progress);
    int result = tell(&w->tasks[i]);
    if (result > worst) worst = result;
  }
  cli_progress_end(&progress);
  return worst;
}

static int check(work *w, char **names, size_t jobs) {
  pthread_t threads[MOST_JOBS];
  size_t started = 0;
  if (jobs > w->count) jobs = w->count;
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->changed, NULL);
  while (started < jobs && pthread_create(&threads[started], NULL, check_files, w) == 0) started++;
  if (started == 0) check_files(w); /* here, then, and without a bar */
  int result = collect(w, names);
  for (size_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
  pthread_cond_destroy(&w->changed);
  pthread_mutex_destroy(&w->lock);
  return result;
}

/* ---- the command line ---- */

static size_t processors(void) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > MOST_JOBS ? (size_t)MOST_JOBS : (size_t)n;
}

int records_check(int argc, char **argv) {
  cli_args args;
  work w = {.most_faults = FAULTS};
  records_operands in = {.names = argv};
  const char *jobs_text = NULL, *faults_text = NULL;
  uint64_t jobs = processors();
  cli_args_start(&args, argv, help);
  while (cli_args_next(&args)) {
    bool good = true;
    if (cli_args_is(&args, "--jobs")) good = records_take_number(&args, &jobs_text, 1, MOST_JOBS, &jobs);
    else if (cli_args_is(&args, "--faults"))
      good = records_take_number(&args, &faults_text, 1, UINT32_MAX, &w.most_faults);
    else if (cli_args_is(&args, "--frames")) w.frames_only = true;
    else if (args.is_operand) good = records_add_operand(&in, &args);
    else return cli_args_unknown(&args);
    if (!good) return CLI_FAILURE;
  }
  if (args.stop) return args.exit_code;
  if (in.count == 0) return cli_usage_error("expected a FILE");
  in.names[in.count] = NULL;
  w.tasks = calloc((size_t)argc, sizeof *w.tasks);
  if (w.tasks == NULL) return records_out_of_memory();
  w.count = in.count;
  for (size_t i = 0; i < in.count; i++) w.tasks[i].name = in.names[i];
  int result = check(&w, in.names, (size_t)jobs);
  free(w.tasks);
  return result;
}
