/* state.h - the state word of a timer.
 *
 * Its bits are LAWN_STATE_RUN and so on; comments omit the prefix:
 *
 *   RUN    the timer is running: it fires unless it is stopped
 *   LAWN   the lawn of its shard may refer to it
 *   MAIL   it is in the mailbox of its shard, or about to be put there
 *   REQ    `when`, `shard` and, with MAIL, `ttl` contain a start. With MAIL, it
 *          takes effect when the timer is taken from the mailbox; without MAIL,
 *          when the lawn fires the timer. Without RUN, the timer was stopped
 *          after that start
 *   DUE    the lawn fires the timer no later than at `when`
 *   LATE   the lawn fires the timer at most `ttl` ticks after this bit was set.
 *          Not set together with DUE
 *   CLAIM  a thread is writing a start into the fields of REQ, and puts the
 *          timer into the mailbox if necessary. No other thread changes the
 *          word
 *   The other bits are the number of its shard + 1, or 0 if it has none, and a
 *   version.
 *
 * A timer is held while LAWN or MAIL is set, and free otherwise. The library
 * does not refer to a free timer, except for shard->firing while its callback
 * or left() runs. Below, a bit in parentheses may be set, and "take" is taking
 * the timer from the mailbox:
 *
 *                        start, local
 *          +---------------------------------------------+
 *          |                                             v
 *        free <---- fire (and the callback) ------- RUN LAWN <---- take
 *        |  ^ ^---- stop, local ------------------------ |  |         |
 *        |  |                                stop, remote|  |         |
 *        |  +------ the lawn fires it ------- LAWN <-----+  |         |
 *        |                                     |            |         |
 *        | start, remote                       | start, remote        |
 *        +------------------+------------------+------------+         |
 *                           v                                         |
 *                         CLAIM ---> RUN MAIL REQ (LAWN) -------------+
 *                                     |        ^
 *                         stop        v        | start, through CLAIM
 *                                  MAIL REQ (LAWN) ----> take: LAWN; or free,
 *                                     |      if the start was for another shard
 *                    stop_sync        v
 *                                    MAIL (LAWN) ------> take: free
 *
 * A remote start needs no mail if the timer has LAWN but not MAIL, and the lawn
 * fires it no later than at the new deadline. With DUE, that is so if the new
 * deadline is not before `when`. With LATE, that is so if the new TTL is not
 * shorter than `ttl`, because the new TTL also begins later: the thread reads
 * the clock after it has seen LATE. The word becomes RUN LAWN REQ DUE; when the
 * lawn fires the timer, the worker puts it back with its new deadline. Such
 * starts rely on M1. So a thread that removes a timer from the lawn, and then
 * finds that the word has changed, must put it back.
 *
 * RUN LAWN MAIL without REQ: a local start has replaced the start in the
 * mailbox. Taking the mail leaves the timer on the lawn. If the lawn fires the
 * timer before the mail is taken, its callback is not called, because the
 * callback might free a timer that is in a mailbox. Instead the word becomes
 * RUN MAIL, and the timer returns to the lawn when it is taken.
 *
 * ACCESS. Any thread may change the word by compare-and-swap, unless CLAIM is
 * set. The thread that set CLAIM ends the claim by a plain store, after it has
 * put the timer into the mailbox. A timer cannot both fire and be stopped [C1
 * C2]: both clear RUN, and only one compare-and-swap succeeds. A start or stop
 * that finds a claim does not wait: it counts as done just before the claiming
 * start, which overrides it. lawn_workers_stop_sync() and the thread that
 * clears the lawn wait for the claim to end. A worker that finds a claimed
 * timer in the mailbox retries in its next round.
 *
 * Only a start may claim, and after the claim it cannot fail; operations that
 * find the claim rely on both. So a start that will put the timer into a
 * mailbox enters a gate first (gate.h). Other starts need no gate: the timer is
 * on the lawn or in the mailbox, and the thread that closes the set waits for
 * its claim to end. The start decides before the claim whether it needs mail.
 * If the compare-and-swap of the claim succeeds, the `when` and `ttl` that it
 * has read are still current.
 *
 * UNSHARED TIMERS. This needs LAWN_FENCE_HEAVY. While timer->shared is 0, only
 * the worker that runs the timer's shard changes the word, by a plain store
 * [C5]. The first other thread to access the timer revokes this right:
 *
 *      the worker                         the other thread
 *      shard->hand = timer                timer->shared = 1
 *      LIGHT                              HEAVY
 *      if timer->shared == 0              while shard->hand == timer: yield
 *          timer->state = next            timer->shared = 2
 *      else compare-and-swap              compare-and-swap
 *      shard->hand = NULL
 *
 * At least one of the two sees the first store of the other. So once shared ==
 * 2, no plain store is in progress. A worker gets the right when it puts a
 * timer that has no shard yet on its lawn, by a compare-and-swap. The right
 * belongs to the shard and moves with it from worker to worker.
 *
 * MEMORY ORDER. Each change is a release and each load an acquire. So a thread
 * that sees a timer free sees all writes to it. `when`, `ttl` and `shard` are
 * written between the claim and its end. The thread that takes the mail reads
 * them after loading the word, and uses them only if its compare-and-swap of
 * the same word succeeds. Each end of a claim increments the version, so a
 * successful swap proves that the fields were not written in between, as in a
 * seqlock. The fields are relaxed atomics, because a reader that will fail may
 * read them while a thread writes. */
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
#define LAWN_STATE_LATE UINT64_C(64)
#define LAWN_STATE_FLAGS UINT64_C(127)
#define LAWN_STATE_HELD (LAWN_STATE_LAWN | LAWN_STATE_MAIL)
#define LAWN_STATE_BOUND (LAWN_STATE_DUE | LAWN_STATE_LATE)

#define LAWN_STATE_SHARD_SHIFT 8
#define LAWN_STATE_SHARD_MASK (UINT64_C(0xfff) << LAWN_STATE_SHARD_SHIFT)
#define LAWN_STATE_VERSION (UINT64_C(1) << 20)

/* Values of timer->shared. */
enum { LAWN_STATE_UNSHARED, LAWN_STATE_SHARING, LAWN_STATE_SHARED };

static inline struct lawn_shard *
lawn__state_shard(const struct lawn_workers *set, uint64_t state)
{
    uint64_t number = (state & LAWN_STATE_SHARD_MASK) >> LAWN_STATE_SHARD_SHIFT;
    if (number > LAWN_ATOMIC_LOAD(&set->count, LAWN_ACQUIRE)) {
        /* The timer is free and was last used in another set. This set may not
         * have a shard with that number. */
        LAWN_ASSERT((state & LAWN_STATE_HELD) == 0,
                    "a timer is held by another set, or was not zeroed");
        return NULL;
    }
    return number == 0 ? NULL : set->shards[number - 1];
}

/* Returns the word with its flags and its shard replaced. */
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

/* If the word is no longer *seen, changes nothing, sets *seen to the word and
 * returns false. */
static inline bool
lawn__state_swap(struct lawn_workers_timer *timer, uint64_t *seen,
                 uint64_t next)
{
    return LAWN_ATOMIC_CAS(&timer->state, seen, next, LAWN_SEQ_CST);
}

/* Like lawn__state_swap(), for the worker that runs the shard of the word. */
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
    /* A release, so that a thread that sees NULL sees the store above. */
    LAWN_ATOMIC_STORE(&shard->hand, NULL, LAWN_RELEASE);
    return changed;
}

/* Revokes the owning worker's right to use plain stores. */
void lawn__state_share(struct lawn_workers *set,
                       struct lawn_workers_timer *timer);

/* The timer must be claimed. Without mail the TTL is not written, because it is
 * unused and may be in another cache line. */
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

/* Returns the word that replaces `seen` once a request has been posted to the
 * shard. */
static inline uint64_t
lawn__state_posted(uint64_t seen, const struct lawn_shard *shard)
{
    return lawn__state_with(seen, shard,
                            LAWN_STATE_RUN | LAWN_STATE_MAIL | LAWN_STATE_REQ |
                                (seen & LAWN_STATE_LAWN)) +
           LAWN_STATE_VERSION;
}

#endif
