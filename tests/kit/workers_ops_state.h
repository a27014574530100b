/* workers_ops_state.h - what the interpreter of operations on a set of workers
 * knows, and what its files do for each other: see workers_ops.c. */
#ifndef LAWN_TESTS_WORKERS_OPS_STATE_H
#define LAWN_TESTS_WORKERS_OPS_STATE_H

#include "workers_ops.h"

#include "lawn_workers.h"
#include "script.h"

#define WORKERS_OPS_MAX 4u /* workers */
#define WORKERS_OPS_NOBODY WORKERS_OPS_MAX
#define WORKERS_OPS_TTLS 64u

struct workers_ops;

struct ops_timer {
    struct lawn_workers_timer timer;
    struct workers_ops *ops;
    uint32_t number;
};

/* What should be so. */
struct should {
    bool running;
    bool refers;    /* the library may refer to it [C3] */
    bool sure;      /* it is on the worker, and nowhere on the way */
    bool mailed;    /* its start may not have been taken yet */
    unsigned on;    /* WORKERS_OPS_NOBODY: not known */
    uint64_t ttl;   /* 0: it was started with a deadline */
    uint64_t due;   /* it fires not before that */
    uint64_t late;  /* and not after that; see workers_ops_late_of() */
    uint64_t floor; /* nor before that */
};

struct seat {
    struct lawn_worker *worker; /* NULL: free */
    unsigned number;
    bool leaving;   /* asked to end */
    bool asleep;    /* it has done nothing since its last turn */
    uint64_t until; /* what that returned */
};

/* Which worker the timers of a TTL went to, since the last one came or went. */
struct ttl_owner {
    uint64_t ttl;
    unsigned on;
};

struct workers_ops {
    struct script script;
    bool calm;    /* the clock hardly moves */
    bool nosy;    /* look at the descriptors */
    bool careful; /* check after every operation */

    struct lawn_workers *set; /* NULL: there was no memory for it */
    bool by_ttl;
    uint64_t resolution;
    uint64_t clock;
    struct seat seats[WORKERS_OPS_MAX];
    unsigned self;
    uint32_t many;
    struct ops_timer **timers;
    struct should *should;
    struct ops_timer *firing;
    unsigned fires_on; /* who fires it */
    bool stable;       /* all have turned since the last came or went */
    uint64_t
        latest; /* what mail counts from at least: see workers_ops_late_of() */
    struct ttl_owner owners[WORKERS_OPS_TTLS];

    uint64_t fires;   /* of this set */
    uint64_t left;    /* by the close under way */
    uint64_t own;     /* allocations made here */
    uint64_t foreign; /* and elsewhere, when memory was last needed */
    uint64_t unchecked;
};

/* workers_ops_oracle.c */

/* How often memory was refused; how often others than we have asked for it. */
uint64_t workers_ops_refusals(const struct workers_ops *ops);
uint64_t workers_ops_allocations(const struct workers_ops *ops);

/* Of a worker, or of none. */
const char *workers_ops_name_of(unsigned who);

/* Makes the thread a worker, or none. */
void workers_ops_be(struct workers_ops *ops, unsigned who);

/* Those that are not to leave. */
unsigned workers_ops_count_workers(const struct workers_ops *ops);

/* When a timer fires at the latest. A start in the mail counts from the time at
 * which it was made; or from that of a later start which was taken before it, or
 * from the time of the worker's last round. */
uint64_t workers_ops_late_of(const struct workers_ops *ops,
                             const struct should *s);

/* In a callback mail may be taken, but what is due by then has to wait for the
 * next tick, as whatever a callback starts [P6]. */
void workers_ops_take_in_callback(struct workers_ops *ops);

/* We are about to do something as a worker, which may take mail. */
void workers_ops_may_take_mail(struct workers_ops *ops, unsigned who);

/* It has been taken by now. */
void workers_ops_taken(const struct workers_ops *ops, struct should *s);

/* Lawns may have changed hands: where timers are is not known any more. */
void workers_ops_forget_places(struct workers_ops *ops);

/* What is the same after every operation. */
void workers_ops_compare(struct workers_ops *ops);

/* Whether a worker's descriptor is readable. */
bool workers_ops_is_called(const struct workers_ops *ops, unsigned who);

/* workers_ops_timers.c */

enum start_how { START_TTL, START_AT, START_ON };

/* Makes it if there is none; and frees it. */
struct ops_timer *workers_ops_timer_of(struct workers_ops *ops, uint32_t i);
void workers_ops_free_timer(struct workers_ops *ops, uint32_t i);

/* Operations on timers. */
void workers_ops_start(struct workers_ops *ops, uint32_t i, enum start_how how,
                       uint64_t value, unsigned named);
void workers_ops_stop(struct workers_ops *ops, uint32_t i);

/* Only where it does not wait for one who takes no turns. */
void workers_ops_stop_sync(struct workers_ops *ops, uint32_t i, bool gone);

/* Of one byte for the timer, and more for the rest. */
void workers_ops_start_any(struct workers_ops *ops, uint32_t i, uint8_t how);

/* Takes the number of a timer from the script. */
uint32_t workers_ops_take_timer(struct workers_ops *ops);

#endif
