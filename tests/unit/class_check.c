/* class_check.c - lawn_check() reports each broken invariant of classes [I11 to
 * I14]. The tests break a valid lawn on purpose through its internal
 * structures. */
#include "class.h"
#include "class_common.h"

#include <stdio.h>
#include <string.h>

typedef void break_fn(struct yard *yard);

static void
break_link(struct yard *y)
{
    y->post[1].timer.link.prev = NULL;
}

static void
break_link_of_detached(struct yard *y)
{
    y->post[11].timer.link.next = NULL;
}

static void
break_order(struct yard *y)
{
    y->post[1].timer.deadline = 1000;
}

static void
break_first_order(struct yard *y)
{
    y->post[1].timer.deadline = y->post[0].timer.deadline - 1;
}

static void
break_start(struct yard *y)
{
    y->cls[0]->base = LAWN_NEVER - y->post[2].timer.deadline;
}

static void
break_detached_stamp(struct yard *y)
{
    y->cls[1]->cleared = y->post[12].timer.deadline;
}

static void
break_cleared(struct yard *y)
{
    y->cls[1]->cleared = y->post[10].timer.deadline;
}

static void
break_place(struct yard *y)
{
    y->cls[0]->place++;
}

static void
break_heap(struct yard *y)
{
    y->lawn->classes.heap[1]->due = 1;
}

static void
break_time(struct yard *y)
{
    y->cls[1]->due = y->cls[0]->due + 1000;
}

static void
break_pause(struct yard *y)
{
    y->cls[1]->paused_at = 1;
}

static void
break_next(struct yard *y)
{
    y->lawn->classes.next--;
}

static void
break_wake(struct yard *y)
{
    y->lawn->wake = y->lawn->classes.next + 1;
}

static void
break_count(struct yard *y)
{
    y->cls[0]->stops++;
}

static void
break_detached_count(struct yard *y)
{
    y->cls[1]->detached_count++;
}

static void
break_running(struct yard *y)
{
    y->lawn->classes.running++;
}

static void
break_weights(struct yard *y)
{
    y->lawn->classes.weights++;
}

TEST(a_check_names_the_first_broken_invariant_of_a_class)
{
    static const struct {
        break_fn *broken;
        const char *report;
    } rows[] = {
        {break_link, "[I2] links of a class disagree"},
        {break_link_of_detached, "[I2] links of a class disagree"},
        {break_order, "[I11] a class out of order"},
        {break_first_order, "[I11] a class out of order"},
        {break_start, "[I11] a start after the last tick"},
        {break_detached_stamp, "[I13] detached and running timers are mixed"},
        {break_cleared, "[I13] detached and running timers are mixed"},
        {break_place, "[I12] the heap is out of order"},
        {break_heap, "[I12] the heap is out of order"},
        {break_time, "[I12] a class's time is wrong"},
        {break_pause, "[I12] a class's time is wrong"},
        {break_next, "[I12] the first time is wrong"},
        {break_wake, "[I12] the first time is wrong"},
        {break_count, "[I14] the count of a class is wrong"},
        {break_detached_count, "[I14] the count of a class is wrong"},
        {break_running, "[I14] a sum over classes is wrong"},
        {break_weights, "[I14] a sum over classes is wrong"},
    };

    for (unsigned i = 0; i < COUNT(rows); i++) {
        struct yard y;
        char report[256] = "";

        yard_begin(&y, 5, 10, 20, 30);
        start_in(&y, 10, 1);
        lawn_set_now(y.lawn, 6);
        start_in(&y, 11, 1);
        CHECK_EQ(lawn_class_clear(y.cls[1]), 2);
        start_in(&y, 12, 1);
        for (unsigned j = 0; j < 3; j++) {
            lawn_set_now(y.lawn, 7 + j);
            start_in(&y, j, 0);
        }
        CHECK(lawn_check(y.lawn, stdout));
        rows[i].broken(&y);
        FILE *out = tmpfile();
        CHECK(out != NULL && !lawn_check(y.lawn, out));
        rewind(out);
        CHECK(fgets(report, sizeof(report), out) != NULL);
        (void)fclose(out);
        if (strstr(report, rows[i].report) == NULL) {
            kit_fail(__FILE__, __LINE__, "row %u: %s, expected %s", i, report,
                     rows[i].report);
        }
        lawn_free(y.lawn);
    }
}
