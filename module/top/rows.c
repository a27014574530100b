/* rows.c - the queues of all servers in display order.
 *
 * Numbers are sorted in descending order, names and future times in ascending
 * order; missing values are last. Cost: O(queues log queues) per refresh.
 */
#include "top.h"

#include <stdlib.h>
#include <string.h>

/* The names of --sort. */
const char *const top_sorts[] = {
    "key",    "len",    "waiting", "due",   "leased", "dead",
    "next",   "oldest", "pushed",  "fired", "acked",  "redelivered",
    "handed", "p50",    "p99",     "max",   "errors", NULL,
};

/* The field to compare for each: its value or, for counters, its rate. */
static const enum top_field sort_fields[] = {
    TOP_FIELDS,   TOP_LEN,         TOP_WAITING, TOP_DUE,      TOP_LEASED,
    TOP_DEAD,     TOP_NEXT,        TOP_OLDEST,  TOP_PUSHED,   TOP_FIRED,
    TOP_ACKED,    TOP_REDELIVERED, TOP_HANDED,  TOP_LATE_P50, TOP_LATE_P99,
    TOP_LATE_MAX, TOP_ERRORS,
};

/* qsort() has no argument for the comparison. */
static enum top_field sort_field;

static int
compare_keys(const struct top_row *a, const struct top_row *b)
{
    size_t size =
        a->queue->size < b->queue->size ? a->queue->size : b->queue->size;
    int order = memcmp(a->queue->key, b->queue->key, size);
    if (order == 0) {
        order = (a->queue->size > b->queue->size) -
                (a->queue->size < b->queue->size);
    }
    return order != 0 ? order : strcmp(a->node->name, b->node->name);
}

static int
compare_rates(const struct top_queue *a, const struct top_queue *b)
{
    double one = a->rates[sort_field - TOP_COUNTS];
    double other = b->rates[sort_field - TOP_COUNTS];
    return (one < other) - (one > other);
}

static int
compare_rows(const void *one, const void *other)
{
    const struct top_row *a = one;
    const struct top_row *b = other;
    int order = 0;
    if (sort_field >= TOP_COUNTS && sort_field < TOP_ERRORS) {
        order = compare_rates(a->queue, b->queue);
    }
    if (order == 0 && sort_field != TOP_FIELDS) {
        int64_t x = a->queue->figures[sort_field];
        int64_t y = b->queue->figures[sort_field];
        order = (x < y) - (x > y);
        if (sort_field == TOP_NEXT && x != TOP_ABSENT && y != TOP_ABSENT) {
            order = -order;
        }
    }
    return order != 0 ? order : compare_keys(a, b);
}

bool
top_rows_make(struct top *top)
{
    size_t count = 0;
    for (size_t i = 0; i < top->count; i++) {
        count += top->nodes[i]->queues.count;
    }
    struct top_row *rows = realloc(top->rows, (count + 1) * sizeof(*rows));
    if (rows == NULL) {
        return false;
    }
    top->rows = rows;
    top->rows_count = 0;
    for (size_t i = 0; i < top->count; i++) {
        const struct top_node *node = top->nodes[i];
        for (size_t j = 0; j < node->queues.count; j++) {
            struct top_queue *queue = node->queues.list[j];
            queue->shown = false;
            if (node->answered && queue->at > 0 && !queue->gone) {
                rows[top->rows_count].node = node;
                rows[top->rows_count++].queue = queue;
            }
        }
    }
    sort_field = sort_fields[top->options->sort];
    qsort(rows, top->rows_count, sizeof(*rows), compare_rows);
    for (size_t i = 0; i < top->rows_count && i < top->options->keys; i++) {
        rows[i].queue->shown = true;
    }
    return true;
}

struct top_figure
top_sum(const struct top *top, const char *name)
{
    struct top_figure sum = {.value = TOP_ABSENT, .rate = -1};
    for (size_t i = 0; i < top->count; i++) {
        const struct top_node *node = top->nodes[i];
        const struct top_figure *figure =
            node->answered && !(node->clustered && node->replica)
                ? top_figures_find(&node->figures, name)
                : NULL;
        if (figure == NULL) {
            continue;
        }
        sum.value =
            sum.value == TOP_ABSENT ? figure->value : sum.value + figure->value;
        if (figure->rate >= 0) {
            sum.rate = sum.rate < 0 ? figure->rate : sum.rate + figure->rate;
        }
    }
    return sum;
}
