/* trace_load.c - loads a whole trace, to be replayed.
 *
 * Playing the trace decides which object an id gets: an object is free again
 * when its timer was stopped or has fired. TTLs are numbered by first
 * occurrence, and by size at the end.
 */
#include "trace_load.h"
#include "trace_live.h"
#include "trace_read.h"
#include "trace_ttls.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

struct loading {
    struct trace_reader reader;
    struct trace_live live;
    struct trace_ttls ttls;
    struct trace *out;
    size_t room;
};

static bool
append(struct loading *load, const struct trace_event *event)
{
    struct trace *out = load->out;
    if (out->count == load->room) {
        size_t room = load->room > 0 ? 2 * load->room : 1024;
        struct trace_event *events =
            realloc(out->events, room * sizeof(*events));
        if (events == NULL) {
            return false;
        }
        out->events = events;
        load->room = room;
    }
    out->events[out->count++] = *event;
    return true;
}

/* Returns false if there is no memory. */
static bool
add_line(struct loading *load, const struct trace_line *line)
{
    struct trace_event event = {.time = line->time, .ttl = line->ttl};
    trace_live_mow(&load->live, line->time);
    struct trace_live_timer *timer = NULL;
    if (line->kind == TRACE_START) {
        event.which = trace_ttls_number(&load->ttls, line->ttl);
        bool was_running = false;
        timer = trace_live_get(&load->live, line->id, line->id_length,
                               &was_running);
        if (timer == NULL || event.which == UINT32_MAX) {
            return false;
        }
        trace_live_start(&load->live, timer, line->ttl);
        if (timer->object >= load->out->objects) {
            load->out->objects = timer->object + 1;
        }
    } else {
        timer = trace_live_find(&load->live, line->id, line->id_length);
        if (timer == NULL) {
            load->out->ignored++;
            return true;
        }
        trace_live_stop(&load->live, timer);
    }
    event.object = timer->object;
    return append(load, &event);
}

/* Renumbers the TTLs by size. Returns false if there is no memory. */
static bool
sort_events(struct loading *load)
{
    struct trace *out = load->out;
    size_t count = load->ttls.count;
    uint32_t *places = malloc(count * sizeof(*places) + 1);
    out->ttls = malloc(count * sizeof(*out->ttls) + 1);
    if (places == NULL || out->ttls == NULL) {
        free(places);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        load->ttls.ttls[i].starts = i; /* its previous number */
    }
    trace_ttls_sort(&load->ttls);
    for (size_t i = 0; i < count; i++) {
        out->ttls[i] = load->ttls.ttls[i].ttl;
        places[load->ttls.ttls[i].starts] = (uint32_t)i;
    }
    out->ttl_count = count;
    for (size_t i = 0; i < out->count; i++) {
        if (out->events[i].ttl > 0) {
            out->events[i].which = places[out->events[i].which];
        }
    }
    free(places);
    return true;
}

static int
load_all(struct loading *load)
{
    struct trace_line line;
    enum trace_lines_got got = TRACE_LINES_END;
    bool memory = true;
    while (memory &&
           (got = trace_reader_next(&load->reader, &line)) != TRACE_LINES_END) {
        if (got == TRACE_LINES_WRONG) {
            return VERBS_INPUT;
        }
        memory = add_line(load, &line);
    }
    if (memory && sort_events(load)) {
        load->out->unit_ns = load->reader.unit_ns;
        return VERBS_OK;
    }
    trace_lines_no_memory(&load->reader.lines);
    return VERBS_FAILED;
}

bool
trace_load(const char *program, const char *path, struct trace *out,
           int *exit_code)
{
    struct loading load;
    char *copy = strdup(path);
    char *paths[] = {copy};
    memset(&load, 0, sizeof(load));
    memset(out, 0, sizeof(*out));
    load.out = out;
    trace_reader_open(&load.reader, program, paths, 1);
    if (copy != NULL && trace_live_init(&load.live, NULL, NULL)) {
        *exit_code = load_all(&load);
        trace_live_fini(&load.live);
    } else {
        trace_lines_no_memory(&load.reader.lines);
        *exit_code = VERBS_FAILED;
    }
    trace_reader_close(&load.reader);
    trace_ttls_free(&load.ttls);
    free(copy);
    if (*exit_code != VERBS_OK) {
        trace_free(out);
    }
    return *exit_code == VERBS_OK;
}

void
trace_free(struct trace *trace)
{
    free(trace->events);
    free(trace->ttls);
    memset(trace, 0, sizeof(*trace));
}
