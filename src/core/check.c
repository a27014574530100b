/* check.c - walks a whole lawn and names the first broken invariant.
 *
 * Written from the list in internal.h, not from the code that keeps it: it
 * recomputes what the other files remember, by plain looping.
 */
#include "internal.h"

#if !defined LAWN_FREESTANDING

struct lawn_checking {
    const struct lawn *lawn;
    FILE *out;
    uint64_t running; /* timers seen */
    uint64_t tips;    /* tips seen */
};

static bool
lawn_check_fails(struct lawn_checking *checking, const char *invariant,
                 const void *what)
{
    if (checking->out != NULL) {
        (void)fprintf(checking->out, "lawn_check: %s (at %p)\n", invariant,
                      what);
    }
    return false;
}

/* Walks one queue of timers. sorted: as a blade is; else they only have to
 * belong to the given slot. */
static bool
lawn_check_queue(struct lawn_checking *checking, const struct lawn_link *queue,
                 bool sorted, uint32_t slot)
{
    const struct lawn *lawn = checking->lawn;
    uintptr_t key = lawn_key(lawn);
    const struct lawn_link *link = queue;
    uint64_t before = 0;

    do {
        const struct lawn_link *next = link->next;

        if (next == NULL || lawn_list_prev(key, next) != link) {
            return lawn_check_fails(checking, "[I2] links disagree", link);
        }
        link = next;
        if (link != queue) {
            uint64_t deadline = lawn_link_deadline(link);

            checking->running++;
            if (deadline > LAWN_LAST) {
                return lawn_check_fails(checking,
                                        "[P9] a deadline after the last", link);
            }
            if (deadline < lawn->bound) {
                return lawn_check_fails(
                    checking, "[I6] a deadline before the bound", link);
            }
            if (sorted && deadline < before) {
                return lawn_check_fails(checking, "[I1] a blade out of order",
                                        link);
            }
            if (!sorted &&
                (deadline < lawn->tips.base ||
                 lawn_tips_slot(&lawn->tips, deadline) != slot ||
                 lawn_tips_list(&lawn->tips, slot, deadline) != queue)) {
                return lawn_check_fails(
                    checking, "[I4] a lone timer in the wrong list", link);
            }
            if (!sorted && slot == lawn->tips.known &&
                deadline < lawn->tips.known_time && deadline <= before) {
                return lawn_check_fails(
                    checking, "[I10] a timer before the known time", link);
            }
            before = deadline;
        }
    } while (link != queue);
    return true;
}

/* Whether a blade's last timer is due after what a start would append. */
static bool
lawn_check_late(const struct lawn *lawn, const struct lawn_blade *blade)
{
    uint64_t limit = lawn_ticks_round_up(
        lawn_ticks_after(lawn->now, blade->ttl), lawn->resolution);

    return blade->ttl != LAWN_NEVER && !lawn_list_empty(&blade->queue) &&
           lawn_link_deadline(lawn_list_prev(lawn_key(lawn), &blade->queue)) >
               limit;
}

static bool
lawn_check_blade(struct lawn_checking *checking, const struct lawn_blade *blade)
{
    const struct lawn_blades *blades = &checking->lawn->blades;
    uint32_t number = (uint32_t)(blade - blades->all);
    uint32_t set = number / LAWN_BLADES_WAYS;
    uint64_t hash = lawn_blades_hash(blade->ttl);
    uint32_t near = (uint32_t)lawn_blades_first(blades, hash);
    uint32_t far =
        (uint32_t)lawn_blades_first(blades, lawn_blades_rehash(blades, hash));
    uint32_t i;

    if (!lawn_check_queue(checking, &blade->queue, true, 0)) {
        return false;
    }
    if (blade->ttl != LAWN_NEVER && set - near >= LAWN_BLADES_STRIPES &&
        set - far >= LAWN_BLADES_STRIPES) {
        return lawn_check_fails(checking, "[I8] a TTL in a foreign set", blade);
    }
    for (i = set * LAWN_BLADES_WAYS; i < number; i++) {
        if (blade->ttl != LAWN_NEVER && blade->ttl == blades->all[i].ttl) {
            return lawn_check_fails(checking, "[I8] a TTL twice in a set",
                                    blade);
        }
    }
    if (!lawn_list_empty(&blade->queue) &&
        blade->tip > lawn_link_deadline(blade->queue.next)) {
        return lawn_check_fails(checking, "[I3] a tip after its blade's head",
                                blade);
    }
    if (lawn_check_late(checking->lawn, blade)) {
        return lawn_check_fails(checking, "[I1] a timer too late for its blade",
                                blade);
    }
    return true;
}

static bool
lawn_check_slot(struct lawn_checking *checking, uint32_t slot)
{
    const struct lawn_tips *tips = &checking->lawn->tips;
    const struct lawn_link *lone = &tips->lone[(size_t)slot * tips->lists];
    bool marked = ((tips->occupied[slot / 64] >> (slot % 64)) & 1) != 0;
    uint32_t before = LAWN_TIPS_NONE;
    uint32_t number;
    uint32_t i;

    for (i = 0; i < tips->lists; i++) {
        if (!marked && !lawn_list_empty(&lone[i])) {
            return lawn_check_fails(
                checking, "[I5] a slot in use is not marked", &lone[i]);
        }
        if (!lawn_check_queue(checking, &lone[i], false, slot)) {
            return false;
        }
    }
    if (!marked && tips->first[slot] != LAWN_TIPS_NONE) {
        return lawn_check_fails(checking, "[I5] a slot in use is not marked",
                                lone);
    }
    if (marked != (((tips->words >> (slot / 64)) & marked) != 0)) {
        return lawn_check_fails(checking, "[I5] a word in use is not marked",
                                lone);
    }
    for (number = tips->first[slot]; number != LAWN_TIPS_NONE;
         number = tips->tip[number].next) {
        const struct lawn_blade *blade = &checking->lawn->blades.all[number];

        if (tips->tip[number].prev != before) {
            return lawn_check_fails(checking, "[I2] tips' links disagree",
                                    blade);
        }
        if (blade->tip < tips->base || blade->tip > LAWN_LAST ||
            lawn_tips_slot(tips, blade->tip) != slot) {
            return lawn_check_fails(checking, "[I4] a tip in the wrong slot",
                                    blade);
        }
        if (slot == tips->known && blade->tip < tips->known_time) {
            return lawn_check_fails(checking,
                                    "[I10] a tip before the known time", blade);
        }
        if (blade->tip < checking->lawn->bound) {
            return lawn_check_fails(checking, "[I6] a tip before the bound",
                                    blade);
        }
        checking->tips++;
        before = number;
    }
    return true;
}

bool
lawn_check(const struct lawn *lawn, FILE *out)
{
    struct lawn_checking checking = {lawn, out, 0, 0};
    uint64_t listed = 0;
    uint32_t slot;
    size_t i;

    if (lawn->tips.base > lawn->now || lawn->now > LAWN_LAST) {
        return lawn_check_fails(&checking, "[I9] the base is ahead of now",
                                lawn);
    }
    for (i = 0; i < lawn->blades.count; i++) {
        listed += lawn->blades.all[i].tip != LAWN_NEVER;
        if (!lawn_check_blade(&checking, &lawn->blades.all[i])) {
            return false;
        }
    }
    for (slot = 0; slot < lawn_tips_slots(lawn->tips.bits); slot++) {
        if (!lawn_check_slot(&checking, slot)) {
            return false;
        }
    }
    /* All of them are due at LAWN_LAST, so they are sorted. */
    if (!lawn_check_queue(&checking, &lawn->last, true, 0)) {
        return false;
    }
    if (checking.tips != listed || checking.tips != lawn->tips.count) {
        return lawn_check_fails(&checking, "[I3] a tip is lost", lawn);
    }
    if (checking.running != lawn_count(lawn)) {
        return lawn_check_fails(&checking, "[I7] the count is wrong", lawn);
    }
    if (lawn->wake != (lawn->habits.asked ? 0 : lawn->bound)) {
        return lawn_check_fails(&checking, "[I6] the wake is not the bound",
                                lawn);
    }
    if (lawn->alert < lawn->bound || lawn->alert < lawn->tips.known_time) {
        return lawn_check_fails(&checking, "[I10] the alert is too early",
                                lawn);
    }
    return true;
}

#endif
