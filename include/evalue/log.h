/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Logging by component: what the library and the program say about their work, and to whom.
 *
 *     static evalue_log_component mine = {.name = "mine"};
 *     evalue_log_register(&mine);
 *     evalue_log_configure("+mine,sink,-ipc", NULL, 0);       // debug, info, errors only; warnings elsewhere
 *     EVALUE_LOG(&mine, EVALUE_LOG_DEBUG, "%d values", (int)n);
 *
 * A line that is off costs a load and a branch, and its arguments are not evaluated. The environment wins over
 * evalue_log_configure: EVALUE_LOGS has the same grammar, EVALUE_LOGS_OUT names a file to append to in place of stderr,
 * EVALUE_LOGS_FORMAT is text or json. All calls are thread-safe, and nothing is allocated. src/log/README.md says more.
 */
#ifndef EVALUE_LOG_H
#define EVALUE_LOG_H

#include "evalue/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- levels and components ---------------------------------------------------------------------------------- */

/** Levels. EVALUE_LOG_NONE is above all of them: nothing is logged. */
enum { EVALUE_LOG_DEBUG = 1, EVALUE_LOG_INFO = 2, EVALUE_LOG_WARNING = 3, EVALUE_LOG_ERROR = 4, EVALUE_LOG_NONE = 5 };

/** Returns a level's name, like "warning"; "?" for a number that is none. The string is static. */
EVALUE_API const char *evalue_log_level_name(int32_t level);

/** Who speaks. Static storage; name it, zero the rest, and register it. */
typedef struct evalue_log_component {
  const char *name;                  /* letters, digits and underscores */
  int32_t level;                     /* the least that is logged; 0: not decided yet. Read and written atomically. */
  int32_t is_diagnostic;             /* 1: off, unless its name is called for */
  struct evalue_log_component *next; /* private */
} evalue_log_component;

/* clang-format off */

/** The library's components: X(name). */
#define EVALUE_LOG_COMPONENT_TABLE(X) \
  X(reader) X(writer) X(executorch_java) X(sink) X(ipc) X(cli)

/** Diagnostics, which answer a question each time it comes up: X(name). */
#define EVALUE_LOG_DIAGNOSTIC_TABLE(X) \
  X(why_rejected) X(why_copied)

/* clang-format on */

/** evalue_log_reader, ...: the components and diagnostics of the tables. */
#define EVALUE_X(name) EVALUE_API extern evalue_log_component evalue_log_##name;
EVALUE_LOG_COMPONENT_TABLE(EVALUE_X)
EVALUE_LOG_DIAGNOSTIC_TABLE(EVALUE_X)
#undef EVALUE_X

/**
 * Adds a component of the program's to the registry, for good: *component must stay. Its level is what the
 * specification that is in force says. Register before anything is logged or configured: what EVALUE_LOGS names must be
 * known then. Returns EVALUE_OK, also when it is registered already; EVALUE_MISUSE for NULL, a name that is none, or
 * one that another component has.
 */
EVALUE_API evalue_status evalue_log_register(evalue_log_component *component);

/**
 * Says who is logged from which level on. spec is a list, with commas: "name" is info and above, "+name" debug, "-name"
 * errors only; "all" instead of a name means everyone, "none" silence; a later entry wins. A diagnostic is on by its
 * name, off with "-". What is not named logs warnings. "help" changes nothing.
 *
 * text, of capacity bytes, gets the list of names for "help", or what is wrong with spec; NULL with a capacity of 0
 * when that is not wanted. It is cut like that of evalue_print. Returns EVALUE_OK; EVALUE_MISUSE for an unknown name,
 * or NULL, and then nothing has changed; EVALUE_LIMIT for a spec of more than 500 bytes. Has no effect where the
 * environment, or evalue_log_override, has spoken.
 */
EVALUE_API evalue_status evalue_log_configure(const char *spec, char *text, size_t capacity);

/** The same for a command line, which wins over the environment. */
EVALUE_API evalue_status evalue_log_override(const char *spec, char *text, size_t capacity);

/* ---- logging ------------------------------------------------------------------------------------------------ */

/** Lines below this level are not compiled: define it as EVALUE_LOG_WARNING or the like, for one file or for all. */
#ifndef EVALUE_LOG_FLOOR
#define EVALUE_LOG_FLOOR EVALUE_LOG_DEBUG
#endif

/** Decides a component's level, if it was not yet, and says whether a line of that level is logged. */
EVALUE_API bool evalue_log_decide(const evalue_log_component *component, int32_t level);

/** Says whether a line of that level would be logged: a relaxed load and a branch when it would not. */
static inline bool evalue_log_is_on(const evalue_log_component *component, int32_t level) {
#if defined(__GNUC__)
  if (__builtin_expect(__atomic_load_n(&component->level, __ATOMIC_RELAXED) > level, 1)) return false;
#else
  if (*(const volatile int32_t *)&component->level > level) return false;
#endif
  return evalue_log_decide(component, level);
}

#if defined(__GNUC__)
#define EVALUE_LOG_FORMAT(string, first) __attribute__((__format__(__printf__, string, first)))
#else
#define EVALUE_LOG_FORMAT(string, first)
#endif

/**
 * Logs a line, whatever the level in force: a printf format and its arguments. The message is cut at 800 bytes, between
 * characters; control characters, and what is no UTF-8, are escaped like \x1b.
 */
EVALUE_API void evalue_log_write(const evalue_log_component *component, int32_t level, const char *file, int32_t line,
                                 const char *format, ...) EVALUE_LOG_FORMAT(5, 6);

/** The same with a status and a position in bytes, which a handler gets as numbers. */
EVALUE_API void evalue_log_write_status(const evalue_log_component *component, int32_t level, int32_t status,
                                        uint64_t position, const char *file, int32_t line, const char *format, ...)
    EVALUE_LOG_FORMAT(7, 8);

/**
 * Logs a line of a component, if its level is on: EVALUE_LOG(component, level, format, ...). component and level are
 * evaluated more than once, the others only when the line is logged.
 */
#define EVALUE_LOG(component, level, ...)                                                                              \
  do {                                                                                                                 \
    if ((level) >= EVALUE_LOG_FLOOR && evalue_log_is_on((component), (level)))                                         \
      evalue_log_write((component), (level), __FILE__, __LINE__, __VA_ARGS__);                                         \
  } while (0)

/** The same with a status and a position: EVALUE_LOG_STATUS(component, level, status, position, format, ...). */
#define EVALUE_LOG_STATUS(component, level, status, position, ...)                                                     \
  do {                                                                                                                 \
    if ((level) >= EVALUE_LOG_FLOOR && evalue_log_is_on((component), (level)))                                         \
      evalue_log_write_status((component), (level), (status), (position), __FILE__, __LINE__, __VA_ARGS__);            \
  } while (0)

/* ---- diagnostics -------------------------------------------------------------------------------------------- */

/**
 * why_rejected: logs why an input of size bytes at data was refused: position, field, expected and found, and the bytes
 * around it. data may be NULL. It is read once more for that, and only as far as it is shown.
 */
EVALUE_API void evalue_log_rejected(const evalue_log_component *component, const evalue_error *error, const void *data,
                                    size_t size, const char *file, int32_t line);

/** why_copied: logs which rule kept nbytes bytes from being used where they lie. */
EVALUE_API void evalue_log_copied(const evalue_log_component *component, uint64_t nbytes, const char *rule,
                                  const char *file, int32_t line);

/**
 * Returns the rule that keeps a tensor's data from being used where they lie as elements of a scalar type, when
 * evalue_tensor_typed_data has returned NULL: for EVALUE_LOG_COPIED. NULL when there is none. The string is static.
 */
EVALUE_API const char *evalue_log_copy_rule(const evalue_tensor *tensor, uint32_t scalar_type);

/** evalue_log_rejected, from here, if the diagnostic is on. */
#define EVALUE_LOG_REJECTED(component, error, data, size)                                                              \
  do {                                                                                                                 \
    if (EVALUE_LOG_INFO >= EVALUE_LOG_FLOOR && evalue_log_is_on(&evalue_log_why_rejected, EVALUE_LOG_INFO))            \
      evalue_log_rejected((component), (error), (data), (size), __FILE__, __LINE__);                                   \
  } while (0)

/** evalue_log_copied, from here, if the diagnostic is on. */
#define EVALUE_LOG_COPIED(component, nbytes, rule)                                                                     \
  do {                                                                                                                 \
    if (EVALUE_LOG_INFO >= EVALUE_LOG_FLOOR && evalue_log_is_on(&evalue_log_why_copied, EVALUE_LOG_INFO))              \
      evalue_log_copied((component), (nbytes), (rule), __FILE__, __LINE__);                                            \
  } while (0)

/* ---- handlers ----------------------------------------------------------------------------------------------- */

/** What a handler is given. Valid during the call. */
typedef struct evalue_log_record {
  const char *component;
  const char *diagnostic; /* NULL, or the name of the one that asked for this line */
  const char *message;    /* one line of UTF-8 without control characters */
  const char *file;       /* the name without its folder */
  int32_t line;
  int32_t level;
  int32_t status; /* an evalue_status; EVALUE_OK when there is none */
  int32_t reserved;
  uint64_t position; /* in bytes, of an error; EVALUE_NO_INDEX when there is none */
  int64_t time;      /* nanoseconds since 1970 */
} evalue_log_record;

/** A receiver of lines. */
typedef struct evalue_log_handler {
  void (*handle)(void *context, const evalue_log_record *record);
  void *context;
} evalue_log_handler;

/**
 * Sends all lines to a handler of the program's, which must stay valid and may be called by several threads at once
 * (what it logs itself goes to the default one); or, for NULL, to the default one again: a line each on stderr, or
 * where the environment says; on Android logcat. Returns the handler before, NULL for the default.
 */
EVALUE_API const evalue_log_handler *evalue_log_set_handler(const evalue_log_handler *handler);

#ifdef __cplusplus
}
#endif

#endif
