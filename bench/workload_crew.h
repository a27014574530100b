/* workload_crew.h - the threads of T1 to T6, see workload_crew.c, and what they
 * have in common. */
#ifndef LAWN_BENCH_WORKLOAD_CREW_H
#define LAWN_BENCH_WORKLOAD_CREW_H

#include "crew.h"
#include "workload.h"

#include <pthread.h>

#define CREW_LINE 128u
#define CREW_TTLS 20u
#define CREW_LEAST UINT64_C(60000000000) /* ns: the shortest of them, */
#define CREW_SOON UINT64_C(2000000)      /* that of timers that are to fire, */
#define CREW_BEAT UINT64_C(1000000)      /* and of those that wake workers */
#define CREW_PATIENCE UINT64_C(10000000000) /* ns that a timer may be late */
#define CREW_PAIRS 1000000u                 /* of each hand */
#define CREW_WARM UINT64_C(50000000)        /* ns before the time counts */
#define CREW_ROUND 256u                     /* pairs between turns, */
#define CREW_ROUND_BUSY 64u                 /* and in T5 */
#define CREW_SAMPLES 2000u                  /* of T4 and T5, at most */
#define CREW_PAUSE 100000                   /* ns between them, at least */
#define CREW_SPINS 2000u

/* What an object is for, in object->which; the others are plain ones. */
enum {
    CREW_IS_BEAT = 1 << 20,
    CREW_IS_LAST,
    CREW_IS_SAMPLE,
    CREW_IS_UNDER_WAY, /* of T6, while it runs */
};

/* A set of timers, by number and by a sum that tells sets apart. */
struct crew_tally {
    uint64_t count;
    uint64_t sum;
};

struct crew_play;

/* A ring of n objects from first on; see workload_crew.c. */
struct crew_ring {
    size_t first;
    size_t start; /* next to be started, by its place in run->order */
    size_t stop;
};

struct crew_thread {
    _Alignas(CREW_LINE) struct crew_play *play;
    pthread_t thread;
    unsigned number; /* workers come first */
    void *worker;    /* the crew's; NULL: it is none */
    struct crew_calls calls;
    struct crew_ring own;
    struct crew_ring other; /* kept by the next worker */
    struct crew_tally started, stopped, fired;
    struct crew_tally soon; /* what is to fire */
    struct crew_tally late; /* what is to be left */
    uint64_t began;
    uint64_t ended;
};

/* Counters are of threads that have come to a point, and of timers. While the
 * time counts, nobody writes here. */
struct crew_play {
    struct run *run;
    const struct crew *crew;
    struct crew_thread *threads;
    uint64_t pairs;
    unsigned workers;
    unsigned count; /* of threads */
    unsigned hands;
    bool serves; /* the workers; else they turn */
    bool remote; /* the hands are not workers */
    bool mixed;
    bool posts; /* messages are part of it */
    bool fires; /* timers are not stopped */

    pthread_mutex_t mutex; /* of the next three */
    pthread_cond_t came;
    unsigned joined;
    unsigned warm;

    unsigned done;     /* hands that have ended, */
    unsigned idle;     /* and have nothing more to do */
    unsigned last;     /* last timers that have fired */
    enum run_end end;  /* threads give up */
    uint64_t fired;    /* plain ones */
    uint64_t fired_at; /* a sample; 0: not yet */
    bool over;
};

#define CREW_GET(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define CREW_SET(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELEASE)
#define CREW_ADD(word) __atomic_add_fetch(&(word), 1, __ATOMIC_ACQ_REL)

static inline void
crew_note(struct crew_tally *tally, const struct object *object)
{
    uint64_t x = (object->id + UINT64_C(1)) * UINT64_C(0xBF58476D1CE4E5B9);

    tally->count++;
    tally->sum += x * x;
}

static inline void
crew_start_one(struct crew_thread *thread, struct object *object, uint64_t ttl,
               bool local, unsigned owner)
{
    const struct crew *crew = thread->play->crew;

    crew_note(&thread->started, object);
    if (local) {
        crew->start(thread->worker, object, ttl);
    } else {
        crew->start_on(thread->play->run->self, owner, object, ttl);
    }
}

/* All threads are to end. */
void crew_give_up(struct crew_play *play, enum run_end end);

/* Waits until so many threads have come here. */
void crew_meet(struct crew_play *play, unsigned *came, unsigned need);

void crew_nap(long ns);

/* Objects of the benchmark's own, behind the others. */
struct object *crew_extra(const struct crew_play *play, unsigned which);

/* What crews call, with the thread. */
void crew_on_fire(struct object *object, void *arg);
void crew_on_stopped(struct object *object, void *arg);

/* Whether to go on; asked between rounds. */
bool crew_goes_on(struct crew_play *play, uint64_t round);

/* Whether all hands have ended, and so have messages. */
bool crew_ended(struct crew_play *play);

/* Threads. */
void *crew_worker(void *arg);
void *crew_starter(void *arg);

#endif
