/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Data sets: training examples one at a time, from where they lie, through stages that shuffle, decode and batch them.
 *
 *     evalue_files_dataset files; evalue_shuffle_dataset shuffle;
 *     evalue_decode_dataset decode; evalue_batch_dataset batch; evalue_example example;
 *     evalue_files_dataset_glob(&files, "train-*.tfrecord", NULL);
 *     evalue_shuffle_dataset_init(&shuffle, &files.dataset, 1000, 42, NULL);
 *     evalue_decode_dataset_init(&decode, &shuffle.dataset, NULL, 0, NULL);
 *     evalue_batch_dataset_init(&batch, &decode.dataset, 32, NULL);
 *     while (evalue_dataset_next(&batch.dataset, &example) == EVALUE_OK)
 *       use(example.values, example.count);                             // [32, ...], aligned to 64
 *     if (batch.dataset.status != EVALUE_END) fprintf(stderr, "%s\n", batch.dataset.error.text);
 *     evalue_dataset_close(&batch.dataset);                             // and what it reads from
 *
 * A data set is a struct of the caller's that begins with an evalue_dataset, and it must stay where it was initialised:
 * a copy is refused. A stage takes its input over, also when its init fails: closing the last stage closes all. A stage
 * whose init has failed can be built upon all the same: what is read from the end is that failure, so only the end
 * needs a check. One thread at a time may use a pipeline. Memory is constant, whatever the number of examples; where
 * malloc fails, the status is EVALUE_IO and error.system_error is ENOMEM.
 */
#ifndef EVALUE_DATASET_H
#define EVALUE_DATASET_H

#include "evalue/log.h"
#include "evalue/record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct evalue_dataset evalue_dataset;
typedef struct evalue_dataset_state evalue_dataset_state;

/* ---- a data set --------------------------------------------------------------------------------------------- */

/** One example, or a batch of them. All that it points to is valid until the next call on the data set that gave it;
 * source as long as that is open. */
typedef struct evalue_example {
  evalue_slice bytes;   /* the message that it is; NULL data for a batch, or what was never a message */
  const evalue *values; /* count of them, which view bytes or memory of the data set's; NULL before it is decoded */
  size_t count;
  const char *source; /* where it comes from: a path, "memory", "callback" */
  uint64_t index;     /* in the source, from 0; of a batch the first one's */
} evalue_example;

/** What a data set can do. Only name and next must be there. Its inputs are rewound, saved, restored, closed after it.
 */
typedef struct evalue_dataset_functions {
  const char *name; /* of the stage, in errors and saved states: "shuffle" */
  /** Fills *example. EVALUE_OK; EVALUE_END; or what evalue_dataset_fail returned. After that it is not called again. */
  evalue_status (*next)(evalue_dataset *dataset, evalue_example *example);
  /** Starts over, for the next epoch. EVALUE_OK, or what evalue_dataset_fail returned. */
  evalue_status (*rewind)(evalue_dataset *dataset);
  /** Saves or restores what makes it differ from a fresh one, by evalue_state_u64 and the like; their last status. */
  evalue_status (*state)(evalue_dataset *dataset, evalue_dataset_state *state);
  /** Frees what it holds. */
  void (*close)(evalue_dataset *dataset);
} evalue_dataset_functions;

/** What went wrong, and with which example. */
typedef struct evalue_dataset_error {
  int32_t status;       /* an evalue_status; EVALUE_OK for none */
  int32_t system_error; /* the errno that belongs to EVALUE_IO; 0 for none */
  uint64_t index;       /* of the example in its source, or EVALUE_NO_INDEX */
  uint64_t value_index; /* of the value that is at fault, or EVALUE_NO_INDEX */
  evalue_error fault;   /* of a message or a record file: position, expected, found; otherwise all zero */
  const char *source;   /* as in evalue_example; NULL for none */
  char text[488];       /* all of it for people: "a.tfrecord: record 7: value 1: expected Int, found Double" */
} evalue_dataset_error;

/** What every data set begins with. Its members are private, but status and error may be read. */
struct evalue_dataset {
  const evalue_dataset_functions *functions;
  const evalue_dataset *self; /* where it was initialised; NULL once it is closed */
  evalue_dataset *input;      /* when there is just one */
  evalue_dataset *const *inputs;
  size_t input_count;
  int32_t status; /* what next will return: EVALUE_OK, EVALUE_END, or a failure that stays */
  uint8_t is_taken, is_borrowed, is_busy, is_broken, may_misalign, reserved[7];
  evalue_dataset_error error; /* the failure's, also when it came from an input */
};

/**
 * Starts a data set of the caller's own: its functions, and n inputs, all of which it takes over; 0 for a source. An
 * array of several must outlive it. Returns EVALUE_OK; the failure of an input; EVALUE_MISUSE, also for an input that
 * is closed or that another stage has, and then it takes over none.
 */
EVALUE_API evalue_status evalue_dataset_init(evalue_dataset *dataset, const evalue_dataset_functions *functions,
                                             evalue_dataset *const *inputs, size_t n);

/**
 * Gives the next example. Returns EVALUE_OK; EVALUE_END; or a failure: what the source returns of its bytes and the
 * reader of theirs, EVALUE_MALFORMED for a schema that does not fit, EVALUE_IO, EVALUE_NO_SPACE for a batch that does
 * not fit into the caller's memory. Both stay, until the data set is rewound or restored. EVALUE_MISUSE for NULL, or a
 * data set that is closed, copied or moved, or from inside its own functions.
 */
EVALUE_API evalue_status evalue_dataset_next(evalue_dataset *dataset, evalue_example *example);

/** Starts the next epoch. EVALUE_OK; EVALUE_UNSUPPORTED when a source cannot, or another failure, which stays. */
EVALUE_API evalue_status evalue_dataset_rewind(evalue_dataset *dataset);

/** Closes a data set and what it reads from, and frees what they hold. Returns EVALUE_OK; EVALUE_MISUSE as above, and
 * for one that a stage has taken over. */
EVALUE_API evalue_status evalue_dataset_close(evalue_dataset *dataset);

/** From now on no stage takes this data set over: several may read from it in turn, and the caller closes it after
 * them. (Rewinding or restoring one of them does so to it, too.) Returns EVALUE_OK; EVALUE_MISUSE as for closing. */
EVALUE_API evalue_status evalue_dataset_borrow(evalue_dataset *dataset);

/** For a data set's own functions: records a failure, with a text as printf makes it, and errno for EVALUE_IO; returns
 * status. example is at fault, or NULL; value_index is EVALUE_NO_INDEX for none. */
EVALUE_API evalue_status evalue_dataset_fail(evalue_dataset *dataset, evalue_status status,
                                             const evalue_example *example, uint64_t value_index, const char *format,
                                             ...) EVALUE_LOG_FORMAT(5, 6);

/* ---- states ------------------------------------------------------------------------------------------------- */

/**
 * Writes where a pipeline stands as one EValue message: positions, random numbers, and the examples that a shuffle or a
 * prefetch holds. What was handed out is past. Needs no memory but the list of them. Returns EVALUE_OK; what
 * evalue_message_write returns; EVALUE_IO; the pipeline's own failure, if it has one; EVALUE_MISUSE as above.
 */
EVALUE_API evalue_status evalue_dataset_save(evalue_dataset *dataset, evalue_sink *sink);

/**
 * Puts a pipeline, in this process or another, where the saved one stood: what it gives from then on is the same, byte
 * for byte. It must have the same stages with the same arguments, and the same examples at its sources (files may have
 * moved to another directory). Returns EVALUE_OK; EVALUE_MALFORMED for a state of other stages or other arguments,
 * which error.text names, or of no pipeline, and what evalue_message_decode returns of bytes that are no message; a
 * failure of a source. Other stages are found before anything has changed; after any other failure the pipeline is of
 * no use until it is rewound or restored. EVALUE_MISUSE as above.
 */
EVALUE_API evalue_status evalue_dataset_restore(evalue_dataset *dataset, const void *data, size_t size);

/** For a data set's function `state`: says whether it restores. */
EVALUE_API bool evalue_state_is_restoring(const evalue_dataset_state *state);

/** Saves *number, or restores it; name is for errors. EVALUE_OK, or a failure, which stays: the last call's will do. */
EVALUE_API evalue_status evalue_state_u64(evalue_dataset_state *state, const char *name, uint64_t *number);

/** Saves an argument; when restoring, refuses another one that was saved: EVALUE_MALFORMED. */
EVALUE_API evalue_status evalue_state_same(evalue_dataset_state *state, const char *name, uint64_t argument);

/** Saves bytes, which must stay until evalue_dataset_save returns; or restores them, as a view that is valid as long.
 */
EVALUE_API evalue_status evalue_state_bytes(evalue_dataset_state *state, const char *name, evalue_slice *bytes);

/* ---- sources ------------------------------------------------------------------------------------------------ */

/** Messages in the caller's memory. */
typedef struct evalue_memory_dataset {
  evalue_dataset dataset;
  const evalue_slice *messages;
  uint64_t count, position;
} evalue_memory_dataset;

/** Starts a source of n messages, in their order; they and their array must outlive it. EVALUE_OK, or EVALUE_MISUSE. */
EVALUE_API evalue_status evalue_memory_dataset_init(evalue_memory_dataset *dataset, const evalue_slice *messages,
                                                    size_t n);

/** Gives one message, valid until its next call: EVALUE_OK; EVALUE_END, and then it is not called again; or why not. */
typedef evalue_status (*evalue_example_callback)(void *context, evalue_slice *message);
/** Goes on at example number index, counted from 0: EVALUE_OK, or why not. */
typedef evalue_status (*evalue_example_seek)(void *context, uint64_t index);

/** A source that is a function: an app's store of training examples. */
typedef struct evalue_callback_dataset {
  evalue_dataset dataset;
  evalue_example_callback callback;
  evalue_example_seek seek;
  void *context;
  uint64_t given;
} evalue_callback_dataset;

/**
 * Starts a source that asks callback for each example. seek may be NULL: then the source cannot be rewound, and to
 * restore it is to ask a callback that starts from the beginning for as many examples as were given, and to drop them;
 * so it must give the same ones in the same order. Returns EVALUE_OK, or EVALUE_MISUSE for NULL.
 */
EVALUE_API evalue_status evalue_callback_dataset_init(evalue_callback_dataset *dataset,
                                                      evalue_example_callback callback, evalue_example_seek seek,
                                                      void *context);

/** What a source of record files can be told. All zero, or NULL in its place, is the default; so it is below. */
typedef struct evalue_files_options {
  uint32_t size;        /* sizeof(evalue_files_options), or 0 for the layout of version 0.5; so it is below */
  uint32_t first, step; /* takes the files first, first + step, ... of the list; a step of 0 is 1 */
  uint32_t reserved;
  evalue_record_reader_options reader; /* to skip bad records, among others; owns_fd must be 0 */
} evalue_files_options;

/** Record files, one after the other. */
typedef struct evalue_files_dataset {
  evalue_dataset dataset;
  struct evalue_files *files;
  uint64_t skipped; /* records gone past so far. May be read. */
} evalue_files_dataset;

/** Starts a source of n record files, in the order of paths, which are copied; each is opened when its turn comes.
 * Returns EVALUE_OK; EVALUE_IO without memory; EVALUE_MISUSE for NULL or bad options. */
EVALUE_API evalue_status evalue_files_dataset_init(evalue_files_dataset *dataset, const char *const *paths, size_t n,
                                                   const evalue_files_options *options);

/**
 * The same for the files that a pattern matches, whose last part may have the wildcards of glob(7), in the order of
 * their bytes. When they are shards (name-00000-of-00008.tfrecord), all must be there: EVALUE_MALFORMED names the first
 * that is not. EVALUE_IO, with ENOENT, when there is none, or with what else keeps them from being listed.
 */
EVALUE_API evalue_status evalue_files_dataset_glob(evalue_files_dataset *dataset, const char *pattern,
                                                   const evalue_files_options *options);

/* ---- which examples, and in which order --------------------------------------------------------------------- */

/** A stage that passes some of the examples on. */
typedef struct evalue_select_dataset {
  evalue_dataset dataset;
  uint64_t first, step, most; /* passes number first, first + step, ..., `most` of them */
  uint64_t seen, passed;
} evalue_select_dataset;

/** Passes the first n examples on, and then ends. EVALUE_OK; EVALUE_MISUSE; the failure of the input. */
EVALUE_API evalue_status evalue_take_dataset_init(evalue_select_dataset *dataset, evalue_dataset *input, uint64_t n);

/** Drops the first n examples. As above. */
EVALUE_API evalue_status evalue_skip_dataset_init(evalue_select_dataset *dataset, evalue_dataset *input, uint64_t n);

/** Passes on one of `of` workers' part: examples number worker, worker + of, ...; the worker is below `of`. As above.
 */
EVALUE_API evalue_status evalue_shard_dataset_init(evalue_select_dataset *dataset, evalue_dataset *input,
                                                   uint64_t worker, uint64_t of);

/** A stage that starts its input over when it ends. epoch, which one is given, from 0, may be read. */
typedef struct evalue_repeat_dataset {
  evalue_dataset dataset;
  uint64_t times, epoch, given;
} evalue_repeat_dataset;

/** Gives its input `times` times in all; 0: for ever, unless it is empty. Statuses as above. */
EVALUE_API evalue_status evalue_repeat_dataset_init(evalue_repeat_dataset *dataset, evalue_dataset *input,
                                                    uint64_t times);

/** A stage that reads from several inputs in turn. */
typedef struct evalue_interleave_dataset {
  evalue_dataset dataset;
  uint64_t block, current, in_block;
} evalue_interleave_dataset;

/** Takes `block` examples, not 0, from each of n inputs in turn, leaving out those that have ended. To interleave
 * files, give each of n file sources a `step` of n. Returns what evalue_dataset_init returns. */
EVALUE_API evalue_status evalue_interleave_dataset_init(evalue_interleave_dataset *dataset,
                                                        evalue_dataset *const *inputs, size_t n, uint64_t block);

/** What a shuffle can be told. */
typedef struct evalue_shuffle_options {
  uint32_t size;
  uint32_t same_order; /* 1: every epoch has the order of the first */
  uint64_t max_bytes;  /* the buffer takes no more examples once they have so many bytes; 0: no limit */
} evalue_shuffle_options;

/** A stage that changes the order. */
typedef struct evalue_shuffle_dataset {
  evalue_dataset dataset;
  struct evalue_shuffler *shuffler;
} evalue_shuffle_dataset;

/**
 * Keeps up to `buffer` examples and hands out any of them: with all examples in it, every order is equally likely.
 *
 * The order is the same on every machine, and depends on the arguments and on the epoch, how often it was rewound. The
 * random numbers are PCG32's (XSH-RR): s' = s * 6364136223846793005 + 2 * epoch + 1 mod 2^64, and each number is
 * (s >> 18 ^ s) >> 27 mod 2^32, rotated right by s >> 59; s starts from 0, makes a step, adds seed, makes a step. One
 * below n is x * n >> 32, and x is drawn anew while x * n mod 2^32 is below 2^32 mod n. The example with that number
 * is handed out, the last one takes its place, and what comes next from the input goes to the end.
 *
 * Directly behind record files nothing is copied: small examples wait in the blocks that were read, which take about
 * twice their size, and large ones, from 32 KiB on, are read when they are handed out. Returns EVALUE_OK; EVALUE_IO
 * without memory; EVALUE_MISUSE for a buffer of 0, or of 2^32 and more; the input's failure.
 */
EVALUE_API evalue_status evalue_shuffle_dataset_init(evalue_shuffle_dataset *dataset, evalue_dataset *input,
                                                     uint64_t buffer, uint64_t seed,
                                                     const evalue_shuffle_options *options);

/* ---- decoding ----------------------------------------------------------------------------------------------- */

/** In a schema: any kind, any scalar type, any number of dimensions; and any size. */
#define EVALUE_ANY      255
#define EVALUE_ANY_SIZE (-1)

/** What one value of every example has to be. */
typedef struct evalue_schema_value {
  uint8_t tag;         /* EVALUE_TAG_TENSOR, ..., or EVALUE_ANY */
  uint8_t may_be_none; /* 1: None will do, too */
  uint8_t scalar_type; /* of a tensor: EVALUE_FLOAT32, ..., or EVALUE_ANY */
  uint8_t ndim;        /* of a tensor: how many sizes; EVALUE_ANY: any, and sizes do not matter */
  int32_t sizes[EVALUE_MAX_NDIM];
} evalue_schema_value;

/**
 * Says whether count values are what a schema of n asks for: EVALUE_OK; EVALUE_MALFORMED, and then *index, if not NULL,
 * is the first that is not, and text, of capacity bytes, says what differs: "expected Tensor float32 [3, ?], found
 * Int"; EVALUE_MISUSE for NULL, or a schema that is none.
 */
EVALUE_API evalue_status evalue_schema_check(const evalue_schema_value *schema, size_t n, const evalue *values,
                                             size_t count, uint64_t *index, char *text, size_t capacity);

/** What decoding can be told. */
typedef struct evalue_decode_options {
  uint32_t size;
  uint32_t skip; /* 1: examples that are no good message, or do not fit, are left out and counted */
} evalue_decode_options;

/** A stage that makes values of messages. */
typedef struct evalue_decode_dataset {
  evalue_dataset dataset;
  struct evalue_decoder *decoder;
  uint64_t skipped; /* may be read */
} evalue_decode_dataset;

/** Decodes each example, and checks it against a schema of n values, which must outlive it; NULL and 0: against none.
 * EVALUE_OK; EVALUE_IO without memory; EVALUE_MISUSE for a schema that is none, or bad options; the input's failure. */
EVALUE_API evalue_status evalue_decode_dataset_init(evalue_decode_dataset *dataset, evalue_dataset *input,
                                                    const evalue_schema_value *schema, size_t n,
                                                    const evalue_decode_options *options);

/* ---- batches ------------------------------------------------------------------------------------------------ */

/** What batching can be told. */
typedef struct evalue_batch_options {
  uint32_t size;
  uint32_t drop_last;   /* 1: a last batch of fewer examples is not given */
  uint32_t pad;         /* 1: what is smaller is padded at its ends to the largest in the batch; otherwise an error */
  uint32_t with_sizes;  /* 1: behind the values as many again, int32 [n, ndim]: the sizes before padding */
  const evalue *filler; /* padding: filler_count values, for each a 0-d tensor of its scalar type, or None: zeros */
  const evalue_schema_value *pad_to; /* padding: pad_to_count values: sizes other than -1 are padded to, always */
  size_t filler_count, pad_to_count; /* both arrays must outlive the stage; uint8 [bytes] for a String */
  void *memory;                      /* aligned to 64, for each batch in its turn; NULL: it allocates its own */
  size_t memory_size;
} evalue_batch_options;

/** A stage that makes one example of several. */
typedef struct evalue_batch_dataset {
  evalue_dataset dataset;
  struct evalue_batcher *batcher;
  uint64_t needed; /* bytes of memory for the last batch; after EVALUE_NO_SPACE: what would do. May be read. */
} evalue_batch_dataset;

/**
 * Stacks n decoded examples: tensors of sizes [...] to [n, ...], Int to int64 [n], Double to float64 [n], Bool to bool
 * [n], Strings to uint8 [n, bytes], None to None. Data is row-major, and each begins at a multiple of 64. Examples of
 * other kinds, types or (without padding) sizes than the batch's first are EVALUE_MALFORMED. In the last batch n may be
 * less. Statuses as above; EVALUE_MISUSE for n of 0, or of 2^31 and more.
 */
EVALUE_API evalue_status evalue_batch_dataset_init(evalue_batch_dataset *dataset, evalue_dataset *input, uint64_t n,
                                                   const evalue_batch_options *options);

/* ---- meanwhile ---------------------------------------------------------------------------------------------- */

/** What a prefetch can be told. */
typedef struct evalue_prefetch_options {
  uint32_t size;
  uint32_t examples;  /* that it holds at most; 0: 16 */
  uint64_t max_bytes; /* it reads no more once it holds so many; 0: 16 MiB. One example may go beyond. */
} evalue_prefetch_options;

/** A stage that reads ahead. */
typedef struct evalue_prefetch_dataset {
  evalue_dataset dataset;
  struct evalue_prefetcher *prefetcher;
} evalue_prefetch_dataset;

/**
 * Reads from its input in a thread, which starts with the first example that is asked for, and holds copies; best as
 * the last stage. Saving waits until the thread has its example, and saves what is held as well; closing waits
 * likewise. Callbacks of its inputs are called in that thread. EVALUE_OK; EVALUE_IO without memory (in
 * evalue_dataset_next also without a thread); EVALUE_MISUSE for bad options; the input's failure.
 */
EVALUE_API evalue_status evalue_prefetch_dataset_init(evalue_prefetch_dataset *dataset, evalue_dataset *input,
                                                      const evalue_prefetch_options *options);

/** Is told how many examples (or batches) passed in this epoch, and the bytes of their messages, or of their values. */
typedef void (*evalue_progress_callback)(void *context, uint64_t examples, uint64_t bytes, bool is_over);

/** A stage that tells how far it is. */
typedef struct evalue_progress_dataset {
  evalue_dataset dataset;
  evalue_progress_callback callback;
  void *context;
  uint64_t every, examples, bytes;
} evalue_progress_dataset;

/** Calls callback after every `every` examples, and at the end. EVALUE_OK; EVALUE_MISUSE; the input's failure. */
EVALUE_API evalue_status evalue_progress_dataset_init(evalue_progress_dataset *dataset, evalue_dataset *input,
                                                      uint64_t every, evalue_progress_callback callback, void *context);

#ifdef __cplusplus
}
#endif

#endif
