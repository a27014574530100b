/* naive.c - a lawn without an index, to compare with.
 *
 * With LAWN_NAIVE all timers stand in one list, in the order in which they were
 * started; those due at the last tick, as ever, in another until that comes. What
 * is due first is looked for among all of them, each time. So nothing of index.c,
 * mow.c, next.c and blades.c says when or in which order a timer fires: no slots,
 * no bitmap, no moving down, no blades, and nothing that is remembered.
 */
#if !defined LAWN_NAIVE
#define LAWN_NAIVE
#endif
#include "internal.h"

/* The first of those in a list that have the earliest deadline, or NULL. */
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

/* Those in the other list were started too late for this mow [P6]. When it is done
 * it leaves nothing of the budget to what would follow in mow.c. */
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
