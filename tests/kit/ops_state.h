/* ops_state.h - the state of the interpreter of operations on a lawn, and the
 * functions that its files share: see ops.c and class_ops.c. */
#ifndef LAWN_TESTS_OPS_STATE_H
#define LAWN_TESTS_OPS_STATE_H

#include "class_oracle.h"
#include "lawn.h"
#include "lawn_class.h"
#include "oracle.h"
#include "rng.h"
#include "script.h"
#include "witness.h"

#define OPS_MANY_MAX WITNESS_MAX

/* The classes of a lawn. */
struct ops_classes {
    bool enabled;      /* by the first byte of the case */
    bool many;         /* also */
    uint32_t max;      /* options.classes of the lawn */
    uint32_t at_begin; /* classes at the beginning of the mow */
    struct lawn_class *at[CLASS_ORACLE_MAX]; /* NULL: free */
    const char *name[CLASS_ORACLE_MAX];
    struct class_oracle oracle;
};

struct ops_timer {
    uint32_t number;
    uint64_t visit; /* the last visit that reached it */
    struct lawn_timer timer;
};

struct ops {
    struct script script;
    bool calm;    /* the clock hardly moves */
    bool nosy;    /* call lawn_next() after every operation */
    bool careful; /* check the lawn after every operation, if it is small */

    struct lawn *lawn;
    void *place; /* memory of the test that contains the lawn, or NULL */
    size_t bytes_at_first;
    struct oracle oracle;
    struct witness *witness; /* NULL: too many timers for it */
    struct ops_timer **timers;
    struct ops_classes classes;
    uint32_t before; /* the timer that fired before the current one */

    size_t budget; /* of the current mow; after a halt, the number of fires */
    size_t fired;
    uint64_t until; /* what the mow may fire, in all its pieces */
    bool halted;
    bool limited;      /* the mow reached its limit of work [P8] */
    uint64_t inside;   /* entries processed by calls of its callbacks */
    uint64_t complete; /* a mow up to this time left no due timer, and no
                        * overdue timer was started since; or 0 */
    bool quiet;        /* callbacks do nothing */
    uint64_t step;     /* times are multiples of it */
    uint64_t *ttl;     /* the TTL of each remainder, so that no two TTLs are
                        * due together; or NULL */
    struct rng cuts;   /* for splitting mows into pieces */
    uint64_t lies;
    uint64_t own;     /* allocations made by the interpreter */
    uint64_t foreign; /* other allocations when the lawn was new */
    uint64_t unchecked;
    uint64_t visits; /* visits of all timers that were started */
    bool failed;
};

/* Returns a timer, which is allocated if necessary. */
struct lawn_timer *ops_timer_of(struct ops *ops, uint32_t i);

uint32_t ops_take_timer(struct ops *ops);
uint64_t ops_take_ttl(struct ops *ops);

/* Returns whether to inject the fault now. */
bool ops_lies(struct ops *ops, enum ops_fault fault);

/* Reports the time to both judges. */
void ops_report_now(struct ops *ops, uint64_t now);

/* Fails the case if either judge reports a broken promise. */
void ops_hear(struct ops *ops, uint32_t i, const char *oracle,
              const char *witness);

/* Stops a timer of any kind. */
void ops_stop(struct ops *ops, uint32_t i);

/* Prepares for a mow that calls ops_callback(). */
void ops_begin_mow(struct ops *ops, uint64_t now, size_t budget);

lawn_fire_fn ops_callback;

#endif
