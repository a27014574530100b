/* session.c - lawn session: lines of a key that follow each other are one visit.
 *
 * A key's timer is restarted by each of its lines, as in debounce, and holds what
 * is known of the session instead of a line.
 */
#include "choices.h"
#include "clock.h"
#include "hold.h"
#include "put.h"
#include "verbs.h"

#include <string.h>

struct session_record {
    uint64_t first;
    uint64_t last;
    uint64_t events;
    uint64_t serial; /* of its last line */
    uint64_t cut;    /* whether --max-duration will end it: 0 or 1 */
};

static uint64_t
session_order(const struct filter *filter, const struct lawn_store_timer *timer)
{
    struct session_record session;
    (void)filter;
    memcpy(&session, timer->payload, sizeof session);
    return session.serial;
}

static int
session_open(struct filter *filter)
{
    filter->pending = filter->keys;
    filter->flushes = true;
    if (filter->options.max_duration != UINT64_MAX)
        filter->key_order = session_order;
    return choices_duration(filter, 1, &filter->ttl) ? 0 : VERBS_USAGE;
}

static void
session_put(struct filter *filter, const void *key, size_t key_size,
            const struct session_record *session, const char *end)
{
    put_key(filter, "key", key, key_size);
    put_number(filter, "events", session->events);
    put_time(filter, "first", session->first);
    put_time(filter, "last", session->last);
    put_seconds(filter, "duration", session->last - session->first);
    put_word(filter, "end", end);
    put_end(filter, SINK_MADE);
}

static void
session_line(struct filter *filter, const struct filter_line *line)
{
    struct lawn_store_timer timer;
    struct session_record session = {.first = filter->now};
    if (!hold_has_key_room(filter, line))
        return;
    bool known =
        lawn_store_get(filter->keys, line->key, line->key_size, &timer);
    if (known)
        memcpy(&session, timer.payload, sizeof session);
    session.last = filter->now;
    session.events++;
    session.serial = ++filter->serial;
    if (session.events >= filter->options.max_events) {
        session_put(filter, line->key, line->key_size, &session, "max-events");
        filter->counts.merged++;
        if (known)
            lawn_store_stop(filter->keys, line->key, line->key_size);
        return;
    }
    uint64_t deadline = clock_after(filter, filter->ttl);
    uint64_t longest = filter->options.max_duration;
    session.cut = longest < deadline - session.first;
    if (session.cut != 0)
        deadline = session.first + longest;
    if (hold_started(filter,
                     lawn_store_start(filter->keys, line->key, line->key_size,
                                      deadline, &session, sizeof session,
                                      LAWN_STORE_AT)))
        filter->counts.merged++;
    else
        hold_give_back(filter);
}

static void
session_key_due(struct filter *filter, const struct lawn_store_timer *timer)
{
    struct session_record session;
    memcpy(&session, timer->payload, sizeof session);
    const char *end = "gap";
    if (filter->why == FILTER_EVICTED)
        end = "evicted";
    else if (filter->why == FILTER_AT_EOF)
        end = "eof";
    else if (session.cut != 0)
        end = "max-duration";
    session_put(filter, timer->id, timer->id_size, &session, end);
}

static bool
session_key_valid(const struct filter *filter,
                  const struct lawn_store_timer *timer)
{
    struct session_record session;
    if (timer->payload_size != sizeof session)
        return false;
    memcpy(&session, timer->payload, sizeof session);
    return session.first <= session.last && session.last <= filter->now &&
           session.last < timer->deadline;
}

static const struct filter_verb session_filter = {
    .open = session_open,
    .line = session_line,
    .key_due = session_key_due,
    .key_valid = session_key_valid,
};

static const struct options_spec session_specs[] = {
    CHOICES_KEY,
    {CHOICES_DURATION("max-duration", max_duration,
                      "end a session at the latest D after its first line")},
    {CHOICES_COUNT("max-events", max_events, "end a session with its Nth line",
                   1)},
    CHOICES_MAX_KEYS,
    CHOICES_END,
};

const struct options_verb session_verb = {
    .name = "session",
    .summary = "a summary of each session: lines of a key with no long gap",
    .details =
        "Lines of a key that follow each other within DURATION are a session.\n"
        "When it is over, writes key, number of lines, time of the first and "
        "of\n"
        "the last, seconds between them, and why it ended.\n",
    .example = "printf 'ann 0\\nbob 60\\nann 90\\nann 9000\\n' |\n"
               "    lawn session 30m -k 1 --time-field 2",
    CHOICES_FILTER(session_filter, session_specs, "DURATION [FILE]..."),
};
