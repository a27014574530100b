/* lawn_store.h - timers by id, with payload: start one, and forget about it.
 *
 * A store owns its timers. Each has an id, which is any string of bytes, and a
 * payload, which the store copies; when the timer is due, the store hands both
 * to a callback. These are the four routines of the paper: StartTimer(id, ttl,
 * payload), DeleteTimer(id), PerTickBookkeeping(now) and TimerExpired are
 * lawn_store_start(), lawn_store_stop(), lawn_store_mow() and its callback.
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
 *     struct lawn_store_options options = {.lawn.now = now}; // on your clock
 *     struct lawn_store *store = lawn_store_new(&options);
 *     lawn_store_start(store, "cart:7", 6, 30000, "3 books", 7, 0);
 *     lawn_store_start(store, "cart:7", 6, 30000, "4 books", 7, 0); // replaces
 *     lawn_store_mow(store, now, SIZE_MAX, remind, NULL);
 *
 * TIME is as in lawn.h: a uint64_t of ticks on the caller's clock, which the
 * store is told by its options, lawn_store_set_now() and lawn_store_mow().
 *
 * IDS are bytes of any content, 0 to LAWN_STORE_ID_MAX of them. A 64-bit
 * integer is an id of 8 bytes: pass &number, sizeof number; ids of 8 bytes are
 * hashed and compared as one word. They are in one space with all others: a name
 * of the same 8 bytes is the same id, and an int of 4 bytes is another.
 *
 * PAYLOADS are bytes of any content, 0 to LAWN_STORE_PAYLOAD_MAX of them,
 * copied when they come in. What the store hands out it does not copy: a
 * payload in memory of the store's, aligned to 8 bytes, so it may be a struct.
 *
 * PROMISES, by the numbers that assertions, tests and proofs cite. P1 to P6 and
 * P9 of lawn.h hold of the store's timers; moreover:
 *   S1  one each         an id has at most one timer
 *   S2  all or nothing   a call that fails has changed nothing; it may have given
 *                        memory back
 *   S3  callbacks        may call any function of the store, for any id; the
 *                        timer that fires has left the store by then, and what
 *                        the callback was handed stays until it returns
 *   S4  handed out       what lawn_store_get(), lawn_store_next_timer() and
 *                        lawn_store_iterate() hand out stays until that timer
 *                        is started, updated, stopped or cleared, or fires;
 *                        other timers, and a touch, do not matter. It may be
 *                        handed back to any call
 *   S5  cost             start, stop, get, update and touch take O(1) and O(id +
 *                        payload), at worst as on the average: the table grows
 *                        and shrinks by one bucket at a time. Nothing grows
 *                        with the number of different TTLs
 *   S6  chosen ids       hashing is keyed: ids chosen by someone who does not
 *                        know the seed make nothing slower
 *   S7  memory           is given back when timers go: a block of up to 64 KiB
 *                        as soon as none of its timers is left, but one.
 *                        Timers share a block only if the TTLs that they were
 *                        first started with are within a factor of 16
 *   S8  iteration        a timer that is there from the first call to the last
 *                        is told exactly once, whatever happens to others
 *   S9  snapshots        what was saved loads, anywhere, as the same bytes;
 *                        what is no whole snapshot loads nothing, with an
 *                        error that says why
 *
 * THREADS: a store has one owner at a time, like a lawn. Nothing here locks.
 *
 * ERRORS: calls that can fail return 0, or an error below 0: -errno, or one of
 * enum lawn_store_error. lawn_store_strerror() has words for each. The names of
 * the former are in <errno.h>.
 *
 * WHEN TO CHOOSE SOMETHING ELSE: your objects live in memory of your own and
 * you have a pointer at hand when you stop a timer: lawn.h, which needs neither
 * table nor copies. */
#ifndef LAWN_STORE_H
#define LAWN_STORE_H

#include <lawn.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAWN_STORE_ID_MAX 65535u
#define LAWN_STORE_PAYLOAD_MAX 536870911u

struct lawn_store;

/* How to make a store. Zero in any field means the default. */
struct lawn_store_options {
    /* The lawn inside. Its allocator serves all memory of the store; the
     * default takes large blocks from mmap() and gives them back to the
     * system, small ones from malloc(). */
    struct lawn_options lawn;

    /* At most so many timers, and so many bytes of memory, all told: what
     * exceeds them fails with -ENOSPC. Default: no limit. The former is exact;
     * the latter is reached in steps of up to 64 KiB, and an empty store takes
     * 163 KiB of it by default, 10 KiB with the smallest lawn. See
     * lawn_store_set_limits(). */
    uint64_t max_timers;
    size_t max_bytes;

    /* The key of the hash function; default: random, from the system. Only
     * tests that must go the same way every time have a reason to set it. */
    uint64_t seed[2];
};

/* A timer as it is handed out. */
struct lawn_store_timer {
    const void *id;
    size_t id_size;
    const void *payload; /* aligned to 8 bytes; never NULL */
    size_t payload_size;
    uint64_t deadline;
    uint64_t ttl; /* that it was last started or touched with, or what was left
                     then until the deadline; at least 1 */
};

/* A new store. NULL with errno ENOMEM if there is no memory, ENOSPC if max_bytes
 * does not suffice for an empty store, or as the system says if it has no random
 * numbers. options may be NULL. */
struct lawn_store *lawn_store_new(const struct lawn_store_options *options);

/* Forgets all timers without firing them, and gives all memory back. In a
 * callback the timers go at once and the store when the mow returns; do not
 * touch it any more. store may be NULL. O(timers). */
void lawn_store_free(struct lawn_store *store);

/* How to start, or'ed together. ABSENT: only if there is no timer of this id,
 * else -EEXIST. PRESENT: only if there is one, else -ENOENT. AT: ttl is a
 * deadline, an absolute time; one that is not after now counts as now + 1. */
#define LAWN_STORE_ABSENT 1u
#define LAWN_STORE_PRESENT 2u
#define LAWN_STORE_AT 4u

/* Starts a timer that will be due at now + ttl, with a copy of the payload. If
 * there is one of this id, it is replaced. 0, or: -EEXIST and -ENOENT as above;
 * -EINVAL if the id or the payload is too large, or how makes no sense;
 * -ENOSPC if a limit would be exceeded; -ENOMEM. */
int lawn_store_start(struct lawn_store *store, const void *id, size_t id_size,
                     uint64_t ttl, const void *payload, size_t payload_size,
                     unsigned how);

/* Stops a timer and forgets it. True: it was there, and does not fire [P5]. */
bool lawn_store_stop(struct lawn_store *store, const void *id, size_t id_size);

/* Looks a timer up. True: it is there, and out tells of it [S4]. out may be
 * NULL. */
bool lawn_store_get(const struct lawn_store *store, const void *id,
                    size_t id_size, struct lawn_store_timer *out);

/* Looks at the timer that is due first, at lawn_store_next(), which stays; of
 * several that are due then, at one that P4 lets fire first, as lawn_next_timer()
 * does. True: there is one, and out tells of it [S4]. To evict it, hand its id to
 * lawn_store_stop(). out may be NULL. Costs what lawn_next_timer() does. */
bool lawn_store_next_timer(struct lawn_store *store,
                           struct lawn_store_timer *out);

/* Gives a timer another payload. Its deadline, and its place among timers of
 * the same deadline, stay. 0, or -ENOENT if there is no such timer; -EINVAL,
 * -ENOSPC, -ENOMEM as at lawn_store_start(). */
int lawn_store_update(struct lawn_store *store, const void *id, size_t id_size,
                      const void *payload, size_t payload_size);

/* Restarts a timer, which keeps its payload: it will be due at now + ttl, or at
 * a deadline. True: it is there. */
bool lawn_store_touch(struct lawn_store *store, const void *id, size_t id_size,
                      uint64_t ttl);
bool lawn_store_touch_at(struct lawn_store *store, const void *id,
                         size_t id_size, uint64_t deadline);

/* Called by lawn_store_mow() for each timer that fires, with mow's own arg.
 * The timer has left the store; what *timer tells stays until the callback
 * returns [S3]. To run it again, start it again: with timer->id and
 * timer->payload, if you like. That may fail as any start, and then the timer is
 * gone; where it must not, limit the number of timers, or leave a few blocks of
 * 64 KiB below the limit of bytes. Pass the store in arg. */
typedef void lawn_store_fire_fn(const struct lawn_store_timer *timer,
                                void *arg);

/* Moves the clock to now and fires timers with a deadline <= now, at most
 * budget of them, as lawn_mow() does, and returns how many this call fired.
 * Unlike lawn_mow() it may be called in a callback, and then goes on where the
 * mow outside has got to: the timers it fires, that one does not. At the last
 * tick, LAWN_NEVER - 1, what a callback starts is due at once, and may fire in
 * the mow under way; but a mow fires no more timers there than there were when
 * it began. */
size_t lawn_store_mow(struct lawn_store *store, uint64_t now, size_t budget,
                      lawn_store_fire_fn *fire, void *arg);

/* The same for one timer and without a callback: takes the earliest timer with
 * a deadline <= now out of the store. False: there is none. What *out tells
 * stays until the next pop, or lawn_store_free(). out may be NULL. */
bool lawn_store_pop(struct lawn_store *store, uint64_t now,
                    struct lawn_store_timer *out);

/* As in lawn.h: the clock; the earliest deadline, LAWN_NEVER if there is none;
 * how many timers there are. */
void lawn_store_set_now(struct lawn_store *store, uint64_t now);
uint64_t lawn_store_now(const struct lawn_store *store);
uint64_t lawn_store_next(struct lawn_store *store);
uint64_t lawn_store_count(const struct lawn_store *store);

/* The memory that the store has from its allocator, all told. O(1). */
size_t lawn_store_bytes(const struct lawn_store *store);

/* The lawn inside, to look at: its statistics, lawn_count_unqueued(). A clear, and a
 * load of overdue timers, begin with a new one. */
const struct lawn *lawn_store_lawn(const struct lawn_store *store);

/* Tells the timers one by one, in no particular order: begin with a cursor of
 * 0, and go on while it returns true. Between two calls anything may happen to
 * the store [S8]; a timer that is started meanwhile may be told or not; a
 * start that replaces, an update or a touch leaves a timer where it is. The
 * cursor is a plain number that needs no clean-up. out may be NULL. O(1) on the
 * average over a whole iteration, which takes O(timers and memory). */
bool lawn_store_iterate(const struct lawn_store *store, uint64_t *cursor,
                        struct lawn_store_timer *out);

/* Prepares the table for so many timers, so that none of them pays for its
 * growth; it does not shrink below that any more. 0 takes it back. 0, -ENOSPC
 * or -ENOMEM: then the table may be left somewhat larger than it was. O(timers).
 */
int lawn_store_reserve(struct lawn_store *store, uint64_t timers);

/* Other limits: at most so many timers, and so many bytes as told by
 * lawn_store_bytes(); 0: no limit. What there is stays, even if it is more. */
void lawn_store_set_limits(struct lawn_store *store, uint64_t max_timers,
                           size_t max_bytes);

/* Forgets all timers without firing them, and gives their memory back. The
 * clock and the limits stay. Cannot fail. O(timers). */
void lawn_store_clear(struct lawn_store *store);

/* SNAPSHOTS hold the ids, payloads, deadlines and TTLs of all timers, in a
 * format that is the same on every machine. Deadlines are absolute: they mean
 * the same where the clock does, so take a clock that outlives the machine,
 * such as CLOCK_REALTIME, if a snapshot is to do so. The format is described in
 * docs/SNAPSHOT.md. */

/* What is wrong with a snapshot. */
enum lawn_store_error {
    LAWN_STORE_NOT_A_SNAPSHOT = -10001, /* it begins otherwise */
    LAWN_STORE_TOO_NEW = -10002, /* its version is newer than this library's */
    LAWN_STORE_TRUNCATED = -10003, /* it ends too early */
    LAWN_STORE_DAMAGED = -10004,   /* a checksum is wrong */
    LAWN_STORE_NONSENSE = -10005,  /* checksums are right, but it says what
                                           no store can have said */
    LAWN_STORE_TRAILING = -10006   /* a file goes on after its end */
};

/* Writes all of size bytes. 0, or an error below 0, which ends the save. */
typedef int lawn_store_write_fn(const void *bytes, size_t size, void *arg);

/* Reads up to size bytes and returns how many; 0 at the end; an error below 0,
 * which ends the load. */
typedef ptrdiff_t lawn_store_read_fn(void *bytes, size_t size, void *arg);

/* Writes a snapshot. 0, -ENOMEM, or what write returned, in which case part of
 * it may have been written. write must not change the store. O(timers and
 * their bytes), without sorting; its buffer of 64 KiB does not count towards the
 * limit of the store. */
int lawn_store_save(struct lawn_store *store, lawn_store_write_fn *write,
                    void *arg);

/* Reads a snapshot into a store that holds no timers, and no further than to
 * its end. The clock stays as it is: tell the store the time first. Timers
 * keep their deadlines, and overdue ones fire in the next mow, in order [P4]. But
 * in a callback all overdue timers get the deadline now + 1 [P6]: those that had
 * different deadlines may then fire in any order, also if their TTLs are the same;
 * those of one TTL and one deadline keep their order. read must not touch the store. 0;
 * -ENOTEMPTY if there are timers; an enum lawn_store_error; -ENOMEM, -ENOSPC;
 * or what read returned. Unless 0, the store is as it was [S2]. O(timers and
 * their bytes). Takes memory O(what was read) meanwhile, whatever it claims;
 * buffers do not count towards the limit of the store. The timers may take
 * somewhat more memory than in the store that was saved. */
int lawn_store_load(struct lawn_store *store, lawn_store_read_fn *read,
                    void *arg);

/* The same with a file. save_file() writes path.tmp-XXXXXX beside it, flushes
 * it to disk, and renames it, so that path is the old snapshot or the new one,
 * whole, whatever happens meanwhile; on an error it removes what it wrote, and
 * path is as it was, unless all went well but that the folder could not be
 * flushed. A new file gets the mode that the umask leaves of 0666; one that
 * replaces another, the mode of that, and its owner and group if they may be
 * given. A symbolic link is replaced; -EISDIR or -EINVAL if path is no file. */
int lawn_store_save_file(struct lawn_store *store, const char *path);
int lawn_store_load_file(struct lawn_store *store, const char *path);

/* SipHash-1-3 of any bytes under a key: what ids are found by, for tables of your
 * own [S6]. The same on every machine. O(size). */
uint64_t lawn_hash(const uint64_t key[2], const void *bytes, size_t size);

/* What an error means, in a few words. */
const char *lawn_store_strerror(int error);

#if !defined LAWN_FREESTANDING
/* Walks everything and tells whether all invariants hold, as lawn_check().
 * Allowed at any time. O(everything). */
bool lawn_store_check(const struct lawn_store *store, FILE *out);
#endif

#ifdef __cplusplus
}
#endif
#endif
