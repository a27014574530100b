/* class.c - classes: creating them, starting and stopping their timers, the
 * counters, and memory. */
#include "class_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(a_lawn_has_no_classes_unless_asked)
{
    struct lawn *lawn = lawn_new(NULL);

    CHECK(lawn_class_new(lawn, 10, "none") == NULL);
    CHECK(lawn_class_each(lawn, NULL) == NULL);
    lawn_free(lawn);
}

TEST(a_lawn_has_at_most_the_classes_of_its_options)
{
    struct yard y;

    yard_begin(&y, 0, 10, 10, 30);
    y.cls[3] = lawn_class_new(y.lawn, 40, "three");
    CHECK(y.cls[3] != NULL);
    CHECK(lawn_class_new(y.lawn, 50, "four") == NULL);
    CHECK(lawn_class_free(y.cls[1]));
    y.cls[1] = lawn_class_new(y.lawn, 50, "four");
    CHECK(y.cls[1] != NULL);
    CHECK_EQ(counters(&y, 1).ttl, 50);
    yard_end(&y);
}

TEST(a_lawn_may_have_65535_classes_and_no_more)
{
    struct lawn_options options = {
        .classes = SIZE_MAX, .blades = 8, .slot_bits = 4};
    struct lawn *lawn = lawn_new(&options);
    struct lawn_timer *timers = calloc(65536, sizeof(*timers));

    CHECK(lawn != NULL && timers != NULL);
    for (unsigned i = 0; i < 65535; i++) {
        struct lawn_class *cls = lawn_class_new(lawn, 65536 - i, NULL);

        CHECK(cls != NULL);
        lawn_class_start(cls, &timers[i]);
    }
    CHECK(lawn_class_new(lawn, 1, NULL) == NULL);
    CHECK_EQ(lawn_next(lawn), 2);
    CHECK_EQ(lawn_count(lawn), 65535);
    CHECK(lawn_check(lawn, stdout));
    lawn_free(lawn);
    free(timers);
}

TEST(a_class_takes_200_bytes)
{
    struct lawn_options one = {.classes = 1};
    struct lawn_options nine = {.classes = 9};

    if (sizeof(void *) == 8) {
        CHECK_EQ(lawn_size(&one) - lawn_size(NULL), 200);
        CHECK_EQ(lawn_size(&nine) - lawn_size(&one), 8 * 200);
    }
}

TEST(a_lawn_in_memory_of_the_caller_has_classes)
{
    struct lawn_options options = {.classes = 7, .slot_bits = 4, .blades = 8};
    size_t size = lawn_size(&options);
    char *memory = malloc(size + 1);

    /* At an odd address; a sanitizer finds accesses beyond the end. */
    memset(memory, 0x55, size + 1);
    struct lawn *lawn = lawn_place(memory + 1, size, &options);
    CHECK(lawn != NULL);
    CHECK(lawn_place(memory, size - 1, &options) == NULL);
    lawn = lawn_place(memory + 1, size, &options);
    struct lawn_timer timers[7] = {0};
    for (unsigned i = 0; i < 7; i++) {
        lawn_class_start(lawn_class_new(lawn, 7 - i, "placed"), &timers[i]);
    }
    CHECK(lawn_check(lawn, stdout));
    CHECK_EQ(lawn_next_exact(lawn), 1);
    lawn_free(lawn);
    free(memory);
}

TEST(each_class_is_visited_once)
{
    struct yard y;
    unsigned seen = 0;

    yard_begin(&y, 0, 30, 20, 10);
    start_in(&y, 0, 1);
    CHECK(lawn_class_free(y.cls[0]));
    for (struct lawn_class *cls = lawn_class_each(y.lawn, NULL); cls != NULL;
         cls = lawn_class_each(y.lawn, cls)) {
        CHECK(cls == y.cls[1] || cls == y.cls[2]);
        seen += cls == y.cls[1] ? 1 : 10;
        lawn_class_set_ttl(cls, 5); /* the order of the visit does not change */
    }
    CHECK_EQ(seen, 11);
    yard_end(&y);
}

TEST(a_class_with_timers_cannot_be_freed)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    start_in(&y, 0, 0);
    CHECK(!lawn_class_free(y.cls[0]));
    CHECK_EQ(lawn_class_clear(y.cls[0]), 1);
    CHECK(!lawn_class_free(y.cls[0])); /* detached */
    CHECK(lawn_class_take(y.cls[0]) == &y.post[0].timer);
    CHECK(lawn_class_free(y.cls[0]));
    CHECK(lawn_check(y.lawn, stdout));
    yard_end(&y);
}

TEST(a_freed_class_leaves_the_others_in_order)
{
    struct lawn_options options = {.classes = 20};
    struct lawn *lawn = lawn_new(&options);
    struct lawn_class *cls[20];
    struct lawn_timer timers[20] = {0};

    for (unsigned i = 0; i < 20; i++) {
        cls[i] = lawn_class_new(lawn, 100 + i * 7 % 20, NULL);
        lawn_class_start(cls[i], &timers[i]);
    }
    for (unsigned i = 0; i < 20; i++) {
        CHECK(lawn_class_stop(cls[i], &timers[i]));
        CHECK(lawn_class_free(cls[i]));
        CHECK(lawn_check(lawn, stdout));
    }
    CHECK(lawn_class_each(lawn, NULL) == NULL);
    CHECK_EQ(lawn_next(lawn), LAWN_NEVER);
    lawn_free(lawn);
}

TEST(a_class_from_another_part_of_the_heap_takes_the_place_of_a_freed_one)
{
    static const uint64_t ttls[] = {1, 100, 2, 101, 102, 3, 4};
    struct lawn_options options = {.classes = COUNT(ttls)};
    struct lawn *lawn = lawn_new(&options);
    struct lawn_class *cls[COUNT(ttls)];
    struct lawn_timer timers[COUNT(ttls)] = {0};

    for (unsigned i = 0; i < COUNT(ttls); i++) {
        cls[i] = lawn_class_new(lawn, ttls[i], NULL);
        lawn_class_start(cls[i], &timers[i]);
    }
    CHECK(lawn_class_stop(cls[3], &timers[3]));
    CHECK(lawn_class_free(cls[3]));
    CHECK(lawn_check(lawn, stdout));
    lawn_free(lawn);
}

TEST(a_class_timer_fires_at_its_deadline_and_not_before)
{
    struct yard y;

    yard_begin(&y, 5, 10, 20, 30);
    start_in(&y, 0, 0);
    CHECK_EQ(deadline_of(&y, 0), 15);
    CHECK_EQ(lawn_count(y.lawn), 1);
    CHECK_EQ(lawn_next(y.lawn), 15);
    CHECK_EQ(mow_yard(&y, 14), 0);
    CHECK_EQ(mow_yard(&y, 15), 1);
    CHECK_FIRES(&y, 0);
    CHECK_EQ(y.due[0], 15);
    CHECK_EQ(lawn_next(y.lawn), LAWN_NEVER);
    CHECK_EQ(lawn_count(y.lawn), 0);
    CHECK_EQ(mow_yard(&y, 1000), 0);
    yard_end(&y);
}

TEST(a_ttl_of_0_counts_as_1_in_a_class)
{
    struct yard y;

    yard_begin(&y, 0, 0, 20, 30);
    CHECK_EQ(counters(&y, 0).ttl, 1);
    start_in(&y, 0, 0);
    CHECK_EQ(deadline_of(&y, 0), 1);
    lawn_class_set_ttl(y.cls[0], 0);
    CHECK_EQ(counters(&y, 0).ttl, 1);
    yard_end(&y);
}

TEST(a_restarted_class_timer_moves_behind_the_others)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    start_in(&y, 0, 0);
    start_in(&y, 1, 0);
    lawn_set_now(y.lawn, 4);
    start_in(&y, 0, 0);
    CHECK_EQ(counters(&y, 0).starts, 2);
    CHECK_EQ(deadline_of(&y, 0), 14);
    CHECK_EQ(mow_yard(&y, 20), 2);
    CHECK_FIRES(&y, 1, 0);
    yard_end(&y);
}

TEST(a_stopped_class_timer_does_not_fire)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    start_in(&y, 0, 0);
    start_in(&y, 1, 0);
    CHECK(stop_post(&y, 0));
    CHECK(!stop_post(&y, 0));
    CHECK_EQ(deadline_of(&y, 0), LAWN_NEVER);
    CHECK_EQ(mow_yard(&y, 20), 1);
    CHECK_FIRES(&y, 1);
    CHECK(!stop_post(&y, 1));
    yard_end(&y);
}

TEST(an_idle_class_timer_may_move_to_another_class)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    start_in(&y, 0, 0);
    CHECK(stop_post(&y, 0));
    start_in(&y, 0, 1);
    CHECK_EQ(deadline_of(&y, 0), 20);
    CHECK(stop_post(&y, 0));
    start_alone(&y, 0, 7);
    CHECK_EQ(mow_yard(&y, 7), 1);
    CHECK_FIRES(&y, 0);
    yard_end(&y);
}

TEST(each_start_through_a_class_ends_in_one_way)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    for (unsigned i = 0; i < 6; i++) {
        start_in(&y, i, 0);
    }
    CHECK(stop_post(&y, 1));
    start_in(&y, 2, 0);
    CHECK_EQ(mow_budget(&y, 10, 2), 2);
    CHECK_FIRES(&y, 0, 3);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 3);
    struct lawn_class_counters stats = counters(&y, 0);
    CHECK_EQ(stats.starts, 6);
    CHECK_EQ(stats.stops, 4);
    CHECK_EQ(stats.fires, 2);
    CHECK_EQ(stats.count, 0);
    CHECK_EQ(stats.detached, 3);
    CHECK(lawn_class_take(y.cls[0]) == &y.post[4].timer);
    CHECK(lawn_class_take(y.cls[0]) == &y.post[5].timer);
    CHECK(lawn_class_take(y.cls[0]) == &y.post[2].timer);
    CHECK(lawn_class_take(y.cls[0]) == NULL);
    CHECK_EQ(mow_yard(&y, 1000), 0);
    yard_end(&y);
}

TEST(lateness_of_a_class_counts_from_the_deadline)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    start_in(&y, 0, 0);
    lawn_set_now(y.lawn, 3);
    start_in(&y, 1, 0);
    CHECK_EQ(mow_yard(&y, 18), 2);
    CHECK_EQ(counters(&y, 0).late, 8 + 5);
    CHECK_EQ(counters(&y, 0).late_max, 8);
    start_in(&y, 0, 0);
    CHECK_EQ(mow_yard(&y, 28), 1);
    CHECK_EQ(counters(&y, 0).late, 13);
    yard_end(&y);
}

TEST(class_stats_have_the_first_and_the_last_deadline)
{
    struct yard y;

    yard_begin(&y, 100, 10, 20, 30);
    struct lawn_class_counters stats = counters(&y, 0);
    CHECK(strcmp(stats.name, "zero") == 0);
    CHECK_EQ(stats.next, LAWN_NEVER);
    CHECK_EQ(stats.last, LAWN_NEVER);
    CHECK_EQ(stats.weight, 0);
    CHECK(!stats.paused);
    start_in(&y, 0, 0);
    lawn_set_now(y.lawn, 103);
    start_in(&y, 1, 0);
    lawn_class_set_weight(y.cls[0], 1000000);
    lawn_class_pause(y.cls[0]);
    lawn_set_now(y.lawn, 104);
    stats = counters(&y, 0);
    CHECK_EQ(stats.next, 111);
    CHECK_EQ(stats.last, 114);
    CHECK_EQ(stats.weight, 65535);
    CHECK_EQ(stats.count, 2);
    CHECK(stats.paused);
    yard_end(&y);
}

TEST(counters_of_a_lawn_exclude_its_classes_and_its_count_includes_them)
{
    struct yard y;
    struct lawn_counters stats;

    yard_begin(&y, 0, 10, 20, 30);
    start_in(&y, 0, 0);
    start_in(&y, 1, 0);
    start_in(&y, 2, 1);
    start_alone(&y, 3, 5);
    CHECK_EQ(lawn_count(y.lawn), 4);
    CHECK_EQ(mow_yard(&y, 10), 3);
    CHECK_EQ(lawn_count(y.lawn), 1);
    lawn_stats(y.lawn, &stats);
    CHECK_EQ(stats.starts, 1);
    CHECK_EQ(stats.fires, 1);
    CHECK_EQ(stats.count, 0);
    CHECK_EQ(lawn_count_unqueued(y.lawn), 0);
    CHECK(lawn_next_timer(y.lawn) == NULL);
    yard_end(&y);
}

TEST(a_moved_class_timer_fires_from_its_new_memory)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    start_in(&y, 0, 0);
    start_in(&y, 1, 0);
    start_in(&y, 2, 0);
    y.post[9] = y.post[1];
    memset(&y.post[1].timer, 0xa5, sizeof(y.post[1].timer));
    lawn_class_moved(y.cls[0], &y.post[9].timer);
    y.post[9].id = 9;
    CHECK(lawn_check(y.lawn, stdout));
    CHECK_EQ(mow_yard(&y, 10), 3);
    CHECK_FIRES(&y, 0, 9, 2);
    lawn_class_moved(y.cls[0], &y.post[9].timer); /* idle: nothing happens */
    yard_end(&y);
}

TEST(a_moved_detached_timer_is_taken_from_its_new_memory)
{
    struct yard y;

    yard_begin(&y, 0, 10, 20, 30);
    start_in(&y, 0, 0);
    CHECK_EQ(lawn_class_clear(y.cls[0]), 1);
    y.post[9] = y.post[0];
    memset(&y.post[0].timer, 0xa5, sizeof(y.post[0].timer));
    lawn_class_moved(y.cls[0], &y.post[9].timer);
    CHECK(lawn_class_take(y.cls[0]) == &y.post[9].timer);
    yard_end(&y);
}

static void
dump(const struct lawn *lawn, bool json, char *text, size_t size)
{
    FILE *file = tmpfile();

    CHECK(file != NULL);
    lawn_dump(lawn, file, json);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    (void)fclose(file);
}

static void
begin_dump(struct yard *y)
{
    yard_begin(y, 7, 10, 20, 30);
    CHECK(lawn_class_free(y->cls[1]));
    CHECK(lawn_class_free(y->cls[2]));
    y->cls[1] = lawn_class_new(y->lawn, 20, NULL);
    y->cls[2] = lawn_class_new(y->lawn, 30, "\"a\\b\"\n\x7f");
    start_in(y, 0, 0);
    lawn_class_set_weight(y->cls[1], 3);
    lawn_class_pause(y->cls[1]);
}

TEST(a_dump_has_a_line_for_the_lawn_and_one_for_each_class)
{
    struct yard y;
    char text[4096];
    unsigned lines = 0;

    begin_dump(&y);
    dump(y.lawn, false, text, sizeof(text));
    for (const char *at = text; *at != '\0'; at++) {
        lines += *at == '\n';
    }
    CHECK_EQ(lines, 4);
    CHECK(strncmp(text, "lawn: now 7, resolution 1, count 1, ", 36) == 0);
    CHECK(strstr(text, "\nclass \"zero\", ttl 10, count 1, detached 0, "
                       "starts 1, stops 0, fires 0, late 0, late_max 0, "
                       "next 17, last 17, weight 0, paused no\n") != NULL);
    CHECK(strstr(text, "\nclass -, ttl 20, count 0, detached 0, starts 0, "
                       "stops 0, fires 0, late 0, late_max 0, next never, "
                       "last never, weight 3, paused yes\n") != NULL);
    CHECK(strstr(text, "\nclass \"\\\"a\\\\b\\\"\\u000a\\u007f\", ") != NULL);
    yard_end(&y);
}

TEST(a_dump_in_json_is_one_object_on_one_line)
{
    struct yard y;
    char text[4096];

    begin_dump(&y);
    dump(y.lawn, true, text, sizeof(text));
    CHECK(strchr(text, '\n') == NULL);
    CHECK(strncmp(text, "{\"now\":7,\"resolution\":1,\"count\":1,", 34) == 0);
    CHECK(strstr(text, ",\"classes\":[{\"name\":") != NULL);
    CHECK(strstr(text, "{\"name\":\"zero\",\"ttl\":10,\"count\":1,"
                       "\"detached\":0,\"starts\":1,\"stops\":0,\"fires\":0,"
                       "\"late\":0,\"late_max\":0,\"next\":17,\"last\":17,"
                       "\"weight\":0,\"paused\":false}") != NULL);
    CHECK(strstr(text, "},{\"name\":null,\"ttl\":20,") != NULL);
    CHECK(strstr(text, "\"next\":null,\"last\":null,\"weight\":3,"
                       "\"paused\":true}") != NULL);
    CHECK(strstr(text, "\"\\\"a\\\\b\\\"\\u000a\\u007f\"") != NULL);
    CHECK(strcmp(text + strlen(text) - 3, "}]}") == 0);
    yard_end(&y);
}

TEST(a_dump_of_a_lawn_without_classes_has_an_empty_list)
{
    struct lawn *lawn = lawn_new(NULL);
    char text[4096];

    dump(lawn, true, text, sizeof(text));
    CHECK(strcmp(text + strlen(text) - 14, ",\"classes\":[]}") == 0);
    dump(lawn, false, text, sizeof(text));
    CHECK(strchr(text, '\n') == text + strlen(text) - 1);
    lawn_free(lawn);
}
