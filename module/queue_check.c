/* queue_check.c - checks all invariants of a queue: see queue.h. */
#include "late.h"
#include "queue_inside.h"

/* An event has at most one of the first three, and possibly EVENT_HEAP. */
#define QUEUE_PLACES (EVENT_READY | EVENT_LEASED | EVENT_DEAD | EVENT_HEAP)

struct queue_checking {
    const struct queue *queue;
    const char *wrong;
    uint64_t ready;
    uint64_t dead;
    uint64_t leased;
    uint64_t waiting;
    uint64_t data;
    uint64_t leased_data;
    size_t bytes;
};

static void
check_list(struct queue_checking *checking, const struct queue_list *list,
           unsigned flag)
{
    const struct event *before = NULL;
    const struct event *event = NULL;
    uint64_t count = 0;

    for (event = list->first; event != NULL; event = event->link.next) {
        if ((event->flags & QUEUE_PLACES) != flag ||
            event->link.prev != before) {
            checking->wrong = "[Q1] a list has an invalid link";
            return;
        }
        before = event;
        count++;
    }
    if (list->last != before || list->count != count) {
        checking->wrong = "[Q1] a list has a wrong end or count";
    }
}

static void
check_ready(struct queue_checking *checking)
{
    const struct queue *queue = checking->queue;
    const struct event *event = NULL;

    for (event = queue->ready.first; event != NULL; event = event->link.next) {
        const struct event *next = event->link.next;

        if (event->link.time > queue->asked ||
            (next != NULL && event->link.time > next->link.time)) {
            checking->wrong = "[Q2] the ready list is not sorted";
            return;
        }
    }
}

/* Checks a heap: all events have exactly these flags, and none is after a
 * time. */
static void
check_heap(struct queue_checking *checking, const struct heap *heap,
           unsigned flags, uint64_t until)
{
    if (!heap_check(heap)) {
        checking->wrong = "[Q9] a heap is invalid";
        return;
    }
    for (uint64_t i = 0; i < heap->count; i++) {
        const struct event *event = heap_at(heap, i);

        if ((event->flags & QUEUE_PLACES) != flags) {
            checking->wrong =
                "[Q1] an event in a heap has the flags of another place";
        } else if (event_time(event) > until) {
            checking->wrong = "[Q2] an event in the heap 'passed' is later "
                              "than the field 'passed_until' or 'asked'";
        } else if ((flags & EVENT_READY) == 0 &&
                   (event_token(event) != 0) != ((flags & EVENT_LEASED) != 0)) {
            checking->wrong = "[Q5] an event in a heap has a token without a "
                              "lease, or the reverse";
        }
    }
}

static void
check_heaps(struct queue_checking *checking)
{
    const struct queue *queue = checking->queue;
    uint64_t until =
        queue->passed_until < queue->asked ? queue->passed_until : queue->asked;

    check_heap(checking, &queue->passed, EVENT_READY | EVENT_HEAP, until);
    check_heap(checking, &queue->waiting.heap, EVENT_HEAP, LAWN_NEVER);
    check_heap(checking, &queue->leases.heap, EVENT_LEASED | EVENT_HEAP,
               LAWN_NEVER);
}

static bool
check_waiting(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    const struct event *event = LAWN_CONTAINER(timer, struct event, timer);
    struct queue_checking *checking = arg;

    (void)ttl;
    if (event->flags & QUEUE_PLACES) {
        checking->wrong = "[Q1] a waiting event has the flags of another place";
    } else if (event_time(event) < checking->queue->waiting.mown) {
        checking->wrong = "[Q3] a waiting event is due before the last mow";
    } else if (event_token(event) != 0) {
        checking->wrong = "[Q5] a waiting event has a lease token";
    }
    return checking->wrong == NULL;
}

static bool
check_leased(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    const struct event *event = LAWN_CONTAINER(timer, struct event, timer);
    struct queue_checking *checking = arg;

    (void)ttl;
    if ((event->flags & QUEUE_PLACES) != EVENT_LEASED) {
        checking->wrong = "[Q1] a leased event has the flags of another place";
    } else if (event_time(event) < checking->queue->leases.mown) {
        checking->wrong = "[Q3] a lease ends before the last mow";
    } else if (event_token(event) == 0) {
        checking->wrong = "[Q5] a leased event has no lease token";
    }
    return checking->wrong == NULL;
}

static void
check_event(struct queue_checking *checking, const struct event *event)
{
    bool ready = (event->flags & EVENT_READY) != 0;
    bool dead = (event->flags & EVENT_DEAD) != 0;
    bool leased = (event->flags & EVENT_LEASED) != 0;
    bool heap = (event->flags & EVENT_HEAP) != 0;

    if (!ready && !dead && !heap && !lawn_pending(&event->timer)) {
        checking->wrong = "[Q1] an event has no place";
    } else if (!leased && event_spent(event) != dead) {
        checking->wrong =
            "[Q6] a dead event has tries left, or a live one has none";
    } else if (event_token(event) == 0 &&
               event_due(event) != event_time(event)) {
        checking->wrong =
            "[Q7] the place of an event does not match its due time";
    } else if (event_token(event) > checking->queue->token) {
        checking->wrong = "[Q8] an event has a token that was never issued";
    }
    checking->ready += ready ? 1 : 0;
    checking->dead += dead ? 1 : 0;
    checking->leased += leased ? 1 : 0;
    checking->waiting += ready || dead || leased ? 0 : 1;
    checking->data += event_data(event);
    checking->leased_data += leased ? event_data(event) : 0;
    checking->bytes += event_bytes(event);
}

static void
check_table(struct queue_checking *checking)
{
    const struct table *table = &checking->queue->table;
    uint64_t hash = 0;

    if (table->count == 0) {
        return;
    }
    do {
        const struct table_segment *segment = table_find_segment(table, hash);

        for (size_t i = 0; i < segment->used; i++) {
            check_event(checking, table_events(segment)[i]);
        }
        hash = table_end(segment, hash);
    } while (hash != 0);
}

static void
check_counts(struct queue_checking *checking)
{
    const struct queue *queue = checking->queue;
    size_t sink = queue->sink.to.size + queue->sink.dead.size;

    checking->bytes +=
        sizes_class(sizeof(*queue)) + sizes_class(queue->waiting.size);
    if (queue->leases.lawn != NULL) {
        checking->bytes += sizes_class(queue->leases.size);
    }
    if (queue->late != NULL) {
        checking->bytes += sizes_class(sizeof(*queue->late));
    }
    checking->bytes += sink > 0 ? sizes_class(sink) : 0;
    if (checking->ready != queue->ready.count + queue->passed.count ||
        checking->dead != queue->dead.count ||
        checking->leased != queue_leased_count(queue) ||
        checking->waiting != queue_timeline_count(&queue->waiting)) {
        checking->wrong =
            "[Q1] the table and the places differ in their events";
    } else if (checking->bytes != queue->bytes ||
               checking->data != queue->data ||
               checking->leased_data != queue->leased_data) {
        checking->wrong = "[Q4] the counts of bytes or data are wrong";
    }
}

static void
check_field(struct queue_checking *checking,
            const struct queue_timeline *timeline, lawn_visit_fn *visit)
{
    if (timeline->mown > lawn_now(timeline->lawn)) {
        checking->wrong = "[Q3] the field 'mown' is later than the lawn's time";
    } else {
        (void)lawn_each(timeline->lawn, visit, checking);
    }
}

bool
queue_check(const struct queue *queue, FILE *out)
{
    struct queue_checking checking = {.queue = queue};

    if (!table_check(&queue->table, out) ||
        !lawn_check(queue->waiting.lawn, out) ||
        (queue->leases.lawn != NULL && !lawn_check(queue->leases.lawn, out))) {
        return false;
    }
    check_list(&checking, &queue->ready, EVENT_READY);
    if (checking.wrong == NULL) {
        check_list(&checking, &queue->dead, EVENT_DEAD);
    }
    if (checking.wrong == NULL) {
        check_ready(&checking);
    }
    if (checking.wrong == NULL) {
        check_heaps(&checking);
    }
    if (checking.wrong == NULL) {
        check_field(&checking, &queue->waiting, check_waiting);
    }
    if (checking.wrong == NULL && queue->leases.lawn != NULL) {
        check_field(&checking, &queue->leases, check_leased);
    }
    if (checking.wrong == NULL) {
        check_table(&checking);
    }
    if (checking.wrong == NULL) {
        check_counts(&checking);
    }
    if (checking.wrong != NULL && out != NULL) {
        (void)fprintf(out, "queue: %s\n", checking.wrong);
    }
    return checking.wrong == NULL;
}
