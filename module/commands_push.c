/* commands_push.c - PUSH and MPUSH: add events.
 *
 * PUSH is called most often. It needs no memory other than the event itself,
 * and replicates id and payload as the arguments that the client sent.
 *
 * DROP-OLDEST must not lose events if there is no memory for the new ones. So a
 * new event is first added with a due time after all others, where it is not
 * dropped. Then the oldest events are dropped until the key is within its
 * limits. Then the new event gets its own due time, which needs no memory.
 * Leased events are never dropped. After a limit was lowered, the key reaches
 * it over several pushes, so that no push takes long: a push drops at most
 * PUSH_DROP events, unless its own events need more room.
 */
#include "commands.h"

#include "ids.h"
#include "invariant.h"
#include "memory.h"

#include <stdlib.h>

/* After all due times that users can set. */
#define PUSH_LAST (ARGS_DUE_MAX + 1)

#define PUSH_FEW 8u
#define PUSH_DROP 1000u

/* The events that a command would add; each id is counted once. */
struct push_tally {
    uint64_t count; /* events */
    uint64_t added; /* events whose ids are new */
    uint64_t bytes; /* ids and payloads */
    uint64_t held;  /* ids and payloads of the events that are replaced */
    /* The replaced events that are leased: */
    uint64_t leased;
    uint64_t leased_bytes;
};

static void
tally_event(const struct call *call, struct bytes id, struct bytes payload,
            struct push_tally *tally)
{
    tally->count++;
    tally->bytes += id.size + payload.size;
    struct queue_event old;
    if (!queue_get(call->queue, id, &old)) {
        tally->added++;
        return;
    }
    tally->held += old.id.size + old.payload.size;
    if (queue_state_at(&old, call->now) == QUEUE_LEASED) {
        tally->leased++;
        tally->leased_bytes += old.id.size + old.payload.size;
    }
}

/* Returns whether the new events and the leased ones, which cannot be dropped,
 * are within the limits; if not, replies with an error. */
static bool
check_leased(struct call *call, const struct push_tally *tally, uint64_t events,
             uint64_t bytes)
{

    if (queue_leased_count(call->queue) == 0) {
        return true;
    }
    (void)commands_promote_due(call);
    uint64_t stay = queue_leased_count(call->queue) - tally->leased;
    uint64_t stay_bytes = queue_leased_data(call->queue) - tally->leased_bytes;
    if (stay + tally->count <= events && stay_bytes + tally->bytes <= bytes) {
        return true;
    }
    commands_error(
        call,
        "FULL %llu leased events cannot be dropped; the key's maxlen is %llu, "
        "its maxbytes %llu (0: unlimited)",
        (unsigned long long)stay,
        (unsigned long long)queue_settings_of(call->queue)->max_events,
        (unsigned long long)queue_settings_of(call->queue)->max_bytes);
    return false;
}

/* Returns true if the new events are within the limits, or if dropping others
 * makes room; then sets *drop. Otherwise replies with an error. Events that
 * replace others and take no more room are always accepted. */
static bool
check_limits(struct call *call, const struct push_tally *tally, bool *drop)
{
    const struct queue_settings *settings = queue_settings_of(call->queue);
    uint64_t events = settings->max_events > 0 && tally->added > 0
                          ? settings->max_events
                          : UINT64_MAX;
    uint64_t bytes = settings->max_bytes > 0 && tally->bytes > tally->held
                         ? settings->max_bytes
                         : UINT64_MAX;
    uint64_t holds = queue_count(call->queue);
    uint64_t takes = queue_data(call->queue) - tally->held + tally->bytes;

    *drop = false;
    if (holds + tally->added <= events && takes <= bytes) {
        return true;
    }
    bool oldest = settings->overflow == QUEUE_DROP_OLDEST;
    *drop = oldest && tally->count <= events && tally->bytes <= bytes;
    if (*drop) {
        return check_leased(call, tally, events, bytes);
    }
    /* With drop-oldest, report the limit that would be exceeded even if all
     * other events were dropped. With reject, report the limit exceeded now. */
    if (tally->count > events) {
        commands_error(
            call,
            "FULL %llu events in one command exceed the key's maxlen of %llu",
            (unsigned long long)tally->count, (unsigned long long)events);
    } else if (!oldest && holds + tally->added > events) {
        commands_error(call,
                       "FULL the key holds %llu events; its maxlen is %llu",
                       (unsigned long long)holds, (unsigned long long)events);
    } else {
        commands_reply_full(call, takes);
    }
    return false;
}

/* Events to be dropped. They stay in the queue until their ids are replicated.
 * Meanwhile their due time is after all others, so that queue_first() does not
 * return them again. */
struct push_victims {
    struct bytes few[PUSH_FEW];
    struct bytes *ids;
    size_t count;
    size_t room;
};

static void
remove_victims(struct call *call, struct push_victims *victims)
{
    if (victims->count == 0) {
        return;
    }
    host_replicate(call->host, "DEL", victims->ids, victims->count);
    for (size_t i = 0; i < victims->count; i++) {
        INVARIANT(queue_remove(call->queue, victims->ids[i]),
                  "an event whose drop was replicated is not in its queue");
    }
    queue_counts_of(call->queue)->dropped += victims->count;
    command_totals.dropped += victims->count;
    victims->count = 0;
}

/* If memory allocation fails, removes the collected victims now. */
static void
reserve_victim(struct call *call, struct push_victims *victims)
{
    if (victims->count < victims->room) {
        return;
    }
    struct bytes *ids = NULL;
    ids = memory_alloc(2 * victims->room * sizeof(*ids));
    if (ids == NULL) {
        remove_victims(call, victims);
        return;
    }
    memcpy(ids, victims->ids, victims->count * sizeof(*ids));
    if (victims->ids != victims->few) {
        memory_free(victims->ids);
    }
    victims->ids = ids;
    victims->room *= 2;
}

struct push_size {
    uint64_t events;
    uint64_t bytes;
};

static bool
exceeds_limits(const struct queue_settings *settings,
               const struct push_size *size)
{
    return (settings->max_events > 0 && size->events > settings->max_events) ||
           (settings->max_bytes > 0 && size->bytes > settings->max_bytes);
}

/* Drops the events that are due first, but not the new ones, which are at
 * PUSH_LAST. Ends when the queue is within its limits. Also ends when PUSH_DROP
 * events were dropped, provided that the queue is not larger than `before`.
 * Replicates one DEL for all, if there is memory for their ids. */
static void
drop_oldest(struct call *call, const struct push_size *before)
{
    const struct queue_settings *settings = queue_settings_of(call->queue);
    struct push_size size = {queue_count(call->queue), queue_data(call->queue)};
    struct push_victims victims;
    uint64_t dropped = 0;

    victims.ids = victims.few;
    victims.count = 0;
    victims.room = PUSH_FEW;
    struct queue_event first;
    while (exceeds_limits(settings, &size) &&
           (dropped++ < PUSH_DROP || size.events > before->events ||
            size.bytes > before->bytes)) {
        reserve_victim(call, &victims);
        if (!queue_first(call->queue, &first) || first.due == PUSH_LAST) {
            break;
        }
        victims.ids[victims.count++] = first.id;
        size.events--;
        size.bytes -= first.id.size + first.payload.size;
        /* Otherwise queue_first() would return a dead event again. */
        if (first.tries.most > 0) {
            first.tries.made = 0;
        }
        first.due = PUSH_LAST;
        first.ttl = PUSH_LAST - call->now;
        first.alone = true;
        INVARIANT(queue_move(call->queue, &first) == 0,
                  "an event to be dropped is not in its queue, or there is no "
                  "memory to move it");
    }
    remove_victims(call, &victims);
    if (victims.ids != victims.few) {
        memory_free(victims.ids);
    }
    host_notify(call->host, "lawn.drop");
}

static void
count_pushed(struct call *call, uint64_t count, uint64_t due)
{
    queue_counts_of(call->queue)->pushed += count;
    command_totals.pushed += count;
    host_notify(call->host, "lawn.push");
    call->changed = true;
    call->earliest = due;
}

/* Adds events, all or none, and drops others if needed. Sets *added to the
 * number of new ids. Returns false if memory allocation fails. */
static bool
add_all(struct call *call, struct queue_event *events, size_t count, bool drop,
        uint64_t *added)
{
    struct queue_event when = events[0];
    struct push_size before = {queue_count(call->queue),
                               queue_data(call->queue)};

    for (size_t i = 0; drop && i < count; i++) {
        events[i].due = PUSH_LAST;
        events[i].ttl = PUSH_LAST - call->now;
        events[i].alone = true;
    }
    if (queue_put_all(call->queue, events, count, added) != 0) {
        return false;
    }
    if (drop) {
        drop_oldest(call, &before);
    }
    for (size_t i = 0; drop && i < count; i++) {
        when.id = events[i].id;
        INVARIANT(queue_move(call->queue, &when) == 0,
                  "an event that was just added is not in its queue, or there "
                  "is no memory to move it");
    }
    return true;
}

bool
commands_add_event(struct call *call, const struct queue_event *event,
                   bool made)
{
    const struct queue_settings *settings = queue_settings_of(call->queue);
    struct bytes words[REPLICATION_ADD_WORDS] = {event->id, event->payload};
    bool drop = false;

    if (settings->max_events > 0 || settings->max_bytes > 0) {
        struct push_tally tally = {0};
        tally_event(call, event->id, event->payload, &tally);
        if (!check_limits(call, &tally, &drop)) {
            return false;
        }
    }
    uint64_t added = 0;
    bool done = false;
    if (drop) {
        struct queue_event one = *event;
        done = add_all(call, &one, 1, true, &added);
    } else {
        done = queue_put(call->queue, event) >= 0;
    }
    if (!done) {
        host_error(call->host, COMMANDS_OOM);
        return false;
    }
    struct commands_at at;
    words[REPLICATION_ADD_DUE] = commands_number(event->due, at.due);
    words[REPLICATION_ADD_TTL] = commands_number(event->ttl, at.ttl);
    words[REPLICATION_ADD_META] = bytes_of("");
    if (event->alone || made || event->repeat.period > 0 ||
        event->tries.most > 0) {
        struct args_meta meta = {event->alone, made, event->repeat,
                                 event->tries};
        words[REPLICATION_ADD_META] =
            (struct bytes){at.meta, args_meta_write(&meta, at.meta)};
    }
    host_replicate(call->host, "ADD", words, REPLICATION_ADD_WORDS);
    count_pushed(call, 1, event->due);
    return true;
}

static bool
is_star(struct bytes id)
{
    return id.size == 1 && id.at[0] == '*';
}

/* Generates an id that is not in the key. */
static struct bytes
make_id(const struct call *call, char text[IDS_SIZE])
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
    bool made = is_star(event.id);
    struct args_push args;
    const char *error = args_parse_push(call->args + 4, call->count - 4, &args);

    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    if (!commands_check_sizes(call, event.id, event.payload)) {
        return;
    }
    if (args.absent || args.present) {
        bool there = !made && call->queue != NULL &&
                     queue_get(call->queue, event.id, NULL);
        if (there ? args.absent : args.present) {
            host_null(call->host);
            return;
        }
    }
    if (!commands_open(call)) {
        return;
    }
    /* cppcheck-suppress variableScope ; event.id refers to it */
    char text[IDS_SIZE];
    if (made) {
        event.id = make_id(call, text);
    }
    event.repeat = args.repeat;
    event.tries.most = (uint32_t)args.tries;
    commands_set_due(call, &args.time, args.jitter, &event);
    if (commands_add_event(call, &event, made)) {
        host_bytes(call->host, event.id);
    }
}

static int
compare_ids(const void *a, const void *b)
{
    const struct queue_event *one = *(const struct queue_event *const *)a;
    const struct queue_event *other = *(const struct queue_event *const *)b;
    size_t least =
        one->id.size < other->id.size ? one->id.size : other->id.size;
    int order = least > 0 ? memcmp(one->id.at, other->id.at, least) : 0;

    if (order != 0) {
        return order;
    }
    if (one->id.size != other->id.size) {
        return one->id.size < other->id.size ? -1 : 1;
    }
    return one < other ? -1 : 1;
}

/* Checks the limits for all events together. The events are sorted so that each
 * id is counted once, with its last payload. */
static bool
check_limits_of_all(struct call *call, const struct queue_event *events,
                    size_t count, bool *drop)
{
    const struct queue_settings *settings = queue_settings_of(call->queue);
    struct push_tally tally = {0};

    *drop = false;
    if (settings->max_events == 0 && settings->max_bytes == 0) {
        return true;
    }
    const struct queue_event **all =
        memory_alloc(count * sizeof(const struct queue_event *));
    if (all == NULL) {
        host_error(call->host, COMMANDS_OOM);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        all[i] = &events[i];
    }
    qsort(all, count, sizeof(*all), compare_ids);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count || !bytes_equal(all[i]->id, all[i + 1]->id)) {
            tally_event(call, all[i]->id, all[i]->payload, &tally);
        }
    }
    memory_free(all);
    return check_limits(call, &tally, drop);
}

struct commands_push_many {
    struct queue_event *events;
    struct bytes *words;   /* the arguments of ADD */
    char (*ids)[IDS_SIZE]; /* generated ids */
};

static void
push_many(struct call *call, const struct args_mpush *args,
          const struct commands_push_many *many)
{
    struct queue_event *events = many->events;
    struct queue_event when = {0};

    if (!commands_open(call)) {
        return;
    }
    commands_set_due(call, &args->time, 0, &when);
    struct args_meta meta = {.alone = when.alone};
    struct commands_at at;
    struct bytes plain = {at.meta, args_meta_write(&meta, at.meta)};
    meta.made = true;
    char made_text[ARGS_META_SIZE];
    struct bytes made = {made_text, args_meta_write(&meta, made_text)};
    struct bytes due = commands_number(when.due, at.due);
    struct bytes ttl = commands_number(when.ttl, at.ttl);
    for (size_t i = 0, stars = 0; i < args->count; i++) {
        struct bytes *pair = many->words + i * REPLICATION_ADD_WORDS;
        bool star = is_star(args->pairs[2 * i]);
        events[i] = when;
        events[i].id =
            star ? make_id(call, many->ids[stars++]) : args->pairs[2 * i];
        events[i].payload = args->pairs[2 * i + 1];
        pair[REPLICATION_ADD_ID] = events[i].id;
        pair[REPLICATION_ADD_PAYLOAD] = events[i].payload;
        pair[REPLICATION_ADD_DUE] = due;
        pair[REPLICATION_ADD_TTL] = ttl;
        pair[REPLICATION_ADD_META] = star ? made : plain;
    }
    bool drop = false;
    if (!check_limits_of_all(call, events, args->count, &drop)) {
        return;
    }
    uint64_t added = 0;
    if (!add_all(call, events, args->count, drop, &added)) {
        host_error(call->host, COMMANDS_OOM);
        return;
    }
    host_replicate(call->host, "ADD", many->words,
                   args->count * REPLICATION_ADD_WORDS);
    count_pushed(call, args->count, when.due);
    host_integer(call->host, (int64_t)added);
}

void
commands_mpush(struct call *call)
{
    struct args_mpush args;
    size_t stars = 0;
    const char *error =
        args_parse_mpush(call->args + 2, call->count - 2, &args);

    if (error != NULL) {
        host_error(call->host, error);
        return;
    }
    for (size_t i = 0; i < args.count; i++) {
        if (!commands_check_sizes(call, args.pairs[2 * i],
                                  args.pairs[2 * i + 1])) {
            return;
        }
        stars += is_star(args.pairs[2 * i]);
    }
    struct commands_push_many many;
    many.events = memory_alloc(
        args.count * (sizeof(*many.events) +
                      REPLICATION_ADD_WORDS * sizeof(*many.words)) +
        stars * sizeof(*many.ids));
    if (many.events == NULL) {
        host_error(call->host, COMMANDS_OOM);
        return;
    }
    many.words = (struct bytes *)(void *)(many.events + args.count);
    many.ids = (char(*)[IDS_SIZE])(void *)(many.words +
                                           args.count * REPLICATION_ADD_WORDS);
    push_many(call, &args, &many);
    memory_free(many.events);
}
