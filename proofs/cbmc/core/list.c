/* list.c - links of circular lists: src/core/list.h.
 *
 * For every list of up to 4 links in static storage, in every order, and every
 * position in it. Each step is followed by a walk in both directions.
 *
 * @flags --unwind 8
 * @covers lawn__list_prev lawn__list_set_prev lawn__list_init lawn__list_empty
 *     lawn__list_first lawn__list_insert lawn__list_append lawn__list_prepend
 *     lawn__list_remove lawn__list_length lawn__timer_of lawn__link_deadline
 * @unreached lawn__list_prev: return (struct lawn_link *)((uintptr_t)$link->prev ^
 *     $key); -- keys are for debug builds; they are not proved here
 * @unreached lawn__list_set_prev: $prev = (struct lawn_link *)((uintptr_t)$prev ^
 *     $key); -- the same
 *
 * @proof list_append
 * @flags -DNDEBUG
 * The link is last; all others keep their order [P4].
 *
 * @proof list_prepend
 * @flags -DNDEBUG
 * The link is first; all others keep their order.
 *
 * @proof list_remove
 * @flags -DNDEBUG
 * The link is removed; all others keep their order [P5].
 *
 * @proof list_shape
 * @flags -DNDEBUG
 * Length, emptiness and the first link agree with a walk over the list.
 */
#include "list.h"
#include "proof.h"

#define PROOF_LINKS 4u

static struct lawn_link list;
static struct lawn_timer timers[PROOF_LINKS + 1];
static uint32_t length;

/* Builds a list of the first n timers, in the order of their numbers. This is
 * no restriction, because the proof chooses an arbitrary one of them. */
static void
proof_any_list(void)
{
    struct lawn_link *last = &list;
    uint32_t i;

    length = nondet_u32();
    ASSUME(length <= PROOF_LINKS);
    for (i = 0; i < PROOF_LINKS; i++) {
        if (i < length) {
            last->next = &timers[i].link;
            timers[i].link.prev = last;
            last = &timers[i].link;
        }
    }
    last->next = &list;
    list.prev = last;
}

/* Returns whether the list consists, in both directions, of all timers except
 * number `but`. The additional timer must be before them if `before` is set,
 * and behind them if `behind` is set. */
static bool
proof_is(uint32_t but, bool before, bool behind)
{
    const struct lawn_link *link = &list;
    bool good = true;
    uint32_t i;

    if (before) {
        good =
            link->next == &timers[PROOF_LINKS].link && link->next->prev == link;
        link = &timers[PROOF_LINKS].link;
    }
    for (i = 0; i < PROOF_LINKS; i++) {
        if (i < length && i != but) {
            good = good && link->next == &timers[i].link &&
                   timers[i].link.prev == link;
            link = &timers[i].link;
        }
    }
    if (behind) {
        good = good && link->next == &timers[PROOF_LINKS].link &&
               timers[PROOF_LINKS].link.prev == link;
        link = &timers[PROOF_LINKS].link;
    }
    return good && link->next == &list && list.prev == link;
}

void
list_append(void)
{
    proof_any_list();
    lawn__list_append(0, &list, &timers[PROOF_LINKS].link);
    PROVE(proof_is(PROOF_LINKS, false, true), "[P4] it comes last");
    PROOF_END();
}

void
list_prepend(void)
{
    proof_any_list();
    lawn__list_prepend(0, &list, &timers[PROOF_LINKS].link);
    PROVE(proof_is(PROOF_LINKS, true, false), "it comes first");
    PROOF_END();
}

void
list_remove(void)
{
    uint32_t which = nondet_u32();

    proof_any_list();
    ASSUME(which < length);
    lawn__list_remove(0, &timers[which].link);
    PROVE(proof_is(which, false, false), "[P5] it is off");
    PROOF_END();
}

void
list_shape(void)
{
    uint64_t deadline = nondet_u64();

    if (nondet_bool()) {
        proof_any_list();
    } else {
        length = 0;
        lawn__list_init(0, &list);
    }
    PROVE(lawn__list_length(&list) == length, "its length");
    PROVE(lawn__list_empty(&list) == (length == 0), "whether it is empty");
    PROVE(lawn__list_first(0, &list) == (length == 0 ? &list : &timers[0].link),
          "its first");
    PROVE(lawn__timer_of(&timers[0].link) == &timers[0], "a link's timer");
    timers[0].deadline = deadline;
    PROVE(lawn__link_deadline(&timers[0].link) == deadline, "its deadline");
    PROOF_END();
}
