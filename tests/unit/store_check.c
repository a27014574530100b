/* store_check.c - lawn_store_check() reports each broken invariant of
 * src/store/store.h. Each test breaks a valid store on purpose through its
 * internal structures, repairs it and checks again. */
#include "../../src/store/store.h"
#include "store_common.h"

#include <stdio.h>
#include <string.h>

#define SEED 5

/* The store contains "a" and "b", due at 10 and 20. Breaks or repairs it. */
struct patient {
    struct trial t;
    struct lawn_store_record *a;
    struct lawn_store_record *b;
    struct lawn_store_bucket *home; /* of a */
    struct lawn_store_slab *slab;
    struct lawn_store_slab *other;
};

typedef void break_fn(struct patient *p, bool mend);

static struct lawn_store_bucket *
home(struct patient *p, const char *id)
{
    const struct lawn_store_table *table = &p->t.store->table;

    return lawn__store_table_home(table, lawn__store_table_hash(table, id, 1));
}

static struct lawn_store_record *
find(struct patient *p, const char *id)
{
    const struct lawn_store_table *table = &p->t.store->table;

    return lawn__store_table_find(table, lawn__store_table_hash(table, id, 1),
                                  id, 1);
}

static void
gone_but_running(struct patient *p, bool mend)
{
    (void)mend;
    p->a->payload ^= LAWN_STORE_GONE;
}

static void
gone_but_in_the_table(struct patient *p, bool mend)
{
    p->a->payload ^= LAWN_STORE_GONE;
    if (mend) {
        lawn_start_at(p->t.store->lawn, &p->a->timer, 10);
    } else {
        CHECK(lawn_stop(p->t.store->lawn, &p->a->timer));
    }
}

static void
not_in_the_table(struct patient *p, bool mend)
{
    struct lawn_store_table *table = &p->t.store->table;
    uint64_t hash = lawn__store_table_hash(table, "a", 1);

    if (mend) {
        CHECK(lawn__store_table_add(table, hash, p->a));
    } else {
        lawn__store_table_remove(table, hash, p->a);
    }
}

static void
due_but_running(struct patient *p, bool mend)
{
    (void)mend;
    p->a->payload ^= LAWN_STORE_DUE;
}

static void
due_but_nowhere(struct patient *p, bool mend)
{
    p->a->payload ^= LAWN_STORE_DUE;
    if (mend) {
        lawn_start_at(p->t.store->lawn, &p->a->timer, 10);
    } else {
        CHECK(lawn_stop(p->t.store->lawn, &p->a->timer));
    }
}

static void
left_over(struct patient *p, bool mend)
{
    p->t.store->due[0] = p->a;
    p->t.store->due_end = mend ? 0 : 1;
}

static void
due_too_early(struct patient *p, bool mend)
{
    p->t.store->mows = mend ? 0 : 1;
    left_over(p, mend);
}

static void
outside_miscounted(struct patient *p, bool mend)
{
    p->t.store->outside += mend ? (size_t)-1 : 1;
}

static void
memory_miscounted(struct patient *p, bool mend)
{
    p->t.store->memory.bytes += mend ? (size_t)-1 : 1;
}

static void
full_word(struct patient *p, bool mend)
{
    p->slab->full_words = mend ? 0 : 1;
}

static void
live_miscounted(struct patient *p, bool mend)
{
    p->slab->live += mend ? UINT32_MAX : 1;
}

static void
another_number(struct patient *p, bool mend)
{
    p->slab->number += mend ? UINT64_MAX : 1;
}

static void
of_another_size(struct patient *p, bool mend)
{
    p->slab->size += mend ? -1 : 1;
}

static void
slots_miscounted(struct patient *p, bool mend)
{
    p->slab->size->slots += mend ? UINT64_MAX : 1;
}

static void
unlisted_before(struct patient *p, bool mend)
{
    p->slab->prev = mend ? p->slab : p->other;
}

static void
unlisted_after(struct patient *p, bool mend)
{
    p->slab->next = mend ? p->slab : p->other;
    p->other->prev = mend ? p->other : p->slab;
}

static void
overfull(struct patient *p, bool mend)
{
    p->home->used = (uint8_t)(mend ? 1 : 7);
}

static void
chained_early(struct patient *p, bool mend)
{
    p->home->chained = !mend;
}

/* The chained bucket would hold fewer than two records. */
static void
chained_to_nothing(struct patient *p, bool mend)
{
    static struct lawn_store_bucket empty;

    p->home->chained = !mend;
    p->home->used = (uint8_t)(mend ? 1 : 5);
    p->home->entry[5] = &empty;
}

static void
another_id(struct patient *p, bool mend)
{
    const struct lawn_store_table *table = &p->t.store->table;
    uint64_t hash = lawn__store_table_hash(table, "a", 1);

    /* Finds an id of another bucket: there are four. */
    do {
        p->a->id[0]++;
    } while ((lawn__store_table_hash(table, p->a->id, 1) & 3) == (hash & 3));
    if (mend) {
        p->a->id[0] = 'a';
    }
}

static void
another_tag(struct patient *p, bool mend)
{
    (void)mend;
    p->home->tag[0] ^= 1;
}

static void
twice(struct patient *p, bool mend)
{
    struct lawn_store_table *table = &p->t.store->table;
    uint64_t a = lawn__store_table_hash(table, "a", 1);
    uint64_t b = lawn__store_table_hash(table, "b", 1);

    lawn__store_table_remove(table, mend ? a : b, p->b);
    p->b->id[0] = mend ? 'b' : 'a';
    CHECK(lawn__store_table_add(table, mend ? b : a, p->b));
}

static void
records_miscounted(struct patient *p, bool mend)
{
    p->t.store->table.count += mend ? UINT64_MAX : 1;
}

static void
sick_lawn(struct patient *p, bool mend)
{
    p->a->timer.deadline = mend ? 10 : 11;
}

static struct lawn_store_slab *
slab_number(const struct patient *p, uint64_t number)
{
    return (struct lawn_store_slab *)*lawn__store_pointers_at(
        &p->t.store->slots.slabs, number);
}

/* With this seed, a and b are in different buckets. */
static void
begin(struct patient *p)
{
    static char large[500];

    memset(p, 0, sizeof(*p));
    trial_begin(&p->t, &(struct lawn_store_options){.seed = {SEED, SEED}});
    put(&p->t, "a", 10, "x");
    put(&p->t, "b", 12, "y");
    CHECK_EQ(lawn_store_start(p->t.store, "c", 1, 30, large, sizeof(large), 0),
             0);
    p->home = home(p, "a");
    p->a = find(p, "a");
    p->b = find(p, "b");
    CHECK(home(p, "b") != p->home);
    CHECK(home(p, "c") != p->home);
    p->slab = slab_number(p, 0);
    p->other = slab_number(p, 1);
    CHECK_EQ(p->slab->live, 2);
    CHECK(p->slab->next == p->slab);
}

TEST(a_check_of_a_store_names_the_broken_invariant)
{
    static const struct {
        break_fn *change;
        const char *named;
    } cases[] = {
        {gone_but_running, "[J1] a timer that is gone still runs"},
        {gone_but_in_the_table, "[J1] the table contains an invalid record"},
        {not_in_the_table, "[J1] a record is not in the table"},
        {due_but_running, "[J2] a record neither runs nor is due"},
        {due_but_nowhere, "[J2] a record neither runs nor is due"},
        {left_over, "[J4] a mow left timers behind"},
        {due_too_early, "[J4] due timers are out of order"},
        {outside_miscounted, "[J5] payloads outside are miscounted"},
        {memory_miscounted, "[J5] memory is miscounted"},
        {full_word, "a word counted as full is not full"},
        {live_miscounted, "live slots miscounted"},
        {another_number, "has a wrong number"},
        {slots_miscounted, "slots miscounted by this number"},
        {of_another_size, "belongs to another size"},
        {unlisted_before, "has room, but is not listed"},
        {unlisted_after, "has room, but is not listed"},
        {overfull, "is not filled in order"},
        {chained_early, "is not filled in order"},
        {chained_to_nothing, "is not filled in order"},
        {another_id, "contains an id of another bucket"},
        {another_tag, "has a wrong tag"},
        {twice, "contains an id twice [S1]"},
        {records_miscounted, "records miscounted"},
        {sick_lawn, "I"},
    };
    struct patient p;

    for (size_t i = 0; i < COUNT(cases); i++) {
        char said[200] = "";
        FILE *out = fmemopen(said, sizeof(said), "w");

        CHECK(out != NULL);
        begin(&p);
        CHECK(lawn_store_check(p.t.store, out));
        cases[i].change(&p, false);
        CHECK(!lawn_store_check(p.t.store, NULL));
        CHECK(!lawn_store_check(p.t.store, out));
        (void)fclose(out);
        if (strstr(said, cases[i].named) == NULL ||
            strncmp(said, "lawn_", 5) != 0) {
            kit_fail(__FILE__, __LINE__, "case %zu: %s, not %s", i, said,
                     cases[i].named);
        }
        cases[i].change(&p, true);
        trial_end(&p.t); /* checks again */
    }
}

/* The lawn's check would report first without these times. */
TEST(a_check_of_a_store_sees_due_timers_out_of_order)
{
    struct patient p;

    begin(&p);
    struct lawn_store *store = p.t.store;
    struct lawn_store_record *a = p.a;
    lawn_set_now(store->lawn, 30);
    CHECK(lawn_stop(store->lawn, &p.a->timer));
    CHECK(lawn_stop(store->lawn, &p.b->timer));
    p.a->payload |= LAWN_STORE_DUE;
    p.b->payload |= LAWN_STORE_DUE;
    store->mows = 1;
    store->due_end = 3;
    store->due[0] = p.a;
    store->due[1] = NULL;
    store->due[2] = p.b;
    CHECK(lawn_store_check(store, stdout));
    store->due[0] = p.b;
    store->due[2] = a;
    CHECK(!lawn_store_check(store, NULL));
    store->due[0] = a;
    store->due[2] = p.b;
    store->mows = 0;
    lawn_store_clear(store);
    trial_end(&p.t);
}

/* A store with an empty slab, and a free slab number. */
TEST(a_check_of_a_store_sees_numbers_of_slabs_that_are_lost)
{
    static char large[4][1300];
    static const size_t sizes[] = {100, 500, 900, 1300};
    struct trial t;

    trial_begin(&t, &(struct lawn_store_options){.seed = {SEED, SEED}});
    struct lawn_store_slots *slots = &t.store->slots;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        CHECK_EQ(
            lawn_store_start(t.store, &i, sizeof(i), 10, large[i], sizes[i], 0),
            0);
    }
    for (size_t i = 1; i < 3; i++) {
        CHECK(lawn_store_stop(t.store, &i, sizeof(i)));
    }
    CHECK(lawn_store_check(t.store, stdout));
    struct lawn_store_slab *spare = slots->spare;
    CHECK(spare != NULL);
    uint64_t number = slots->free_number[0];
    uintptr_t *word = lawn__store_pointers_at(&slots->slabs, number);

    slots->free_number[0] = 1000;
    CHECK(!lawn_store_check(t.store, NULL));
    slots->free_number[0] = UINTPTR_MAX >> 1; /* none */
    CHECK(!lawn_store_check(t.store, NULL));
    slots->free_number[1] = number; /* the number of another piece */
    CHECK(!lawn_store_check(t.store, NULL));
    slots->free_number[1] = UINTPTR_MAX >> 1;
    slots->free_number[0] = 0; /* a number that is not free */
    CHECK(!lawn_store_check(t.store, NULL));
    slots->free_number[0] = number;
    *word = (uintptr_t)(number << 1 | 1); /* a cycle */
    CHECK(!lawn_store_check(t.store, NULL));
    *word = UINTPTR_MAX;
    slots->spare = NULL;
    CHECK(!lawn_store_check(t.store, NULL));
    slots->spare = spare;
    trial_end(&t);
}
