/* server_replication.c - sends the effects of a command to the replicas and the
 * append-only file, as LAWN.APPLY.
 *
 * Strings that are arguments of the call are not copied; their reference count
 * is incremented. Strings of the last call are kept for reuse. So a plain
 * LAWN.PUSH allocates little here. */
#include "server_replication.h"

#include "replication.h"
#include "server_host.h"
#include "server_keys.h"

/* A list of more words than this needs allocated memory. */
#define STACK_WORDS 16u
/* The number of arguments that a word is compared with. */
#define ARGS_COMPARED 4u

static const char *const verbs[] = {"ADD", "DEL",   "AT",   "SET",
                                    "CFG", "LEASE", "SINK", "TOKEN"};
#define VERBS (sizeof(verbs) / sizeof(verbs[0]))
#define VERB_ADD 0
static RedisModuleString *verb_strings[VERBS];

void
server_replication_init(void)
{
    for (size_t i = 0; i < VERBS; i++) {
        verb_strings[i] =
            RedisModule_CreateString(NULL, verbs[i], strlen(verbs[i]));
    }
}

static RedisModuleString *
find_verb(const char *verb)
{
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(verb, verbs[i]) == 0) {
            return verb_strings[i];
        }
    }
    return server_empty_string;
}

/* Returns a word as a string, which the caller frees: an argument or a new
 * string. Words mostly occur in the order of the arguments, so only the next
 * few from *arg on are compared. */
static RedisModuleString *
share_or_create(const struct host *host, struct bytes word, size_t *arg)
{
    RedisModuleString *string = NULL;
    if (word.size == 0) {
        string = server_empty_string;
    }
    for (size_t i = *arg;
         string == NULL && i < host->count && i < *arg + ARGS_COMPARED; i++) {
        if (host->args[i].at == word.at && host->args[i].size == word.size) {
            string = host->argv[i];
            *arg = i + 1;
        }
    }
    if (string == NULL) {
        return RedisModule_CreateString(NULL, word.at, word.size);
    }
    RedisModule_RetainString(NULL, string);
    return string;
}

/* The same for a word that often equals that of the last call: a delay, or a
 * time within the same millisecond. */
static RedisModuleString *
reuse_or_create(struct bytes word, RedisModuleString **last)
{
    if (*last == NULL || !bytes_equal(keys_bytes(*last), word)) {
        if (*last != NULL) {
            RedisModule_FreeString(NULL, *last);
        }
        *last = RedisModule_CreateString(NULL, word.at, word.size);
    }
    RedisModule_RetainString(NULL, *last);
    return *last;
}

/* Replicates one added event, the most frequent case. */
static void
replicate_add(struct host *host, const struct bytes *words)
{
    static RedisModuleString *due;
    static RedisModuleString *ttl;
    size_t arg = 2;
    RedisModuleString *strings[REPLICATION_ADD_WORDS] = {
        share_or_create(host, words[REPLICATION_ADD_ID], &arg),
        share_or_create(host, words[REPLICATION_ADD_PAYLOAD], &arg),
        reuse_or_create(words[REPLICATION_ADD_DUE], &due),
        reuse_or_create(words[REPLICATION_ADD_TTL], &ttl),
        share_or_create(host, words[REPLICATION_ADD_META], &arg)};
    RedisModule_Replicate(host->ctx, "LAWN.APPLY", "sssssss", host->argv[1],
                          verb_strings[VERB_ADD], strings[0], strings[1],
                          strings[2], strings[3], strings[4]);
    for (size_t i = 0; i < REPLICATION_ADD_WORDS; i++) {
        RedisModule_FreeString(NULL, strings[i]);
    }
}

static void
replicate_any(struct host *host, const char *verb, const struct bytes *words,
              size_t count)
{
    RedisModuleString *stack[STACK_WORDS];
    RedisModuleString **strings = stack;
    if (count > STACK_WORDS) {
        strings = RedisModule_Alloc(count * sizeof(*strings));
    }
    size_t arg = 2;
    for (size_t i = 0; i < count; i++) {
        /* Events that were added together have the same times. */
        const struct bytes *last = i < REPLICATION_ADD_WORDS
                                       ? NULL
                                       : &words[i - REPLICATION_ADD_WORDS];
        if (last != NULL && last->at == words[i].at &&
            last->size == words[i].size) {
            strings[i] = strings[i - REPLICATION_ADD_WORDS];
            RedisModule_RetainString(NULL, strings[i]);
        } else {
            strings[i] = share_or_create(host, words[i], &arg);
        }
    }
    RedisModule_Replicate(host->ctx, "LAWN.APPLY", "ssv", host->argv[1],
                          find_verb(verb), strings, count);
    for (size_t i = 0; i < count; i++) {
        RedisModule_FreeString(NULL, strings[i]);
    }
    if (strings != stack) {
        RedisModule_Free(strings);
    }
}

void
host_replicate(struct host *host, const char *verb, const struct bytes *words,
               size_t count)
{
    if (count == REPLICATION_ADD_WORDS && strcmp(verb, verbs[VERB_ADD]) == 0) {
        replicate_add(host, words);
    } else {
        replicate_any(host, verb, words, count);
    }
    host->changed = true;
}
