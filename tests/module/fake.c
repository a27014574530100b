/* fake.c - a fake server: see fake.h. */
#include "fake.h"

#include "memory_kit.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define FAKE_DEPTH 8

/* A call of a command, and the state of its unfinished replies. */
struct host {
    struct fake *fake;
    const struct bytes *args;
    struct fake_key *key; /* NULL: it does not exist */
    unsigned replies;     /* complete replies */
    unsigned depth;
    struct fake_begun {
        size_t left;
        bool map;
        bool value; /* the next reply is the value of a pair */
    } begun[FAKE_DEPTH];
    bool blocked;
    unsigned handed; /* number of calls of host_over() */
};

struct fake_done {
    struct fake_done *next;
    struct bytes *args;
    size_t count;
};

_Noreturn static void
fake_die(const struct host *host, const char *what)
{
    printf("%.*s: %s\n", (int)host->args[0].size, host->args[0].at, what);
    (void)fflush(stdout);
    abort();
}

static void *
fake_have(void *memory)
{
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static void
fake_text_add(struct fake_text *text, const char *bytes, size_t size)
{
    if (text->size + size >= text->room) {
        text->room = 2 * (text->size + size) + 64;
        text->at = fake_have(realloc(text->at, text->room));
    }
    memcpy(text->at + text->size, bytes, size);
    text->size += size;
    text->at[text->size] = '\0';
}

__attribute__((format(printf, 2, 3))) static void
fake_text_print(struct fake_text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char few[512];
    int size = vsnprintf(few, sizeof(few), format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof(few)) {
        abort();
    }
    fake_text_add(text, few, (size_t)size);
}

static void
fake_text_bytes(struct fake_text *text, struct bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++) {
        if (isprint((unsigned char)bytes.at[i])) {
            fake_text_add(text, bytes.at + i, 1);
        } else {
            fake_text_print(text, "\\x%02x", (unsigned char)bytes.at[i]);
        }
    }
}

static void
fake_text_clear(struct fake_text *text)
{
    text->size = 0;
    fake_text_add(text, "", 0);
}

/* Begins a reply: writes the separator. */
static struct fake_text *
fake_begin(struct host *host)
{
    if (host->blocked) {
        fake_die(host, "a reply of one that waits");
    }
    if (host->depth == 0 && host->replies > 0) {
        fake_die(host, "a second reply");
    }
    return &host->fake->reply;
}

/* Ends a reply, and the arrays and maps that it completes. */
static void
fake_end(struct host *host)
{
    struct fake_text *text = &host->fake->reply;

    while (host->depth > 0) {
        struct fake_begun *begun = &host->begun[host->depth - 1];
        if (begun->map && !begun->value) {
            begun->value = true;
            fake_text_add(text, ": ", 2);
            return;
        }
        begun->value = false;
        if (--begun->left > 0) {
            fake_text_add(text, ", ", 2);
            return;
        }
        fake_text_add(text, begun->map ? "}" : "]", 1);
        host->depth--;
    }
    host->replies++;
}

static void
fake_begin_many(struct host *host, size_t count, bool map)
{
    struct fake_text *text = fake_begin(host);

    if (count == 0) {
        fake_text_add(text, map ? "{}" : "[]", 2);
        fake_end(host);
        return;
    }
    if (host->depth == FAKE_DEPTH) {
        fake_die(host, "a reply too deep");
    }
    fake_text_add(text, map ? "{" : "[", 1);
    host->begun[host->depth++] = (struct fake_begun){count, map, false};
}

void
host_null(struct host *host)
{
    fake_text_add(fake_begin(host), "nil", 3);
    fake_end(host);
}

void
host_integer(struct host *host, int64_t value)
{
    fake_text_print(fake_begin(host), "%lld", (long long)value);
    fake_end(host);
}

void
host_bytes(struct host *host, struct bytes bytes)
{
    struct fake_text *text = fake_begin(host);

    fake_text_add(text, "\"", 1);
    fake_text_bytes(text, bytes);
    fake_text_add(text, "\"", 1);
    fake_end(host);
}

/* A line break would end the reply early. */
static void
fake_line(struct host *host, char mark, const char *text)
{
    if (strpbrk(text, "\r\n") != NULL) {
        fake_die(host, "a line break in a line");
    }
    fake_text_add(fake_begin(host), &mark, 1);
    fake_text_add(&host->fake->reply, text, strlen(text));
    fake_end(host);
}

void
host_simple(struct host *host, const char *text)
{
    fake_line(host, '+', text);
}

void
host_error(struct host *host, const char *text)
{
    fake_line(host, '!', text);
}

void
host_array(struct host *host, size_t count)
{
    fake_begin_many(host, count, false);
}

void
host_map(struct host *host, size_t count)
{
    fake_begin_many(host, count, true);
}

static struct fake_key *
fake_find(struct fake *fake, struct bytes name)
{
    for (size_t i = 0; i < FAKE_KEYS; i++) {
        struct fake_key *key = &fake->keys[i];
        if (key->queue != NULL &&
            bytes_equal((struct bytes){key->name, key->size}, name)) {
            return key;
        }
    }
    return NULL;
}

struct queue *
host_queue(struct host *host)
{
    return host->key != NULL ? host->key->queue : NULL;
}

struct queue *
host_create(struct host *host)
{
    struct fake_key *key = host->fake->keys;

    if (host->key != NULL) {
        fake_die(host, "a key made twice");
    }
    while (key < host->fake->keys + FAKE_KEYS && key->queue != NULL) {
        key++;
    }
    if (key == host->fake->keys + FAKE_KEYS) {
        return NULL;
    }
    key->queue = queue_new(host->fake->now, 16);
    if (key->queue == NULL) {
        return NULL;
    }
    key->size = host->args[1].size;
    key->name = fake_have(malloc(key->size + 1));
    memcpy(key->name, host->args[1].at, key->size);
    host->key = key;
    return key->queue;
}

static void
fake_note(struct host *host, const char *event)
{
    if (host->fake->noted.size > 0) {
        fake_text_add(&host->fake->noted, " ", 1);
    }
    fake_text_add(&host->fake->noted, event, strlen(event));
}

static void
fake_delete(struct fake_key *key)
{
    queue_free(key->queue);
    free(key->name);
    *key = (struct fake_key){0};
}

void
host_delete(struct host *host)
{
    if (host->key == NULL) {
        fake_die(host, "no key to delete");
    }
    fake_delete(host->key);
    host->key = NULL;
    fake_note(host, "del");
}

static struct bytes
fake_copy(struct bytes bytes)
{
    char *copy = fake_have(malloc(bytes.size + 1));

    if (bytes.size > 0) {
        memcpy(copy, bytes.at, bytes.size);
    }
    return (struct bytes){copy, bytes.size};
}

/* Appends a command or a change. */
static void
fake_record(struct fake_text *text, const char *name, const struct bytes *words,
            size_t count)
{
    if (text->size > 0) {
        fake_text_add(text, "; ", 2);
    }
    fake_text_print(text, "%s", name);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 || *name != '\0') {
            fake_text_add(text, " ", 1);
        }
        fake_text_bytes(text, words[i].size > 0 ? words[i] : bytes_of("''"));
    }
}

void
host_replicate(struct host *host, const char *verb, const struct bytes *words,
               size_t count)
{
    struct fake_text *text = &host->fake->replicated;
    struct fake_done *done = fake_have(calloc(1, sizeof(*done)));
    struct fake_done **end = &host->fake->done;

    if (host->key == NULL) {
        fake_die(host, "a change of no key");
    }
    done->count = 3 + count;
    done->args = fake_have(calloc(done->count, sizeof(*done->args)));
    done->args[0] = fake_copy(bytes_of("LAWN.APPLY"));
    done->args[1] = fake_copy(host->args[1]);
    done->args[2] = fake_copy(bytes_of(verb));
    for (size_t i = 0; i < count; i++) {
        done->args[3 + i] = fake_copy(words[i]);
    }
    fake_record(text, verb, words, count);
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = done;
}

void
host_notify(struct host *host, const char *event)
{
    fake_note(host, event);
}

void
host_signal(struct host *host)
{
    host->fake->signals++;
}

void
host_arm(struct host *host, uint64_t when)
{
    host->fake->arms++;
    *queue_armed(host->key->queue) = when;
}

bool
host_block(struct host *host, uint64_t ms)
{
    host->fake->block_ms = ms;
    host->blocked = host->fake->may_block;
    return host->blocked;
}

bool
host_frozen(struct host *host)
{
    return host->fake->frozen;
}

bool
host_may_publish(struct host *host, struct bytes channel)
{
    (void)channel;
    return host->fake->may_publish;
}

bool
host_full(struct host *host)
{
    return host->fake->full;
}

const char *
host_call(struct host *host, const struct host_order *order)
{
    struct fake *fake = host->fake;

    if (order->count < 2 || order->count > HOST_ORDER_WORDS) {
        fake_die(host, "an order of too few or too many words");
    }
    if (fake->refusal != NULL && fake->refuse_after == 0) {
        return fake->refusal;
    }
    fake->refuse_after -= fake->refusal != NULL;
    fake_record(&fake->replicated, "", order->words, order->count);
    fake->lose_after -= fake->lose_after > 0;
    if (fake->lose_after == 0 && host->key != NULL) {
        fake_delete(host->key);
        host->key = NULL;
    }
    return NULL;
}

const char *
host_probe(struct host *host)
{
    const struct host_order order = {
        .words = {bytes_of("probe"), host->args[1]}, .count = 2};

    return host_call(host, &order);
}

bool
host_over(struct host *host)
{
    host->handed++;
    return host->handed >= host->fake->over_after;
}

uint64_t
host_random(struct host *host, uint64_t below)
{
    uint64_t x = host->fake->random += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) % below;
}

struct fake *
fake_new(void)
{
    struct fake *fake = fake_have(calloc(1, sizeof(*fake)));

    fake->now = 1000;
    fake->may_block = true;
    fake->may_publish = true;
    fake->budget = UINT64_MAX;
    fake->over_after = UINT_MAX;
    fake->lose_after = UINT_MAX;
    fake->memory = UINT64_MAX;
    return fake;
}

/* Runs the pending changes on the replica, if there is one. */
static void
fake_play(struct fake *fake)
{
    while (fake->done != NULL) {
        struct fake_done *done = fake->done;
        fake->done = done->next;
        if (fake->replica != NULL) {
            fake->replica->follows = true;
            (void)fake_call(fake->replica, done->args, done->count);
        }
        for (size_t i = 0; i < done->count; i++) {
            union {
                const char *in;
                char *out;
            } at = {done->args[i].at};
            free(at.out);
        }
        free(done->args);
        free(done);
    }
}

void
fake_free(struct fake *fake)
{
    for (size_t i = 0; i < FAKE_KEYS; i++) {
        if (fake->keys[i].queue != NULL) {
            fake_delete(&fake->keys[i]);
        }
    }
    free(fake->reply.at);
    free(fake->replicated.at);
    free(fake->noted.at);
    free(fake);
}

static const struct command *
fake_command(struct bytes name)
{
    const struct command *lists[] = {command_lawn, command_rede};

    for (size_t i = 0; i < 2; i++) {
        for (const struct command *c = lists[i]; c->name != NULL; c++) {
            if (bytes_equal(name, bytes_of(c->name))) {
                return c;
            }
        }
    }
    return NULL;
}

static bool
fake_arity(const struct command *command, size_t count)
{
    return command->arity > 0 ? count == (size_t)command->arity
                              : count >= (size_t)-command->arity;
}

/* Processes a key whose wake-up is due, as the server does. */
static void
fake_look(struct fake *fake, struct fake_key *key)
{
    struct queue *queue = key->queue;
    const struct queue_sink *sink = queue_sink_of(queue);
    struct bytes args[] = {bytes_of("a tick"), {key->name, key->size}};
    struct host host = {.fake = fake, .args = args, .key = key};
    struct call call = {.host = &host,
                        .args = args,
                        .count = 2,
                        .now = fake->now,
                        .wall = fake->now,
                        .queue = queue};
    uint64_t again = LAWN_NEVER;

    queue_set_now(queue, fake->now);
    (void)queue_promote_due(queue, fake->now, UINT64_MAX);
    *queue_armed(queue) = LAWN_NEVER;
    if (queue_settings_of(queue)->paused) {
        return;
    }
    if (sink->kind != QUEUE_SINK_NONE || sink->dead.size > 0) {
        again = command_hand_over(&call, fake->budget);
    }
    if (host.replies > 0 || host.depth > 0) {
        fake_die(&host, "a reply without a call");
    }
    if (host.key == NULL) {
        return;
    }
    if (queue_next_waiting(queue) < again) {
        again = queue_next_waiting(queue);
    }
    *queue_armed(queue) = again;
}

static void
fake_look_all(struct fake *fake)
{
    if (fake->follows) {
        return;
    }
    for (size_t i = 0; i < FAKE_KEYS; i++) {
        struct fake_key *key = &fake->keys[i];
        if (key->queue != NULL && *queue_armed(key->queue) <= fake->now) {
            fake_look(fake, key);
        }
    }
}

static void
fake_clear(struct fake *fake)
{
    fake_text_clear(&fake->reply);
    fake_text_clear(&fake->replicated);
    fake_text_clear(&fake->noted);
    fake->signals = 0;
    fake->arms = 0;
}

const char *
fake_tick(struct fake *fake)
{
    fake_clear(fake);
    memory_fail_after(fake->memory);
    fake_look_all(fake);
    memory_fail_after(UINT64_MAX);
    fake_play(fake);
    return fake->replicated.at;
}

/* Checks that due events with a sink, and dead events with a dead letter
 * stream, are processed at once or at the next retry. */
static void
fake_armed_sink(const struct host *host, struct queue *queue, uint64_t now)
{
    const struct queue_sink *sink = queue_sink_of(queue);
    uint64_t again = queue_trouble_of(queue)->again;
    uint64_t dead_again = queue_dead_trouble_of(queue)->again;

    if (sink->kind != QUEUE_SINK_NONE && queue_next(queue) <= now &&
        *queue_armed(queue) > (again > now ? again : now)) {
        fake_die(host, "a sink that is not seen to");
    }
    if (sink->dead.size > 0 && queue_dead_count(queue) > 0 &&
        *queue_armed(queue) > (dead_again > now ? dead_again : now)) {
        fake_die(host, "dead letters that are not seen to");
    }
}

/* Checks that the wake-up is early enough for blocked clients of a key without
 * due events, and for notifications of events that no client has taken. */
static void
fake_armed(const struct host *host, uint64_t now)
{
    for (size_t i = 0; i < FAKE_KEYS; i++) {
        struct queue *queue = host->fake->keys[i].queue;
        if (queue == NULL || queue_settings_of(queue)->paused) {
            continue;
        }
        uint64_t next = queue_next(queue);
        if (next <= now) {
            next = queue_next_waiting(queue);
        }
        if (next != LAWN_NEVER && next > now && next > queue_now(queue) &&
            *queue_armed(queue) > next) {
            fake_die(host, "a wake-up too late");
        }
        fake_armed_sink(host, queue,
                        queue_now(queue) > now ? queue_now(queue) : now);
    }
}

const char *
fake_call(struct fake *fake, const struct bytes *args, size_t count)
{
    const struct command *command = count > 0 ? fake_command(args[0]) : NULL;
    struct host host = {.fake = fake, .args = args};
    struct call call = {
        .host = &host, .args = args, .count = count, .now = fake->now};

    fake_look_all(fake);
    fake_play(fake);
    fake_clear(fake);
    if (command == NULL) {
        fake_text_print(&fake->reply, "!ERR unknown command");
        return fake->reply.at;
    }
    if (!fake_arity(command, count)) {
        fake_text_print(&fake->reply, "!ERR wrong number of arguments");
        return fake->reply.at;
    }
    if (command->key) {
        host.key = fake_find(fake, args[1]);
    }
    memory_fail_after(fake->memory);
    command_call(command, &call);
    memory_fail_after(UINT64_MAX);
    if (host.blocked) {
        fake_text_print(&fake->reply, "waits");
    } else if (host.replies != 1 || host.depth != 0) {
        fake_die(&host, "not one reply");
    }
    if (fake->replicated.size > 0 &&
        strstr(command->flags, "readonly") != NULL) {
        fake_die(&host, "a command that reads has changed something");
    }
    fake_armed(&host, fake->now);
    fake_play(fake);
    return fake->reply.at;
}

#define FAKE_WORDS 64

const char *
fake_run(struct fake *fake, const char *line)
{
    struct bytes args[FAKE_WORDS];
    size_t count = 0;

    while (*line != '\0') {
        bool quoted = *line == '\'';
        const char *begin = line + quoted;
        size_t size = strcspn(begin, quoted ? "'" : " ");
        if (count == FAKE_WORDS) {
            abort();
        }
        args[count++] = (struct bytes){begin, size};
        line = begin + size + quoted;
        line += *line == ' ';
    }
    return fake_call(fake, args, count);
}

struct queue *
fake_queue(struct fake *fake, const char *name)
{
    struct fake_key *key = fake_find(fake, bytes_of(name));

    return key != NULL ? key->queue : NULL;
}

static bool
fake_same_event(const struct queue_event *event, void *arg)
{
    struct queue **queues = arg;
    struct queue_event here;
    struct queue_event there;

    if (!queue_get(queues[0], event->id, &here) ||
        !queue_get(queues[1], event->id, &there) ||
        !bytes_equal(here.payload, there.payload) || here.due != there.due ||
        here.alone != there.alone ||
        memcmp(&here.repeat, &there.repeat, sizeof(here.repeat)) != 0 ||
        memcmp(&here.tries, &there.tries, sizeof(here.tries)) != 0 ||
        here.lease.token != there.lease.token ||
        here.lease.end != there.lease.end ||
        !bytes_equal(here.lease.owner, there.lease.owner)) {
        printf("id %.*s differs\n", (int)event->id.size, event->id.at);
        return false;
    }
    return true;
}

static bool
fake_same_queue(struct queue *a, struct queue *b)
{
    const struct queue_settings *one = queue_settings_of(a);
    const struct queue_settings *other = queue_settings_of(b);
    const struct queue_sink *sink = queue_sink_of(a);
    const struct queue_sink *sink_there = queue_sink_of(b);
    struct queue *queues[] = {a, b};

    if (sink->kind != sink_there->kind || sink->maxlen != sink_there->maxlen ||
        !bytes_equal(sink->to, sink_there->to) ||
        !bytes_equal(sink->dead, sink_there->dead)) {
        printf("sinks differ\n");
        return false;
    }
    if (queue_token(a) != queue_token(b)) {
        printf("tokens differ\n");
        return false;
    }
    if (one->tries != other->tries || one->lease != other->lease ||
        queue_count(a) != queue_count(b) || queue_data(a) != queue_data(b) ||
        one->max_events != other->max_events ||
        one->max_bytes != other->max_bytes ||
        one->overflow != other->overflow ||
        one->resolution != other->resolution || one->paused != other->paused) {
        printf("counts or settings differ\n");
        return false;
    }
    return queue_each(a, fake_same_event, queues) && queue_check(a, stdout) &&
           queue_check(b, stdout);
}

bool
fake_same(struct fake *a, struct fake *b)
{
    size_t count = 0;

    for (size_t i = 0; i < FAKE_KEYS; i++) {
        struct fake_key *key = &a->keys[i];
        count += key->queue != NULL;
        count -= b->keys[i].queue != NULL;
        if (key->queue == NULL) {
            continue;
        }
        struct fake_key *other =
            fake_find(b, (struct bytes){key->name, key->size});
        if (other == NULL) {
            printf("a key is not there\n");
            return false;
        }
        if (!fake_same_queue(key->queue, other->queue)) {
            return false;
        }
    }
    return count == 0;
}
