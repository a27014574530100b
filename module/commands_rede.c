/* commands_rede.c - the commands of ReDe, which this module replaces: same
 * arguments, replies and errors. Where ReDe sent two replies, or none, or
 * crashed, there is one reply.
 *
 * Settings and pauses of a key apply to these commands, too. POLL and XACK
 * deliver recurring events, which LAWN.PUSH creates, and leave them in the
 * queue.
 */
#include "commands.h"

#include "memory.h"

#include <stdio.h>

#define REDE_ID_SIZE 31

static bool
push_event(struct call *call, struct bytes id)
{
    struct queue_event event = {.id = id, .payload = call->args[3]};
    struct args_time time = {.how = ARGS_DELAY};

    if (!args_parse_number(call->args[2], 0, QUEUE_TIME_MAX, &time.ms)) {
        host_error(call->host,
                   args_not_in_range("ttl", ARGS_MS_RANGE("0"), call->args[2]));
        return false;
    }
    if (!commands_check_sizes(call, id, event.payload) ||
        !commands_open(call)) {
        return false;
    }
    commands_set_due(call, &time, 0, &event);
    return commands_add_event(call, &event, false);
}

static bool
is_there(const struct call *call, struct bytes id)
{
    return call->queue != NULL && queue_get(call->queue, id, NULL);
}

static void
rede_push(struct call *call)
{
    if (is_there(call, call->args[4])) {
        host_error(call->host, "ERROR: Element already dehydrating.");
    } else if (push_event(call, call->args[4])) {
        host_simple(call->host, "OK");
    }
}

static void
rede_gidpush(struct call *call)
{
    static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char text[REDE_ID_SIZE];
    struct bytes id = {text, sizeof(text)};

    do {
        for (size_t i = 0; i < sizeof(text); i++) {
            text[i] = letters[host_random(call->host, sizeof(letters) - 1)];
        }
    } while (is_there(call, id));
    if (push_event(call, id)) {
        host_bytes(call->host, id);
    }
}

static void
rede_update(struct call *call)
{
    struct queue_event event;

    if (call->queue == NULL) {
        host_error(call->host, "ERROR: No Such dehydrator.");
    } else if (!queue_get(call->queue, call->args[2], &event)) {
        host_error(call->host, "ERROR: No Such Element.");
    } else if (commands_check_sizes(call, call->args[2], call->args[3])) {
        commands_replace_payload(call, &event, call->args[3]);
    }
}

static void
reply_payload(struct call *call, const struct queue_event *event)
{
    host_bytes(call->host, event->payload);
}

/* Sets *due to the number of due events, limited to COUNT and to
 * lawn.max-batch, which is also the default. Returns false, after an error
 * reply, if COUNT is not a number. */
static bool
count_due(struct call *call, size_t *due)
{
    uint64_t count = UINT64_MAX;
    const char *error =
        args_parse_count(call->args + 2, call->count - 2, &count);

    if (error != NULL) {
        host_error(call->host, error);
        return false;
    }
    *due = commands_count_due(call, count);
    return true;
}

static void
rede_poll(struct call *call)
{
    size_t due = 0;

    if (!count_due(call, &due)) {
        return;
    }
    if (due > 0) {
        commands_remove_due(call, due, reply_payload);
    } else {
        host_array(call->host, 0);
    }
}

static void
rede_xpoll(struct call *call)
{
    const void *cursor = NULL;
    size_t due = 0;

    if (!count_due(call, &due)) {
        return;
    }
    host_array(call->host, due);
    struct queue_event event;
    while (due-- > 0 && queue_ready(call->queue, &cursor, &event)) {
        host_bytes(call->host, event.id);
    }
}

static void
ack_event(struct call *call, struct commands_batch *batch, struct bytes id)
{
    struct queue_event event;

    if (queue_settings_of(call->queue)->paused ||
        !queue_get(call->queue, id, &event) ||
        queue_state_at(&event, call->now) != QUEUE_DUE) {
        host_null(call->host);
        return;
    }
    host_bytes(call->host, event.payload);
    event.id = id;
    commands_count_fired(call, &event);
    commands_batch_remove(call, batch, &event);
}

static void
rede_xack(struct call *call)
{
    size_t count = call->count - 2;
    size_t again = 0;

    if (call->queue == NULL) {
        host_array(call->host, 0);
        return;
    }
    struct queue_event event;
    struct queue_event next;
    for (size_t i = 0; i < count; i++) {
        again += queue_get(call->queue, call->args[2 + i], &event) &&
                 queue_state_at(&event, call->now) == QUEUE_DUE &&
                 commands_next_period(&event, call->now, &next);
    }
    struct commands_batch batch;
    if (!commands_batch_init(call, &batch, count, again)) {
        return;
    }
    host_array(call->host, count);
    for (size_t i = 0; i < count; i++) {
        ack_event(call, &batch, call->args[2 + i]);
    }
    commands_batch_report(call, &batch, "lawn.poll");
    commands_batch_fini(&batch);
}

static bool
test_queue(struct queue *queue, uint64_t now)
{
    static const struct {
        const char *id;
        uint64_t ttl;
    } pushed[] = {{"e1", 1000}, {"e4", 4000}, {"e7", 7000}, {"e3", 3000}};
    static const char *const fired[] = {"e1", "e3", "e4"};
    struct queue_event event = {0};
    const void *cursor = NULL;
    bool good = true;

    for (size_t i = 0; i < sizeof(pushed) / sizeof(*pushed); i++) {
        event.id = bytes_of(pushed[i].id);
        event.payload = event.id;
        event.ttl = pushed[i].ttl;
        event.due = now + event.ttl;
        good = good && queue_put(queue, &event) == 0;
    }
    good = good && queue_remove(queue, bytes_of("e7"));
    good = good && queue_next(queue) == now + 1000;
    good = good && queue_promote_due(queue, now + 999, UINT64_MAX) == 0;
    good = good && queue_promote_due(queue, now + 11000, UINT64_MAX) == 3;
    for (size_t i = 0; good && i < 3; i++) {
        good = queue_ready(queue, &cursor, &event) &&
               bytes_equal(event.id, bytes_of(fired[i]));
    }
    return good && queue_check(queue, stderr);
}

static void
rede_test(struct call *call)
{
    struct queue *queue = queue_new(call->now, 16);
    bool good = queue != NULL && test_queue(queue, call->now);

    if (queue != NULL) {
        queue_free(queue);
    }
    if (good) {
        host_simple(call->host, "PASS");
    } else {
        host_error(call->host, "ERR self-check failed");
    }
}

/* A text in a fixed buffer. Its full length is counted even if the buffer is
 * too small. */
struct rede_text {
    char *at;
    size_t size;
    size_t room;
    size_t left;  /* number of events still to print */
    uint64_t now; /* the time of the queue */
};

#define REDE_PRINT_EVENTS 1000u
#define REDE_PRINT_BYTES 256u

static void
print_bytes(struct rede_text *text, struct bytes bytes)
{
    size_t size = bytes.size < REDE_PRINT_BYTES ? bytes.size : REDE_PRINT_BYTES;

    for (size_t i = 0; i < size; i++) {
        bool plain = bytes.at[i] >= ' ' && bytes.at[i] <= '~';
        if (text->size < text->room) {
            memcpy(text->at + text->size, plain ? bytes.at + i : "?", 1);
        }
        text->size++;
    }
}

static void
print_number(struct rede_text *text, const char *name, uint64_t number)
{
    print_bytes(text, bytes_of(name));
    char digits[COMMANDS_NUMBER];
    print_bytes(text, commands_number(number, digits));
}

static bool
print_event(const struct queue_event *event, void *arg)
{
    struct rede_text *text = arg;

    if (text->left == 0) {
        return false;
    }
    text->left--;
    print_bytes(text, bytes_of("->[id="));
    print_bytes(text, event->id);
    print_bytes(text, bytes_of(",elem="));
    print_bytes(text, event->payload);
    print_number(text,
                 ",ttl=", event->due > text->now ? event->due - text->now : 0);
    print_number(text, ",exp=", event->due);
    print_bytes(text, bytes_of("]"));
    return true;
}

static void
print_queue(const struct queue *queue, struct rede_text *text)
{
    print_number(text, "(elements=", queue_count(queue));
    print_bytes(text, bytes_of(") head"));
    text->left = REDE_PRINT_EVENTS;
    text->now = queue_now(queue);
    (void)queue_scan(queue, 0, REDE_PRINT_EVENTS, print_event, text);
    if (queue_count(queue) > REDE_PRINT_EVENTS) {
        print_bytes(text, bytes_of("->..."));
    }
}

/* Returns one line of readable text, of limited length. */
static void
rede_print(struct call *call)
{
    struct rede_text text = {0};

    if (call->queue == NULL) {
        host_null(call->host);
        return;
    }
    print_queue(call->queue, &text);
    text.room = text.size;
    text.at = memory_alloc(text.room + 1);
    if (text.at == NULL) {
        host_error(call->host, COMMANDS_OOM);
        return;
    }
    text.size = 0;
    print_queue(call->queue, &text);
    text.at[text.room] = '\0';
    host_simple(call->host, text.at);
    memory_free(text.at);
}

#define KEY COMMANDS_ARG("dehydrator", KEY)
#define TTL COMMANDS_ARG("ttl", INTEGER)
#define ELEMENT COMMANDS_ARG("element", STRING)
#define ID COMMANDS_ARG("element-id", STRING)
#define COUNT COMMANDS_ARG_COUNT
#define END COMMANDS_ARG_END

static const struct command_arg rede_args_push[] = {KEY, TTL, ELEMENT, ID, END};
static const struct command_arg rede_args_gidpush[] = {KEY, TTL, ELEMENT, END};
static const struct command_arg rede_args_id[] = {KEY, ID, END};
static const struct command_arg rede_args_poll[] = {KEY, COUNT, END};
static const struct command_arg rede_args_xack[] = {
    KEY, {"element-id", COMMAND_STRING, NULL, COMMAND_MULTIPLE, NULL}, END};
static const struct command_arg rede_args_key[] = {KEY, END};
static const struct command_arg rede_args_update[] = {KEY, ID, ELEMENT, END};
static const struct command_arg rede_args_none[] = {END};

const struct command command_rede[] = {
    {"REDE.PUSH", rede_push, "write deny-oom fast", 5, true, "RW UPDATE",
     "ReDe compatibility: adds an element that is due after ttl milliseconds.",
     "O(1)", "0.1.0", rede_args_push, NULL},
    {"REDE.GIDPUSH", rede_gidpush, "write deny-oom fast", 4, true, "RW UPDATE",
     "ReDe compatibility: adds an element with a generated id.", "O(1)",
     "0.1.0", rede_args_gidpush, NULL},
    {"REDE.PULL", commands_pull, "write fast", 3, true, "RW ACCESS DELETE",
     "ReDe compatibility: removes and returns an element, due or not.", "O(1)",
     "0.1.0", rede_args_id, NULL},
    {"REDE.POLL", rede_poll, "write", -2, true, "RW ACCESS DELETE",
     "ReDe compatibility: removes and returns the due elements.",
     "O(k) for k returned elements", "0.1.0", rede_args_poll, NULL},
    {"REDE.XPOLL", rede_xpoll, "readonly", -2, true, "RO ACCESS",
     "ReDe compatibility: returns the ids of the due elements.",
     "O(k) for k returned ids", "0.1.0", rede_args_poll, NULL},
    {"REDE.XACK", rede_xack, "write fast", -3, true, "RW ACCESS DELETE",
     "ReDe compatibility: removes and returns those of the elements that are "
     "due.",
     "O(k) for k ids", "0.1.0", rede_args_xack, NULL},
    {"REDE.LOOK", commands_get, "readonly fast", 3, true, "RO ACCESS",
     "ReDe compatibility: returns an element without removing it.", "O(1)",
     "0.1.0", rede_args_id, NULL},
    {"REDE.TTN", commands_next, "readonly fast", 2, true, "RO ACCESS",
     "ReDe compatibility: returns the milliseconds until the next element is "
     "due.",
     "O(k) for k events that have become due, at most 1000", "0.1.0",
     rede_args_key, NULL},
    {"REDE.UPDATE", rede_update, "write deny-oom fast", 4, true,
     "RW ACCESS UPDATE",
     "ReDe compatibility: replaces the payload of an element.", "O(1)", "0.1.0",
     rede_args_update, NULL},
    {"REDE.TEST", rede_test, "readonly", 1, false, NULL,
     "ReDe compatibility: runs a self-check of a few microseconds.", "O(1)",
     "0.1.0", rede_args_none, NULL},
    {"REDE.PRINT", rede_print, "readonly", 2, true, "RO ACCESS",
     "ReDe compatibility: returns the contents of a key as readable text.",
     "O(k) for the k elements shown, at most 1000", "0.1.0", rede_args_key,
     NULL},
    {NULL, NULL, NULL, 0, false, NULL, NULL, NULL, NULL, NULL, NULL}};
