/* list.h - circular doubly linked lists with a sentinel.
 *
 * A list is a struct lawn_link of its own, the sentinel, and the links of the
 * timers on it. Taking a timer off needs neither the sentinel nor any other
 * knowledge of where it stands: two stores. That is why stop is cheap.
 *
 * Debug builds keep prev under a key, the lawn's address, so that a timer of
 * another lawn, or one that was overwritten, is noticed at the first touch
 * [P10]. In release builds the key is 0 and costs nothing.
 */
#ifndef LAWN_CORE_LIST_H
#define LAWN_CORE_LIST_H

#include "base.h"

#if defined NDEBUG
#define LAWN_LIST_KEY(lawn) ((void)(lawn), (uintptr_t)0)
#else
#define LAWN_LIST_KEY(lawn) ((uintptr_t)(lawn))
#endif

static inline struct lawn_link *
lawn_list_prev(uintptr_t key, const struct lawn_link *link)
{
    if (key == 0) {
        return link->prev;
    }
    return (struct lawn_link *)((uintptr_t)link->prev ^ key);
}

static inline void
lawn_list_set_prev(uintptr_t key, struct lawn_link *link,
                   struct lawn_link *prev)
{
    if (key != 0) {
        prev = (struct lawn_link *)((uintptr_t)prev ^ key);
    }
    link->prev = prev;
}

static inline void
lawn_list_init(uintptr_t key, struct lawn_link *list)
{
    list->next = list;
    lawn_list_set_prev(key, list, list);
}

static inline bool
lawn_list_empty(const struct lawn_link *list)
{
    return list->next == list;
}

/* The first of a list, or the list itself if it is empty. It is looked at
 * before anything is read from it: its memory may have been given away. */
static inline struct lawn_link *
lawn_list_first(uintptr_t key, const struct lawn_link *list)
{
    (void)key;
    LAWN_ASSERT(lawn_list_prev(key, list->next) == list,
                "[P10] a timer was freed or overwritten while it was running");
    return list->next;
}

/* Puts link between prev and next, which are neighbours. */
static inline void
lawn_list_insert(uintptr_t key, struct lawn_link *link, struct lawn_link *prev,
                 struct lawn_link *next)
{
    LAWN_ASSERT(prev->next == next && lawn_list_prev(key, next) == prev,
                "[P10] a timer was freed or overwritten while it was running");
    link->next = next;
    prev->next = link;
    lawn_list_set_prev(key, link, prev);
    lawn_list_set_prev(key, next, link);
}

static inline void
lawn_list_append(uintptr_t key, struct lawn_link *list, struct lawn_link *link)
{
    lawn_list_insert(key, link, lawn_list_prev(key, list), list);
}

static inline void
lawn_list_prepend(uintptr_t key, struct lawn_link *list, struct lawn_link *link)
{
    lawn_list_insert(key, link, list, list->next);
}

/* Takes link off whatever list it is on. Its own fields are left as they were,
 * for the caller to overwrite. */
static inline void
lawn_list_remove(uintptr_t key, struct lawn_link *link)
{
    struct lawn_link *next = link->next;
    struct lawn_link *prev;

    LAWN_ASSERT(next != NULL && lawn_list_prev(key, next) == link,
                "[P10] a timer runs on another lawn, or it or its neighbour "
                "was freed or overwritten while running");
    prev = lawn_list_prev(key, link);
    LAWN_ASSERT(prev->next == link,
                "[P10] a timer was freed or overwritten while it was running");
    prev->next = next;
    lawn_list_set_prev(key, next, prev);
}

/* Counts by walking. */
static inline uint64_t
lawn_list_length(const struct lawn_link *list)
{
    const struct lawn_link *link;
    uint64_t length = 0;

    for (link = list->next; link != list; link = link->next) {
        length++;
    }
    return length;
}

static inline struct lawn_timer *
lawn_timer_of(struct lawn_link *link)
{
    return (struct lawn_timer *)(void *)link;
}

static inline uint64_t
lawn_link_deadline(const struct lawn_link *link)
{
    return ((const struct lawn_timer *)(const void *)link)->deadline;
}

#endif
