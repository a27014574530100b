/* workers_ops_state.h - the state of the interpreter of operations on a set of
 * workers, and the functions that its files share: see workers_ops.c. */
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

/* The expected state of a timer. */
struct should {
    bool running;
    bool refers;    /* the library may refer to it [C3] */
    bool sure;      /* it is on the worker, not in transit */
    bool mailed;    /* its message may not have been taken yet */
    unsigned on;    /* the owning worker; WORKERS_OPS_NOBODY: not known */
    uint64_t ttl;   /* 0: started with a deadline */
    uint64_t due;   /* earliest time to fire */
    uint64_t late;  /* latest time to fire; see workers_ops_late_of() */
    uint64_t floor; /* another lower bound of the time to fire */
};

struct seat {
    struct lawn_worker *worker; /* NULL: free */
    unsigned number;
    bool leaving;   /* asked to end */
    bool asleep;    /* it has done nothing since its last turn */
    uint64_t until; /* the time that turn returned */
};

/* The worker that got the timers of a TTL, since the last change of workers. */
struct ttl_owner {
    uint64_t ttl;
    unsigned on;
};

struct workers_ops {
    struct script script;
    bool calm;    /* the clock hardly moves */
    bool nosy;    /* check the descriptors */
    bool careful; /* check after every operation */

    struct lawn_workers *set; /* NULL: no memory for it */
    bool by_ttl;
    uint64_t resolution;
    uint64_t clock;
    struct seat seats[WORKERS_OPS_MAX];
    unsigned self;
    uint32_t many;
    struct ops_timer **timers;
    struct should *should;
    struct ops_timer *firing;
    unsigned fires_on; /* the firing worker */
    bool stable;       /* all have turned since the last change of workers */
    uint64_t latest;   /* lower bound for messages: see workers_ops_late_of() */
    struct ttl_owner owners[WORKERS_OPS_TTLS];

    uint64_t fires;   /* of this set */
    uint64_t left;    /* passed to left() by the current close */
    uint64_t own;     /* allocations made by the interpreter */
    uint64_t foreign; /* other allocations, when memory was last needed */
    uint64_t unchecked;
};

/* workers_ops_oracle.c */

/* Return the number of refused requests, and of requests by other code. */
uint64_t workers_ops_refusals(const struct workers_ops *ops);
uint64_t workers_ops_allocations(const struct workers_ops *ops);

/* Returns the name of a worker, or of none. */
const char *workers_ops_name_of(unsigned who);

/* Makes the thread a worker, or none. */
void workers_ops_be(struct workers_ops *ops, unsigned who);

/* Returns the number of workers that are not about to leave. */
unsigned workers_ops_count_workers(const struct workers_ops *ops);

/* Returns the latest time at which a timer fires. A start in the mailbox counts
 * from the time of the start; or from that of a later start that was taken
 * before it; or from the time of the worker's last round. */
uint64_t workers_ops_late_of(const struct workers_ops *ops,
                             const struct should *s);

/* In a callback messages may be taken, but timers due by then have to wait for
 * the next tick, like all timers started by a callback [P6]. */
void workers_ops_take_in_callback(struct workers_ops *ops);

/* The thread is about to act as a worker, which may take messages. */
void workers_ops_may_take_mail(struct workers_ops *ops, unsigned who);

/* Records that the message has been taken by now. */
void workers_ops_taken(const struct workers_ops *ops, struct should *s);

/* Lawns may have moved between workers: forgets which worker has a timer. */
void workers_ops_forget_places(struct workers_ops *ops);

/* Checks that must hold after every operation. */
void workers_ops_compare(struct workers_ops *ops);

/* Returns whether a worker's descriptor is readable. */
bool workers_ops_is_called(const struct workers_ops *ops, unsigned who);

/* workers_ops_timers.c */

enum start_how { START_TTL, START_AT, START_ON };

/* Returns a timer, which is allocated if necessary; frees it. */
struct ops_timer *workers_ops_timer_of(struct workers_ops *ops, uint32_t i);
void workers_ops_free_timer(struct workers_ops *ops, uint32_t i);

/* Operations on timers. */
void workers_ops_start(struct workers_ops *ops, uint32_t i, enum start_how how,
                       uint64_t value, unsigned named);
void workers_ops_stop(struct workers_ops *ops, uint32_t i);

/* Only if it does not wait for a worker that takes no turns. */
void workers_ops_stop_sync(struct workers_ops *ops, uint32_t i, bool gone);

/* Reads one byte for the timer, and more for the rest. */
void workers_ops_start_any(struct workers_ops *ops, uint32_t i, uint8_t how);

/* Reads the number of a timer from the script. */
uint32_t workers_ops_take_timer(struct workers_ops *ops);

#endif
