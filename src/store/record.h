/* record.h - a stored timer in its slot.
 *
 *     | timer 24 | ttl 8 | payload's size and flags 4 | id's size 2 | place 2 |
 *     | id, padded to a multiple of 8 | payload, or a pointer to it           |
 *
 * A record never moves, because the lawn, the table and iteration point to it.
 * So a payload that is large, or has outgrown the record's slot, is stored
 * outside: in another slot or in a separate block. The 8 bytes before such a
 * payload contain its place (slots.h).
 *
 * A timer of a class has no TTL of its own, so there the field contains the
 * address of the class. The highest bit of the place marks such a record: a
 * place is at most 8192. So classes make no record larger.
 */
#ifndef LAWN_STORE_RECORD_H
#define LAWN_STORE_RECORD_H

#include "expect.h"
#include "slots.h"

#include <lawn_store.h>
#include <string.h>

/* A payload of more than 8 bytes is outside if the record would exceed this
 * size. */
#define LAWN_STORE_INSIDE_MAX 2048u
#define LAWN_STORE_OUTSIDE_HEAD 8u

#define LAWN_STORE_SIZE_MASK LAWN_STORE_PAYLOAD_MAX
#define LAWN_STORE_OUTSIDE (1u << 29) /* the payload is outside */
#define LAWN_STORE_DUE (1u << 30)     /* removed from the lawn, about to fire */
#define LAWN_STORE_GONE (1u << 31)    /* fired or popped; the record is kept */

/* In the field `place`: the timer is, or was until it fired, in a class. */
#define LAWN_STORE_IN_CLASS 0x8000u

struct lawn_store_record {
    struct lawn_timer timer;
    uint64_t ttl;     /* or the address of the class */
    uint32_t payload; /* size and flags */
    uint16_t id_size;
    uint16_t place; /* with a flag */
    unsigned char id[];
};

static inline uint16_t
lawn__store_record_place(const struct lawn_store_record *record)
{
    return record->place & (uint16_t)~LAWN_STORE_IN_CLASS;
}

/* Returns the timer's class, or NULL. */
static inline struct lawn_class *
lawn__store_record_class(const struct lawn_store_record *record)
{
    return (record->place & LAWN_STORE_IN_CLASS) != 0
               ? (struct lawn_class *)(uintptr_t)record->ttl
               : NULL;
}

/* Fills out->deadline and out->ttl for a timer of a class. */
void lawn__store_class_describe(const struct lawn_store_record *record,
                                struct lawn_store_timer *out);

static inline size_t
lawn__store_record_payload_at(size_t id_size)
{
    return offsetof(struct lawn_store_record, id) +
           ((id_size + 7) & ~(size_t)7);
}

static inline uint32_t
lawn__store_record_size(const struct lawn_store_record *record)
{
    return record->payload & LAWN_STORE_SIZE_MASK;
}

/* Returns the address after the id: the payload or a pointer to it. */
static inline unsigned char *
lawn__store_record_inside(const struct lawn_store_record *record)
{
    return (unsigned char *)(uintptr_t)record +
           lawn__store_record_payload_at(record->id_size);
}

static inline unsigned char *
lawn__store_record_outside(const struct lawn_store_record *record)
{
    unsigned char *payload = NULL;

    memcpy(&payload, lawn__store_record_inside(record), sizeof(payload));
    return payload;
}

static inline void *
lawn__store_record_payload(const struct lawn_store_record *record)
{
    return (record->payload & LAWN_STORE_OUTSIDE) != 0
               ? lawn__store_record_outside(record)
               : lawn__store_record_inside(record);
}

static inline bool
lawn__store_record_is(const struct lawn_store_record *record, const void *id,
                      size_t id_size)
{
    if (record->id_size != id_size) {
        return false;
    }
    /* Compiled to two or four instructions. */
    if (id_size == 8) {
        return memcmp(record->id, id, 8) == 0;
    }
    if (id_size == 16) {
        return memcmp(record->id, id, 16) == 0;
    }
    return id_size == 0 || memcmp(record->id, id, id_size) == 0;
}

static inline void
lawn__store_record_describe(const struct lawn_store_record *record,
                            struct lawn_store_timer *out)
{
    out->id = record->id;
    out->id_size = record->id_size;
    out->payload = lawn__store_record_payload(record);
    out->payload_size = lawn__store_record_size(record);
    out->deadline = lawn_last_deadline(&record->timer);
    out->ttl = record->ttl;
    out->cls = lawn__store_record_class(record);
    if (LAWN_STORE_UNLIKELY(out->cls != NULL)) {
        lawn__store_class_describe(record, out);
    }
}

#endif
