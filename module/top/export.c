/* export.c - output of "lawn top" for other programs: one JSON object per line,
 * and the text format of Prometheus.
 *
 * Fields that a module does not report are omitted. In JSON, a key that is not
 * UTF-8 is also printed in hexadecimal; a Prometheus label has \xNN for bytes
 * that it cannot contain.
 */
#include "output.h"
#include "text.h"
#include "top.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static size_t
count_servers(const struct top *top)
{
    return top->rows_count < top->options->keys ? top->rows_count
                                                : (size_t)top->options->keys;
}

/* Prints a JSON string; invalid UTF-8 becomes U+FFFD. Returns false if there
 * was any. */
static bool
put_string(const char *text, size_t size)
{
    bool whole = true;
    putchar('"');
    for (size_t i = 0; i < size;) {
        unsigned char c = (unsigned char)text[i];
        size_t length = text_utf8(text + i, size - i);
        if (length == 0) {
            fputs("\\ufffd", stdout);
            whole = false;
            length = 1;
        } else if (c == '"' || c == '\\') {
            printf("\\%c", c);
        } else if (c < 0x20 || c == 0x7f) {
            printf("\\u%04x", c);
        } else {
            fwrite(text + i, 1, length, stdout);
        }
        i += length;
    }
    putchar('"');
    return whole;
}

static void
put_text(const char *name, const char *text)
{
    printf("\"%s\": ", name);
    put_string(text, strlen(text));
}

static void
put_queue(const struct top_row *row)
{
    const struct top_queue *queue = row->queue;
    fputs("{", stdout);
    put_text("server", row->node->name);
    fputs(", \"key\": ", stdout);
    if (!put_string(queue->key, queue->size)) {
        fputs(", \"key_hex\": \"", stdout);
        for (size_t i = 0; i < queue->size; i++) {
            printf("%02x", (unsigned char)queue->key[i]);
        }
        putchar('"');
    }
    for (size_t i = 0; i < TOP_FIELDS; i++) {
        if (queue->figures[i] != TOP_ABSENT) {
            printf(", \"%s\": %" PRId64, top_fields[i].told, queue->figures[i]);
        }
    }
    for (size_t i = 0; i < TOP_WORDS; i++) {
        if (queue->words[i] != NULL) {
            fputs(", ", stdout);
            put_text(top_words[i], queue->words[i]);
        }
    }
    fputs(", \"per_second\": {", stdout);
    const char *comma = "";
    for (size_t i = 0; i < TOP_RATES; i++) {
        if (queue->rates[i] < 0) {
            continue;
        }
        printf("%s\"%s\": %.3f", comma, top_fields[TOP_COUNTS + i].told,
               queue->rates[i]);
        comma = ", ";
    }
    fputs("}}", stdout);
}

static void
put_server(const struct top_node *node)
{
    fputs("{", stdout);
    put_text("server", node->name);
    printf(", \"up\": %s", node->answered ? "true" : "false");
    if (!node->answered) {
        fputs(", ", stdout);
        put_text("error", node->error);
        fputs("}", stdout);
        return;
    }
    fputs(", ", stdout);
    put_text("version", node->version);
    printf(", \"role\": \"%s\", \"cluster\": %s, \"all_keys_seen\": %s, "
           "\"queues_refused\": %zu, \"info\": {",
           node->replica ? "replica" : "master",
           node->clustered ? "true" : "false",
           node->searched ? "true" : "false", node->refused);
    for (size_t i = 0; i < node->figures.count; i++) {
        printf("%s\"%s\": %" PRId64, i > 0 ? ", " : "",
               node->figures.list[i].name + strlen("lawn_"),
               node->figures.list[i].value);
    }
    fputs("}, \"per_second\": {", stdout);
    const char *comma = "";
    for (size_t i = 0; i < node->figures.count; i++) {
        const struct top_figure *figure = &node->figures.list[i];
        size_t length = strlen(figure->name);
        if (figure->rate < 0 || length < 6 ||
            strcmp(figure->name + length - 6, "_total") != 0) {
            continue;
        }
        printf("%s\"%.*s\": %.3f", comma, (int)(length - 6 - strlen("lawn_")),
               figure->name + strlen("lawn_"), figure->rate);
        comma = ", ";
    }
    fputs("}}", stdout);
}

void
top_export_json(const struct top *top)
{
    size_t count = count_servers(top);
    printf("{\"time_ms\": %" PRIu64 ", \"servers\": [", top->clock_ms);
    for (size_t i = 0; i < top->count; i++) {
        if (i > 0) {
            fputs(", ", stdout);
        }
        put_server(top->nodes[i]);
        output_flush();
    }
    printf("], \"queues_left_out\": %zu, \"queues\": [",
           top->rows_count - count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            fputs(", ", stdout);
        }
        put_queue(&top->rows[i]);
        output_flush();
    }
    fputs("]}\n", stdout);
}

/* Prints the text of a label, with \xNN for unprintable bytes. A backslash
 * becomes \\, so that different keys have different labels; the format then
 * requires escaping these backslashes again. */
static void
put_label(const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        unsigned char c = (unsigned char)text[i];
        size_t length = text_utf8(text + i, size - i);
        bool hidden = length == 0 || (c < 0x20 && c != '\n') || c == 0x7f;
        if (hidden) {
            printf("\\\\x%02x", c);
            length = 1;
        } else if (c == '\n') {
            fputs("\\n", stdout);
        } else {
            if (c == '\\') {
                fputs("\\\\\\", stdout);
            } else if (c == '"') {
                putchar('\\');
            }
            fwrite(text + i, 1, length, stdout);
        }
        i += length;
    }
}

/* Prints {key="...",server="..."}: no key if queue is NULL, no server if there
 * is only one. */
static void
put_labels(const struct top *top, const struct top_node *node,
           const struct top_queue *queue)
{
    bool server = top->count > 1;
    if (queue == NULL && !server) {
        return;
    }
    putchar('{');
    if (queue != NULL) {
        fputs("key=\"", stdout);
        put_label(queue->key, queue->size);
        fputs(server ? "\"," : "\"", stdout);
    }
    if (server) {
        fputs("server=\"", stdout);
        put_label(node->name, strlen(node->name));
        putchar('"');
    }
    putchar('}');
}

static bool
is_counter(const char *name)
{
    static const char *const counters[] = {
        "lawn_waits_timed_out",
        "lawn_wake_late_us_count",
        "lawn_ticks",
        "lawn_tick_overruns",
        "lawn_deferred_by_pause",
        "lawn_deferred_by_slot",
        "lawn_evicted_keys",
        "lawn_sink_errors",
    };
    size_t length = strlen(name);
    if (length > 6 && strcmp(name + length - 6, "_total") == 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        if (strcmp(name, counters[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void
begin_metric(const char *name, const char *help, bool counter)
{
    printf("# HELP %s %s\n# TYPE %s %s\n", name, help, name,
           counter ? "counter" : "gauge");
}

static const char *
help_of(const char *name)
{
    static const char *const helps[][2] = {
        {"lawn_keys", "Queues."},
        {"lawn_timers", "Events in all queues."},
        {"lawn_leased", "Events leased to workers."},
        {"lawn_dead", "Events that used up their tries."},
        {"lawn_pushed_total", "Events pushed."},
        {"lawn_fired_total", "Events delivered by POLL or to sinks."},
        {"lawn_dropped_total", "Events dropped because the queue was full."},
        {"lawn_missed_total", "Periods that repeating events missed."},
        {"lawn_leased_total", "Leases granted."},
        {"lawn_redelivered_total", "Events leased again."},
        {"lawn_acked_total", "Leased events acknowledged."},
        {"lawn_dead_total", "Events moved to dead letter streams."},
        {"lawn_handed_total", "Events delivered to sinks."},
        {"lawn_sink_errors", "Errors of sinks and dead letter streams."},
        {"lawn_late_ms_p50", "Lateness of events, median."},
        {"lawn_late_ms_p99", "Lateness of events, 99th percentile."},
        {"lawn_late_ms_max", "Lateness of events, maximum."},
        {"lawn_wake_late_us_p99", "Lateness of wake-ups, 99th percentile."},
    };
    for (size_t i = 0; i < sizeof(helps) / sizeof(helps[0]); i++) {
        if (strcmp(name, helps[i][0]) == 0) {
            return helps[i][1];
        }
    }
    return "A field of INFO lawn.";
}

/* Prints a field of INFO lawn of all servers that report it. */
static void
put_figure(const struct top *top, const char *name)
{
    const char *help = help_of(name);
    begin_metric(name, help, is_counter(name));
    for (size_t i = 0; i < top->count; i++) {
        const struct top_node *node = top->nodes[i];
        const struct top_figure *figure =
            top_figures_find(&node->figures, name);
        if (!node->answered || figure == NULL) {
            continue;
        }
        fputs(name, stdout);
        put_labels(top, node, NULL);
        printf(" %" PRId64 "\n", figure->value);
    }
}

/* Prints each field of INFO lawn that any server reports, once. */
static void
put_figures(const struct top *top)
{
    for (size_t i = 0; i < top->count; i++) {
        const struct top_figures *figures = &top->nodes[i]->figures;
        for (size_t j = 0; top->nodes[i]->answered && j < figures->count; j++) {
            bool first = true;
            for (size_t k = 0; k < i; k++) {
                first =
                    first && !(top->nodes[k]->answered &&
                               top_figures_find(&top->nodes[k]->figures,
                                                figures->list[j].name) != NULL);
            }
            if (first) {
                put_figure(top, figures->list[j].name);
            }
        }
        output_flush();
    }
}

static void
put_field(const struct top *top, size_t field)
{
    const struct top_field_names *names = &top_fields[field];
    char name[64];
    bool told = false;
    snprintf(name, sizeof(name), "lawn_queue_%s", names->prometheus);
    char help[96];
    snprintf(help, sizeof(help), "Per queue: %s.", names->help);
    for (size_t i = 0; i < count_servers(top); i++) {
        const struct top_row *row = &top->rows[i];
        if (row->queue->figures[field] == TOP_ABSENT) {
            continue;
        }
        if (!told) {
            begin_metric(name, help,
                         field >= TOP_COUNTS && field < TOP_LATE_P50);
        }
        told = true;
        fputs(name, stdout);
        put_labels(top, row->node, row->queue);
        printf(" %" PRId64 "\n", row->queue->figures[field]);
        output_flush();
    }
}

void
top_export_prometheus(const struct top *top)
{
    begin_metric("lawn_up", "1 if the server answered and has the module.",
                 false);
    for (size_t i = 0; i < top->count; i++) {
        fputs("lawn_up", stdout);
        put_labels(top, top->nodes[i], NULL);
        printf(" %d\n", top->nodes[i]->answered);
    }
    put_figures(top);
    begin_metric("lawn_queues_left_out",
                 "Queues without metrics of their own; see --keys.", false);
    printf("lawn_queues_left_out %zu\n", top->rows_count - count_servers(top));
    for (size_t i = 0; i < TOP_FIELDS; i++) {
        put_field(top, i);
    }
}
