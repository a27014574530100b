/* workers_left.c - lawn_workers_stop_sync() in other threads, of timers that
 * lawn_workers_close() is passing to left() at that moment [C3]. */
#include "workers_threads.h"

#include <sched.h>
#include <stdlib.h>

#define OBJECTS 64u
#define OWNERS 3u
#define TRIES 512u  /* attempts of an owner to take an object */
#define YIELDS 200u /* number of times left() yields */

static struct troop troop;

/* Progress of left(): calls begun, and calls returned. */
static atomic_uint began;
static atomic_uint returned;

static void
yield_often(void)
{
    for (unsigned i = 0; i < YIELDS; i++) {
        (void)sched_yield();
    }
}

/* One timer: the other thread waits for it once left() has begun. */

static struct item *guarded;
static atomic_bool waited;

static void
linger(struct lawn_workers_timer *timer, void *arg)
{
    (void)arg;
    SURE(timer == &guarded->timer);
    SURE(!lawn_workers_pending(timer));
    SURE(!lawn_workers_stop_sync(troop.set, timer)); /* does not wait */
    atomic_fetch_add(&began, 1);
    yield_often();
    SURE(!atomic_load(&waited));
    atomic_fetch_add(&returned, 1);
}

static void
wait_for_guarded(void *arg, unsigned which)
{
    (void)arg;
    (void)which;
    WAIT_FOR(atomic_load(&began) == 1);
    SURE(!lawn_workers_stop(troop.set, &guarded->timer)); /* [C1 C2] */
    SURE(!lawn_workers_stop_sync(troop.set, &guarded->timer));
    atomic_store(&waited, true);
    SURE(atomic_load(&returned) == 1); /* [C3] */
}

TEST(between_threads_stop_sync_waits_for_left_of_the_timer)
{
    unsigned many = rounds(300);

    for (unsigned i = 0; i < many; i++) {
        struct squad squad;
        struct item item;

        guarded = &item;
        atomic_store(&began, 0);
        atomic_store(&returned, 0);
        atomic_store(&waited, false);
        troop_begin(&troop, 1 + i % 2, false,
                    i % 3 == 0 ? LAWN_WORKERS_BY_TTL : LAWN_WORKERS_BY_OWNER);
        item_init(&troop, &item);
        item_start(&item, 10);
        squad_start(&squad, 1, wait_for_guarded, NULL);
        SURE(lawn_workers_close(troop.set, 0, linger, NULL) == 1);
        squad_join(&squad);
        SURE(troop_end(&troop) == 0);
    }
}

/* The same by a worker of another set, which continues to serve that set. */

static struct lawn_workers *other;
static struct lawn_workers_timer woken;

static void
wait_in_callback(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    (void)timer;
    (void)worker;
    wait_for_guarded(NULL, 0);
}

TEST(between_threads_a_worker_of_another_set_waits_for_a_timer_that_is_left)
{
    unsigned many = rounds(300);

    for (unsigned i = 0; i < many; i++) {
        struct item item;

        guarded = &item;
        woken = (struct lawn_workers_timer){.fire = wait_in_callback};
        atomic_store(&began, 0);
        atomic_store(&returned, 0);
        atomic_store(&waited, false);
        troop_begin(&troop, 1, false, LAWN_WORKERS_BY_OWNER);
        item_init(&troop, &item);
        item_start(&item, 10);
        other = lawn_workers_new(NULL);
        SURE(other != NULL && lawn_workers_add(other) >= 0);
        SURE(lawn_workers_start(other, &woken, 1) == 0);
        SURE(lawn_workers_close(troop.set, 0, linger, NULL) == 1);
        SURE(lawn_workers_close(other, LAWN_NEVER, NULL, NULL) == 0);
        lawn_workers_free(other);
        SURE(troop_end(&troop) == 0);
    }
}

/* Objects referred to by a table. The thread that takes an object out of the
 * table owns it: either it stops the timer and frees the object, or left()
 * does. A sanitizer would report an access. */

struct object {
    struct lawn_workers_timer timer;
    unsigned place;
    unsigned canary;
};

static struct object *table[OBJECTS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned freed_by_left;
static unsigned freed_by_owners;
static atomic_uint current; /* the place of the object in left() */

static struct object *
take_out(unsigned place)
{
    (void)pthread_mutex_lock(&table_lock);
    struct object *object = table[place];
    table[place] = NULL;
    (void)pthread_mutex_unlock(&table_lock);
    return object;
}

static void
object_left(struct lawn_workers_timer *timer, void *arg)
{
    struct object *object = LAWN_CONTAINER(timer, struct object, timer);

    (void)arg;
    atomic_store(&current, object->place);
    atomic_fetch_add(&began, 1);
    (void)sched_yield();
    (void)pthread_mutex_lock(&table_lock);
    SURE(object->canary == ~object->place);
    bool mine = table[object->place] == object;
    if (mine) {
        table[object->place] = NULL;
        freed_by_left++;
    }
    (void)pthread_mutex_unlock(&table_lock);
    if (mine) {
        free(object);
    }
}

static void
free_objects(void *arg, unsigned which)
{
    (void)arg;
    (void)which;
    WAIT_FOR(atomic_load(&began) != 0);
    for (unsigned i = 0; i < TRIES; i++) {
        /* First the object that is being left, if it still exists; in the end
         * all others, whose stop_sync waits until all have been left. */
        unsigned place =
            i < TRIES - OBJECTS ? atomic_load(&current) : i % OBJECTS;
        struct object *object = take_out(place);

        if (object != NULL) {
            (void)lawn_workers_stop_sync(troop.set, &object->timer);
            object->canary = 0;
            free(object);
            (void)pthread_mutex_lock(&table_lock);
            freed_by_owners++;
            (void)pthread_mutex_unlock(&table_lock);
        }
    }
}

static void
object_fire(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    (void)timer;
    (void)worker;
    SURE(false);
}

static void
fill_table(void)
{
    for (unsigned i = 0; i < OBJECTS; i++) {
        table[i] = calloc(1, sizeof(*table[i]));
        SURE(table[i] != NULL);
        table[i]->place = i;
        table[i]->canary = ~i;
        table[i]->timer.fire = object_fire;
        SURE(lawn_workers_start(troop.set, &table[i]->timer, 10 + i % 5) == 0);
    }
}

TEST(between_threads_timers_may_be_freed_after_stop_sync_while_they_are_left)
{
    unsigned many = rounds(1000);

    for (unsigned i = 0; i < many; i++) {
        struct squad squad;

        atomic_store(&began, 0);
        freed_by_left = 0;
        freed_by_owners = 0;
        troop_begin(&troop, 2, false, LAWN_WORKERS_BY_OWNER);
        fill_table();
        squad_start(&squad, OWNERS, free_objects, NULL);
        (void)lawn_workers_close(troop.set, 0, object_left, NULL);
        squad_join(&squad);
        SURE(freed_by_left + freed_by_owners == OBJECTS);
        SURE(troop_end(&troop) == 0);
    }
}
