/* lawn_store.h - timers by id, with a payload.
 *
 * A store owns its timers. Each has an id and a payload, two byte strings that
 * the store copies. When a timer is due, the store passes both to a callback.
 * Time, TTLs and mows are as in lawn.h: a store contains a lawn.
 *
 *     #include <lawn_store.h>
 *     #include <stdio.h>
 *
 *     static void remind(const struct lawn_store_timer *timer, void *arg)
 *     {
 *         printf("%.*s: %.*s\n", (int)timer->id_size, (const char *)timer->id,
 *                (int)timer->payload_size, (const char *)timer->payload);
 *     }
 *
 *     struct lawn_store_options options = {.lawn.now = now}; // your clock
 *     struct lawn_store *store = lawn_store_new(&options);
 *     lawn_store_start(store, "cart:7", 6, 30000, "3 books", 7, 0);
 *     lawn_store_start(store, "cart:7", 6, 30000, "4 books", 7, 0); // replaces
 *     lawn_store_mow(store, now, SIZE_MAX, remind, NULL);
 *
 * IDS
 *
 * An id has 0 to LAWN_STORE_ID_MAX arbitrary bytes. To use a 64-bit integer as
 * id, pass its address and sizeof(uint64_t); a string with the same 8 bytes is
 * the same id. A hash table, called the table, maps ids to timers.
 *
 * PAYLOADS
 *
 * A payload has 0 to LAWN_STORE_PAYLOAD_MAX arbitrary bytes. The store's copy
 * is aligned to 8 bytes, so a payload may be a struct.
 *
 * PROMISES
 *
 * P1 to P6 and P9 of lawn.h apply to the timers of a store; lawn_store_mow()
 * describes exceptions to P2 and P6. In addition:
 *   S1  Unique ids: an id has at most one timer.
 *   S2  All or nothing: a call that fails changes nothing. Exceptions: it may
 *       free unused memory; lawn_store_reserve() may leave the table larger
 *       than before; lawn_store_load() may replace the store's lawn, see
 *       lawn_store_lawn().
 *   S3  Callbacks: a callback may call any function of the store with any id.
 *       The timer that fires is already removed. The data passed to the
 *       callback remains valid until the callback returns.
 *   S4  Returned data: the id and payload pointers that lawn_store_get(),
 *       lawn_store_next_timer() and lawn_store_iterate() return remain valid
 *       until the timer is started again, updated, stopped or popped, until it
 *       fires, or until the store is cleared or freed. A touch does not
 *       invalidate them. They may be passed to any function of the store, even
 *       to one that invalidates them.
 *   S5  Cost: starting, stopping, getting, updating and touching a timer take
 *       O(1) plus O(bytes of the id and the payload), on average over the
 *       random hash key and regardless of the number of TTLs. Such a call
 *       splits or merges at most one bucket of the table.
 *   S6  Hash flooding: each store hashes ids with SipHash-1-3 and its own
 *       random key, unless the options set the key. So an attacker who does not
 *       know the key cannot choose ids that make any call slower.
 *   S7  Memory: timers are stored in blocks of up to 64 KiB, large payloads in
 *       blocks of their own. A block is freed as soon as it contains no timer,
 *       except that the store keeps one empty block. Timers share a block only
 *       if their TTLs were within a factor of 16 when their memory was
 *       allocated.
 *   S8  Iteration: a timer that exists from the first call of an iteration to
 *       the last is returned exactly once, regardless of changes to other
 *       timers.
 *   S9  Snapshots: a snapshot can be loaded on any machine and restores
 *       identical contents. Input that is not a complete snapshot loads no
 *       timer and fails with an error that names the cause.
 *   S10 Classes: P11 to P13, P15 and P16 of lawn_class.h apply to the classes
 *       of a store. They also apply if a callback changes classes or their
 *       timers. A snapshot restores the classes with their timers.
 *
 * A start with a new id allocates memory. A start with an existing id uses the
 * memory of its timer if the payload fits.
 *
 * THREADS
 *
 * Only one thread may use a store at a time.
 *
 * ERRORS
 *
 * Functions that return int return 0 or a negative error: -errno or a value of
 * enum lawn_store_error.
 */
#ifndef LAWN_STORE_H
#define LAWN_STORE_H

#include <lawn.h>
#include <lawn_class.h>

#ifdef __cplusplus
extern "C" {
#endif

/* STORES */

/* Maximum size of an id and of a payload, in bytes. */
#define LAWN_STORE_ID_MAX 65535u
#define LAWN_STORE_PAYLOAD_MAX 536870911u

struct lawn_store;

/* Options of a new store. Zero in a field selects its default. */
struct lawn_store_options {
    /* Options of the store's lawn. Their allocator provides all memory of the
     * store; default: mmap() for blocks of at least 16 KiB, malloc() for
     * smaller ones. lawn.classes is the maximum number of classes; each takes
     * 120 bytes more than a class of a lawn. */
    struct lawn_options lawn;

    /* Limits on the number of timers and on total memory, see
     * lawn_store_bytes(). A call that would exceed either fails with -ENOSPC.
     * Default: no limit. Memory is counted in whole blocks [S7], so a call may
     * fail while blocks have unused space. An empty store takes 251 KiB by
     * default, 14 KiB with the smallest lawn. */
    uint64_t max_timers;
    size_t max_bytes;

    /* Key of the hash function; default: random. Set it only in tests that need
     * reproducible behavior. */
    uint64_t seed[2];
};

/* A timer as returned by the store. */
struct lawn_store_timer {
    const void *id;
    size_t id_size;
    const void *payload; /* aligned to 8 bytes; never NULL */
    size_t payload_size;
    uint64_t deadline;
    uint64_t ttl; /* for a timer of a class: the TTL of the class; otherwise the
                     TTL of the last start or touch, at least 1; if that call
                     was given a deadline: the deadline minus the time of the
                     store at that call */
    struct lawn_class *cls; /* the timer's class, or NULL; for a timer that
                               fires or is popped: the class that it belonged
                               to until then */
};

/* Errors that have no errno. */
enum lawn_store_error {
    LAWN_STORE_NOT_A_SNAPSHOT = -10001, /* bad magic number */
    LAWN_STORE_TOO_NEW = -10002,   /* version not supported by this library */
    LAWN_STORE_TRUNCATED = -10003, /* unexpected end of the snapshot */
    LAWN_STORE_DAMAGED = -10004,   /* checksum mismatch */
    LAWN_STORE_INCONSISTENT = -10005, /* checksums match, but the contents are
                                         not those of a store */
    LAWN_STORE_TRAILING = -10006,     /* data after the snapshot in the file */
    LAWN_STORE_ID_TOO_LARGE = -10007, /* above LAWN_STORE_ID_MAX */
    LAWN_STORE_PAYLOAD_TOO_LARGE = -10008, /* above LAWN_STORE_PAYLOAD_MAX */
    LAWN_STORE_NOT_A_FILE = -10009, /* saving to a device, a pipe or a socket */
    LAWN_STORE_BAD_CLASS_NAME = -10010,  /* not 1 to LAWN_STORE_CLASS_NAME_MAX
                                           bytes */
    LAWN_STORE_CLASS_EXISTS = -10011,    /* the name is in use */
    LAWN_STORE_TOO_MANY_CLASSES = -10012 /* above options.lawn.classes */
};

/* Creates a store. options may be NULL. Returns NULL and sets errno on failure:
 * ENOMEM if there is not enough memory, ENOSPC if max_bytes is too small for an
 * empty store, or the errno of the system's random number generator. O(blades +
 * slots), like lawn_new(). */
struct lawn_store *lawn_store_new(const struct lawn_store_options *options);

/* Frees a store with all its timers, without firing them. store may be NULL.
 * O(memory of the store). Do not use the store after this call. In a callback,
 * the timers are removed at once, and the store is freed when the outermost
 * lawn_store_mow() returns. */
void lawn_store_free(struct lawn_store *store);

/* STARTING AND STOPPING */

/* Flags of lawn_store_start(), combined with |. ABSENT: fail with -EEXIST if a
 * timer has this id. PRESENT: fail with -ENOENT if no timer has this id. AT:
 * ttl is a deadline, as in lawn_start_at(). */
#define LAWN_STORE_ABSENT 1u
#define LAWN_STORE_PRESENT 2u
#define LAWN_STORE_AT 4u

/* Starts a timer with a copy of the payload, and replaces a timer with the same
 * id. Its deadline is that of lawn_start(). A timer of a class leaves its
 * class. The argument how is 0 or a combination of the flags above;
 * LAWN_STORE_ABSENT and LAWN_STORE_PRESENT exclude each other. Returns 0, or an
 * error: LAWN_STORE_ID_TOO_LARGE; LAWN_STORE_PAYLOAD_TOO_LARGE; -EINVAL if the
 * flags are invalid; -EEXIST or -ENOENT because of the flags; -ENOSPC if a
 * limit would be exceeded; -ENOMEM. On failure nothing changes [S2].
 * O(id_size + payload_size) on average [S5]. */
int lawn_store_start(struct lawn_store *store, const void *id, size_t id_size,
                     uint64_t ttl, const void *payload, size_t payload_size,
                     unsigned how);

/* Stops and removes a timer. Returns true if the id had a timer; it does not
 * fire [P5]. Otherwise returns false. O(id_size + size of the payload) on
 * average [S5]. */
bool lawn_store_stop(struct lawn_store *store, const void *id, size_t id_size);

/* Looks up a timer. The argument out may be NULL. Returns true and fills *out
 * if the id has a timer [S4], otherwise false. O(id_size) on average [S5]. */
bool lawn_store_get(const struct lawn_store *store, const void *id,
                    size_t id_size, struct lawn_store_timer *out);

/* Like lawn_next_timer(), but always finds a timer with the earliest deadline,
 * and includes timers of classes that are not paused. The argument out may be
 * NULL. Returns true and fills *out if there is such a timer [S4]. The cost is
 * that of lawn_next_exact(), plus O(classes). The timer remains in the store.
 */
bool lawn_store_next_timer(struct lawn_store *store,
                           struct lawn_store_timer *out);

/* Replaces the payload of a timer. Its deadline and its order among timers with
 * the same deadline do not change. Returns 0, or an error:
 * LAWN_STORE_PAYLOAD_TOO_LARGE; -ENOENT if no timer has this id; -ENOSPC if a
 * limit would be exceeded; -ENOMEM. On failure nothing changes [S2]. O(id_size
 * + payload_size) on average [S5]. */
int lawn_store_update(struct lawn_store *store, const void *id, size_t id_size,
                      const void *payload, size_t payload_size);

/* Restarts a timer and keeps its payload. Its new deadline is that of
 * lawn_start() or lawn_start_at(); a timer of a class leaves the class. Returns
 * true if the id has a timer. Otherwise returns false, and nothing changes.
 * O(id_size) on average [S5]. */
bool lawn_store_touch(struct lawn_store *store, const void *id, size_t id_size,
                      uint64_t ttl);
bool lawn_store_touch_at(struct lawn_store *store, const void *id,
                         size_t id_size, uint64_t deadline);

/* MOWING */

/* Callback of lawn_store_mow() for a timer that fires; arg is that of
 * lawn_store_mow(). The callback may start the timer again, with timer->id and
 * timer->payload [S3].
 *
 * If that start fails, the timer is lost. The memory of the timer is freed only
 * after the callback; so keep lawn_store_bytes() below max_bytes by at least
 * the size of the payload plus several blocks of 64 KiB. */
typedef void lawn_store_fire_fn(const struct lawn_store_timer *timer,
                                void *arg);

/* Sets the time to now and fires timers with a deadline <= now, at most budget
 * of them, like lawn_mow(). Returns the number of timers that this call fired.
 * If it is less than budget, no due timer remains [P2]: unlike lawn_mow(), this
 * function does not end when it reaches the limit of P8. The cost is that of as
 * many calls of lawn_mow() as necessary, plus that of lawn_store_stop() for
 * each timer fired. Each of these calls fires up to 16 timers, or only one
 * while the store contains timers of classes.
 *
 * Unlike lawn_mow(), it may be called in a callback. The inner call fires
 * timers with a deadline <= its own now. Exception to P6: these include timers
 * that callbacks of the outer call have started.
 *
 * Exception to P2 and P6: at the last tick, a timer that a callback starts is
 * due at once and may fire in the current mow. The mow fires at most as many
 * timers as the store contained when it began; so it ends, but due timers may
 * remain. */
size_t lawn_store_mow(struct lawn_store *store, uint64_t now, size_t budget,
                      lawn_store_fire_fn *fire, void *arg);

/* Sets the time to now and removes the earliest timer with a deadline <= now,
 * without a callback. The argument out may be NULL. Returns true and fills *out
 * if there was such a timer; *out remains valid until the next lawn_store_pop()
 * or lawn_store_free(). The cost is that of lawn_store_mow() with a budget of
 * 1. */
bool lawn_store_pop(struct lawn_store *store, uint64_t now,
                    struct lawn_store_timer *out);

/* Like lawn_set_now(), lawn_now(), lawn_next_exact() and lawn_count().
 * lawn_store_next() returns the earliest deadline, or LAWN_NEVER if there is no
 * timer; its cost is that of lawn_next_exact(). The others take O(1). */
void lawn_store_set_now(struct lawn_store *store, uint64_t now);
uint64_t lawn_store_now(const struct lawn_store *store);
uint64_t lawn_store_next(struct lawn_store *store);
uint64_t lawn_store_count(const struct lawn_store *store);

/* INSPECTION AND LIMITS */

/* Returns the memory allocated by the store, in bytes. O(1). */
size_t lawn_store_bytes(const struct lawn_store *store);

/* Returns the store's lawn for inspection, for example with lawn_stats(). O(1).
 * lawn_store_clear() replaces the lawn; lawn_store_load() may replace it if the
 * load fails or timers are overdue. When the lawn is replaced, the pointer
 * becomes invalid, and all counters, including those of classes, are reset.
 * Pointers to classes remain valid. */
const struct lawn *lawn_store_lawn(const struct lawn_store *store);

/* Looks up the next timer of an iteration, in no particular order. Set *cursor
 * to 0 before the first call. The argument out may be NULL. Returns true and
 * fills *out if there was another timer, otherwise false. O(1) on average; a
 * whole iteration takes O(timers + memory).
 *
 * The store may change between two calls [S8]. A timer started during the
 * iteration may be returned or not. A timer keeps its position when it is
 * started again, updated or touched. */
bool lawn_store_iterate(const struct lawn_store *store, uint64_t *cursor,
                        struct lawn_store_timer *out);

/* Grows the table for the given number of timers, and prevents it from
 * shrinking below this size; 0 removes this minimum. Returns 0, -ENOSPC or
 * -ENOMEM; for the state after a failure see [S2]. O(timers + size of the
 * table). */
int lawn_store_reserve(struct lawn_store *store, uint64_t timers);

/* Sets max_timers and max_bytes of the options; 0 means no limit. O(1).
 * Existing timers remain, even if they exceed the new limits. */
void lawn_store_set_limits(struct lawn_store *store, uint64_t max_timers,
                           size_t max_bytes);

/* Removes all timers without firing them and frees their memory. The time, the
 * limits and the classes do not change. Cannot fail. O(memory of the store +
 * classes). */
void lawn_store_clear(struct lawn_store *store);

/* CLASSES
 *
 * A class of a store, identified by its name, is a class of the store's lawn:
 * see lawn_class.h. Of the functions there, use only lawn_class_set_ttl(),
 * lawn_class_scale(), lawn_class_postpone(), lawn_class_pause(),
 * lawn_class_resume(), lawn_class_set_weight(), lawn_class_stats(),
 * lawn_class_forecast() and lawn_class_each(). They may also be called in a
 * callback.
 *
 * The functions of this header also apply to timers of classes. */

/* Maximum size of the name of a class, in bytes, without the final NUL. */
#define LAWN_STORE_CLASS_NAME_MAX 64u

/* Creates a class, as lawn_class_new() does, with a copy of the name, which has
 * 1 to LAWN_STORE_CLASS_NAME_MAX bytes. Sets *out to the class; out may be
 * NULL. Returns 0, or an error: LAWN_STORE_BAD_CLASS_NAME if the size is out of
 * range or name is NULL; LAWN_STORE_CLASS_EXISTS if the name is in use;
 * LAWN_STORE_TOO_MANY_CLASSES if the store has options.lawn.classes classes. On
 * failure nothing changes [S2]. O(classes). */
int lawn_store_class_new(struct lawn_store *store, uint64_t ttl,
                         const char *name, struct lawn_class **out);

/* Returns the class with this name, or NULL. O(classes). */
struct lawn_class *lawn_store_class_find(const struct lawn_store *store,
                                         const char *name);

/* Removes a class. Returns false, and changes nothing, if it has timers.
 * O(log classes). */
bool lawn_store_class_free(struct lawn_store *store, struct lawn_class *cls);

/* Stops and removes all timers of a class. They do not fire [P5]. Returns their
 * number. O(timers of the class + their payloads) on average: unlike
 * lawn_class_clear(), it frees their memory. */
uint64_t lawn_store_class_clear(struct lawn_store *store,
                                struct lawn_class *cls);

/* Starts a timer in a class, as lawn_class_start() does; otherwise like
 * lawn_store_start(). If the id already has a timer, in another class or in
 * none, that timer moves to this class. LAWN_STORE_AT is an invalid flag.
 * Returns 0, or an error of lawn_store_start(). On failure nothing changes
 * [S2]. O(id_size + payload_size) on average, plus the cost of
 * lawn_class_start(). */
int lawn_store_start_in(struct lawn_store *store, struct lawn_class *cls,
                        const void *id, size_t id_size, const void *payload,
                        size_t payload_size, unsigned how);

/* Restarts a timer in a class and keeps its payload. A timer of another class
 * or of none moves to this class. Returns true if the id has a timer. Otherwise
 * returns false, and nothing changes. O(id_size) on average, plus the cost of
 * lawn_class_start(). */
bool lawn_store_touch_in(struct lawn_store *store, struct lawn_class *cls,
                         const void *id, size_t id_size);

/* SNAPSHOTS
 *
 * A snapshot contains the ids, payloads, deadlines and TTLs of all timers, and
 * the classes: their names, TTLs, weights and timers, and whether they are
 * paused. It does not contain counters. docs/SNAPSHOT.md describes its format.
 * Earlier versions of the library can load a snapshot of a store without
 * classes. */

/* Callback that writes size bytes. Returns 0, or a negative error, which ends
 * the save. */
typedef int lawn_store_write_fn(const void *bytes, size_t size, void *arg);

/* Callback that reads up to size bytes. Returns the number of bytes read, 0 at
 * the end of the input, or a negative error, which ends the load. */
typedef ptrdiff_t lawn_store_read_fn(void *bytes, size_t size, void *arg);

/* Writes a snapshot by calling the callback write, which must not change the
 * store. Returns 0, -ENOMEM, or the error of that callback. On failure part of
 * the snapshot may have been written. O(timers + their bytes + blades + slots).
 * The buffer of 64 KiB does not count toward the memory limit. */
int lawn_store_save(struct lawn_store *store, lawn_store_write_fn *write,
                    void *arg);

/* Reads a snapshot into an empty store by calling the callback read, which must
 * not use the store. Reads no further than the end of the snapshot. Does not
 * change the time: set it before. Returns 0, -ENOTEMPTY if the store contains
 * timers, a value from LAWN_STORE_NOT_A_SNAPSHOT to LAWN_STORE_INCONSISTENT,
 * LAWN_STORE_TOO_MANY_CLASSES, -ENOMEM, -ENOSPC, or the error of that callback.
 * On failure nothing changes [S2]. O(timers + their bytes + memory of the store
 * + classes^2).
 *
 * Each class of the snapshot is created, unless the store already has a class
 * with the same name. In that case, the class of the store receives the saved
 * TTL, weight and pause. Other classes of the store do not change.
 *
 * The memory used is proportional to the bytes read, regardless of the sizes
 * stated in the input. Buffers do not count toward the memory limit. The timers
 * may take somewhat more memory than in the saved store.
 *
 * Timers keep their deadlines. Overdue timers fire in the next mow, in order
 * [P4]. Exception to S9: a load in a callback gives all overdue timers the
 * deadline lawn_store_now() + 1 [P6]. Then overdue timers keep their order only
 * among timers of the same class and, outside of classes, among timers that
 * have the same TTL and deadline in the snapshot.
 *
 * Timers of a paused class keep the time that remained when they were saved
 * [P13]. Exception to S9: if so much of the TTL of such a timer had elapsed
 * that its start would be before tick 0 of this store's time, the timer counts
 * as started at tick 0. */
int lawn_store_load(struct lawn_store *store, lawn_store_read_fn *read,
                    void *arg);

/* Like lawn_store_save() and lawn_store_load(), with a file.
 * lawn_store_save_file() writes to path.tmp-XXXXXX, flushes it to disk and
 * renames it to path, so path always contains the complete old or new snapshot.
 * If path did not exist, the mode is 0666 minus the umask. Otherwise the new
 * file gets the mode, owner and group of the old one, as far as the system
 * permits. A symbolic link is replaced.
 *
 * Each returns 0, an error of lawn_store_save() or lawn_store_load(), -EFAULT
 * if path is NULL, or the -errno of a system call. lawn_store_save_file() can
 * also return -EISDIR if path is a directory, and LAWN_STORE_NOT_A_FILE if it
 * is a device, a pipe or a socket. lawn_store_load_file() can also return
 * LAWN_STORE_TRAILING. If saving fails, the temporary file is removed and path
 * is unchanged. Exception: if only flushing the directory failed, path is the
 * new file. If loading fails, nothing changes [S2]. The cost is that of
 * lawn_store_save() or lawn_store_load(), plus input and output; saving waits
 * until the disk has the data. */
int lawn_store_save_file(struct lawn_store *store, const char *path);
int lawn_store_load_file(struct lawn_store *store, const char *path);

/* HASHING AND CHECKS */

/* Returns the SipHash-1-3 of bytes under a key [S6], the same on every machine.
 * O(size). */
uint64_t lawn_hash(const uint64_t key[2], const void *bytes, size_t size);

/* Returns a short description of an error of this library. O(1). */
const char *lawn_store_strerror(int error);

#if !defined LAWN_FREESTANDING
/* Checks all invariants, like lawn_check(). Returns true if they hold. O(size
 * of the store). */
bool lawn_store_check(const struct lawn_store *store, FILE *out);
#endif

#ifdef __cplusplus
}
#endif
#endif
