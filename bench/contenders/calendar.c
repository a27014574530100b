/* calendar.c - R. Brown's calendar queue (CACM 31, 1988).
 *
 * A year has as many days as there are buckets. A bucket holds the timers of
 * its day of every year, sorted by deadline. The number of days depends on the
 * number of timers, and the length of a day on the distance between the next
 * deadlines. So a day has a few timers, and everything is O(1). When there are
 * twice as many timers as days, or half as many, the calendar is rebuilt; if
 * there is no memory for that, it does not change. The calendar is slow if
 * deadlines are dense where it did not sample them.
 *
 * The length of a day is a power of two, so that finding a day is a shift.
 */
#include "all.h"
#include "links.h"

#include <stdlib.h>

#define CALENDAR_LEAST 16u
#define CALENDAR_SAMPLE 25u

/* A timer is in days[(deadline >> shift) & mask], in the order of deadlines and
 * then of starts. Or it is on the list `due`, in order; these fire before all
 * others. No timer in a day is due before position. */
struct calendar {
    struct link *days;
    size_t mask;
    unsigned shift;
    size_t count;
    uint64_t now;
    uint64_t position;
    struct bound bound;
    struct link due;
};

static struct link *
alloc_days(size_t many)
{
    struct link *days = calloc(many, sizeof(days[0]));

    for (size_t i = 0; days != NULL && i < many; i++) {
        links_init(&days[i]);
    }
    return days;
}

static void *
make(const struct contender_setup *setup)
{
    struct calendar *calendar = calloc(1, sizeof(*calendar));

    if (calendar == NULL) {
        return NULL;
    }
    calendar->days = alloc_days(CALENDAR_LEAST);
    if (calendar->days == NULL) {
        free(calendar);
        return NULL;
    }
    calendar->mask = CALENDAR_LEAST - 1;
    calendar->now = setup->now;
    calendar->position = setup->now;
    bound_set(&calendar->bound, LINKS_NEVER, true);
    links_init(&calendar->due);
    return calendar;
}

static void
destroy(void *self)
{
    struct calendar *calendar = (struct calendar *)self;

    free(calendar->days);
    free(calendar);
}

static inline struct link *
day_of(const struct calendar *calendar, uint64_t time)
{
    return &calendar->days[(time >> calendar->shift) & calendar->mask];
}

/* Returns the last tick of the day of a time. */
static inline uint64_t
day_end(const struct calendar *calendar, uint64_t time)
{
    return time | ((UINT64_C(1) << calendar->shift) - 1);
}

static inline void
insert(struct calendar *calendar, struct timer *timer)
{
    struct link *day = day_of(calendar, timer->deadline);
    struct link *place = day->prev;

    while (place != day && links_timer_of(place)->deadline > timer->deadline) {
        place = place->prev;
    }
    links_insert_after(place, &timer->link);
}

/* Collects the next deadlines within a year, at most CALENDAR_SAMPLE, in order.
 * Returns their number. */
static size_t
sample_deadlines(const struct calendar *calendar, uint64_t *sample)
{
    uint64_t time = calendar->position;
    size_t many = 0;

    for (size_t i = 0; i <= calendar->mask && many < CALENDAR_SAMPLE; i++) {
        uint64_t evening = day_end(calendar, time);
        struct link *day = day_of(calendar, time);
        struct link *link = NULL;

        for (link = day->next; link != day && many < CALENDAR_SAMPLE &&
                               links_timer_of(link)->deadline <= evening;
             link = link->next) {
            sample[many++] = links_timer_of(link)->deadline;
        }
        time = evening + 1;
        if (time == 0) {
            break;
        }
    }
    return many;
}

/* Returns the mean distance of all deadlines. Used if there is no sample. */
static uint64_t
mean_distance(const struct calendar *calendar)
{
    uint64_t first = LINKS_NEVER, last = 0;

    for (size_t i = 0; i <= calendar->mask; i++) {
        struct link *day = &calendar->days[i];

        if (!links_empty(day)) {
            uint64_t head = links_timer_of(day->next)->deadline;
            uint64_t tail = links_timer_of(day->prev)->deadline;

            first = head < first ? head : first;
            last = tail > last ? tail : last;
        }
    }
    return first < last ? (last - first) / calendar->count : 0;
}

/* Returns log2 of the length of a day, which is about three times the mean
 * distance of the next deadlines, ignoring those that are far from each
 * other. */
static unsigned
choose_shift(const struct calendar *calendar)
{
    uint64_t sample[CALENDAR_SAMPLE];
    size_t many = sample_deadlines(calendar, sample);
    uint64_t mean = 0;

    if (many < CALENDAR_SAMPLE) {
        mean = mean_distance(calendar);
    } else {
        uint64_t sum = 0;
        size_t near = 0;
        mean = (sample[many - 1] - sample[0]) / (many - 1);
        for (size_t i = 1; i < many; i++) {
            uint64_t distance = sample[i] - sample[i - 1];

            if (distance <= 2 * mean) {
                sum += distance;
                near++;
            }
        }
        mean = near > 0 ? sum / near : mean;
    }
    unsigned shift = 0;
    while (shift < 60 && UINT64_C(1) << shift < mean) {
        shift++;
    }
    return shift + (mean > 0 ? 1 : 0); /* two to four times the mean */
}

static void
resize(struct calendar *calendar, size_t many)
{
    struct link *days = alloc_days(many);
    struct link *old = calendar->days;
    size_t old_many = calendar->mask + 1;

    if (days == NULL) {
        return;
    }
    calendar->shift = choose_shift(calendar);
    calendar->days = days;
    calendar->mask = many - 1;
    for (size_t i = 0; i < old_many; i++) {
        struct link *link = old[i].next;

        while (link != &old[i]) {
            struct link *next = link->next;

            __builtin_prefetch(next);
            insert(calendar, links_timer_of(link));
            link = next;
        }
    }
    free(old);
}

/* Counts the removal of a timer. */
static inline void
note_removed(struct calendar *calendar)
{
    size_t days = calendar->mask + 1;

    if (--calendar->count < days / 2 && days > CALENDAR_LEAST) {
        resize(calendar, days / 2);
    }
}

static void
start(void *self, struct object *object, uint64_t ttl)
{
    struct calendar *calendar = (struct calendar *)self;
    struct timer *timer = links_timer(object);

    if (links_running(timer)) {
        bound_stop(&calendar->bound, timer->deadline);
        links_unlink(&timer->link);
    } else if (++calendar->count > 2 * (calendar->mask + 1)) {
        resize(calendar, 2 * (calendar->mask + 1));
    }
    timer->deadline = links_deadline(calendar->now, ttl);
    bound_start(&calendar->bound, timer->deadline);
    insert(calendar, timer);
}

static bool
stop(void *self, struct object *object)
{
    struct calendar *calendar = (struct calendar *)self;
    struct timer *timer = links_timer(object);

    if (!links_running(timer)) {
        return false;
    }
    bound_stop(&calendar->bound, timer->deadline);
    links_remove(timer);
    note_removed(calendar);
    return true;
}

/* Merges two chains in order; equal elements of a are first. */
static struct link *
merge_chains(struct link *a, struct link *b)
{
    struct link *first = NULL;
    struct link **end = &first;

    while (a != NULL && b != NULL) {
        struct link **less =
            links_timer_of(b)->deadline < links_timer_of(a)->deadline ? &b : &a;

        *end = *less;
        end = &(*end)->next;
        *less = *end;
    }
    *end = a != NULL ? a : b;
    return first;
}

/* Sorts a chain: runs of 1, 2, 4 ... timers are merged. */
static struct link *
sort_chain(struct link *chain)
{
    struct link *runs[64] = {NULL};
    struct link *sorted = NULL;
    size_t i = 0;

    while (chain != NULL) {
        struct link *one = chain;

        chain = chain->next;
        one->next = NULL;
        for (i = 0; runs[i] != NULL; i++) {
            one = merge_chains(runs[i], one);
            runs[i] = NULL;
        }
        runs[i] = one;
    }
    for (i = 0; i < 64; i++) {
        sorted = merge_chains(runs[i], sorted);
    }
    return sorted;
}

static bool
has_year_passed(const struct calendar *calendar)
{
    return (calendar->now >> calendar->shift) -
               (calendar->position >> calendar->shift) >
           calendar->mask;
}

/* A year or more has passed: removes the due timers from all days, and sorts
 * them. */
static void
catch_up(struct calendar *calendar)
{
    struct link *chain = NULL;
    struct link **end = &chain;

    for (size_t i = 0; i <= calendar->mask; i++) {
        struct link *day = &calendar->days[i];

        while (!links_empty(day) &&
               links_timer_of(day->next)->deadline <= calendar->now) {
            struct link *link = day->next;

            links_unlink(link);
            *end = link;
            end = &link->next;
        }
    }
    *end = NULL;
    chain = sort_chain(chain);
    while (chain != NULL) {
        struct link *next = chain->next;

        links_append(&calendar->due, chain);
        chain = next;
    }
    calendar->position = calendar->now;
}

/* Fires the due timers of a sorted list: of calendar->due, or of the day of the
 * current position. Callbacks may rebuild the calendar, so the day is found
 * again for each timer. */
static size_t
fire_day(struct calendar *calendar, bool due, size_t budget,
         contender_fire_fn *fire, void *arg)
{
    size_t fired = 0;

    while (fired < budget) {
        uint64_t evening = day_end(calendar, calendar->position);
        struct link *list =
            due ? &calendar->due : day_of(calendar, calendar->position);
        struct timer *timer = links_timer_of(list->next);

        if (links_empty(list) || (!due && (timer->deadline > calendar->now ||
                                           timer->deadline > evening))) {
            break;
        }
        __builtin_prefetch(timer->link.next);
        links_remove(timer);
        note_removed(calendar);
        fire(links_object(timer), arg);
        fired++;
    }
    return fired;
}

static size_t
mow(void *self, uint64_t now, size_t budget, contender_fire_fn *fire, void *arg)
{
    struct calendar *calendar = (struct calendar *)self;
    size_t fired = 0;

    calendar->now = now;
    if (now < calendar->bound.time) {
        return 0;
    }
    calendar->bound.exact = false;
    if (calendar->position < calendar->bound.time) {
        calendar->position = calendar->bound.time;
    }
    for (;;) {
        fired += fire_day(calendar, true, budget - fired, fire, arg);
        if (fired < budget && has_year_passed(calendar)) {
            catch_up(calendar);
            continue;
        }
        fired += fire_day(calendar, false, budget - fired, fire, arg);
        if (fired == budget) {
            break;
        }
        uint64_t evening = day_end(calendar, calendar->position);
        if (evening >= now) {
            calendar->position = now;
            bound_set(&calendar->bound, now + 1, false);
            break;
        }
        calendar->position = evening + 1;
    }
    return fired;
}

static uint64_t
next_deadline(void *self)
{
    struct calendar *calendar = (struct calendar *)self;
    uint64_t time = calendar->position;
    uint64_t earliest = LINKS_NEVER;

    if (calendar->bound.exact) {
        return calendar->bound.time;
    }
    if (!links_empty(&calendar->due)) {
        return links_timer_of(calendar->due.next)->deadline;
    }
    /* Search the days of one year. A timer due by the evening of the searched
     * day is the earliest. If there is none, the first timers of all days have
     * been compared. */
    for (size_t i = 0; i <= calendar->mask; i++) {
        struct link *day = day_of(calendar, time);
        uint64_t evening = day_end(calendar, time);

        if (!links_empty(day) &&
            links_timer_of(day->next)->deadline < earliest) {
            earliest = links_timer_of(day->next)->deadline;
        }
        if (earliest <= evening) {
            break;
        }
        time = evening + 1;
    }
    bound_set(&calendar->bound, earliest, true);
    return earliest;
}

const struct contender calendar_contender = {
    .abi = CONTENDER_ABI,
    .name = "calendar",
    .title = "calendar queue",
    .about = "Days of adaptive length, each a sorted list, in a year of "
             "adaptive size. O(1) where deadlines are spread evenly.",
    .kind = CONTENDER_PAPER,
    .flags =
        CONTENDER_EXACT | CONTENDER_ORDERED | CONTENDER_FIFO | CONTENDER_BUDGET,
    .node = sizeof(struct timer),
    .make = make,
    .free = destroy,
    .start = start,
    .stop = stop,
    .mow = mow,
    .next = next_deadline,
};
