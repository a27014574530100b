/* workload_crew.h - data of the threads of T1 to T6: see workload_crew.c. */
#ifndef LAWN_BENCH_WORKLOAD_CREW_H
#define LAWN_BENCH_WORKLOAD_CREW_H

#include "crew.h"
#include "workload.h"

#include <pthread.h>

#define CREW_LINE 128u
#define CREW_TTLS 20u
#define CREW_LEAST UINT64_C(60000000000)    /* ns: the shortest TTL */
#define CREW_SOON UINT64_C(2000000)         /* ns: TTL of timers to fire */
#define CREW_BEAT UINT64_C(1000000)         /* ns: TTL of waking timers */
#define CREW_PATIENCE UINT64_C(10000000000) /* ns that a timer may be late */
#define CREW_PAIRS 1000000u                 /* of each hand */
#define CREW_WARM UINT64_C(50000000)        /* ns of warm-up */
#define CREW_ROUND 256u                     /* pairs between turns */
#define CREW_ROUND_BUSY 64u                 /* pairs between turns in T5 */
#define CREW_SAMPLES 2000u                  /* of T4 and T5, at most */
#define CREW_PAUSE 100000                   /* ns between samples, at least */
#define CREW_SPINS 2000u

/* The use of an object, in object->which; the others are plain objects. */
enum {
    CREW_IS_BEAT = 1 << 20,
    CREW_IS_LAST,
    CREW_IS_SAMPLE,
    CREW_IS_UNDER_WAY, /* T6: the timer runs */
};

/* A set of timers: their number, and a checksum. */
struct crew_tally {
    uint64_t count;
    uint64_t sum;
};

struct crew_play;

/* A ring of n objects from first on; see workload_crew.c. */
struct crew_ring {
    size_t first;
    size_t start; /* place in run->order of the next to start */
    size_t stop;
};

struct crew_thread {
    _Alignas(CREW_LINE) struct crew_play *play;
    pthread_t thread;
    unsigned number; /* workers are first */
    void *worker;    /* of the crew; NULL: not a worker */
    struct crew_calls calls;
    struct crew_ring own;
    struct crew_ring other; /* timers of the next worker */
    struct crew_tally started, stopped, fired;
    struct crew_tally soon; /* timers that are to fire */
    struct crew_tally late; /* timers that are to remain */
    uint64_t began;
    uint64_t ended;
};

/* The data that the threads share. No thread writes here while it starts and
 * stops timers, except in T4 and T5. */
struct crew_play {
    struct run *run;
    const struct crew *crew;
    struct crew_thread *threads;
    uint64_t pairs;
    unsigned workers;
    unsigned count; /* of threads */
    unsigned hands;
    bool serves; /* workers serve; otherwise they turn */
    bool remote; /* the hands are not workers */
    bool mixed;
    bool posts; /* hands post messages, which are timed, too */
    bool fires; /* timers are not stopped */

    pthread_mutex_t mutex; /* for the next three fields */
    pthread_cond_t came;
    unsigned joined;
    unsigned warm;

    unsigned done;     /* hands that have ended */
    unsigned idle;     /* hands that have nothing left to do */
    unsigned last;     /* workers whose final timer has fired */
    enum run_end end;  /* threads stop unless it is RUN_OK */
    uint64_t fired;    /* plain timers */
    uint64_t fired_at; /* time of a sample; 0: not yet */
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

/* Makes all threads end. */
void crew_give_up(struct crew_play *play, enum run_end end);

/* Waits until that many threads have arrived. */
void crew_meet(struct crew_play *play, unsigned *came, unsigned need);

void crew_nap(long ns);

/* Returns an object of the benchmark itself, after the others. */
struct object *crew_extra(const struct crew_play *play, unsigned which);

/* Callbacks for crews; arg is the thread. */
void crew_on_fire(struct object *object, void *arg);
void crew_on_stopped(struct object *object, void *arg);

/* Returns whether to continue; called between rounds. */
bool crew_goes_on(struct crew_play *play, uint64_t round);

/* Returns whether all hands have ended, and all messages are processed. */
bool crew_ended(struct crew_play *play);

/* The threads. */
void *crew_worker(void *arg);
void *crew_starter(void *arg);

#endif
