/* naive.c - a lawn without an index, for comparison.
 *
 * With LAWN_NAIVE all timers are in one list, in the order of their starts;
 * timers due at the last tick are in another list until then, as usual. The
 * earliest timer is searched among all of them, each time. So nothing in
 * index.c, mow.c, next.c and blades.c decides when or in which order a timer
 * fires: no slots, no bitmap, no lower levels, no blades, and no remembered
 * values.
 */
#if !defined LAWN_NAIVE
#define LAWN_NAIVE
#endif
#include "internal.h"

/* Returns the first link of a list with the earliest deadline, or NULL. */
static struct lawn_link *
naive_in_list(const struct lawn_link *list)
{
    struct lawn_link *first = NULL;

    for (struct lawn_link *link = list->next; link != list; link = link->next) {
        if (first == NULL ||
            lawn__link_deadline(link) < lawn__link_deadline(first)) {
            first = link;
        }
    }
    return first;
}

struct lawn_timer *
lawn__naive_next_timer(const struct lawn *lawn)
{
    struct lawn_link *first = naive_in_list(lawn->index.unqueued);

    if (first == NULL) {
        first = naive_in_list(&lawn->last);
    }
    return first != NULL ? lawn__timer_of(first) : NULL;
}

uint64_t
lawn__naive_next(const struct lawn *lawn)
{
    const struct lawn_timer *first = lawn__naive_next_timer(lawn);

    return first != NULL ? first->deadline : LAWN_NEVER;
}

/* Fires the due timers of the first list. Timers in the other list were started
 * too late for this mow [P6]. The final lawn_halt() uses up the budget, so that
 * the code of mow.c after this call fires nothing. */
void
lawn__naive_mow(struct lawn_mowing *mowing, uint64_t until)
{
    struct lawn *lawn = mowing->lawn;
    struct lawn_link *link = NULL;

    while (mowing->left > 0 &&
           (link = naive_in_list(lawn->index.unqueued)) != NULL &&
           lawn__link_deadline(link) <= until) {
        lawn->index.base = lawn__link_deadline(link);
        lawn__list_remove(lawn__key(lawn), link);
        link->next = NULL;
        lawn->fires++;
        mowing->left--;
        mowing->fire(lawn__timer_of(link), mowing->arg);
    }
    lawn_halt(lawn);
}
