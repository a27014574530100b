/* dedupe.c - lawn dedupe: the first line of a key in each window.
 *
 * A key's timer is its window. Nothing happens when it ends but that the key is
 * forgotten.
 */
#include "choices.h"
#include "clock.h"
#include "hold.h"
#include "put.h"
#include "verbs.h"

#include <errno.h>

static int
dedupe_open(struct filter *filter)
{
    filter->pending = filter->lines; /* there are none */
    return choices_duration(filter, 1, &filter->ttl) ? 0 : VERBS_USAGE;
}

static void
dedupe_line(struct filter *filter, const struct filter_line *line)
{
    if (!hold_has_key_room(filter, line))
        return;
    int error = lawn_store_start(filter->keys, line->key, line->key_size,
                                 clock_after(filter, filter->ttl), "", 0,
                                 LAWN_STORE_AT | LAWN_STORE_ABSENT);
    if (error == -EEXIST)
        filter->counts.merged++;
    else if (hold_started(filter, error))
        put_line(filter, line->at, line->size);
    else
        hold_give_back(filter);
}

static bool
dedupe_key_valid(const struct filter *filter,
                 const struct lawn_store_timer *timer)
{
    (void)filter;
    return timer->payload_size == 0;
}

static const struct filter_verb dedupe_filter = {
    .whole_line = true,
    .open = dedupe_open,
    .line = dedupe_line,
    .pass = put_at_once,
    .key_valid = dedupe_key_valid,
};

static const struct options_spec dedupe_specs[] = {
    CHOICES_KEY,
    CHOICES_MAX_KEYS,
    CHOICES_END,
};

const struct options_verb dedupe_verb = {
    .name = "dedupe",
    .summary = "the first line of each key in a window of time",
    .details = "Writes the first line of a key, and drops those that follow "
               "within\n"
               "DURATION of it. Without --key, lines that are equal.\n",
    .example = "printf 'a 1\\na 2\\nb 2\\na 61\\n' | lawn dedupe 60s -k 1 "
               "--time-field 2",
    CHOICES_FILTER(dedupe_filter, dedupe_specs, "DURATION [FILE]..."),
};
