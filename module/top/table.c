/* table.c - the table of "lawn top": the servers, the totals, and a line for
 * each queue.
 *
 * A column is as wide as its widest cell. If the terminal is too narrow, the
 * least important columns are omitted until the key has room. The key is last,
 * because it may contain blanks. No line ends in a blank.
 */
#include "text.h"
#include "top.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_KEY 20      /* minimum width of a key */
#define TABLE_KEY_MAX 400 /* maximum width of a key */
#define TABLE_SERVERS 8   /* servers shown on a screen */
#define TABLE_TROUBLES 3  /* sink errors shown */

enum table_kind {
    TABLE_COUNT,
    TABLE_MS,
    TABLE_NEXT,
    TABLE_RATE,
    TABLE_SINK,
    TABLE_SERVER
};

/* The column with the greatest `rank` is omitted first, one with 0 never. */
static const struct table_column {
    const char *title;
    enum table_kind kind;
    enum top_field field;
    int rank;
} table_columns[] = {
    {"LEN", TABLE_COUNT, TOP_LEN, 0},
    {"WAITING", TABLE_COUNT, TOP_WAITING, 9},
    {"DUE", TABLE_COUNT, TOP_DUE, 0},
    {"LEASED", TABLE_COUNT, TOP_LEASED, 1},
    {"DEAD", TABLE_COUNT, TOP_DEAD, 2},
    {"NEXT", TABLE_NEXT, TOP_NEXT, 5},
    {"OLDEST", TABLE_MS, TOP_OLDEST, 1},
    {"PUSH/S", TABLE_RATE, TOP_PUSHED, 3},
    {"FIRE/S", TABLE_RATE, TOP_FIRED, 3},
    {"ACK/S", TABLE_RATE, TOP_ACKED, 6},
    {"AGAIN/S", TABLE_RATE, TOP_REDELIVERED, 8},
    {"SINK/S", TABLE_RATE, TOP_HANDED, 7},
    {"P50", TABLE_MS, TOP_LATE_P50, 11},
    {"P99", TABLE_MS, TOP_LATE_P99, 4},
    {"MAX", TABLE_MS, TOP_LATE_MAX, 12},
    {"SINK", TABLE_SINK, TOP_FIELDS, 13},
    {"ERRORS", TABLE_COUNT, TOP_ERRORS, 10},
    {"SERVER", TABLE_SERVER, TOP_FIELDS, 2},
};
#define TABLE_COLUMNS (sizeof(table_columns) / sizeof(table_columns[0]))

struct table_cell {
    char s[32];
};

/* cells[row][column], and the width of each column; 0: omitted. */
struct table {
    const struct top *top;
    bool full;
    size_t rows;
    struct table_cell (*cells)[TABLE_COLUMNS];
    size_t width[TABLE_COLUMNS];
    size_t columns; /* of the screen; 0: no screen */
};

/* Formats milliseconds briefly: 250ms, 4.1s, 3m, 5h, 12d. */
static struct table_cell
ms_cell(int64_t ms)
{
    struct table_cell cell = {"-"};
    if (ms < 0) {
        return cell;
    }
    double seconds = (double)ms / 1000;
    if (ms < 1000) {
        snprintf(cell.s, sizeof(cell.s), "%" PRId64 "ms", ms);
    } else if (seconds < 99.95) {
        snprintf(cell.s, sizeof(cell.s), "%.1fs", seconds);
    } else if (seconds < 5999) {
        snprintf(cell.s, sizeof(cell.s), "%.0fm", seconds / 60);
    } else if (seconds < 99 * 3600.0) {
        snprintf(cell.s, sizeof(cell.s), "%.0fh", seconds / 3600);
    } else {
        snprintf(cell.s, sizeof(cell.s), "%.0fd", seconds / 86400);
    }
    return cell;
}

static struct table_cell
count_cell(int64_t count, bool full)
{
    struct table_cell cell = {"-"};
    if (count < 0) {
        return cell;
    }
    if (full || count < 100000) {
        snprintf(cell.s, sizeof(cell.s), "%" PRId64, count);
    } else {
        snprintf(cell.s, sizeof(cell.s), "%.30s", text_short((double)count).s);
    }
    return cell;
}

/* Formats a rate, with one decimal if it is small. */
static struct table_cell
rate_cell(double rate)
{
    struct table_cell cell = {"-"};
    if (rate > 0 && rate < 9.95) {
        snprintf(cell.s, sizeof(cell.s), "%.1f", rate);
    } else if (rate >= 0) {
        snprintf(cell.s, sizeof(cell.s), "%.30s", text_short(rate).s);
    }
    return cell;
}

static struct table_cell
make_cell(const struct table *table, const struct top_row *row, size_t column)
{
    const struct table_column *c = &table_columns[column];
    const struct top_queue *queue = row->queue;
    struct table_cell cell = {"-"};
    int64_t figure = c->field < TOP_FIELDS ? queue->figures[c->field] : 0;
    int64_t now = (int64_t)table->top->clock_ms + row->node->clock;
    const char *sink = queue->words[TOP_SINK];
    switch (c->kind) {
    case TABLE_COUNT:
        return count_cell(figure, table->full);
    case TABLE_MS:
        return ms_cell(figure);
    case TABLE_NEXT:
        if (queue->figures[TOP_PAUSED] > 0) {
            return (struct table_cell){"paused"};
        }
        return ms_cell(figure < 0 ? -1 : figure > now ? figure - now : 0);
    case TABLE_RATE:
        return rate_cell(queue->rates[c->field - TOP_COUNTS]);
    case TABLE_SINK:
        if (sink != NULL && strcmp(sink, "none") != 0) {
            top_escape(sink, strlen(sink), 12, cell.s, sizeof(cell.s));
        }
        return cell;
    case TABLE_SERVER:
        top_escape(row->node->name, strlen(row->node->name), sizeof(cell.s) - 1,
                   cell.s, sizeof(cell.s));
        return cell;
    }
    return cell;
}

static void
fill_cells(struct table *table)
{
    for (size_t c = 0; c < TABLE_COLUMNS; c++) {
        table->width[c] = strlen(table_columns[c].title);
        for (size_t r = 0; r < table->rows; r++) {
            table->cells[r][c] = make_cell(table, &table->top->rows[r], c);
            size_t width = strlen(table->cells[r][c].s);
            if (width > table->width[c]) {
                table->width[c] = width;
            }
        }
        if (table_columns[c].kind == TABLE_SERVER && table->top->count < 2) {
            table->width[c] = 0;
        }
    }
}

/* Omits columns until there is room for a key. Returns the width of the key. */
static size_t
fit_columns(struct table *table, size_t columns)
{
    for (;;) {
        size_t used = 0;
        size_t worst = 0;
        for (size_t c = 0; c < TABLE_COLUMNS; c++) {
            if (table->width[c] == 0) {
                continue;
            }
            used += table->width[c] + 2;
            if (table_columns[c].rank > table_columns[worst].rank ||
                table->width[worst] == 0) {
                worst = c;
            }
        }
        if (columns == 0) {
            return TABLE_KEY_MAX;
        }
        if (used + TABLE_KEY <= columns || table_columns[worst].rank == 0) {
            return columns > used ? columns - used : 1;
        }
        table->width[worst] = 0;
    }
}

static void put_line(const struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
put_line(const struct table *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char line[2048];
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    size_t length = strlen(line);
    if (table->columns > 0 && length > table->columns) {
        length = table->columns;
    }
    while (length > 0 && line[length - 1] == ' ') {
        length--;
    }
    printf("%.*s%s", (int)length, line, table->columns > 0 ? "\033[K\n" : "\n");
}

/* Prints the titles if row is beyond the last. */
static void
put_row(const struct table *table, size_t row, size_t key_width)
{
    char line[1024];
    char key[TABLE_KEY_MAX + 1] = "KEY";
    size_t at = 0;
    for (size_t c = 0; c < TABLE_COLUMNS; c++) {
        const char *text =
            row < table->rows ? table->cells[row][c].s : table_columns[c].title;
        bool left = table_columns[c].kind >= TABLE_SINK;
        int width = (int)table->width[c];
        if (width > 0) {
            at += (size_t)snprintf(line + at, sizeof(line) - at, "%*s  ",
                                   left ? -width : width, text);
        }
    }
    if (row < table->rows) {
        const struct top_queue *queue = table->top->rows[row].queue;
        top_escape(queue->key, queue->size, key_width, key, sizeof(key));
    }
    line[at] = '\0';
    put_line(table, "%s%s", line, key);
}

static void
put_server(const struct table *table, const struct top_node *node)
{
    const struct top_figure *keys =
        top_figures_find(&node->figures, "lawn_keys");
    const struct top_figure *timers =
        top_figures_find(&node->figures, "lawn_timers");
    if (!node->answered) {
        put_line(table, "%s  %s", node->name,
                 node->error[0] != '\0' ? node->error
                                        : "waiting for the first reply");
        return;
    }
    put_line(table, "%s  %s %s%s: %s queues, %s events%s", node->name,
             node->version, node->clustered ? "cluster " : "",
             node->replica ? "replica" : "master",
             count_cell(keys != NULL ? keys->value : -1, table->full).s,
             count_cell(timers != NULL ? timers->value : -1, table->full).s,
             node->queues.more ? "; too many queues to show all"
             : node->searched || (node->clustered && node->replica)
                 ? ""
                 : "; still scanning for keys");
    if (node->refused > 0) {
        put_line(table, "%s  %zu queues are not shown: %s", node->name,
                 node->refused, node->refusal);
    }
}

/* Returns the maximum over all servers: lateness has no sum. */
static int64_t
find_most(const struct top *top, const char *name)
{
    int64_t most = -1;
    for (size_t i = 0; i < top->count; i++) {
        const struct top_figure *figure =
            top_figures_find(&top->nodes[i]->figures, name);
        if (top->nodes[i]->answered && figure != NULL && figure->value > most) {
            most = figure->value;
        }
    }
    return most;
}

static void
put_totals(const struct table *table)
{
    static const char *const rates[][2] = {
        {"pushed", "lawn_pushed_total"},
        {"fired", "lawn_fired_total"},
        {"acked", "lawn_acked_total"},
        {"redelivered", "lawn_redelivered_total"},
        {"handed", "lawn_handed_total"},
    };
    const struct top *top = table->top;
    char line[256];
    size_t at = (size_t)snprintf(
        line, sizeof(line), "all  %s queues, %s events",
        count_cell(top_sum(top, "lawn_keys").value, table->full).s,
        count_cell(top_sum(top, "lawn_timers").value, table->full).s);
    int64_t leased = top_sum(top, "lawn_leased").value;
    if (leased >= 0) {
        at += (size_t)snprintf(line + at, sizeof(line) - at, ", %s leased",
                               count_cell(leased, table->full).s);
    }
    at += (size_t)snprintf(line + at, sizeof(line) - at, "; per second:");
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        struct top_figure sum = top_sum(top, rates[i][1]);
        if (sum.value >= 0) {
            at += (size_t)snprintf(line + at, sizeof(line) - at, " %s %s",
                                   rates[i][0], rate_cell(sum.rate).s);
        }
    }
    put_line(table, "%s", line);
    int64_t wake = find_most(top, "lawn_wake_late_us_p99");
    struct text wakes = {"-"};
    if (wake >= 0) {
        wakes = text_lateness((uint64_t)wake * 1000);
    }
    put_line(table, "late  p50 %s, p99 %s, max %s; wake-ups p99 %s",
             ms_cell(find_most(top, "lawn_late_ms_p50")).s,
             ms_cell(find_most(top, "lawn_late_ms_p99")).s,
             ms_cell(find_most(top, "lawn_late_ms_max")).s, wakes.s);
}

/* Returns "sink error" or "dead letter stream error". Removes the prefix of the
 * latter from *error. */
static const char *
error_source(const struct top_queue *queue, const char **error)
{
    static const char before[] = "dead letters: ";
    const char *sink = queue->words[TOP_SINK];
    bool dead = strncmp(*error, before, sizeof(before) - 1) == 0;
    if (dead) {
        *error += sizeof(before) - 1;
    }
    return dead || (sink != NULL && strcmp(sink, "none") == 0)
               ? "dead letter stream error"
               : "sink error";
}

/* Prints at most this number of sink errors. Returns the number of lines. */
static size_t
put_troubles(const struct table *table, size_t most)
{
    size_t told = 0;
    for (size_t i = 0; i < table->rows && told < most; i++) {
        const struct top_queue *queue = table->top->rows[i].queue;
        const char *error = queue->words[TOP_SINK_ERROR];
        if (error == NULL) {
            continue;
        }
        char key[48];
        top_escape(queue->key, queue->size, sizeof(key) - 1, key, sizeof(key));
        const char *who = error_source(queue, &error);
        char text[160];
        top_escape(error, strlen(error), sizeof(text) - 1, text, sizeof(text));
        put_line(table, "%s: %s: %s", key, who, text);
        told++;
    }
    return told;
}

static size_t
count_shown(const struct top *top, size_t rows)
{
    size_t most = rows < 16 ? 2 : TABLE_SERVERS;
    return rows == 0 || top->count <= most ? top->count : most;
}

/* Prints this number of servers, and the totals. If some servers are omitted,
 * those that do not answer are printed first. */
static void
put_head(const struct table *table, size_t servers)
{
    const struct top *top = table->top;
    size_t told = 0;
    for (int answered = 0; answered < 2; answered++) {
        for (size_t i = 0; i < top->count && told < servers; i++) {
            if (servers == top->count ? answered == 0
                                      : top->nodes[i]->answered == answered) {
                put_server(table, top->nodes[i]);
                told++;
            }
        }
    }
    if (servers < top->count) {
        put_line(table, "... and %zu more servers", top->count - servers);
    }
    put_totals(table);
    put_line(table, "%s", "");
}

bool
top_table_write(const struct top *top, size_t columns, size_t rows)
{
    struct table table = {.top = top, .full = columns == 0, .columns = columns};
    size_t servers = count_shown(top, rows);
    table.rows = top->rows_count;
    if (table.rows > top->options->keys) {
        table.rows = (size_t)top->options->keys;
    }
    if (rows > 0) {
        size_t others = servers + 5 + TABLE_TROUBLES + 2;
        size_t most = rows > others ? rows - others : 1;
        if (table.rows > most) {
            table.rows = most;
        }
    }
    table.cells = calloc(table.rows + 1, sizeof(*table.cells));
    if (table.cells == NULL) {
        return false;
    }
    put_head(&table, servers);
    fill_cells(&table);
    size_t key_width = fit_columns(&table, columns);
    put_row(&table, table.rows, key_width);
    for (size_t i = 0; i < table.rows; i++) {
        put_row(&table, i, key_width);
    }
    if (table.rows < top->rows_count) {
        put_line(&table, "... and %zu more", top->rows_count - table.rows);
    }
    put_troubles(&table, TABLE_TROUBLES);
    free(table.cells);
    return true;
}
