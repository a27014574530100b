/* conversation.c - the conversation with one server.
 *
 *     AUTH, SELECT            on a new connection
 *     INFO server ... lawn    kind of server, its role, the module's fields
 *     CLUSTER NODES           to one node of each cluster
 *     SCAN ... TYPE           unless all queues are known
 *     LAWN.INFO key           for queues, up to TOP_AHEAD without a reply
 *     LAWN.LEN key DUE        if LAWN.INFO did not contain that number
 *
 * Each reply belongs to the oldest unanswered command. An error about a queue
 * affects only that queue. Any other error ends the round and the connection,
 * and the next round opens a new one.
 */
#include "top.h"

#include "../../src/base/decimal.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP_TYPE "dehy-type" /* data type of queues */
#define TOP_WORDS_MAX 8      /* of a command */

void
top_conversation_fail(struct top_node *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(node->error, sizeof(node->error), format, args);
    va_end(args);
    top_link_close(node);
    node->answered = false;
    node->state = TOP_IDLE;
    node->attempts = 0;
}

static void
send_words(struct top_node *node, enum top_question question,
           struct top_queue *queue, const struct resp_word *words, size_t count)
{
    size_t most = sizeof(node->asked) / sizeof(node->asked[0]);
    if (node->state == TOP_IDLE) {
        return;
    }
    if (!resp_command(&node->out, words, count)) {
        top_conversation_fail(node, "out of memory");
        return;
    }
    struct top_asked *asked =
        &node->asked[(node->asked_first + node->asked_count++) % most];
    asked->question = question;
    asked->queue = queue;
}

/* Sends a command; NULL ends the list of words. */
static void
ask(struct top_node *node, enum top_question question, const char *const *texts)
{
    struct resp_word words[TOP_WORDS_MAX];
    size_t count = 0;
    for (; count < TOP_WORDS_MAX && texts[count] != NULL; count++) {
        words[count].at = texts[count];
        words[count].size = strlen(texts[count]);
    }
    send_words(node, question, NULL, words, count);
}

static void
ask_queue(struct top_node *node, enum top_question question,
          struct top_queue *queue)
{
    const struct resp_word key = {queue->key, queue->size};
    const struct resp_word info[] = {{"LAWN.INFO", 9}, key};
    const struct resp_word due[] = {{"LAWN.LEN", 8}, key, {"DUE", 3}};
    if (question == TOP_ASK_QUEUE) {
        send_words(node, question, queue, info, 2);
    } else {
        send_words(node, question, queue, due, 3);
    }
}

void
top_conversation_begin(struct top *top, struct top_node *node)
{
    node->begun = top->now;
    node->deadline = top->now + top->options->timeout_ns;
    node->pages = 0;
    node->refused = 0;
    node->planned = 0;
    node->plan_at = 0;
    node->state = TOP_TALKING;
    if (node->socket < 0) {
        node->attempts = 0;
        if (top_link_open(node) < 0) {
            return;
        }
        node->state = TOP_CONNECTING;
        if (node->url.password != NULL && node->url.user != NULL) {
            ask(node, TOP_ASK_AUTH,
                (const char *const[]){"AUTH", node->url.user,
                                      node->url.password, NULL});
        } else if (node->url.password != NULL) {
            ask(node, TOP_ASK_AUTH,
                (const char *const[]){"AUTH", node->url.password, NULL});
        }
        if (strcmp(node->url.db, "0") != 0) {
            ask(node, TOP_ASK_SELECT,
                (const char *const[]){"SELECT", node->url.db, NULL});
        }
    }
    ask(node, TOP_ASK_SERVER, (const char *const[]){"INFO", "server", NULL});
    ask(node, TOP_ASK_ROLE, (const char *const[]){"INFO", "replication", NULL});
    ask(node, TOP_ASK_CLUSTER, (const char *const[]){"INFO", "cluster", NULL});
    ask(node, TOP_ASK_TIME, (const char *const[]){"TIME", NULL});
    ask(node, TOP_ASK_LAWN, (const char *const[]){"INFO", "lawn", NULL});
}

static bool
begins_with(const struct resp_value *reply, const char *word)
{
    size_t size = strlen(word);
    return reply->size >= size && memcmp(reply->at, word, size) == 0;
}

static void
report_refusal(struct top_node *node, const struct resp_value *reply)
{
    static const struct {
        const char *word;
        const char *advice;
    } known[] = {
        {"NOAUTH", "set the password in LAWN_PASSWORD, or in the URL as "
                   "redis://user:password@host"},
        {"WRONGPASS", "check LAWN_PASSWORD and the user in the URL"},
        {"ERR invalid password", "check LAWN_PASSWORD"},
        {"ERR AUTH <password> called",
         "the server requires no password; remove it from the URL, or unset "
         "LAWN_PASSWORD"},
        {"NOPERM", "allow the commands: ACL SETUSER name +info +time +scan "
                   "+cluster|nodes +lawn.info +lawn.len"},
        {"LOADING", "wait until the server has loaded its data"},
        {"MASTERDOWN", "the replica does not answer while its master is down"},
        {"DENIED", "check protected-mode in the server's configuration"},
        {"ERR DB index", "check the database number after the / in the URL"},
        {"ERR max number of clients",
         "check maxclients in the server's configuration"},
    };
    const char *advice = NULL;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (begins_with(reply, known[i].word)) {
            advice = known[i].advice;
        }
    }
    char text[160];
    top_escape(reply->at, reply->size, 120, text, sizeof(text));
    top_conversation_fail(node, "server error: %s%s%s", text,
                          advice != NULL ? "; " : "",
                          advice != NULL ? advice : "");
}

static void
ask_queues(struct top_node *node)
{
    while (node->plan_at < node->planned && node->asked_count < TOP_AHEAD &&
           node->state != TOP_IDLE) {
        ask_queue(node, TOP_ASK_QUEUE, node->plan[node->plan_at++]);
    }
}

static void
plan_queues(struct top *top, struct top_node *node)
{
    size_t count = node->queues.count;
    size_t most = count;
    if (!top->options->once && most > TOP_ASKED) {
        most = TOP_ASKED;
    }
    struct top_queue **plan =
        realloc(node->plan, (most + 1) * sizeof(*node->plan));
    if (plan == NULL) {
        top_conversation_fail(node, "out of memory");
        return;
    }
    node->plan = plan;
    size_t end = 0; /* shown queues before this index are in the plan */
    for (size_t i = 0; most < count && i < count; i++) {
        if (node->queues.list[i]->shown && node->planned < most / 2) {
            plan[node->planned++] = node->queues.list[i];
            end = i + 1;
        }
    }
    for (size_t i = 0; i < count && node->planned < most; i++) {
        size_t at = node->turn++ % count;
        struct top_queue *queue = node->queues.list[at];
        if (at >= end || !queue->shown) {
            plan[node->planned++] = queue;
        }
    }
    ask_queues(node);
}

/* Continues the search for keys, or begins to query queues. */
static void
continue_search(struct top *top, struct top_node *node, bool round)
{
    const struct top_figure *keys =
        top_figures_find(&node->figures, "lawn_keys");
    bool all = keys != NULL && (int64_t)node->queues.count >= keys->value;
    bool enough = top->options->once ? top->now - node->begun > TOP_SEARCH
                                     : node->pages >= TOP_PAGES;
    if (all || round) {
        node->searched = true;
    }
    if (all || round || enough || node->queues.more) {
        plan_queues(top, node);
        return;
    }
    node->pages++;
    ask(node, TOP_ASK_SCAN,
        (const char *const[]){"SCAN", node->cursor, "COUNT", TOP_PAGE, "TYPE",
                              TOP_TYPE, NULL});
}

static void
read_scan(struct top *top, struct top_node *node,
          const struct resp_value *reply)
{
    if (reply->kind != RESP_ARRAY || reply->count != 2 ||
        reply->items[0].kind != RESP_BULK ||
        reply->items[0].size >= sizeof(node->cursor) ||
        reply->items[1].kind != RESP_ARRAY) {
        top_conversation_fail(node, "invalid reply to SCAN");
        return;
    }
    const struct resp_value *keys = &reply->items[1];
    for (size_t i = 0; i < keys->count; i++) {
        if (keys->items[i].kind == RESP_BULK) {
            top_queues_add(&node->queues, keys->items[i].at,
                           keys->items[i].size);
        }
    }
    memcpy(node->cursor, reply->items[0].at, reply->items[0].size);
    node->cursor[reply->items[0].size] = '\0';
    continue_search(top, node, strcmp(node->cursor, "0") == 0);
}

/* Handles an error about a queue: it was deleted or moved, or access is
 * denied. */
static void
read_queue_error(struct top_node *node, struct top_queue *queue,
                 const struct resp_value *reply)
{
    static const char *const elsewhere[] = {"MOVED", "ASK ", "TRYAGAIN",
                                            "CLUSTERDOWN", "WRONGTYPE"};
    bool own = begins_with(reply, "NOPERM");
    queue->gone = true;
    if (own) {
        node->refused++;
        top_escape(reply->at, reply->size, 100, node->refusal,
                   sizeof(node->refusal));
    }
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
        own = own || begins_with(reply, elsewhere[i]);
    }
    if (!own) {
        report_refusal(node, reply);
    }
}

static void
read_queue(struct top *top, struct top_node *node, struct top_queue *queue,
           const struct resp_value *reply)
{
    if (reply->kind == RESP_ERROR) {
        read_queue_error(node, queue, reply);
    } else if (reply->kind == RESP_NULL) {
        queue->gone = true;
    } else if (!top_queue_read(queue, reply, top->now)) {
        top_conversation_fail(node, "invalid reply to LAWN.INFO");
    } else if (queue->figures[TOP_DUE] == TOP_ABSENT) {
        ask_queue(node, TOP_ASK_DUE, queue);
    } else {
        top_queue_due(queue, TOP_ABSENT);
    }
    ask_queues(node);
}

static void
read_version(struct top_node *node, const char *text, size_t size)
{
    static const char *const kinds[] = {"valkey", "redis"};
    node->version[0] = '\0';
    for (size_t i = 0; i < 2 && node->version[0] == '\0'; i++) {
        char name[24];
        snprintf(name, sizeof(name), "%s_version", kinds[i]);
        size_t length = 0;
        const char *line = top_info_line(text, size, name, &length);
        if (line == NULL) {
            continue;
        }
        char version[32];
        top_escape(line, length, 24, version, sizeof(version));
        snprintf(node->version, sizeof(node->version), "%s %s", kinds[i],
                 version);
    }
}

static bool
line_is(const char *text, size_t size, const char *name, const char *value)
{
    size_t length = 0;
    const char *line = top_info_line(text, size, name, &length);
    return line != NULL && length == strlen(value) &&
           memcmp(line, value, length) == 0;
}

static void
read_time(struct top *top, struct top_node *node,
          const struct resp_value *reply)
{
    if (reply->kind != RESP_ARRAY || reply->count != 2 ||
        reply->items[0].size == 0 || reply->items[0].size > 12) {
        return;
    }
    const struct resp_value *item = &reply->items[0];
    uint64_t seconds = 0;
    if (lawn__decimal_read(item->at, item->at + item->size, UINT64_MAX,
                           &seconds) != item->at + item->size) {
        return;
    }
    /* Ignore differences of about a second. */
    node->clock = (int64_t)(seconds * 1000) - (int64_t)top->clock_ms;
    if (node->clock > -1500 && node->clock < 1500) {
        node->clock = 0;
    }
}

static void
read_figures(struct top *top, struct top_node *node, const char *text,
             size_t size)
{
    top_figures_read(&node->figures, text, size, top->now);
    if (node->figures.count == 0) {
        top_conversation_fail(
            node, "the module lawn is not loaded; add 'loadmodule "
                  "/path/to/lawn.so' to the server's configuration, or run "
                  "MODULE LOAD if the server allows it");
    } else if (!node->clustered || !node->replica) {
        continue_search(top, node, false);
    }
}

static void
read_text(struct top *top, struct top_node *node, enum top_question question,
          const char *text, size_t size)
{
    switch (question) {
    case TOP_ASK_SERVER:
        read_version(node, text, size);
        break;
    case TOP_ASK_ROLE:
        node->replica = line_is(text, size, "role", "slave");
        break;
    case TOP_ASK_CLUSTER:
        node->clustered = line_is(text, size, "cluster_enabled", "1");
        if (node->clustered && top_nodes_asks(top, node)) {
            ask(node, TOP_ASK_NODES,
                (const char *const[]){"CLUSTER", "NODES", NULL});
        }
        break;
    case TOP_ASK_NODES:
        top_nodes_read(top, node, text, size);
        break;
    default:
        read_figures(top, node, text, size);
        break;
    }
}

static void
read_reply(struct top *top, struct top_node *node,
           const struct resp_value *reply)
{
    size_t most = sizeof(node->asked) / sizeof(node->asked[0]);
    if (node->asked_count == 0) {
        top_conversation_fail(node, "unexpected reply from the server");
        return;
    }
    struct top_asked asked = node->asked[node->asked_first];
    node->asked_first = (node->asked_first + 1) % most;
    node->asked_count--;
    if (asked.question == TOP_ASK_QUEUE) {
        read_queue(top, node, asked.queue, reply);
    } else if (asked.question == TOP_ASK_DUE) {
        top_queue_due(asked.queue, reply->kind == RESP_INTEGER ? reply->integer
                                                               : TOP_ABSENT);
        ask_queues(node);
    } else if (reply->kind == RESP_ERROR) {
        report_refusal(node, reply);
    } else if (asked.question == TOP_ASK_SCAN) {
        read_scan(top, node, reply);
    } else if (asked.question == TOP_ASK_TIME) {
        read_time(top, node, reply);
    } else if (asked.question != TOP_ASK_AUTH &&
               asked.question != TOP_ASK_SELECT) {
        if (reply->kind == RESP_BULK || reply->kind == RESP_SIMPLE) {
            read_text(top, node, asked.question, reply->at, reply->size);
        } else {
            top_conversation_fail(node, "invalid reply to INFO");
        }
    }
}

static void
end_round(struct top_node *node)
{
    node->state = TOP_IDLE;
    node->answered = true;
    node->error[0] = '\0';
    top_queues_sweep(&node->queues);
}

static void
read_replies(struct top *top, struct top_node *node)
{
    const struct resp_value *reply = NULL;
    int code = 0;
    while (node->state != TOP_IDLE &&
           (code = resp_next(&node->in, &reply)) > 0) {
        read_reply(top, node, reply);
    }
    if (node->state == TOP_IDLE) {
        return;
    }
    if (code == -EPROTO) {
        top_conversation_fail(node, "the reply is not RESP; is this a Redis or "
                                    "Valkey server, and a port without TLS?");
    } else if (code == -EMSGSIZE) {
        top_conversation_fail(node, "the reply is too large");
    } else if (code < 0) {
        top_conversation_fail(node, "out of memory");
    } else if (node->asked_count == 0) {
        end_round(node);
    }
}

void
top_conversation_continue(struct top *top, struct top_node *node, short events)
{
    if (node->state == TOP_CONNECTING &&
        (events & (POLLOUT | POLLERR | POLLHUP)) != 0) {
        if (top_link_connected(node) != 0) {
            return;
        }
        node->state = TOP_TALKING;
    }
    if (node->state != TOP_TALKING) {
        return;
    }
    if ((events & (POLLIN | POLLERR | POLLHUP)) != 0) {
        if (top_link_read(node) < 0) {
            return;
        }
        node->deadline = top->now + top->options->timeout_ns;
        read_replies(top, node);
    }
    if (node->state == TOP_TALKING) {
        top_link_write(node);
    }
}
