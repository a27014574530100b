/* workers_check.c - lawn_workers_check() reports each broken invariant of
 * src/workers/workers.h. Each test breaks a valid set on purpose through its
 * internal structures, repairs it and checks again. */
#include "../../src/workers/state.h"
#include "workers_common.h"

#include <stdio.h>
#include <string.h>

/* The first of two workers: timer 0 is on its lawn, and timer 1 in its
 * mailbox. */
struct patient {
    struct crew c;
    struct lawn_workers_timer *held;
    struct lawn_workers_timer *mail;
    struct lawn_shard *shard;
    struct lawn_shard *other;
};

typedef void break_fn(struct patient *p, bool mend);

static void
not_on_the_lawn(struct patient *p, bool mend)
{
    (void)mend;
    p->held->state ^= LAWN_STATE_LAWN;
}

static void
on_another_lawn(struct patient *p, bool mend)
{
    (void)mend;
    p->held->state ^= p->shard->word ^ p->other->word;
}

static void
not_in_the_mail(struct patient *p, bool mend)
{
    (void)mend;
    p->mail->state ^= LAWN_STATE_MAIL;
}

static void
in_anothers_mail(struct patient *p, bool mend)
{
    (void)mend;
    p->mail->state ^= p->shard->word ^ p->other->word;
}

static void
taken_and_not_in_the_mail(struct patient *p, bool mend)
{
    not_in_the_mail(p, mend);
    p->shard->box.head = mend ? p->mail : NULL;
    p->shard->box.taken = mend ? NULL : p->mail;
}

static void
ready_and_not_in_the_mail(struct patient *p, bool mend)
{
    not_in_the_mail(p, mend);
    p->shard->box.head = mend ? p->mail : NULL;
    p->shard->box.ready = mend ? NULL : p->mail;
}

static void
aside_and_not_in_the_mail(struct patient *p, bool mend)
{
    not_in_the_mail(p, mend);
    p->shard->box.head = mend ? p->mail : NULL;
    p->shard->again = mend ? NULL : p->mail;
}

static void
on_no_list(struct patient *p, bool mend)
{
    p->c.worker[0]->shards = mend ? p->shard : NULL;
}

static void
on_anothers_list(struct patient *p, bool mend)
{
    p->c.worker[0]->shards = mend ? p->shard : p->other;
}

static void
in_hand(struct patient *p, bool mend)
{
    p->shard->hand = mend ? NULL : p->held;
}

static void
from_the_future(struct patient *p, bool mend)
{
    p->shard->started += mend ? UINT64_MAX : 1;
}

static void
sick_lawn(struct patient *p, bool mend)
{
    p->held->timer.deadline += mend ? UINT64_MAX : 1;
}

static void
begin(struct patient *p)
{
    memset(p, 0, sizeof(*p));
    crew_begin(&p->c, 2, NULL);
    as(&p->c, 0);
    go(&p->c, 0, 10);
    as(&p->c, NOBODY);
    go_on(&p->c, 1, 20, 0);
    p->held = &p->c.hand[0].timer;
    p->mail = &p->c.hand[1].timer;
    p->shard = p->c.worker[0]->shards;
    p->other = p->c.worker[1]->shards;
    CHECK_EQ(lawn_count(p->shard->lawn), 1);
    CHECK(p->shard->box.head == p->mail);
    CHECK_EQ(p->shard->started, p->c.clock);
}

TEST(a_check_of_workers_reports_each_broken_invariant)
{
    static const struct {
        break_fn *change;
        const char *named;
    } cases[] = {
        {not_on_the_lawn, "[M1] a timer on a lawn is not marked so"},
        {on_another_lawn, "[M1] a timer on a lawn is not marked so"},
        {not_in_the_mail, "[M2] a timer in the mail is not marked so"},
        {in_anothers_mail, "[M2] a timer in the mail is not marked so"},
        {taken_and_not_in_the_mail,
         "[M2] a timer in the mail is not marked so"},
        {ready_and_not_in_the_mail,
         "[M2] a timer in the mail is not marked so"},
        {aside_and_not_in_the_mail,
         "[M2] a timer in the mail is not marked so"},
        {on_no_list, "[M3] a shard is not on the list of its worker"},
        {on_anothers_list, "[M3] a shard is not on the list of its worker"},
        {in_hand, "a worker is changing a timer"},
        {from_the_future, "[M5] a start time is in the future"},
        {sick_lawn, "a lawn is broken"},
    };
    struct patient p;

    for (size_t i = 0; i < COUNT(cases); i++) {
        char said[400] = "";
        FILE *out = fmemopen(said, sizeof(said), "w");

        CHECK(out != NULL);
        begin(&p);
        CHECK(lawn_workers_check(p.c.set, out));
        cases[i].change(&p, false);
        CHECK(!lawn_workers_check(p.c.set, NULL));
        CHECK(!lawn_workers_check(p.c.set, out));
        (void)fclose(out);
        if (strstr(said, "lawn_workers_check: shard 0") == NULL ||
            strstr(said, cases[i].named) == NULL) {
            kit_fail(__FILE__, __LINE__, "case %zu: %s, not %s", i, said,
                     cases[i].named);
        }
        cases[i].change(&p, true);
        crew_end(&p.c); /* checks again */
    }
}

/* [M1] Another thread is writing a start: its fields are not yet consistent. */
TEST(a_check_of_workers_ignores_timers_that_are_being_started)
{
    struct patient p;

    begin(&p);
    not_on_the_lawn(&p, false);
    p.held->state |= LAWN_STATE_CLAIM;
    CHECK(lawn_workers_check(p.c.set, stdout));
    p.held->state &= ~LAWN_STATE_CLAIM;
    CHECK(!lawn_workers_check(p.c.set, NULL));
    not_on_the_lawn(&p, true);
    crew_end(&p.c);
}

/* Tests the mailbox alone, in a state that workers never see: they are gone
 * before it is closed. */
TEST(a_mailbox_that_is_closed_is_empty_takes_nothing_and_can_be_closed_again)
{
    struct lawn_mailbox box = {0};
    struct lawn_workers_timer timers[2] = {{.state = 0}};
    size_t steps = SIZE_MAX;

    CHECK(lawn__mailbox_empty(&box));
    CHECK(lawn__mailbox_push(&box, &timers[0]));
    CHECK(!lawn__mailbox_empty(&box));
    CHECK(!lawn__mailbox_is_closed(&box));
    lawn__mailbox_close(&box);
    CHECK(lawn__mailbox_is_closed(&box));
    CHECK(!lawn__mailbox_empty(&box));
    CHECK(!lawn__mailbox_push(&box, &timers[1]));
    lawn__mailbox_close(&box); /* loses nothing */
    CHECK(lawn__mailbox_pop(&box, &steps) == &timers[0]);
    CHECK(lawn__mailbox_pop(&box, &steps) == NULL);
    CHECK(lawn__mailbox_empty(&box));
    CHECK(lawn__mailbox_is_closed(&box));
}
