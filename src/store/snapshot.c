/* snapshot.c - saves and loads all timers of a store [S9].
 *
 * Nothing is sorted, because lawn__store_each() visits timers in an order that
 * lawn__store_restore() supports.
 *
 * Input is not trusted: a block is used only after its checksum was verified, a
 * value only after it was validated, and memory is allocated for at most twice
 * the bytes that have been read. A record that spans blocks is joined in a
 * buffer that grows as its bytes arrive.
 */
#include "snapshot.h"
#include "expect.h"
#include "store.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* Prefetched records, the current one included. */
#define LAWN_STORE_SNAPSHOT_AHEAD 8u

unsigned char *
lawn__store_snapshot_take(struct lawn_store *store, size_t size)
{
    struct lawn_store_memory *memory = &store->memory;
    size_t max = memory->max;

    memory->max = SIZE_MAX;
    void *buffer = lawn__store_memory_take(memory, size);
    memory->max = max;
    if (buffer != NULL) {
        memory->bytes -= lawn__store_memory_cost(memory, size);
    }
    return (unsigned char *)buffer;
}

void
lawn__store_snapshot_give(struct lawn_store *store, unsigned char *buffer,
                          size_t size)
{
    struct lawn_store_memory *memory = &store->memory;

    if (buffer != NULL) {
        memory->bytes += lawn__store_memory_cost(memory, size);
        lawn__store_memory_give(memory, buffer, size);
    }
}

struct lawn_store_saving {
    lawn_store_write_fn *write;
    void *arg;
    struct lawn_store_snapshot_chain chain;
    int error;
    const struct lawn_class *cls; /* the class whose timers are being saved */
    uint32_t number;              /* its number */
    size_t fill;                  /* bytes of content in the block */
    unsigned char *buffer;        /* a block: size, content, checksum */
};

static int
write_checked(struct lawn_store_saving *saving, size_t size)
{
    uint64_t sum =
        lawn__store_snapshot_sum(&saving->chain, saving->buffer, size);

    lawn__store_snapshot_put(saving->buffer + size, sum, 8);
    int error = saving->write(saving->buffer,
                              size + LAWN_STORE_SNAPSHOT_CHECKSUM, saving->arg);
    LAWN_ASSERT(error <= 0,
                "a write has returned more than 0: it must write all "
                "bytes and return 0, or a negative error");
    return error < 0 ? error : 0;
}

/* Writes the current block. An empty one ends the snapshot. */
static int
flush_block(struct lawn_store_saving *saving)
{
    size_t fill = saving->fill;

    lawn__store_snapshot_put(saving->buffer, fill, LAWN_STORE_SNAPSHOT_SIZE);
    saving->fill = 0;
    return write_checked(saving, LAWN_STORE_SNAPSHOT_SIZE + fill);
}

static int
append_bytes(struct lawn_store_saving *saving, const void *bytes, size_t size)
{
    const unsigned char *from = (const unsigned char *)bytes;

    while (size > 0) {
        size_t some = LAWN_STORE_SNAPSHOT_BLOCK - saving->fill;

        if (some > size) {
            some = size;
        }
        memcpy(saving->buffer + LAWN_STORE_SNAPSHOT_SIZE + saving->fill, from,
               some);
        saving->fill += some;
        from += some;
        size -= some;
        if (saving->fill == LAWN_STORE_SNAPSHOT_BLOCK) {
            int error = flush_block(saving);

            if (error != 0) {
                return error;
            }
        }
    }
    return 0;
}

static bool
save_record(struct lawn_store_saving *saving,
            const struct lawn_store_timer *timer, unsigned how)
{
    unsigned char record[LAWN_STORE_SNAPSHOT_RECORD];

    lawn__store_snapshot_put(record + LAWN_STORE_SNAPSHOT_AT_DEADLINE,
                             timer->deadline, 8);
    lawn__store_snapshot_put(record + LAWN_STORE_SNAPSHOT_AT_TTL, timer->ttl,
                             8);
    lawn__store_snapshot_put(record + LAWN_STORE_SNAPSHOT_AT_PAYLOAD_SIZE,
                             timer->payload_size, 4);
    lawn__store_snapshot_put(record + LAWN_STORE_SNAPSHOT_AT_ID_SIZE,
                             timer->id_size, 2);
    lawn__store_snapshot_put(record + LAWN_STORE_SNAPSHOT_AT_HOW, how, 2);
    int error = append_bytes(saving, record, sizeof(record));
    if (error == 0) {
        error = append_bytes(saving, timer->id, timer->id_size);
    }
    if (error == 0) {
        error = append_bytes(saving, timer->payload, timer->payload_size);
    }
    saving->error = error;
    return error == 0;
}

static bool
save_timer(const struct lawn_store_timer *timer, bool on_blade, void *arg)
{
    return save_record((struct lawn_store_saving *)arg, timer,
                       on_blade ? LAWN_STORE_SNAPSHOT_ON_BLADE : 0);
}

static bool
save_class_timer(struct lawn_timer *timer, uint64_t ttl, void *arg)
{
    struct lawn_store_saving *saving = (struct lawn_store_saving *)arg;
    struct lawn_store_timer out;

    (void)ttl;
    lawn__store_record_describe(
        LAWN_CONTAINER(timer, struct lawn_store_record, timer), &out);
    out.deadline = lawn_class_started(saving->cls, timer);
    out.ttl = saving->number;
    return save_record(saving, &out, LAWN_STORE_SNAPSHOT_IN_CLASS);
}

static int
save_class(const struct lawn_store *store, struct lawn_store_saving *saving,
           const struct lawn_class *cls)
{
    unsigned char head[LAWN_STORE_SNAPSHOT_CLASS];
    struct lawn_class_counters counters;

    lawn_class_stats(cls, &counters);
    lawn__store_snapshot_put(head + LAWN_STORE_SNAPSHOT_AT_CLASS_TTL,
                             counters.ttl, 8);
    lawn__store_snapshot_put(
        head + LAWN_STORE_SNAPSHOT_AT_SINCE,
        counters.paused ? lawn_store_now(store) : LAWN_NEVER, 8);
    lawn__store_snapshot_put(head + LAWN_STORE_SNAPSHOT_AT_WEIGHT,
                             counters.weight, 2);
    lawn__store_snapshot_put(head + LAWN_STORE_SNAPSHOT_AT_NAME_SIZE,
                             strlen(counters.name), 2);
    int error = append_bytes(saving, head, sizeof(head));
    return error != 0
               ? error
               : append_bytes(saving, counters.name, strlen(counters.name));
}

/* In the order of the store's entries, so that a loaded store writes the same
 * bytes again. */
static int
save_classes(const struct lawn_store *store, struct lawn_store_saving *saving)
{
    int error = 0;

    for (size_t i = 0; i < lawn__store_class_max(store) && error == 0; i++) {
        if (store->classes[i].cls != NULL) {
            error = save_class(store, saving, store->classes[i].cls);
        }
    }
    return error;
}

static bool
save_class_timers(const struct lawn_store *store,
                  struct lawn_store_saving *saving)
{
    for (size_t i = 0; i < lawn__store_class_max(store); i++) {
        saving->cls = store->classes[i].cls;
        if (saving->cls == NULL) {
            continue;
        }
        if (!lawn_class_each_timer(saving->cls, save_class_timer, saving)) {
            return false;
        }
        saving->number++;
    }
    return true;
}

static uint32_t
count_classes(const struct lawn_store *store)
{
    uint32_t count = 0;

    for (size_t i = 0; i < lawn__store_class_max(store); i++) {
        count += store->classes[i].cls != NULL;
    }
    return count;
}

static int
save_timers(struct lawn_store *store, struct lawn_store_saving *saving)
{
    unsigned char *header = saving->buffer;
    uint32_t classes = count_classes(store);

    lawn__store_snapshot_put(header + LAWN_STORE_SNAPSHOT_AT_MAGIC,
                             LAWN_STORE_SNAPSHOT_MAGIC, 8);
    lawn__store_snapshot_put(header + LAWN_STORE_SNAPSHOT_AT_VERSION,
                             classes > 0 ? LAWN_STORE_SNAPSHOT_VERSION_CLASSES
                                         : LAWN_STORE_SNAPSHOT_VERSION,
                             4);
    lawn__store_snapshot_put(header + LAWN_STORE_SNAPSHOT_AT_CLASSES, classes,
                             4);
    lawn__store_snapshot_put(header + LAWN_STORE_SNAPSHOT_AT_COUNT,
                             lawn_store_count(store), 8);
    lawn__store_snapshot_put(header + LAWN_STORE_SNAPSHOT_AT_FIRST,
                             lawn__store_next_classless(store), 8);
    int error = write_checked(saving, LAWN_STORE_SNAPSHOT_HEADER);
    if (error != 0) {
        return error;
    }
    error = save_classes(store, saving);
    if (error != 0) {
        return error;
    }
    if (!lawn__store_each(store, save_timer, saving) ||
        !save_class_timers(store, saving)) {
        return saving->error;
    }
    if (saving->fill > 0) {
        error = flush_block(saving);
    }
    return error != 0 ? error : flush_block(saving);
}

int
lawn_store_save(struct lawn_store *store, lawn_store_write_fn *write, void *arg)
{
    struct lawn_store_saving saving;

    saving.write = write;
    saving.arg = arg;
    saving.chain = lawn__store_snapshot_begin();
    saving.error = 0;
    saving.cls = NULL;
    saving.number = 0;
    saving.fill = 0;
    saving.buffer =
        lawn__store_snapshot_take(store, LAWN_STORE_SNAPSHOT_BUFFER);
    if (saving.buffer == NULL) {
        return -ENOMEM;
    }
    int error = save_timers(store, &saving);
    lawn__store_snapshot_give(store, saving.buffer, LAWN_STORE_SNAPSHOT_BUFFER);
    return error;
}

/* The stream is content[at] to content[end - 1], then the contents of the
 * blocks not yet read. content points into the buffer. */
struct lawn_store_loading {
    struct lawn_store *store;
    lawn_store_read_fn *read;
    void *arg;
    struct lawn_store_snapshot_chain chain;
    unsigned char *buffer;
    const unsigned char *content;
    size_t at;
    size_t end;
    size_t ahead;          /* offset of the first record not prefetched */
    unsigned fetched;      /* records prefetched from content[at] on */
    bool ended;            /* the last block was read */
    unsigned char *joined; /* bytes that span blocks */
    size_t joined_size;    /* size of the buffer joined */
    uint64_t classes;      /* from the header */
    uint64_t count;
    uint64_t first;
};

/* Returns the number of bytes read, which is below size only at the end of the
 * input, or an error. */
static ptrdiff_t
read_bytes(struct lawn_store_loading *loading, unsigned char *bytes,
           size_t size)
{
    size_t have = 0;

    while (have < size) {
        ptrdiff_t got = loading->read(bytes + have, size - have, loading->arg);

        if (got < 0) {
            return got;
        }
        LAWN_ASSERT((size_t)got <= size - have,
                    "a read has returned more bytes than requested");
        if (got == 0) {
            break;
        }
        have += (size_t)got;
    }
    return (ptrdiff_t)have;
}

/* Returns 0, an error, or LAWN_STORE_TRUNCATED at the end of the input. */
static int
read_exactly(struct lawn_store_loading *loading, unsigned char *bytes,
             size_t size)
{
    ptrdiff_t got = read_bytes(loading, bytes, size);

    if (got < 0) {
        /* Values below -INT_MAX are not -errno. */
        return got < -INT_MAX ? -EIO : (int)got;
    }
    return (size_t)got < size ? LAWN_STORE_TRUNCATED : 0;
}

static bool
is_checksum_valid(struct lawn_store_loading *loading, size_t size)
{
    uint64_t sum =
        lawn__store_snapshot_sum(&loading->chain, loading->buffer, size);

    return lawn__store_snapshot_get(loading->buffer + size, 8) == sum;
}

static int
read_header(struct lawn_store_loading *loading)
{
    unsigned char *header = loading->buffer;

    /* Preset the magic number, so that input that ends within it counts as
     * truncated. */
    lawn__store_snapshot_put(header, LAWN_STORE_SNAPSHOT_MAGIC, 8);
    int error =
        read_exactly(loading, header,
                     LAWN_STORE_SNAPSHOT_HEADER + LAWN_STORE_SNAPSHOT_CHECKSUM);
    if (error != 0 && error != LAWN_STORE_TRUNCATED) {
        return error;
    }
    if (lawn__store_snapshot_get(header, 8) != LAWN_STORE_SNAPSHOT_MAGIC) {
        return LAWN_STORE_NOT_A_SNAPSHOT;
    }
    if (error != 0) {
        return error;
    }
    if (!is_checksum_valid(loading, LAWN_STORE_SNAPSHOT_HEADER)) {
        return LAWN_STORE_DAMAGED;
    }
    uint64_t version =
        lawn__store_snapshot_get(header + LAWN_STORE_SNAPSHOT_AT_VERSION, 4);
    if (version > LAWN_STORE_SNAPSHOT_VERSION_CLASSES) {
        return LAWN_STORE_TOO_NEW;
    }
    /* 1 is the first version. */
    if (version < LAWN_STORE_SNAPSHOT_VERSION) {
        return LAWN_STORE_INCONSISTENT;
    }
    loading->classes =
        lawn__store_snapshot_get(header + LAWN_STORE_SNAPSHOT_AT_CLASSES, 4);
    loading->count =
        lawn__store_snapshot_get(header + LAWN_STORE_SNAPSHOT_AT_COUNT, 8);
    loading->first =
        lawn__store_snapshot_get(header + LAWN_STORE_SNAPSHOT_AT_FIRST, 8);
    if ((version == LAWN_STORE_SNAPSHOT_VERSION) != (loading->classes == 0) ||
        loading->first == 0 ||
        (loading->count == 0 && loading->first != LAWN_NEVER) ||
        (loading->classes == 0 && loading->count != 0 &&
         loading->first == LAWN_NEVER)) {
        return LAWN_STORE_INCONSISTENT;
    }
    if (loading->classes > loading->store->options.classes) {
        return LAWN_STORE_TOO_MANY_CLASSES;
    }
    return loading->count > loading->store->max_timers ? -ENOSPC : 0;
}

/* The previous block must have been consumed. */
static int
read_block(struct lawn_store_loading *loading)
{
    unsigned char *buffer = loading->buffer;

    int error = read_exactly(loading, buffer, LAWN_STORE_SNAPSHOT_SIZE);
    if (error != 0) {
        return error;
    }
    uint64_t size = lawn__store_snapshot_get(buffer, LAWN_STORE_SNAPSHOT_SIZE);
    if (size > LAWN_STORE_SNAPSHOT_BLOCK) {
        return LAWN_STORE_DAMAGED;
    }
    error = read_exactly(loading, buffer + LAWN_STORE_SNAPSHOT_SIZE,
                         (size_t)size + LAWN_STORE_SNAPSHOT_CHECKSUM);
    if (error != 0) {
        return error;
    }
    if (!is_checksum_valid(loading, LAWN_STORE_SNAPSHOT_SIZE + (size_t)size)) {
        return LAWN_STORE_DAMAGED;
    }
    loading->at = 0;
    loading->end = (size_t)size;
    loading->ahead = SIZE_MAX;
    loading->ended = size == 0;
    return 0;
}

/* Makes room for `more` bytes: doubles the buffer, up to limit. */
static int
grow_joined(struct lawn_store_loading *loading, size_t have, size_t more,
            size_t limit)
{
    size_t size = 2 * loading->joined_size;

    if (have + more <= loading->joined_size) {
        return 0;
    }
    if (size < have + more) {
        size = have + more;
    }
    if (size > limit) {
        size = limit;
    }
    unsigned char *joined = lawn__store_snapshot_take(loading->store, size);
    if (joined == NULL) {
        return -ENOMEM;
    }
    if (have > 0) {
        memcpy(joined, loading->joined, have);
    }
    lawn__store_snapshot_give(loading->store, loading->joined,
                              loading->joined_size);
    loading->joined = joined;
    loading->joined_size = size;
    return 0;
}

/* Takes bytes of the stream that span blocks. */
static int
join_blocks(struct lawn_store_loading *loading, size_t size)
{
    size_t have = 0;

    while (have < size) {
        size_t some = loading->end - loading->at;
        int error = 0;

        if (some == 0) {
            error = read_block(loading);
            some = loading->end - loading->at;
        }
        if (error == 0 && loading->ended) {
            error = LAWN_STORE_INCONSISTENT;
        }
        if (error != 0) {
            return error;
        }
        if (some > size - have) {
            some = size - have;
        }
        error = grow_joined(loading, have, some, size);
        if (error != 0) {
            return error;
        }
        memcpy(loading->joined + have, loading->content + loading->at, some);
        loading->at += some;
        have += some;
    }
    return 0;
}

/* Takes size bytes of the stream. *out is valid until the next call. */
static int
take_bytes(struct lawn_store_loading *loading, size_t size,
           const unsigned char **out)
{
    if (loading->end - loading->at >= size) {
        *out = loading->content + loading->at;
        loading->at += size;
        return 0;
    }
    int error = join_blocks(loading, size);
    *out = loading->joined;
    return error;
}

/* Prefetches the table buckets for the next records of the block: waiting for
 * them takes most of the time of a load. The records are not validated yet, so
 * sizes are checked against the block. */
static void
prefetch_records(struct lawn_store_loading *loading)
{
    const struct lawn_store_table *table = &loading->store->table;

    if (loading->ahead > loading->end) {
        loading->ahead = loading->at;
        loading->fetched = 0;
    }
    while (loading->fetched < LAWN_STORE_SNAPSHOT_AHEAD) {
        const unsigned char *record = loading->content + loading->ahead;
        size_t left = loading->end - loading->ahead;
        if (left < LAWN_STORE_SNAPSHOT_RECORD) {
            return;
        }
        size_t id_size = (size_t)lawn__store_snapshot_get(
            record + LAWN_STORE_SNAPSHOT_AT_ID_SIZE, 2);
        /* The sum may exceed a 32-bit size_t. */
        uint64_t size = lawn__store_snapshot_get(
                            record + LAWN_STORE_SNAPSHOT_AT_PAYLOAD_SIZE, 4) +
                        id_size + LAWN_STORE_SNAPSHOT_RECORD;
        if (left < size) {
            return;
        }
        lawn__store_table_prefetch(
            table, lawn__store_table_hash(
                       table, record + LAWN_STORE_SNAPSHOT_RECORD, id_size));
        loading->ahead += (size_t)size;
        loading->fetched++;
    }
}

/* Gives a class of the store the saved state. */
static void
set_class(struct lawn_class *cls, uint64_t ttl, uint32_t weight, bool pause)
{
    lawn_class_set_ttl(cls, ttl);
    lawn_class_set_weight(cls, weight);
    lawn_class_resume(cls);
    if (pause) {
        lawn_class_pause(cls);
    }
}

/* Finds or creates class number `number`. */
static int
read_class(struct lawn_store_loading *loading, uint32_t number)
{
    struct lawn_store *store = loading->store;
    char name[LAWN_STORE_CLASS_NAME_MAX + 1] = {0};
    const unsigned char *bytes = NULL;

    int error = take_bytes(loading, LAWN_STORE_SNAPSHOT_CLASS, &bytes);
    if (error != 0) {
        return error;
    }
    uint64_t ttl =
        lawn__store_snapshot_get(bytes + LAWN_STORE_SNAPSHOT_AT_CLASS_TTL, 8);
    uint64_t since =
        lawn__store_snapshot_get(bytes + LAWN_STORE_SNAPSHOT_AT_SINCE, 8);
    uint32_t weight = (uint32_t)lawn__store_snapshot_get(
        bytes + LAWN_STORE_SNAPSHOT_AT_WEIGHT, 2);
    size_t size = (size_t)lawn__store_snapshot_get(
        bytes + LAWN_STORE_SNAPSHOT_AT_NAME_SIZE, 2);
    if (ttl == 0 || size == 0 || size > LAWN_STORE_CLASS_NAME_MAX) {
        return LAWN_STORE_INCONSISTENT;
    }
    error = take_bytes(loading, size, &bytes);
    if (error != 0) {
        return error;
    }
    memcpy(name, bytes, size);
    if (strlen(name) != size) {
        return LAWN_STORE_INCONSISTENT;
    }
    struct lawn_class *cls = lawn_store_class_find(store, name);
    if (cls == NULL) {
        error = lawn_store_class_new(store, ttl, name, &cls);
    }
    if (error != 0) {
        return error;
    }
    struct lawn_store_class *entry = lawn__store_class_of(store, cls);
    if (entry->number != 0) {
        return LAWN_STORE_INCONSISTENT;
    }
    entry->number = number + 1;
    entry->since = since;
    store->classes[number].nth = entry;
    set_class(cls, ttl, weight, since != LAWN_NEVER);
    return 0;
}

static int
read_classes(struct lawn_store_loading *loading)
{
    int error = 0;

    for (uint32_t i = 0; i < loading->classes && error == 0; i++) {
        error = read_class(loading, i);
    }
    return error;
}

/* Returns `time` plus the time since `since`, in the range of starts. */
static uint64_t
shift_start(uint64_t time, uint64_t since, uint64_t now)
{
    if (now < since) {
        return time > since - now ? time - (since - now) : 0;
    }
    return time < LAWN_NEVER - 1 - (now - since) ? time + (now - since)
                                                 : LAWN_NEVER - 1;
}

/* The deadline of the timer is the time of its start, its TTL the number of its
 * class. */
static int
restore_in_class(struct lawn_store_loading *loading,
                 struct lawn_store_timer *timer)
{
    struct lawn_store *store = loading->store;
    const struct lawn_store_class *entry = store->classes[timer->ttl].nth;

    if (entry->since != LAWN_NEVER) {
        timer->deadline =
            shift_start(timer->deadline, entry->since, lawn_store_now(store));
    }
    return lawn__store_restore_in(store, entry->cls, timer);
}

static bool
is_record_valid(const struct lawn_store_loading *loading,
                const struct lawn_store_timer *timer, uint64_t how)
{
    if (timer->deadline == LAWN_NEVER ||
        timer->payload_size > LAWN_STORE_PAYLOAD_MAX) {
        return false;
    }
    return how == LAWN_STORE_SNAPSHOT_IN_CLASS
               ? timer->ttl < loading->classes
               : timer->deadline >= loading->first && timer->ttl != 0 &&
                     how <= LAWN_STORE_SNAPSHOT_ON_BLADE;
}

/* Sets *deadline to that of a timer without a class. */
static int
read_record(struct lawn_store_loading *loading, uint64_t *deadline)
{
    const unsigned char *bytes = NULL;

    int error = take_bytes(loading, LAWN_STORE_SNAPSHOT_RECORD, &bytes);
    if (error != 0) {
        return error;
    }
    struct lawn_store_timer timer;
    timer.deadline =
        lawn__store_snapshot_get(bytes + LAWN_STORE_SNAPSHOT_AT_DEADLINE, 8);
    timer.ttl = lawn__store_snapshot_get(bytes + LAWN_STORE_SNAPSHOT_AT_TTL, 8);
    timer.payload_size = (size_t)lawn__store_snapshot_get(
        bytes + LAWN_STORE_SNAPSHOT_AT_PAYLOAD_SIZE, 4);
    timer.id_size = (size_t)lawn__store_snapshot_get(
        bytes + LAWN_STORE_SNAPSHOT_AT_ID_SIZE, 2);
    uint64_t how =
        lawn__store_snapshot_get(bytes + LAWN_STORE_SNAPSHOT_AT_HOW, 2);
    if (!is_record_valid(loading, &timer, how)) {
        return LAWN_STORE_INCONSISTENT;
    }
    if (timer.payload_size > loading->store->memory.max) {
        return -ENOSPC;
    }
    error = take_bytes(loading, timer.id_size + timer.payload_size, &bytes);
    if (error != 0) {
        return error;
    }
    timer.id = bytes;
    timer.payload = bytes + timer.id_size;
    if (how == LAWN_STORE_SNAPSHOT_IN_CLASS) {
        error = restore_in_class(loading, &timer);
    } else {
        *deadline = timer.deadline;
        error = lawn__store_restore(loading->store, &timer,
                                    how == LAWN_STORE_SNAPSHOT_ON_BLADE);
    }
    return error == -EEXIST ? (int)LAWN_STORE_INCONSISTENT : error;
}

static int
read_records(struct lawn_store_loading *loading)
{
    uint64_t first = LAWN_NEVER;
    uint64_t count = 0;
    int error = 0;

    while (error == 0) {
        uint64_t deadline = LAWN_NEVER;

        if (loading->at == loading->end) {
            error = read_block(loading);
            if (error != 0 || loading->ended) {
                break;
            }
        }
        prefetch_records(loading);
        error = count == loading->count ? (int)LAWN_STORE_INCONSISTENT
                                        : read_record(loading, &deadline);
        count++;
        loading->fetched -= loading->fetched > 0;
        if (deadline < first) {
            first = deadline;
        }
    }
    if (error == 0 && (count != loading->count || first != loading->first)) {
        error = LAWN_STORE_INCONSISTENT;
    }
    return error;
}

int
lawn_store_load(struct lawn_store *store, lawn_store_read_fn *read, void *arg)
{

    if (lawn_store_count(store) > 0) {
        return -ENOTEMPTY;
    }
    struct lawn_store_loading loading;
    memset(&loading, 0, sizeof(loading));
    loading.store = store;
    loading.read = read;
    loading.arg = arg;
    loading.chain = lawn__store_snapshot_begin();
    loading.buffer =
        lawn__store_snapshot_take(store, LAWN_STORE_SNAPSHOT_BUFFER);
    if (loading.buffer == NULL) {
        return -ENOMEM;
    }
    loading.content = loading.buffer + LAWN_STORE_SNAPSHOT_SIZE;
    int error = read_header(&loading);
    if (error == 0) {
        lawn__store_classes_save(store);
        lawn__store_restore_begin(store, loading.first);
        error = read_classes(&loading);
        if (error == 0) {
            error = read_records(&loading);
        }
        if (error != 0) {
            lawn__store_reset(store);
        }
    }
    lawn__store_snapshot_give(store, loading.joined, loading.joined_size);
    lawn__store_snapshot_give(store, loading.buffer,
                              LAWN_STORE_SNAPSHOT_BUFFER);
    return error;
}
