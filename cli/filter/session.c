/* session.c - lawn session: summarizes lines of a key without a long gap.
 *
 * Each line of a key restarts the key's timer, as in debounce. The timer holds
 * a record of the session instead of a line.
 */
#include "clock.h"
#include "emit.h"
#include "filter_limits.h"
#include "filter_options.h"
#include "record.h"
#include "stores.h"
#include "verbs.h"

struct session {
    uint64_t first;
    uint64_t last;
    uint64_t events;
    uint64_t serial; /* of its last line */
    uint64_t cut;    /* 1 if --max-duration will end it, else 0 */
};
#define SESSION_BYTES (5 * RECORD_NUMBER)

static void
encode(const struct session *session, unsigned char bytes[SESSION_BYTES])
{
    record_put(bytes, 0, session->first);
    record_put(bytes, 1, session->last);
    record_put(bytes, 2, session->events);
    record_put(bytes, 3, session->serial);
    record_put(bytes, 4, session->cut);
}

static struct session
decode(const void *bytes)
{
    return (struct session){
        .first = record_get(bytes, 0),
        .last = record_get(bytes, 1),
        .events = record_get(bytes, 2),
        .serial = record_get(bytes, 3),
        .cut = record_get(bytes, 4),
    };
}

static uint64_t
start_order(const struct filter *filter, const struct lawn_store_timer *timer)
{
    (void)filter;
    return decode(timer->payload).serial;
}

static int
configure(struct filter *filter)
{
    filter->setup.pending = filter->stores.keys;
    filter->setup.flushes = true;
    if (filter->options.max_duration != UINT64_MAX) {
        filter->setup.key_order = start_order;
    }
    return filter_options_take_duration(filter, 1, &filter->setup.ttl)
               ? 0
               : VERBS_USAGE;
}

static void
emit_summary(struct filter *filter, const void *key, size_t key_size,
             const struct session *session, const char *end)
{
    emit_key(filter, "key", key, key_size);
    emit_number(filter, "events", session->events);
    emit_time(filter, "first", session->first);
    emit_time(filter, "last", session->last);
    emit_seconds(filter, "duration", session->last - session->first);
    emit_word(filter, "end", end);
    emit_end(filter, SINK_MADE);
}

static enum line_result
handle_line(struct filter *filter, const struct filter_line *line)
{
    enum line_result result = LINE_NOT_TAKEN;
    if (!filter_limits_admit_key(filter, line, &result)) {
        return result;
    }
    struct lawn_store *keys = filter->stores.keys;
    struct session session = {.first = filter->clock.now};
    struct lawn_store_timer timer;
    bool known = lawn_store_get(keys, line->key, line->key_size, &timer);
    if (known) {
        session = decode(timer.payload);
    }
    session.last = filter->clock.now;
    session.events++;
    session.serial = ++filter->stores.serial;
    if (session.events >= filter->options.max_events) {
        emit_summary(filter, line->key, line->key_size, &session, "max-events");
        if (known) {
            lawn_store_stop(keys, line->key, line->key_size);
        }
        return LINE_MERGED;
    }
    uint64_t deadline = clock_deadline(filter, filter->setup.ttl);
    uint64_t longest = filter->options.max_duration;
    session.cut = longest < deadline - session.first;
    if (session.cut != 0) {
        deadline = session.first + longest;
    }
    unsigned char bytes[SESSION_BYTES];
    encode(&session, bytes);
    return stores_succeeded(filter,
                            lawn_store_start(keys, line->key, line->key_size,
                                             deadline, bytes, sizeof(bytes),
                                             LAWN_STORE_AT))
               ? LINE_MERGED
               : LINE_NOT_TAKEN;
}

static void
end_session(struct filter *filter, const struct lawn_store_timer *timer)
{
    struct session session = decode(timer->payload);
    const char *end = "gap";
    if (filter->run.cause == CAUSE_EVICTED) {
        end = "evicted";
    } else if (filter->run.cause == CAUSE_EOF) {
        end = "eof";
    } else if (session.cut != 0) {
        end = "max-duration";
    }
    emit_summary(filter, timer->id, timer->id_size, &session, end);
}

static bool
is_key_valid(const struct filter *filter, const struct lawn_store_timer *timer)
{
    if (timer->payload_size != SESSION_BYTES) {
        return false;
    }
    struct session session = decode(timer->payload);
    return session.first <= session.last && session.last <= filter->clock.now &&
           session.last < timer->deadline;
}

static const struct filter_verb session_filter = {
    .open = configure,
    .line = handle_line,
    .key_due = end_session,
    .key_valid = is_key_valid,
};

static const struct options_spec session_specs[] = {
    OPTION_KEY,
    {OPTION_DURATION("max-duration", max_duration,
                     "end a session at most D after its first line")},
    {OPTION_COUNT("max-events", max_events, "end a session at its Nth line",
                  1)},
    OPTION_MAX_KEYS,
    OPTION_END,
};

const struct options_verb session_verb = {
    .name = "session",
    .summary = "summarize sessions: lines of a key without a long gap",
    .details =
        "A session is a sequence of lines of a key with less than DURATION\n"
        "between them. When a session has ended, writes the key, the number "
        "of\n"
        "lines, the times of the first and the last line, the seconds between\n"
        "these two, and why the session ended.\n",
    .example = "printf 'ann 0\\nbob 60\\nann 90\\nann 9000\\n' |\n"
               "    lawn session 30m -k 1 --time-field 2",
    OPTION_FILTER_VERB(session_filter, session_specs, "DURATION [FILE]..."),
};
