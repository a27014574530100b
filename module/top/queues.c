/* queues.c - the queues of a server and their reported data.
 *
 * A queue is kept between rounds, because rates are differences. A counter that
 * decreased was restarted and has no rate.
 */
#include "top.h"

#include "../../src/base/decimal.h"

#include <stdlib.h>
#include <string.h>

const struct top_field_names top_fields[TOP_FIELDS] = {
    [TOP_LEN] = {"len", "len", "events"},
    [TOP_WAITING] = {"waiting", "waiting", "events that are not yet due"},
    [TOP_DUE] = {"due", "due", "events that are due"},
    [TOP_LEASED] = {"leased", "leased", "events leased to workers"},
    [TOP_DEAD] = {"dead", "dead", "events that used up their tries"},
    [TOP_NEXT] = {"next", "next_ms",
                  "Unix time at which the next event is due"},
    [TOP_OLDEST] = {"oldest-due", "oldest_due_ms",
                    "time since the oldest due event became due"},
    [TOP_PUSHED] = {"pushed", "pushed_total", "events pushed"},
    [TOP_FIRED] = {"fired", "fired_total",
                   "events delivered by POLL or to the sink"},
    [TOP_ACKED] = {"acked", "acked_total", "leased events acknowledged"},
    [TOP_REDELIVERED] = {"redelivered", "redelivered_total",
                         "events leased again"},
    [TOP_HANDED] = {"handed", "handed_total", "events delivered to the sink"},
    [TOP_MISSED] = {"missed", "missed_total",
                    "periods that repeating events missed"},
    [TOP_DROPPED] = {"dropped", "dropped_total",
                     "events dropped because the queue was full"},
    [TOP_LEASES] = {"leased-total", "leased_total", "leases granted"},
    [TOP_DIED] = {"dead-total", "dead_total",
                  "events moved to the dead letter stream"},
    [TOP_ERRORS] = {"sink-errors", "sink_errors_total",
                    "errors of the sink or the dead letter stream"},
    [TOP_LATE_P50] = {"late-p50-ms", "late_ms_p50", "lateness, median"},
    [TOP_LATE_P99] = {"late-p99-ms", "late_ms_p99",
                      "lateness, 99th percentile"},
    [TOP_LATE_MAX] = {"late-max-ms", "late_ms_max", "lateness, greatest"},
    [TOP_TTLS] = {"ttls", "ttls", "different delays"},
    [TOP_BYTES] = {"bytes", "bytes", "memory in use"},
    [TOP_DATA] = {"data-bytes", "data_bytes", "bytes of ids and payloads"},
    [TOP_PAUSED] = {"paused", "paused", "1 if paused"},
};

const char *const top_words[TOP_WORDS] = {
    [TOP_SINK] = "sink",
    [TOP_SINK_TO] = "sink-to",
    [TOP_SINK_ERROR] = "sink-error",
    [TOP_DEAD_LETTER] = "dead-letter",
};

/* FNV-1a */
static uint64_t
hash_key(const char *key, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)key[i]) * 0x100000001b3;
    }
    return hash ^ (hash >> 29);
}

static void
free_queue(struct top_queue *queue)
{
    if (queue == NULL) {
        return;
    }
    for (size_t i = 0; i < TOP_WORDS; i++) {
        free(queue->words[i]);
    }
    free(queue->key);
    free(queue);
}

/* Returns the slot of a key in the table, or where it would be. */
static uint32_t *
find_slot(const struct top_queues *queues, uint64_t hash, const char *key,
          size_t size)
{
    for (size_t i = (size_t)hash;; i++) {
        uint32_t *slot = &queues->table[i & (queues->slots - 1)];
        if (*slot == 0) {
            return slot;
        }
        const struct top_queue *queue = queues->list[*slot - 1];
        if (queue->hash == hash && queue->size == size &&
            memcmp(queue->key, key, size) == 0) {
            return slot;
        }
    }
}

static void
index_queues(struct top_queues *queues)
{
    memset(queues->table, 0, queues->slots * sizeof(*queues->table));
    for (size_t i = 0; i < queues->count; i++) {
        const struct top_queue *queue = queues->list[i];
        *find_slot(queues, queue->hash, queue->key, queue->size) =
            (uint32_t)(i + 1);
    }
}

static bool
grow_table(struct top_queues *queues)
{
    size_t room = queues->room > 0 ? 2 * queues->room : 64;
    struct top_queue **list =
        realloc(queues->list, room * sizeof(*queues->list));
    if (list == NULL) {
        return false;
    }
    queues->list = list;
    uint32_t *table = malloc(2 * room * sizeof(*table));
    if (table == NULL) {
        return false;
    }
    free(queues->table);
    queues->table = table;
    queues->slots = 2 * room;
    queues->room = room;
    index_queues(queues);
    return true;
}

static struct top_queue *
new_queue(const char *key, size_t size, uint64_t hash)
{
    struct top_queue *queue = calloc(1, sizeof(*queue));
    if (queue == NULL) {
        return NULL;
    }
    queue->key = malloc(size + 1);
    if (queue->key == NULL) {
        free(queue);
        return NULL;
    }
    memcpy(queue->key, key, size);
    queue->key[size] = '\0';
    queue->size = size;
    queue->hash = hash;
    for (size_t i = 0; i < TOP_FIELDS; i++) {
        queue->figures[i] = TOP_ABSENT;
    }
    for (size_t i = 0; i < TOP_RATES; i++) {
        queue->rates[i] = -1;
    }
    return queue;
}

struct top_queue *
top_queues_add(struct top_queues *queues, const char *key, size_t size)
{
    uint64_t hash = hash_key(key, size);
    if (queues->count == queues->room && !grow_table(queues)) {
        return NULL;
    }
    uint32_t *slot = find_slot(queues, hash, key, size);
    if (*slot != 0) {
        return queues->list[*slot - 1];
    }
    if (queues->count == TOP_QUEUES) {
        queues->more = true;
        return NULL;
    }
    struct top_queue *queue = new_queue(key, size, hash);
    if (queue == NULL) {
        return NULL;
    }
    queues->list[queues->count++] = queue;
    *slot = (uint32_t)queues->count;
    return queue;
}

void
top_queues_sweep(struct top_queues *queues)
{
    size_t kept = 0;
    for (size_t i = 0; i < queues->count; i++) {
        if (queues->list[i]->gone) {
            free_queue(queues->list[i]);
        } else {
            queues->list[kept++] = queues->list[i];
        }
    }
    if (kept < queues->count) {
        queues->count = kept;
        queues->more = false;
        index_queues(queues);
    }
}

void
top_queues_fini(struct top_queues *queues)
{
    for (size_t i = 0; i < queues->count; i++) {
        free_queue(queues->list[i]);
    }
    free(queues->list);
    free(queues->table);
    memset(queues, 0, sizeof(*queues));
}

static int64_t
read_number(const struct resp_value *value)
{
    return value->kind == RESP_INTEGER ? value->integer : TOP_ABSENT;
}

static void
set_field(struct top_queue *queue, const struct resp_value *name,
          const struct resp_value *value)
{
    for (size_t i = 0; i < TOP_FIELDS; i++) {
        if (resp_is(name, top_fields[i].told)) {
            queue->figures[i] = read_number(value);
        }
    }
    for (size_t i = 0; i < TOP_WORDS; i++) {
        if (!resp_is(name, top_words[i]) || value->size == 0 ||
            (value->kind != RESP_BULK && value->kind != RESP_SIMPLE)) {
            continue;
        }
        free(queue->words[i]);
        queue->words[i] = malloc(value->size + 1);
        if (queue->words[i] != NULL) {
            memcpy(queue->words[i], value->at, value->size);
            queue->words[i][value->size] = '\0';
        }
    }
}

static double
rate_of(int64_t before, int64_t after, uint64_t ns)
{
    if (before == TOP_ABSENT || after == TOP_ABSENT || after < before ||
        ns == 0) {
        return -1;
    }
    return (double)(after - before) * (double)TOP_SECOND / (double)ns;
}

bool
top_queue_read(struct top_queue *queue, const struct resp_value *reply,
               uint64_t now)
{
    if (reply->kind != RESP_ARRAY || reply->count % 2 != 0) {
        return false;
    }
    int64_t before[TOP_RATES];
    memcpy(before, queue->figures + TOP_COUNTS, sizeof(before));
    for (size_t i = 0; i < TOP_FIELDS; i++) {
        queue->figures[i] = TOP_ABSENT;
    }
    for (size_t i = 0; i < TOP_WORDS; i++) {
        free(queue->words[i]);
        queue->words[i] = NULL;
    }
    for (size_t i = 0; i < reply->count; i += 2) {
        set_field(queue, &reply->items[i], &reply->items[i + 1]);
    }
    for (size_t i = 0; i < TOP_RATES; i++) {
        queue->rates[i] = rate_of(before[i], queue->figures[TOP_COUNTS + i],
                                  queue->at > 0 ? now - queue->at : 0);
    }
    queue->at = now;
    return queue->figures[TOP_LEN] >= 0;
}

void
top_queue_due(struct top_queue *queue, int64_t due)
{
    static const enum top_field others[] = {TOP_DUE, TOP_LEASED, TOP_DEAD};
    int64_t waiting = queue->figures[TOP_LEN];
    if (queue->figures[TOP_DUE] == TOP_ABSENT && due >= 0) {
        queue->figures[TOP_DUE] = due;
    }
    if (queue->figures[TOP_WAITING] != TOP_ABSENT) {
        return;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        int64_t other = queue->figures[others[i]];
        /* The numbers are untrusted, and from different moments. */
        if (other > 0) {
            waiting = other < waiting ? waiting - other : 0;
        }
    }
    queue->figures[TOP_WAITING] = waiting;
}

const char *
top_info_line(const char *text, size_t size, const char *name, size_t *length)
{
    size_t name_size = strlen(name);
    const char *end = text + size;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline != NULL ? newline : end;
        size_t line = (size_t)(stop - text);
        if (line > 0 && text[line - 1] == '\r') {
            line--;
        }
        if (line > name_size && text[name_size] == ':' &&
            memcmp(text, name, name_size) == 0) {
            *length = line - name_size - 1;
            return text + name_size + 1;
        }
        text = newline != NULL ? newline + 1 : end;
    }
    return NULL;
}

const struct top_figure *
top_figures_find(const struct top_figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->count; i++) {
        if (strcmp(figures->list[i].name, name) == 0) {
            return &figures->list[i];
        }
    }
    return NULL;
}

/* Parses a line such as "lawn_keys:12" into a figure. */
static bool
read_figure(struct top_figure *figure, const char *line, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const char *colon = memchr(line, ':', size);
    size_t name = colon != NULL ? (size_t)(colon - line) : 0;
    size_t digits = colon != NULL ? size - name - 1 : 0;
    if (name < 6 || memcmp(line, "lawn_", 5) != 0 ||
        name >= sizeof(figure->name) || digits == 0 || digits > 18) {
        return false;
    }
    const char *end = line + size;
    uint64_t value = 0;
    if (lawn__decimal_read(colon + 1, end, INT64_MAX, &value) < end) {
        return false;
    }
    for (size_t i = 0; i < name; i++) {
        if (memchr(letters, line[i], sizeof(letters) - 1) == NULL) {
            return false;
        }
    }
    memcpy(figure->name, line, name);
    figure->name[name] = '\0';
    figure->value = (int64_t)value;
    return true;
}

void
top_figures_read(struct top_figures *figures, const char *text, size_t size,
                 uint64_t now)
{
    struct top_figures old = *figures;
    const char *end = text + size;
    figures->count = 0;
    figures->at = now;
    while (text < end && figures->count < TOP_FIGURES) {
        struct top_figure *figure = &figures->list[figures->count];
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t line = (size_t)((newline != NULL ? newline : end) - text);
        if (line > 0 && text[line - 1] == '\r') {
            line--;
        }
        if (read_figure(figure, text, line)) {
            const struct top_figure *before =
                top_figures_find(&old, figure->name);
            figure->rate =
                before == NULL
                    ? -1
                    : rate_of(before->value, figure->value, now - old.at);
            figures->count++;
        }
        text = newline != NULL ? newline + 1 : end;
    }
}
