/* list.h - circular doubly linked lists with a sentinel.
 *
 * Removing a timer takes two stores and needs no reference to the list.
 *
 * Debug builds store prev XORed with a key, the lawn's address. So an access to
 * a timer that is on another lawn or was overwritten fails an assertion [P10].
 * In release builds the key is the constant 0.
 */
#ifndef LAWN_CORE_LIST_H
#define LAWN_CORE_LIST_H

#include "base.h"

#if defined NDEBUG
#define LAWN_LIST_KEY(lawn) ((void)(lawn), (uintptr_t)0)
#else
#define LAWN_LIST_KEY(lawn) ((uintptr_t)(lawn))
#endif

/*@ requires release: key == 0;
  @ requires \valid_read(link);
  @ assigns \nothing;
  @ ensures \result == link->prev;
  @*/
static inline struct lawn_link *
lawn__list_prev(uintptr_t key, const struct lawn_link *link)
{
    if (key == 0) {
        return link->prev;
    }
    return (struct lawn_link *)((uintptr_t)link->prev ^ key);
}

/*@ requires release: key == 0;
  @ requires \valid(link);
  @ assigns link->prev;
  @ ensures link->prev == prev;
  @*/
static inline void
lawn__list_set_prev(uintptr_t key, struct lawn_link *link,
                    struct lawn_link *prev)
{
    if (key != 0) {
        prev = (struct lawn_link *)((uintptr_t)prev ^ key);
    }
    link->prev = prev;
}

/*@ requires release: key == 0;
  @ requires \valid(list);
  @ assigns *list;
  @ ensures list->next == list && list->prev == list;
  @*/
static inline void
lawn__list_init(uintptr_t key, struct lawn_link *list)
{
    list->next = list;
    lawn__list_set_prev(key, list, list);
}

/*@ requires \valid_read(list);
  @ assigns \nothing;
  @ ensures \result <==> list->next == (struct lawn_link *)list;
  @*/
static inline bool
lawn__list_empty(const struct lawn_link *list)
{
    return list->next == list;
}

/* Returns the first link, or the list itself if it is empty. */
/*@ requires release: key == 0;
  @ requires \valid_read(list) && \valid_read(list->next);
  @ requires agree: list->next->prev == list;
  @ assigns \nothing;
  @ ensures \result == list->next;
  @*/
static inline struct lawn_link *
lawn__list_first(uintptr_t key, const struct lawn_link *list)
{
    (void)key;
    LAWN_ASSERT(lawn__list_prev(key, list->next) == list,
                "[P10] a timer was freed or overwritten while it was running");
    return list->next;
}

/*@ requires release: key == 0;
  @ requires \valid(link) && \valid(prev) && \valid(next);
  @ requires idle: \separated(link, prev) && \separated(link, next);
  @ requires prev == next || \separated(prev, next);
  @ requires agree: prev->next == next && next->prev == prev;
  @ assigns link->next, link->prev, prev->next, next->prev;
  @ ensures prev->next == link && link->next == next;
  @ ensures next->prev == link && link->prev == prev;
  @*/
static inline void
lawn__list_insert(uintptr_t key, struct lawn_link *link, struct lawn_link *prev,
                  struct lawn_link *next)
{
    LAWN_ASSERT(prev->next == next && lawn__list_prev(key, next) == prev,
                "[P10] a timer was freed or overwritten while it was running");
    link->next = next;
    prev->next = link;
    lawn__list_set_prev(key, link, prev);
    lawn__list_set_prev(key, next, link);
}

/*@ requires release: key == 0;
  @ requires \valid(link) && \valid(list) && \valid(list->prev);
  @ requires idle: \separated(link, list) && \separated(link, list->prev);
  @ requires list->prev == list || \separated(list->prev, list);
  @ requires agree: list->prev->next == list;
  @ assigns link->next, link->prev, list->prev, list->prev->next;
  @ ensures last: list->prev == link && link->next == list;
  @ ensures behind: link->prev == \old(list->prev) && link->prev->next == link;
  @ ensures first: \old(list->next) != list ==> list->next == \old(list->next);
  @*/
static inline void
lawn__list_append(uintptr_t key, struct lawn_link *list, struct lawn_link *link)
{
    lawn__list_insert(key, link, lawn__list_prev(key, list), list);
}

/*@ requires release: key == 0;
  @ requires \valid(link) && \valid(list) && \valid(list->next);
  @ requires idle: \separated(link, list) && \separated(link, list->next);
  @ requires list->next == list || \separated(list->next, list);
  @ requires agree: list->next->prev == list;
  @ assigns link->next, link->prev, list->next, list->next->prev;
  @ ensures first: list->next == link && link->prev == list;
  @ ensures before: link->next == \old(list->next) && link->next->prev == link;
  @ ensures last: \old(list->prev) != list ==> list->prev == \old(list->prev);
  @*/
static inline void
lawn__list_prepend(uintptr_t key, struct lawn_link *list,
                   struct lawn_link *link)
{
    lawn__list_insert(key, link, list, list->next);
}

/* Does not change link itself. */
/*@ requires release: key == 0;
  @ requires \valid_read(link) && \valid(link->next) && \valid(link->prev);
  @ requires \separated(link, link->next) && \separated(link, link->prev);
  @ requires link->next == link->prev || \separated(link->next, link->prev);
  @ requires agree: link->next->prev == link && link->prev->next == link;
  @ assigns link->next->prev, link->prev->next;
  @ ensures link->next == \old(link->next) && link->prev == \old(link->prev);
  @ ensures agree: link->prev->next == link->next;
  @ ensures agree: link->next->prev == link->prev;
  @*/
static inline void
lawn__list_remove(uintptr_t key, struct lawn_link *link)
{
    struct lawn_link *next = link->next;

    /* The alignment check catches most garbage before it is dereferenced. */
    LAWN_ASSERT(next != NULL && (uintptr_t)next % __alignof__(*next) == 0 &&
                    lawn__list_prev(key, next) == link,
                "[P10] a timer runs on another lawn or class, or was not "
                "zeroed before its first start, or it or an adjacent timer "
                "was freed or overwritten while running");
    struct lawn_link *prev = lawn__list_prev(key, link);
    LAWN_ASSERT(prev->next == link,
                "[P10] a timer was freed or overwritten while it was running");
    prev->next = next;
    lawn__list_set_prev(key, next, prev);
}

/* Relinks a link after its memory was moved: only the two adjacent links point
 * to it. */
static inline void
lawn__list_moved(uintptr_t key, struct lawn_link *link)
{
    struct lawn_link *prev = lawn__list_prev(key, link);

    LAWN_ASSERT(lawn__list_prev(key, link->next) == prev->next,
                "[P10] a running timer, or one adjacent to a moved timer, was "
                "overwritten");
    prev->next = link;
    lawn__list_set_prev(key, link->next, link);
}

/* Moves all links of `from`, which must not be empty, to the end of list. */
/*@ requires release: key == 0;
  @ requires \valid(list) && \valid(list->prev) && \valid(from);
  @ requires \valid(from->next) && \valid(from->prev);
  @ requires apart: \separated(list, from) && \separated(list, from->next) &&
  @     \separated(list, from->prev) && \separated(list->prev, from) &&
  @     \separated(list->prev, from->next) &&
  @     \separated(list->prev, from->prev);
  @ requires used: \separated(from, from->next) && \separated(from, from->prev);
  @ requires list->prev == list || \separated(list->prev, list);
  @ requires from->next == from->prev || \separated(from->next, from->prev);
  @ assigns list->prev, list->prev->next, *from, from->next->prev,
  @     from->prev->next;
  @ ensures joined: \old(list->prev)->next == \old(from->next) &&
  @     \old(from->next)->prev == \old(list->prev);
  @ ensures last: list->prev == \old(from->prev) &&
  @     \old(from->prev)->next == list;
  @ ensures first: \old(list->prev) != list ==>
  @     list->next == \old(list->next);
  @ ensures empty: from->next == from && from->prev == from;
  @*/
static inline void
lawn__list_splice(uintptr_t key, struct lawn_link *list, struct lawn_link *from)
{
    struct lawn_link *tail = lawn__list_prev(key, list);
    struct lawn_link *last = lawn__list_prev(key, from);

    tail->next = from->next;
    lawn__list_set_prev(key, from->next, tail);
    last->next = list;
    lawn__list_set_prev(key, list, last);
    lawn__list_init(key, from);
}

/*@ // The number of steps from one link to another.
  @ inductive lawn_list_steps{L}(struct lawn_link *from, struct lawn_link *to,
  @                              integer steps) {
  @ case none{L}: \forall struct lawn_link *to; lawn_list_steps{L}(to, to, 0);
  @ case more{L}: \forall struct lawn_link *from, *to, integer steps;
  @     from != to && steps >= 0 && \valid_read{L}(from) &&
  @     lawn_list_steps{L}(\at(from->next, L), to, steps) ==>
  @     lawn_list_steps{L}(from, to, steps + 1);
  @ }
  @*/

/* O(n). */
/*@ requires \valid_read(list);
  @ requires circle: \exists integer all; 0 <= all <= UINT64_MAX &&
  @     lawn_list_steps((struct lawn_link *)list->next,
  @                     (struct lawn_link *)list, all);
  @ assigns \nothing;
  @ ensures lawn_list_steps((struct lawn_link *)list->next,
  @                         (struct lawn_link *)list, \result);
  @*/
static inline uint64_t
lawn__list_length(const struct lawn_link *list)
{
    uint64_t length = 0;

    /*@ loop invariant left: \exists integer rest; 0 <= rest &&
      @     length + rest <= UINT64_MAX &&
      @     lawn_list_steps((struct lawn_link *)link,
      @                     (struct lawn_link *)list, rest) &&
      @     lawn_list_steps((struct lawn_link *)list->next,
      @                     (struct lawn_link *)list, length + rest);
      @ loop assigns link, length;
      @*/
    for (const struct lawn_link *link = list->next; link != list;
         link = link->next) {
        length++;
    }
    return length;
}

/*@ assigns \nothing;
  @ ensures &\result->link == link;
  @*/
static inline struct lawn_timer *
lawn__timer_of(struct lawn_link *link)
{
    return (struct lawn_timer *)(void *)link;
}

/*@ requires \valid_read((struct lawn_timer *)link);
  @ assigns \nothing;
  @ ensures \result == ((struct lawn_timer *)link)->deadline;
  @*/
static inline uint64_t
lawn__link_deadline(const struct lawn_link *link)
{
    return ((const struct lawn_timer *)(const void *)link)->deadline;
}

#endif
