/* queue_list.c - lists of events: ready and dead. */
#include "queue_inside.h"

void
queue_list_add(struct queue_list *list, struct event *event, struct event *prev)
{
    struct event *next = prev != NULL ? prev->link.next : list->first;

    event->link.next = next;
    event->link.prev = prev;
    list->count++;
    queue_list_moved(list, event);
}

void
queue_list_remove(struct queue_list *list, struct event *event)
{
    struct event *prev = event->link.prev;
    struct event *next = event->link.next;

    if (prev != NULL) {
        prev->link.next = next;
    } else {
        list->first = next;
    }
    if (next != NULL) {
        next->link.prev = prev;
    } else {
        list->last = prev;
    }
    list->count--;
}

bool
queue_list_next(const struct queue_list *list, const void **cursor,
                struct queue_event *out)
{
    const struct event *before = *cursor;
    const struct event *event =
        before != NULL ? before->link.next : list->first;

    if (event == NULL) {
        return false;
    }
    queue_event_read(event, out);
    *cursor = event;
    return true;
}

void
queue_list_moved(struct queue_list *list, struct event *event)
{
    if (event->link.prev != NULL) {
        event->link.prev->link.next = event;
    } else {
        list->first = event;
    }
    if (event->link.next != NULL) {
        event->link.next->link.prev = event;
    } else {
        list->last = event;
    }
}
