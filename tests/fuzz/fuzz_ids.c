/* fuzz_ids.c - identifiers of the module's events: the table of ids, with a
 * hash that an attacker chose; the ids that a server generates; the tokens of
 * leases.
 *
 * The first byte selects one of three:
 *   module/table.c, included here with another hash function: an id begins
 *   with its hash. Compared with an array of flags; memory may run out.
 *   module/ids.c: a generated id was neither generated nor seen before.
 *   a queue of eight events that are leased, moved, replaced and acknowledged
 *   with new and old tokens. An array has the owner of each event and the end
 *   of its lease.
 */
#include "lawn_store.h"

#include "memory_kit.h"
#include "small.h"

#include <string.h>

#define lawn_hash fuzz_hash
static uint64_t
fuzz_hash(const uint64_t key[2], const void *bytes, size_t size)
{
    uint64_t hash = 0;

    (void)key;
    memcpy(&hash, bytes, size < sizeof(hash) ? size : sizeof(hash));
    return hash;
}

/* The table itself. NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../module/table.c"
#undef lawn_hash

#include "args.h"
#include "ids.h"

#include <stdlib.h>

#define FUZZ_IDS 512u
#define FUZZ_ID_SIZE 10u
#define FUZZ_RUN 16u
#define FUZZ_EVENTS 8u

/* THE TABLE */

union fuzz_event {
    struct event event;
    char bytes[sizeof(struct event) + 16];
};

static union fuzz_event fuzz_events[FUZZ_IDS];
static bool fuzz_there[FUZZ_IDS];
static struct table fuzz_table;
static uint64_t fuzz_count;
static uint8_t fuzz_family;
static uint64_t fuzz_case; /* the number of the case */
static uint64_t fuzz_used[FUZZ_IDS];

/* The table uses the first bits of the id as its hash. */
static uint64_t
fuzz_hash_of(uint32_t i)
{
    unsigned shift = fuzz_family >> 3 & 15;

    switch (fuzz_family & 3) {
    case 0:
        return (uint64_t)i << 55 >> shift;
    case 1:
        return (uint64_t)(i & 3) << 62 >> shift;
    case 2:
        return i * UINT64_C(0x9E3779B97F4A7C15) >> shift;
    default:
        return ~UINT64_C(0) << (i % 64);
    }
}

/* An event; its id is made when it is first used in a case. */
static struct event *
make_event(uint32_t i)
{
    struct event *event = &fuzz_events[i].event;

    if (fuzz_used[i] != fuzz_case) {
        uint64_t hash = fuzz_hash_of(i);
        uint16_t number = (uint16_t)i;
        char *id = (char *)event + event_head(0);

        fuzz_used[i] = fuzz_case;
        event->id_size = FUZZ_ID_SIZE;
        memcpy(id, &hash, sizeof(hash));
        memcpy(id + sizeof(hash), &number, sizeof(number));
    }
    return event;
}

static bool
fuzz_find(uint32_t i, struct table_place *place)
{
    struct event *found =
        table_find(&fuzz_table, event_id(make_event(i)), place);

    small_expect(found == (fuzz_there[i] ? make_event(i) : NULL),
                 "Q1: an id is found or not");
    return found != NULL;
}

static void
fuzz_add(uint32_t i, bool short_of)
{
    struct table_place place;

    if (fuzz_find(i, &place)) {
        return;
    }
    if (table_reserve(&fuzz_table, &place)) {
        table_add(&fuzz_table, &place, make_event(i));
        fuzz_there[i] = true;
        fuzz_count++;
    } else {
        small_expect(short_of, "an add failed for nothing");
    }
    (void)fuzz_find(i, &place);
}

static void
fuzz_remove(uint32_t i)
{
    struct table_place place;

    if (fuzz_find(i, &place)) {
        table_remove(&fuzz_table, &place);
        fuzz_there[i] = false;
        fuzz_count--;
        (void)fuzz_find(i, &place);
    }
}

static void
fuzz_in_table(const uint8_t *at, const uint8_t *end)
{
    bool short_of = false;

    fuzz_case++;
    memset(&fuzz_table, 0, sizeof(fuzz_table));
    memset(fuzz_there, 0, sizeof(fuzz_there));
    fuzz_count = 0;
    for (; end - at >= 2; at += 2) {
        uint32_t i = ((uint32_t)(at[0] & 1) << 8 | at[1]) % FUZZ_IDS;

        switch (at[0] >> 1 & 7) {
        case 0:
            for (uint32_t k = 0; k < FUZZ_RUN; k++) {
                fuzz_add((i + k) % FUZZ_IDS, short_of);
            }
            break;
        case 1:
            for (uint32_t k = 0; k < FUZZ_RUN; k++) {
                fuzz_remove((i + k) % FUZZ_IDS);
            }
            break;
        case 2:
            short_of = at[1] < 8;
            memory_fail_after(short_of ? at[1] : UINT64_MAX);
            break;
        case 3:
            fuzz_remove(i);
            break;
        case 4:
            for (uint32_t k = 0; k < FUZZ_IDS; k++) {
                struct table_place place;

                (void)fuzz_find(k, &place);
            }
            break;
        default:
            fuzz_add(i, short_of);
        }
        small_expect(fuzz_table.count == fuzz_count, "the count");
    }
    memory_fail_after(UINT64_MAX);
    small_expect(table_check(&fuzz_table, stderr), "table_check()");
    table_clear(&fuzz_table);
}

/* IDS */

struct fuzz_id {
    uint64_t ms;
    uint64_t number;
};

static bool
fuzz_later(struct fuzz_id a, struct fuzz_id b)
{
    return a.ms > b.ms || (a.ms == b.ms && a.number > b.number);
}

/* A time, or one near the end of the range. */
static uint64_t
fuzz_number(uint8_t byte)
{
    return byte < 0xC0 ? byte & 15
                       : IDS_MS_MAX + (byte & 0x20 ? 1 : 0) - (byte & 3);
}

static struct fuzz_id
fuzz_read(const char *text, size_t size)
{
    struct fuzz_id id = {0, 0};
    char *end = NULL;

    id.ms = strtoull(text, &end, 10);
    small_expect(*end == '-', "an id has a dash");
    id.number = strtoull(end + 1, &end, 10);
    small_expect(*end == '\0' && end == text + size, "an id has an end");
    return id;
}

/* When all ids are used up, generation begins again from the first id. Each
 * case uses this to reset it. */
static void
fuzz_made(const uint8_t *at, const uint8_t *end)
{
    ids_seen(IDS_MS_MAX, IDS_NUMBER_MAX);
    char first[IDS_SIZE];
    (void)ids_next(0, first);
    for (; end - at >= 3; at += 3) {
        struct fuzz_id seen = {fuzz_number(at[1]), fuzz_number(at[2])};
        struct fuzz_id before;
        bool believed = seen.ms <= IDS_MS_MAX && seen.number <= IDS_NUMBER_MAX;

        ids_last(&before.ms, &before.number);
        bool spent = before.ms == IDS_MS_MAX && before.number == IDS_NUMBER_MAX;
        struct fuzz_id after;
        char text[IDS_SIZE];
        if ((at[0] & 1) != 0) {
            size_t size = ids_next(seen.ms, text);

            after = fuzz_read(text, size);
            small_expect(spent || fuzz_later(after, before),
                         "an id is not later than the one before");
            small_expect(after.ms <= IDS_MS_MAX &&
                             after.number <= IDS_NUMBER_MAX,
                         "an id out of the accepted range");
            small_expect(spent || after.ms >= seen.ms || seen.ms > IDS_MS_MAX,
                         "an id of an earlier time");
            small_expect(ids_seen_text((struct bytes){text, size}),
                         "an id is not known again");
            continue;
        }
        if ((at[0] & 2) != 0) {
            int size = snprintf(text, sizeof(text), "%llu-%llu",
                                (unsigned long long)seen.ms,
                                (unsigned long long)seen.number);

            small_expect(ids_seen_text((struct bytes){text, (size_t)size}) ==
                             believed,
                         "which text is an id");
        } else {
            ids_seen(seen.ms, seen.number);
        }
        ids_last(&after.ms, &after.number);
        before = believed && fuzz_later(seen, before) ? seen : before;
        small_expect(after.ms == before.ms && after.number == before.number,
                     "what was seen");
    }
}

/* TOKENS */

struct fuzz_held {
    uint64_t token; /* 0: not leased */
    uint64_t end;
    uint64_t due;
    uint32_t made;
    bool there;
};

static void
fuzz_same(struct queue *queue, struct fuzz_held *all, uint64_t greatest)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < FUZZ_EVENTS; i++) {
        char id = (char)('a' + i);
        struct queue_event event;
        bool there = queue_get(queue, (struct bytes){&id, 1}, &event);

        small_expect(there == all[i].there, "Q1: an event is there or not");
        count += there;
        if (there) {
            small_expect(event.lease.token == all[i].token,
                         "the token of its lease");
            small_expect(all[i].token == 0 || event.lease.end == all[i].end,
                         "until when");
            small_expect(event.due == all[i].due, "when it is due");
            small_expect(event.tries.made == all[i].made, "how often");
        }
    }
    small_expect(queue_count(queue) == count, "the count");
    small_expect(queue_token(queue) == greatest, "Q8: the greatest token");
}

static void
fuzz_token(struct queue *queue, struct fuzz_held *held, uint8_t code,
           uint8_t byte, uint64_t *greatest)
{
    char id = (char)('a' + (code & 7));
    uint64_t now = queue_now(queue);
    struct queue_event event = {.id = {&id, 1}, .payload = {"p", 1}};
    struct queue_lease lease = {.ttl = (byte & 15) + 1, .owner = {"owner", 5}};

    switch (code >> 3 & 7) {
    case 0: /* replaced: the owner has lost its lease */
    case 1:
        event.ttl = (byte & 15) + 1;
        event.due = now + event.ttl;
        small_expect(queue_put(queue, &event) == held->there, "put");
        *held = (struct fuzz_held){.due = event.due, .there = true};
        break;
    case 2:
    case 3: /* with a new token or an old one */
        lease.token = (byte & 0x10) != 0 ? *greatest + 1 : (byte & 7) + 1u;
        lease.end = now + lease.ttl;
        lease.owner.size = byte >> 6;
        small_expect(queue_lease_event(queue, event.id, &lease,
                                       (struct queue_tries){held->made + 1, 0},
                                       NULL) == (held->there ? 0 : -2),
                     "lease");
        if (held->there) {
            held->token = lease.token;
            held->end = lease.end;
            held->made++;
            *greatest = lease.token > *greatest ? lease.token : *greatest;
        }
        break;
    case 4:
        event.ttl = byte & 15;
        event.due = now + event.ttl;
        event.tries.made = held->made;
        small_expect(queue_move(queue, &event) == (held->there ? 0 : -2),
                     "move");
        if (held->there) {
            held->token = 0;
            held->due = event.due;
        }
        break;
    case 5:
        small_expect(queue_remove(queue, event.id) == held->there, "remove");
        *held = (struct fuzz_held){0};
        break;
    case 6:
        queue_set_now(queue, now + byte);
        break;
    default: /* due events are promoted; no token changes */
        (void)queue_promote_due(queue, now + (byte & 31), byte >> 5);
    }
}

static void
fuzz_tokens(const uint8_t *at, const uint8_t *end)
{
    struct fuzz_held all[FUZZ_EVENTS] = {0};
    struct queue *queue = queue_new(1000, 8);
    uint64_t greatest = 0;

    small_expect(queue != NULL, "queue_new()");
    for (; end - at >= 2; at += 2) {
        fuzz_token(queue, &all[at[0] & 7], at[0], at[1], &greatest);
        fuzz_same(queue, all, greatest);
    }
    small_expect(queue_check(queue, stderr), "queue_check()");
    queue_free(queue);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint64_t blocks = memory_blocks();

    if (size == 0) {
        return 0;
    }
    fuzz_family = bytes[0];
    switch (bytes[0] >> 6) {
    case 0:
    case 1:
        fuzz_in_table(bytes + 1, bytes + size);
        break;
    case 2:
        fuzz_made(bytes + 1, bytes + size);
        break;
    default:
        fuzz_tokens(bytes + 1, bytes + size);
    }
    small_expect(memory_blocks() == blocks, "memory is left");
    return 0;
}
