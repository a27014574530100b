/* commands_push.c - PUSH and MPUSH: events come in.
 *
 * PUSH is what is called most: beside the event itself it takes no memory, and
 * hands id and payload on to the replicas as the arguments they are.
 *
 * A LIMIT that drops what is due first must lose nothing if there is no memory
 * for what comes. So the new event goes in first, due after all others, where it
 * is not the first to go; then others go until the key is within its limits;
 * then the new event gets its own time, for which no memory is needed. What is
 * leased never goes. Where a limit was lowered, a push drops what it takes itself
 * and PUSH_DROP others, so that none takes long: the key comes to its limits by
 * and by.
 */
#include "commands.h"

#include "ids.h"
#include "memory.h"

#include <assert.h>
#include <stdlib.h>

/* Due after all that users have. */
#define COMMANDS_PUSH_LAST (ARGS_DUE_MAX + 1)

#define PUSH_FEW 8u
#define PUSH_DROP 1000u

/* What a command would put into the queue: each id once. */
struct commands_push_tally {
    uint64_t count; /* of events */
    uint64_t added; /* of which so many are new */
    uint64_t bytes; /* of ids and payloads */
    uint64_t held;  /* by those that are replaced */
    /* Of these some are leased: */
    uint64_t leased;
    uint64_t leased_bytes;
};

static void
commands_push_count(const struct call *call, struct bytes id,
                    struct bytes payload, struct commands_push_tally *tally)
{
    struct queue_event old;

    tally->count++;
    tally->bytes += id.size + payload.size;
    if (!queue_get(call->queue, id, &old)) {
        tally->added++;
        return;
    }
    tally->held += old.id.size + old.payload.size;
    if (queue_state(&old, call->now) == QUEUE_LEASED) {
        tally->leased++;
        tally->leased_bytes += old.id.size + old.payload.size;
    }
}

/* Whether what comes and what is leased, and so cannot go, is within the limits. If
 * not, that was replied. */
static bool
commands_push_beside(struct call *call, const struct commands_push_tally *tally,
                     uint64_t events, uint64_t bytes)
{
    uint64_t stay;
    uint64_t stay_bytes;

    if (queue_leased_count(call->queue) == 0)
        return true;
    (void)commands_ripen(call);
    stay = queue_leased_count(call->queue) - tally->leased;
    stay_bytes = queue_leased_data(call->queue) - tally->leased_bytes;
    if (stay + tally->count <= events && stay_bytes + tally->bytes <= bytes)
        return true;
    commands_error(call,
                   "FULL %llu events are leased and cannot be dropped, and the "
                   "key's maxlen is %llu, its maxbytes %llu",
                   (unsigned long long)stay,
                   (unsigned long long)queue_settings(call->queue)->max_events,
                   (unsigned long long)queue_settings(call->queue)->max_bytes);
    return false;
}

/* Whether it is within the limits, or others can go so that it is: *drop. If
 * not, that was replied. What takes no more than it replaces always is. */
static bool
commands_push_room(struct call *call, const struct commands_push_tally *tally,
                   bool *drop)
{
    const struct queue_settings *settings = queue_settings(call->queue);
    uint64_t events = settings->max_events > 0 && tally->added > 0
                          ? settings->max_events
                          : UINT64_MAX;
    uint64_t bytes = settings->max_bytes > 0 && tally->bytes > tally->held
                         ? settings->max_bytes
                         : UINT64_MAX;
    uint64_t holds = queue_count(call->queue);
    uint64_t takes = queue_data(call->queue) - tally->held + tally->bytes;

    *drop = false;
    if (holds + tally->added <= events && takes <= bytes)
        return true;
    bool oldest = settings->overflow == QUEUE_DROP_OLDEST;
    *drop = oldest && tally->count <= events && tally->bytes <= bytes;
    if (*drop)
        return commands_push_beside(call, tally, events, bytes);
    /* What is in the way if all others went, or as it is. */
    if (tally->count > events)
        commands_error(call,
                       "FULL %llu events at once are more than the key's "
                       "maxlen %llu",
                       (unsigned long long)tally->count,
                       (unsigned long long)events);
    else if (!oldest && holds + tally->added > events)
        commands_error(call,
                       "FULL the key holds %llu events, and its maxlen is %llu",
                       (unsigned long long)holds, (unsigned long long)events);
    else
        commands_full(call, takes);
    return false;
}

/* Events that are to go: still there, as the replicas are told their ids, but due
 * after all others, so that they are found once. */
struct commands_push_victims {
    struct bytes few[PUSH_FEW];
    struct bytes *ids;
    size_t count;
    size_t room;
};

/* Tells the replicas of them, and removes them. */
static void
commands_push_remove(struct call *call, struct commands_push_victims *victims)
{
    if (victims->count == 0)
        return;
    host_replicate(call->host, "DEL", victims->ids, victims->count);
    for (size_t i = 0; i < victims->count; i++)
        (void)queue_remove(call->queue, victims->ids[i]);
    queue_counts(call->queue)->dropped += victims->count;
    command_totals.dropped += victims->count;
    victims->count = 0;
}

/* Room for one more. If there is no memory, those that there are go now. */
static void
commands_push_grow(struct call *call, struct commands_push_victims *victims)
{
    struct bytes *ids;

    if (victims->count < victims->room)
        return;
    ids = memory_alloc(2 * victims->room * sizeof *ids);
    if (ids == NULL) {
        commands_push_remove(call, victims);
        return;
    }
    memcpy(ids, victims->ids, victims->count * sizeof *ids);
    if (victims->ids != victims->few)
        memory_free(victims->ids);
    victims->ids = ids;
    victims->room *= 2;
}

/* What a queue holds. */
struct commands_push_size {
    uint64_t events;
    uint64_t bytes;
};

static bool
commands_push_over(const struct queue_settings *settings,
                   const struct commands_push_size *size)
{
    return (settings->max_events > 0 && size->events > settings->max_events) ||
           (settings->max_bytes > 0 && size->bytes > settings->max_bytes);
}

/* What is due first goes, until the queue is within its limits: what is due at
 * COMMANDS_PUSH_LAST fits in; or until so many have gone that it has come nearer to
 * them than it was before. One DEL for all of it, unless there is no memory for
 * their ids. */
static void
commands_push_drop(struct call *call, const struct commands_push_size *before)
{
    const struct queue_settings *settings = queue_settings(call->queue);
    struct commands_push_size size = {queue_count(call->queue),
                                      queue_data(call->queue)};
    struct commands_push_victims victims;
    struct queue_event first;
    uint64_t dropped = 0;

    victims.ids = victims.few;
    victims.count = 0;
    victims.room = PUSH_FEW;
    while (commands_push_over(settings, &size) &&
           (dropped++ < PUSH_DROP || size.events > before->events ||
            size.bytes > before->bytes)) {
        commands_push_grow(call, &victims);
        if (!queue_first(call->queue, &first) ||
            first.due == COMMANDS_PUSH_LAST)
            break;
        victims.ids[victims.count++] = first.id;
        size.events--;
        size.bytes -= first.id.size + first.payload.size;
        /* Not dead, or it would come again as such. */
        if (first.tries.most > 0)
            first.tries.made = 0;
        first.due = COMMANDS_PUSH_LAST;
        first.ttl = COMMANDS_PUSH_LAST - call->now;
        first.alone = true;
        (void)queue_move(call->queue, &first);
    }
    commands_push_remove(call, &victims);
    if (victims.ids != victims.few)
        memory_free(victims.ids);
    host_notify(call->host, "lawn.drop");
}

static void
commands_push_pushed(struct call *call, uint64_t count, uint64_t due)
{
    queue_counts(call->queue)->pushed += count;
    command_totals.pushed += count;
    host_notify(call->host, "lawn.push");
    call->changed = true;
    call->earliest = due;
}

/* Puts events in, all or none, and drops others if need be; *added: how many are
 * new. False: no memory. */
static bool
commands_push_in(struct call *call, struct queue_event *events, size_t count,
                 bool drop, uint64_t *added)
{
    struct queue_event when = events[0];
    struct commands_push_size before = {queue_count(call->queue),
                                        queue_data(call->queue)};

    for (size_t i = 0; drop && i < count; i++) {
        events[i].due = COMMANDS_PUSH_LAST;
        events[i].ttl = COMMANDS_PUSH_LAST - call->now;
        events[i].alone = true;
    }
    if (queue_put_all(call->queue, events, count, added) != 0)
        return false;
    if (drop)
        commands_push_drop(call, &before);
    for (size_t i = 0; drop && i < count; i++) {
        when.id = events[i].id;
        if (queue_move(call->queue, &when) != 0)
            assert(false);
    }
    return true;
}

bool
commands_put(struct call *call, const struct queue_event *event, bool made)
{
    const struct queue_settings *settings = queue_settings(call->queue);
    struct commands_at at;
    struct bytes words[COMMANDS_ADD_WORDS] = {event->id, event->payload};
    uint64_t added;
    bool drop = false;
    bool done;

    if (settings->max_events > 0 || settings->max_bytes > 0) {
        struct commands_push_tally tally = {0};
        commands_push_count(call, event->id, event->payload, &tally);
        if (!commands_push_room(call, &tally, &drop))
            return false;
    }
    if (drop) {
        struct queue_event one = *event;
        done = commands_push_in(call, &one, 1, true, &added);
    } else {
        done = queue_put(call->queue, event) >= 0;
    }
    if (!done) {
        host_error(call->host, COMMANDS_OOM);
        return false;
    }
    words[COMMANDS_ADD_DUE] = commands_number(event->due, at.due);
    words[COMMANDS_ADD_TTL] = commands_number(event->ttl, at.ttl);
    words[COMMANDS_ADD_META] = bytes_of("");
    if (event->alone || made || event->repeat.period > 0 ||
        event->tries.most > 0) {
        struct args_meta meta = {event->alone, made, event->repeat,
                                 event->tries};
        words[COMMANDS_ADD_META] =
            (struct bytes){at.meta, args_meta_write(&meta, at.meta)};
    }
    host_replicate(call->host, "ADD", words, COMMANDS_ADD_WORDS);
    commands_push_pushed(call, 1, event->due);
    return true;
}

/* Whether the server is to make the id. */
static bool
commands_push_star(struct bytes id)
{
    return id.size == 1 && id.at[0] == '*';
}

/* An id of the server's that is not in the key. */
static struct bytes
commands_push_make(const struct call *call, char text[IDS_SIZE])
{
    struct bytes id = {text, 0};

    do {
        id.size = ids_next(call->wall, text);
    } while (call->queue != NULL && queue_get(call->queue, id, NULL));
    return id;
}

void
commands_push(struct call *call)
{
    struct queue_event event = {.id = call->args[2], .payload = call->args[3]};
    bool made = commands_push_star(event.id);
    struct args_push args;
    char text[IDS_SIZE];
    const char *error = args_push(call->args + 4, call->count - 4, &args);

    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    if (!commands_fit(call, event.id, event.payload))
        return;
    if (args.absent || args.present) {
        bool there = !made && call->queue != NULL &&
                     queue_get(call->queue, event.id, NULL);
        if (there ? args.absent : args.present) {
            host_null(call->host);
            return;
        }
    }
    if (!commands_open(call))
        return;
    if (made)
        event.id = commands_push_make(call, text);
    event.repeat = args.repeat;
    event.tries.most = (uint32_t)args.tries;
    commands_when(call, &args.time, args.jitter, &event);
    if (commands_put(call, &event, made))
        host_bytes(call->host, event.id);
}

static int
commands_push_compare(const void *a, const void *b)
{
    const struct queue_event *one = *(const struct queue_event *const *)a;
    const struct queue_event *other = *(const struct queue_event *const *)b;
    size_t least =
        one->id.size < other->id.size ? one->id.size : other->id.size;
    int order = least > 0 ? memcmp(one->id.at, other->id.at, least) : 0;

    if (order != 0)
        return order;
    if (one->id.size != other->id.size)
        return one->id.size < other->id.size ? -1 : 1;
    return one < other ? -1 : 1;
}

/* Whether all events together are within the limits: sorted, so that each id is
 * counted once, with the payload that comes last. */
static bool
commands_push_limits(struct call *call, const struct queue_event *events,
                     size_t count, bool *drop)
{
    const struct queue_settings *settings = queue_settings(call->queue);
    struct commands_push_tally tally = {0};
    const struct queue_event **all;

    *drop = false;
    if (settings->max_events == 0 && settings->max_bytes == 0)
        return true;
    all = memory_alloc(count * sizeof(const struct queue_event *));
    if (all == NULL) {
        host_error(call->host, COMMANDS_OOM);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        all[i] = &events[i];
    qsort(all, count, sizeof *all, commands_push_compare);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count || !bytes_equal(all[i]->id, all[i + 1]->id))
            commands_push_count(call, all[i]->id, all[i]->payload, &tally);
    }
    memory_free(all);
    return commands_push_room(call, &tally, drop);
}

/* The memory of MPUSH: all of it in one block. */
struct commands_push_many {
    struct queue_event *events;
    struct bytes *words;   /* of ADD */
    char (*ids)[IDS_SIZE]; /* that are made here */
};

/* MPUSH, with the memory for it. */
static void
commands_push_many(struct call *call, const struct args_mpush *args,
                   const struct commands_push_many *many)
{
    struct queue_event *events = many->events;
    struct queue_event when = {0};
    struct commands_at at;
    char made_text[ARGS_META_SIZE];
    uint64_t added;
    bool drop;

    if (!commands_open(call))
        return;
    commands_when(call, &args->time, 0, &when);
    struct args_meta meta = {.alone = when.alone};
    struct bytes plain = {at.meta, args_meta_write(&meta, at.meta)};
    meta.made = true;
    struct bytes made = {made_text, args_meta_write(&meta, made_text)};
    struct bytes due = commands_number(when.due, at.due);
    struct bytes ttl = commands_number(when.ttl, at.ttl);
    for (size_t i = 0, stars = 0; i < args->count; i++) {
        struct bytes *pair = many->words + i * COMMANDS_ADD_WORDS;
        bool star = commands_push_star(args->pairs[2 * i]);
        events[i] = when;
        events[i].id = star ? commands_push_make(call, many->ids[stars++])
                            : args->pairs[2 * i];
        events[i].payload = args->pairs[2 * i + 1];
        pair[COMMANDS_ADD_ID] = events[i].id;
        pair[COMMANDS_ADD_PAYLOAD] = events[i].payload;
        pair[COMMANDS_ADD_DUE] = due;
        pair[COMMANDS_ADD_TTL] = ttl;
        pair[COMMANDS_ADD_META] = star ? made : plain;
    }
    if (!commands_push_limits(call, events, args->count, &drop))
        return;
    if (!commands_push_in(call, events, args->count, drop, &added)) {
        host_error(call->host, COMMANDS_OOM);
        return;
    }
    host_replicate(call->host, "ADD", many->words,
                   args->count * COMMANDS_ADD_WORDS);
    commands_push_pushed(call, args->count, when.due);
    host_integer(call->host, (int64_t)added);
}

void
commands_mpush(struct call *call)
{
    struct args_mpush args;
    struct commands_push_many many;
    size_t stars = 0;
    const char *error = args_mpush(call->args + 2, call->count - 2, &args);

    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    for (size_t i = 0; i < args.count; i++) {
        if (!commands_fit(call, args.pairs[2 * i], args.pairs[2 * i + 1]))
            return;
        stars += commands_push_star(args.pairs[2 * i]);
    }
    many.events =
        memory_alloc(args.count * (sizeof *many.events +
                                   COMMANDS_ADD_WORDS * sizeof *many.words) +
                     stars * sizeof *many.ids);
    if (many.events == NULL) {
        host_error(call->host, COMMANDS_OOM);
        return;
    }
    many.words = (struct bytes *)(void *)(many.events + args.count);
    many.ids = (char(*)[IDS_SIZE])(void *)(many.words +
                                           args.count * COMMANDS_ADD_WORDS);
    commands_push_many(call, &args, &many);
    memory_free(many.events);
}
