/* mailbox.c - the mailbox and the way to sleep, under weaker memory orders.
 *
 * CBMC does not support threads together with pointers, so this is a model of
 * src/workers/mailbox.c with indices for timers, 0 for NULL. The fences are
 * where the code has its memory orders: PUSH_RELEASE for the release of the
 * compare-and-swap in lawn__mailbox_push(), SLEEP_FENCE and POST_FENCE for the
 * sequential consistency of wake_at and head (src/workers/worker.c, FALLING
 * ASLEEP). Each property is proved for sequential consistency (sc), for delayed
 * stores (tso), and for reordered stores (pso).
 *
 * @without --pointer-check: indices; CBMC refuses pointers shared by threads
 * @without --pointer-overflow-check: as above
 * @without --bounds-check: as above; the indices are proved to be timers
 * @covers push post_and_wake take_all
 * @flags --unwind 4 --no-standard-checks
 *
 * @proof mailbox_sc
 * @flags --mm sc
 * @proof mailbox_tso
 * @flags --mm tso
 * @proof mailbox_pso
 * @flags --mm pso
 * @proof sleep_sc
 * @flags --mm sc
 * @proof sleep_tso
 * @flags --mm tso
 * @proof sleep_pso
 * @flags --mm pso */
#include "proof.h"

/* Fences of CBMC: earlier accesses before later stores; or all before all. */
#define PUSH_RELEASE() __CPROVER_fence("WWfence", "RWfence")
#define TAKE_ACQUIRE() __CPROVER_fence("RRfence", "RWfence")
#define SLEEP_FENCE()                                                          \
    __CPROVER_fence("WWfence", "WRfence", "RRfence", "RWfence")
#define POST_FENCE() SLEEP_FENCE()

/* Two timers, by number: head, the link of each, and the value that its pusher
 * stored in it before the push. */
unsigned head;
unsigned next_1, next_2;
unsigned when_1, when_2;
unsigned done_1, done_2; /* the push has returned */

/* lawn__mailbox_push(): at most one other push and one take happen in
 * between. */
static void
push(unsigned timer)
{
    unsigned seen = head;
    bool done = false;

    for (unsigned try = 0; try < 3; try++) {
        if (timer == 1) {
            next_1 = seen;
        } else {
            next_2 = seen;
        }
        PUSH_RELEASE();
        __CPROVER_atomic_begin();
        if (head == seen) {
            head = timer;
            done = true;
        } else {
            seen = head;
        }
        __CPROVER_atomic_end();
        if (done) {
            break;
        }
    }
    PROVE(done, "three attempts are enough");
}

static void
push_1(void)
{
    when_1 = 11;
    push(1);
    PUSH_RELEASE();
    done_1 = 1;
}

static void
push_2(void)
{
    when_2 = 22;
    push(2);
    PUSH_RELEASE();
    done_2 = 1;
}

/* take_all(), and the walk over the timers; returns how many there were. */
static unsigned
take_all(void)
{
    unsigned seen, many = 0;

    __CPROVER_atomic_begin();
    seen = head;
    head = 0;
    __CPROVER_atomic_end();
    TAKE_ACQUIRE();
    for (; seen != 0 && many < 3; many++) {
        PROVE(seen == 1 ? when_1 == 11 : when_2 == 22,
              "a taken timer has the value that its pusher stored");
        seen = seen == 1 ? next_1 : next_2;
    }
    PROVE(many < 3, "no timer comes twice");
    return many;
}

static void
mailbox(void)
{
__CPROVER_ASYNC_1:
    push_1();
__CPROVER_ASYNC_2:
    push_2();
    unsigned many = take_all();
    ASSUME(done_1 == 1);
    ASSUME(done_2 == 1);
    TAKE_ACQUIRE();
    many += take_all();
    PROVE(many == 2, "no timer is lost, and none is taken twice");
    PROOF_END();
}

void
mailbox_sc(void)
{
    mailbox();
}

void
mailbox_tso(void)
{
    mailbox();
}

void
mailbox_pso(void)
{
    mailbox();
}

/* The worker announces its sleep, then reads the mailbox. A poster puts the
 * timer into the mailbox, then checks whether the worker sleeps. */
unsigned wake_at;
unsigned asleep, woken, posted, looked;

static void
post_and_wake(void)
{
    unsigned at;

    __CPROVER_atomic_begin();
    head = 1;
    __CPROVER_atomic_end();
    POST_FENCE();
    at = wake_at;
    __CPROVER_atomic_begin();
    woken = at != 0;
    posted = 1;
    PROVE(!(looked && asleep && !woken), "no wake-up is lost [C7]");
    __CPROVER_atomic_end();
}

static void
handshake(void)
{
    unsigned mail;

__CPROVER_ASYNC_1:
    post_and_wake();
    wake_at = 1;
    SLEEP_FENCE();
    mail = head;
    __CPROVER_atomic_begin();
    asleep = mail == 0;
    looked = 1;
    PROVE(!(posted && asleep && !woken), "no wake-up is lost [C7]");
    __CPROVER_atomic_end();
    PROOF_END();
}

void
sleep_sc(void)
{
    handshake();
}

void
sleep_tso(void)
{
    handshake();
}

void
sleep_pso(void)
{
    handshake();
}
