/* redis.h - the part of the module interface of Redis (from 7.0 on) and Valkey
 * that we use, in our own words: one .so serves both. Nothing of it is linked:
 * the server hands over a function that finds the others by name. What a server
 * has is told by what it finds, never by its version.
 *
 * Structures that cross the border have the layout that the servers know them
 * by; a field more or less here would break every one after it.
 */
#ifndef REDIS_H
#define REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redis_ctx;
struct redis_key;
struct redis_string;
struct redis_io;
struct redis_type;
struct redis_digest;
struct redis_command;
struct redis_blocked;
struct redis_info;
struct redis_defrag;
struct redis_cursor;
struct redis_user;
struct redis_reply;
struct redis_names; /* of the key that a callback of a type is about */

#define REDIS_OK 0
#define REDIS_ERR 1
#define REDIS_API 1

/* OpenKey(). A server that does not know the last three ignores them. */
#define REDIS_READ 0x1
#define REDIS_WRITE 0x2
#define REDIS_KEEP_AGE 0x10000
#define REDIS_NO_NOTICE 0x20000
#define REDIS_NO_STATS 0x40000
#define REDIS_PEEK                                                             \
    (REDIS_READ | REDIS_KEEP_AGE | REDIS_NO_NOTICE | REDIS_NO_STATS)

/* GetContextFlags(). */
#define REDIS_SCRIPT 0x1 /* one runs */
#define REDIS_MASTER 0x4
#define REDIS_EVICTS 0x200 /* if there is no memory */
#define REDIS_FULL 0x400   /* there is none */
#define REDIS_REPLICATED 0x1000
#define REDIS_LOADING 0x2000
#define REDIS_DENY_BLOCKING 0x200000
#define REDIS_ASYNC_LOADING 0x800000

/* Classes of keyspace events. */
#define REDIS_EVENTS_GENERIC 0x4
#define REDIS_EVENTS_EVICTED 0x200
#define REDIS_EVENTS_MODULE 0x2000

/* SetModuleOptions(). */
#define REDIS_OPTION_IO_ERRORS 0x1
#define REDIS_OPTION_NO_SIGNAL 0x2 /* who changes a key says so himself */
#define REDIS_OPTION_ASYNC_LOAD 0x4
#define REDIS_OPTION_SLOT_MIGRATION 0x20

/* RegisterNumericConfig(). */
#define REDIS_CONFIG_PLAIN 0u
#define REDIS_CONFIG_MEMORY 0x80u

/* CallReplyType(). */
#define REDIS_REPLY_ERROR 1

/* ACLCheckChannelPermissions(). */
#define REDIS_CHANNEL_PUBLISH 0x2

/* EventLoopAdd(). */
#define REDIS_READABLE 0x1

/* SubscribeToServerEvent(), and what comes with it. */
struct redis_event {
    uint64_t id;
    uint64_t version;
};
#define REDIS_EVENT_ROLE ((struct redis_event){0, 1})
#define REDIS_EVENT_FLUSH ((struct redis_event){2, 1})
#define REDIS_EVENT_LOAD ((struct redis_event){3, 1})
#define REDIS_EVENT_SWAP ((struct redis_event){11, 1})
#define REDIS_ROLE_MASTER 0
#define REDIS_FLUSH_END 1
#define REDIS_LOAD_ENDED 3
#define REDIS_LOAD_FAILED 4

struct redis_flush {
    uint64_t version;
    int32_t sync;
    int32_t db; /* -1: all */
};

struct redis_swap {
    uint64_t version;
    int32_t first;
    int32_t second;
};

typedef int redis_command_fn(struct redis_ctx *ctx, struct redis_string **argv,
                             int argc);
typedef void redis_timer_fn(struct redis_ctx *ctx, void *data);
typedef void redis_file_fn(int fd, void *data, int what);
typedef void redis_event_fn(struct redis_ctx *ctx, struct redis_event event,
                            uint64_t what, void *data);
typedef int redis_notice_fn(struct redis_ctx *ctx, int type, const char *event,
                            struct redis_string *key);
typedef void redis_scan_fn(struct redis_ctx *ctx, struct redis_string *name,
                           struct redis_key *key, void *data);
typedef void redis_info_fn(struct redis_info *info, int crash);
typedef long long redis_get_fn(const char *name, void *arg);
typedef int redis_set_fn(const char *name, long long value, void *arg,
                         struct redis_string **error);
typedef int redis_apply_fn(struct redis_ctx *ctx, void *arg,
                           struct redis_string **error);

/* What a data type can do: version 4 of it, that of 7.0. */
#define REDIS_METHODS 4
struct redis_methods {
    uint64_t version;
    void *(*rdb_load)(struct redis_io *io, int version);
    void (*rdb_save)(struct redis_io *io, void *value);
    void (*aof_rewrite)(struct redis_io *io, struct redis_string *key,
                        void *value);
    void (*mem_usage)(void);
    void (*digest)(struct redis_digest *digest, void *value);
    void (*free)(void *value);
    void (*aux_load)(void);
    void (*aux_save)(void);
    int aux_when;
    void (*free_effort)(void);
    void (*unlink)(void);
    void (*copy)(void);
    int (*defrag)(struct redis_defrag *defrag, struct redis_string *key,
                  void **value);
    size_t (*mem_usage2)(struct redis_names *names, const void *value,
                         size_t samples);
    size_t (*free_effort2)(struct redis_names *names, const void *value);
    void (*unlink2)(struct redis_names *names, const void *value);
    void *(*copy2)(struct redis_names *names, const void *value);
};

/* What is told of a command. Lists end with an element that is all zero. */
enum redis_arg_type {
    REDIS_ARG_STRING,
    REDIS_ARG_INTEGER,
    REDIS_ARG_KEY = 3, /* 2 are those with a fraction */
    REDIS_ARG_PATTERN,
    REDIS_ARG_TIME,
    REDIS_ARG_WORD,
    REDIS_ARG_ONEOF,
    REDIS_ARG_BLOCK
};
#define REDIS_ARG_OPTIONAL 0x1
#define REDIS_ARG_MULTIPLE 0x2

struct redis_arg {
    const char *name;
    enum redis_arg_type type;
    int key; /* which of the key specs; -1: none */
    const char *token;
    const char *summary;
    const char *since;
    int flags;
    const char *deprecated_since;
    struct redis_arg *args;
    const char *display;
};

#define REDIS_KEY_RO 0x1u
#define REDIS_KEY_RW 0x2u
#define REDIS_KEY_OW 0x4u
#define REDIS_KEY_RM 0x8u
#define REDIS_KEY_ACCESS 0x10u
#define REDIS_KEY_UPDATE 0x20u
#define REDIS_KEY_INSERT 0x40u
#define REDIS_KEY_DELETE 0x80u
#define REDIS_KEY_NOT_KEY 0x100u
#define REDIS_BEGIN_INDEX 2
#define REDIS_BEGIN_KEYWORD 3
#define REDIS_FIND_RANGE 2

struct redis_key_spec {
    const char *notes;
    uint64_t flags;
    int begin; /* how the first key is found */
    union {
        int position;
        struct {
            const char *word;
            int from;
        } keyword;
    } at;
    int find; /* and how the others are */
    struct {
        int last;
        int step;
        int limit;
    } range;
};

struct redis_change {
    const char *since;
    const char *text;
};

/* The sizes let a server find its way in lists whose layout it has outgrown. */
struct redis_layout {
    int version;
    size_t change;
    size_t key_spec;
    size_t arg;
};

struct redis_docs {
    const struct redis_layout *layout;
    const char *summary;
    const char *complexity;
    const char *since;
    struct redis_change *history;
    const char *tips;
    int arity;
    struct redis_key_spec *keys;
    struct redis_arg *args;
};

/* The functions: X for one that we cannot do without, MAYBE for one that is
 * NULL in some servers. */
#define REDIS_FUNCTIONS(X, MAYBE)                                              \
    /* Memory, time, chance */                                                 \
    X(void *, Alloc, (size_t size))                                            \
    MAYBE(void *, TryAlloc, (size_t size))                                     \
    X(void, Free, (void *memory))                                              \
    X(size_t, MallocSize, (void *memory))                                      \
    X(long long, Milliseconds, (void))                                         \
    MAYBE(long long, CachedMicroseconds, (void))                               \
    X(void, GetRandomBytes, (unsigned char *at, size_t size))                  \
    /* The module */                                                           \
    X(void, SetModuleAttribs,                                                  \
      (struct redis_ctx * ctx, const char *name, int version, int api))        \
    X(int, IsModuleNameBusy, (const char *name))                               \
    X(void, SetModuleOptions, (struct redis_ctx * ctx, int options))           \
    MAYBE(int, GetModuleOptionsAll, (void))                                    \
    X(void, Log,                                                               \
      (struct redis_ctx * ctx, const char *level, const char *format, ...))    \
    X(int, GetContextFlags, (struct redis_ctx * ctx))                          \
    X(struct redis_ctx *, GetDetachedThreadSafeContext,                        \
      (struct redis_ctx * ctx))                                                \
    /* Commands */                                                             \
    X(int, CreateCommand,                                                      \
      (struct redis_ctx * ctx, const char *name, redis_command_fn *run,        \
       const char *flags, int first, int last, int step))                      \
    X(struct redis_command *, GetCommand,                                      \
      (struct redis_ctx * ctx, const char *name))                              \
    X(int, SetCommandInfo,                                                     \
      (struct redis_command * command, const struct redis_docs *docs))         \
    MAYBE(int, SetCommandACLCategories,                                        \
          (struct redis_command * command, const char *categories))            \
    X(int, IsKeysPositionRequest, (struct redis_ctx * ctx))                    \
    X(void, KeyAtPos, (struct redis_ctx * ctx, int position))                  \
    X(unsigned long long, GetClientId, (struct redis_ctx * ctx))               \
    X(struct redis_string *, GetClientUserNameById,                            \
      (struct redis_ctx * ctx, uint64_t id))                                   \
    X(struct redis_user *, GetModuleUserFromUserName,                          \
      (struct redis_string * name))                                            \
    X(int, ACLCheckCommandPermissions,                                         \
      (struct redis_user * user, struct redis_string * *argv, int argc))       \
    X(int, ACLCheckChannelPermissions,                                         \
      (struct redis_user * user, struct redis_string * channel, int how))      \
    X(void, FreeModuleUser, (struct redis_user * user))                        \
    /* Strings */                                                              \
    X(struct redis_string *, CreateString,                                     \
      (struct redis_ctx * ctx, const char *at, size_t size))                   \
    X(void, FreeString,                                                        \
      (struct redis_ctx * ctx, struct redis_string * string))                  \
    X(void, RetainString,                                                      \
      (struct redis_ctx * ctx, struct redis_string * string))                  \
    X(const char *, StringPtrLen,                                              \
      (const struct redis_string *string, size_t *size))                       \
    /* Replies */                                                              \
    X(int, ReplyWithNull, (struct redis_ctx * ctx))                            \
    X(int, ReplyWithLongLong, (struct redis_ctx * ctx, long long value))       \
    X(int, ReplyWithStringBuffer,                                              \
      (struct redis_ctx * ctx, const char *at, size_t size))                   \
    X(int, ReplyWithSimpleString, (struct redis_ctx * ctx, const char *text))  \
    X(int, ReplyWithError, (struct redis_ctx * ctx, const char *text))         \
    X(int, ReplyWithArray, (struct redis_ctx * ctx, long count))               \
    X(int, ReplyWithMap, (struct redis_ctx * ctx, long count))                 \
    /* Keys */                                                                 \
    X(int, GetSelectedDb, (struct redis_ctx * ctx))                            \
    X(int, SelectDb, (struct redis_ctx * ctx, int db))                         \
    X(struct redis_key *, OpenKey,                                             \
      (struct redis_ctx * ctx, struct redis_string * name, int mode))          \
    X(void, CloseKey, (struct redis_key * key))                                \
    X(struct redis_cursor *, ScanCursorCreate, (void))                         \
    X(void, ScanCursorRestart, (struct redis_cursor * cursor))                 \
    X(void, ScanCursorDestroy, (struct redis_cursor * cursor))                 \
    X(int, Scan,                                                               \
      (struct redis_ctx * ctx, struct redis_cursor * cursor,                   \
       redis_scan_fn * found, void *data))                                     \
    X(int, KeyType, (struct redis_key * key))                                  \
    X(int, DeleteKey, (struct redis_key * key))                                \
    X(int, SignalModifiedKey,                                                  \
      (struct redis_ctx * ctx, struct redis_string * name))                    \
    X(struct redis_type *, CreateDataType,                                     \
      (struct redis_ctx * ctx, const char *name, int version,                  \
       struct redis_methods *methods))                                         \
    X(struct redis_type *, ModuleTypeGetType, (struct redis_key * key))        \
    X(void *, ModuleTypeGetValue, (struct redis_key * key))                    \
    X(int, ModuleTypeSetValue,                                                 \
      (struct redis_key * key, struct redis_type * type, void *value))         \
    X(const struct redis_string *, GetKeyNameFromOptCtx,                       \
      (struct redis_names * names))                                            \
    X(int, GetDbIdFromOptCtx, (struct redis_names * names))                    \
    /* Replication, and who waits or listens */                                \
    X(int, Replicate,                                                          \
      (struct redis_ctx * ctx, const char *command, const char *format, ...))  \
    X(struct redis_reply *, Call,                                              \
      (struct redis_ctx * ctx, const char *command, const char *format, ...))  \
    X(int, CallReplyType, (struct redis_reply * reply))                        \
    X(const char *, CallReplyStringPtr,                                        \
      (struct redis_reply * reply, size_t * size))                             \
    X(void, FreeCallReply, (struct redis_reply * reply))                       \
    X(int, AvoidReplicaTraffic, (void))                                        \
    X(int, NotifyKeyspaceEvent,                                                \
      (struct redis_ctx * ctx, int type, const char *event,                    \
       struct redis_string *key))                                              \
    X(int, SubscribeToKeyspaceEvents,                                          \
      (struct redis_ctx * ctx, int types, redis_notice_fn *notice))            \
    X(int, SubscribeToServerEvent,                                             \
      (struct redis_ctx * ctx, struct redis_event event,                       \
       redis_event_fn * happened))                                             \
    X(struct redis_blocked *, BlockClientOnKeys,                               \
      (struct redis_ctx * ctx, redis_command_fn * woken,                       \
       redis_command_fn * timed_out,                                           \
       void (*release)(struct redis_ctx *, void *), long long ms,              \
       struct redis_string **keys, int count, void *data))                     \
    X(void *, GetBlockedClientPrivateData, (struct redis_ctx * ctx))           \
    X(void, SignalKeyAsReady,                                                  \
      (struct redis_ctx * ctx, struct redis_string * key))                     \
    X(uint64_t, CreateTimer,                                                   \
      (struct redis_ctx * ctx, long long ms, redis_timer_fn *fired,            \
       void *data))                                                            \
    X(int, StopTimer, (struct redis_ctx * ctx, uint64_t id, void **data))      \
    MAYBE(int, EventLoopAdd,                                                   \
          (int fd, int what, redis_file_fn *ready, void *data))                \
    /* Files */                                                                \
    X(void, SaveUnsigned, (struct redis_io * io, uint64_t value))              \
    X(uint64_t, LoadUnsigned, (struct redis_io * io))                          \
    X(void, SaveStringBuffer,                                                  \
      (struct redis_io * io, const char *at, size_t size))                     \
    X(char *, LoadStringBuffer, (struct redis_io * io, size_t * size))         \
    X(int, IsIOError, (struct redis_io * io))                                  \
    X(void, EmitAOF,                                                           \
      (struct redis_io * io, const char *command, const char *format, ...))    \
    X(void, LogIOError,                                                        \
      (struct redis_io * io, const char *level, const char *format, ...))      \
    X(const struct redis_string *, GetKeyNameFromIO, (struct redis_io * io))   \
    X(int, GetDbIdFromIO, (struct redis_io * io))                              \
    X(void, DigestAddStringBuffer,                                             \
      (struct redis_digest * digest, const char *at, size_t size))             \
    X(void, DigestAddLongLong,                                                 \
      (struct redis_digest * digest, long long value))                         \
    X(void, DigestEndSequence, (struct redis_digest * digest))                 \
    X(void *, DefragAlloc, (struct redis_defrag * defrag, void *memory))       \
    X(int, DefragShouldStop, (struct redis_defrag * defrag))                   \
    X(int, DefragCursorSet,                                                    \
      (struct redis_defrag * defrag, unsigned long cursor))                    \
    X(int, DefragCursorGet,                                                    \
      (struct redis_defrag * defrag, unsigned long *cursor))                   \
    /* Settings, figures */                                                    \
    X(int, RegisterNumericConfig,                                              \
      (struct redis_ctx * ctx, const char *name, long long value,              \
       unsigned flags, long long min, long long max, redis_get_fn *get,        \
       redis_set_fn *set, redis_apply_fn *apply, void *arg))                   \
    X(int, LoadConfigs, (struct redis_ctx * ctx))                              \
    X(int, RegisterInfoFunc, (struct redis_ctx * ctx, redis_info_fn * info))   \
    X(void, LatencyAddSample, (const char *event, long long ms))               \
    X(int, InfoAddSection, (struct redis_info * info, const char *name))       \
    X(int, InfoAddFieldULongLong,                                              \
      (struct redis_info * info, const char *name, unsigned long long value))

#define REDIS_MEMBER(type, name, args) type(*name) args;
struct redis {
    REDIS_FUNCTIONS(REDIS_MEMBER, REDIS_MEMBER)
};
#undef REDIS_MEMBER

extern struct redis redis;

/* Finds them. The name of one that is missing and must not be, or NULL. */
const char *redis_find(struct redis_ctx *ctx);

#endif
