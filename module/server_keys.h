/* server_keys.h - queues as values of the server's keys. */
#ifndef SERVER_KEYS_H
#define SERVER_KEYS_H

#include "queue.h"
#include "redismodule_api.h"

/* The module's data type, once type_init() has registered it. */
extern RedisModuleType *keys_type;

/* The bytes of a server's string. They stay valid as long as the string. */
static inline struct bytes
keys_bytes(const RedisModuleString *string)
{
    struct bytes bytes;
    bytes.at = RedisModule_StringPtrLen(string, &bytes.size);
    return bytes;
}

/* Returns the queue of a key, or NULL if the key does not exist (key is NULL or
 * empty) or has another type: then *other is true. */
struct queue *keys_queue(RedisModuleKey *key, bool *other);

/* Returns the queue of that name in the selected database, or NULL. Does not
 * count as an access, hit or miss. The pointer is valid until a function is
 * called that may change the key. */
struct queue *keys_peek(RedisModuleCtx *ctx, RedisModuleString *name);

/* Creates a queue for a key. Returns NULL if memory allocation fails. */
struct queue *keys_new_queue(uint64_t now);
/* Counts a queue that was loaded or copied. Returns it; NULL is allowed. */
struct queue *keys_count_queue(struct queue *queue);
/* Any thread may call this. */
void keys_free_queue(void *queue);
/* The number of queues. Any thread may call this. */
uint64_t keys_count(void);

#endif
