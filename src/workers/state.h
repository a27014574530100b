/* state.h - the one word that decides what becomes of a timer.
 *
 * Its bits are LAWN_STATE_RUN and so on; comments leave out the prefix:
 *
 *   RUN    it is running: it will fire unless someone stops it
 *   LAWN   the lawn of its shard may refer to it
 *   MAIL   it is in the mailbox of its shard, or about to be put there
 *   REQ    a start waits in when, ttl and shard: for who takes the mail, or, without
 *          MAIL, until the timer comes up on the lawn; without RUN, it was stopped
 *          before that
 *   DUE    the lawn has it no later than for the start in when
 *   CLAIM  a thread is writing these, and putting the timer into the mail, for a
 *          start: nobody else changes the word
 *   and the number of its shard + 1, 0 if it has none; and a version
 *
 * A timer is held while LAWN or MAIL is set, and free otherwise: then nothing of
 * ours refers to it, but shard->firing while its callback runs, or left() for it.
 *
 *                        start, local
 *          +---------------------------------------------+
 *          |                                             v
 *        free <---- fire (and the callback) ------- RUN LAWN <---- take
 *        |  ^ ^---- stop, local ------------------------ |  |         |
 *        |  |                                stop, remote|  |         |
 *        |  +------ comes up on the lawn ---- LAWN <-----+  |         |
 *        |                                     |            |         |
 *        | start, remote                       | start, remote        |
 *        +------------------+------------------+------------+         |
 *                           v                                         |
 *                         CLAIM ---> RUN MAIL REQ (LAWN) -------------+
 *                                     |        ^
 *                         stop        v        | start, by way of CLAIM
 *                                  MAIL REQ (LAWN) ----> take: LAWN; or free,
 *                                     |                  if it was to move
 *                    stop_sync        v
 *                                    MAIL (LAWN) ------> take: free
 *
 *   A remote start of a timer that is LAWN and DUE, and not MAIL, and due no
 *   earlier than the one before, needs no mail: it becomes RUN LAWN REQ DUE, and
 *   when it comes up on the lawn it goes back there for its new deadline. Most
 *   timers that other threads start again are of this kind, and then their worker
 *   hears of one start out of many. LAWN without MAIL therefore means that it is
 *   on the lawn: who takes it off, and then finds the word changed, puts it back.
 *
 *   RUN LAWN MAIL, without REQ, is a start in the mail that a local one has
 *   overtaken: who takes it leaves the timer where it is. If it comes up before
 *   that, it is RUN MAIL, and due, and goes back on the lawn when it is taken: a
 *   timer with mail does not fire, since its callback may free it.
 *
 * WHO MAY CHANGE IT. Anyone, by compare-and-swap from a word without CLAIM; while
 * CLAIM is set, only the thread that set it, which ends it by a plain store. So
 * fired and stopped exclude each other [C1 C2]: both take RUN away, and one
 * compare-and-swap succeeds. Nobody waits for CLAIM to end: an operation that
 * finds it counts as having come just before the start that is being written,
 * which would undo it. Only lawn_workers_stop_sync(), which waits anyway, waits;
 * and the worker that finds a claimed timer in the mail puts it aside for its
 * next round. The timer goes into the mail before the claim ends. Only a start may
 * claim, and one that has claimed is not refused any more: what else finds the word
 * claimed relies on both. So a start that will put the timer into the mail has
 * passed a gate, see gate.h. Others need none: who clears the lawn, or takes the
 * mail that the timer is in, waits for the claim to end. Whether there will be mail
 * is known before the claim, since when is then what it was, if the swap succeeds.
 *
 * UNSHARED TIMERS. As long as shared is 0, the worker that runs the timer's shard
 * is the only one to change the word, and does so by a plain store [C5]. The
 * first other thread to touch the timer takes this right away:
 *
 *      the worker                         the other
 *      shard->hand = timer                 timer->shared = 1
 *      LIGHT                              HEAVY
 *      if timer->shared == 0              while shard->hand == timer: yield
 *          timer->state = next            timer->shared = 2
 *      else compare-and-swap              compare-and-swap
 *      shard->hand = NULL
 *
 * One of the two sees the other's first store: the worker does not use the right
 * any more, or the other waits until it is done. So from shared == 2 on there
 * are no plain stores under way. The right is given by the compare-and-swap that
 * puts a timer without a shard on a lawn, and goes with the shard from worker to
 * worker.
 *
 * MEMORY ORDER. Each change is a release and each look an acquire: who sees a
 * timer free sees all that was done to it. when, ttl and shard are written
 * between the claim and its end, which is a release; who takes the mail reads
 * them after an acquire of the word, and uses them only if its compare-and-swap
 * of that very word succeeds: the version, which each claim's end counts up, says
 * that nobody wrote them in the meantime. That is a seqlock; the three are
 * relaxed atomics, since a losing reader may read while a writer writes. */
#ifndef LAWN_WORKERS_STATE_H
#define LAWN_WORKERS_STATE_H

#include "atomic.h"
#include "park.h"
#include "workers.h"

#define LAWN_STATE_RUN UINT64_C(1)
#define LAWN_STATE_LAWN UINT64_C(2)
#define LAWN_STATE_MAIL UINT64_C(4)
#define LAWN_STATE_REQ UINT64_C(8)
#define LAWN_STATE_CLAIM UINT64_C(16)
#define LAWN_STATE_DUE UINT64_C(32)
#define LAWN_STATE_FLAGS UINT64_C(63)
#define LAWN_STATE_HELD (LAWN_STATE_LAWN | LAWN_STATE_MAIL)

#define LAWN_STATE_SHARD_SHIFT 8
#define LAWN_STATE_SHARD_MASK (UINT64_C(0xfff) << LAWN_STATE_SHARD_SHIFT)
#define LAWN_STATE_VERSION (UINT64_C(1) << 20)

/* Values of timer->shared. */
enum { LAWN_STATE_UNSHARED, LAWN_STATE_SHARING, LAWN_STATE_SHARED };

/* The shard that a word names, or NULL. */
static inline struct lawn_shard *
lawn__state_shard(const struct lawn_workers *set, uint64_t state)
{
    uint64_t number = (state & LAWN_STATE_SHARD_MASK) >> LAWN_STATE_SHARD_SHIFT;
    if (number > LAWN_ATOMIC_LOAD(&set->count, LAWN_ACQUIRE)) {
        /* Of another set, and free: here that shard may just be being made. */
        LAWN_ASSERT((state & LAWN_STATE_HELD) == 0,
                    "a timer that another set keeps, or that was not zeroed");
        return NULL;
    }
    return number == 0 ? NULL : set->shards[number - 1];
}

/* A word with other flags and another shard. */
static inline uint64_t
lawn__state_with(uint64_t state, const struct lawn_shard *shard, uint64_t flags)
{
    return (state & ~(LAWN_STATE_FLAGS | LAWN_STATE_SHARD_MASK)) | flags |
           shard->word;
}

static inline uint64_t
lawn__state_load(const struct lawn_workers_timer *timer)
{
    return LAWN_ATOMIC_LOAD(&timer->state, LAWN_ACQUIRE);
}

/* Changes the word from *seen to next; or, if it is not *seen any more, nothing,
 * and then *seen is what it is. */
static inline bool
lawn__state_swap(struct lawn_workers_timer *timer, uint64_t *seen,
                 uint64_t next)
{
    return LAWN_ATOMIC_CAS(&timer->state, seen, next, LAWN_SEQ_CST);
}

/* The same on the worker that runs the shard, which the word names. */
static inline bool
lawn__state_change(struct lawn_shard *shard, struct lawn_workers_timer *timer,
                   uint64_t *seen, uint64_t next)
{
    bool changed = true;
    if (!shard->set->asymmetric) {
        return lawn__state_swap(timer, seen, next);
    }
    LAWN_ATOMIC_STORE(&shard->hand, timer, LAWN_RELEASE);
    LAWN_FENCE_LIGHT();
    if (LAWN_ATOMIC_LOAD(&timer->shared, LAWN_ACQUIRE) == LAWN_STATE_UNSHARED) {
        LAWN_ATOMIC_STORE(&timer->state, next, LAWN_RELEASE);
    } else {
        changed = lawn__state_swap(timer, seen, next);
    }
    /* A release, so that who sees it sees the store above. */
    LAWN_ATOMIC_STORE(&shard->hand, NULL, LAWN_RELEASE);
    return changed;
}

/* Takes the timer's worker the right to plain stores. */
void lawn__state_share(struct lawn_workers *set,
                       struct lawn_workers_timer *timer);

/* Writes a request; the timer is claimed. Without mail nobody asks for the TTL,
 * which may be in another line of the cache. */
static inline void
lawn__state_write_request(struct lawn_workers_timer *timer,
                          const struct lawn_request *request, bool by_mail)
{
    LAWN_ATOMIC_STORE(&timer->when, request->when, LAWN_RELAXED);
    LAWN_ATOMIC_STORE(&timer->shard, request->shard->number, LAWN_RELAXED);
    if (by_mail) {
        LAWN_ATOMIC_STORE(&timer->ttl, request->ttl, LAWN_RELAXED);
    }
}

/* The word of a timer with a request in the mail of a shard; it was seen. */
static inline uint64_t
lawn__state_posted(uint64_t seen, const struct lawn_shard *shard)
{
    return lawn__state_with(seen, shard,
                            LAWN_STATE_RUN | LAWN_STATE_MAIL | LAWN_STATE_REQ |
                                (seen & LAWN_STATE_LAWN)) +
           LAWN_STATE_VERSION;
}

#endif
