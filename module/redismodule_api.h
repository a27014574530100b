/* redismodule_api.h - the part of the module API of Redis (from 7.0 on) and
 * Valkey that this module uses, under upstream's names. One .so serves both.
 *
 * Nothing here is linked: the server passes a context whose first member is
 * RedisModule_GetApi, which looks up all other functions by name. That lookup,
 * not the server's version, decides whether a function exists.
 *
 * Structures that are shared with the server must have the server's layout.
 */
#ifndef REDISMODULE_API_H
#define REDISMODULE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleKey RedisModuleKey;
typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleIO RedisModuleIO;
typedef struct RedisModuleType RedisModuleType;
typedef struct RedisModuleDigest RedisModuleDigest;
typedef struct RedisModuleCommand RedisModuleCommand;
typedef struct RedisModuleBlockedClient RedisModuleBlockedClient;
typedef struct RedisModuleInfoCtx RedisModuleInfoCtx;
typedef struct RedisModuleDefragCtx RedisModuleDefragCtx;
typedef struct RedisModuleScanCursor RedisModuleScanCursor;
typedef struct RedisModuleUser RedisModuleUser;
typedef struct RedisModuleCallReply RedisModuleCallReply;
typedef struct RedisModuleKeyOptCtx RedisModuleKeyOptCtx;
typedef uint64_t RedisModuleTimerID;

#define REDISMODULE_OK 0
#define REDISMODULE_ERR 1
#define REDISMODULE_APIVER_1 1

/* RedisModule_OpenKey(). Servers that do not know the last three ignore
 * them. */
#define REDISMODULE_READ 0x1
#define REDISMODULE_WRITE 0x2
#define REDISMODULE_OPEN_KEY_NOTOUCH 0x10000
#define REDISMODULE_OPEN_KEY_NONOTIFY 0x20000
#define REDISMODULE_OPEN_KEY_NOSTATS 0x40000

/* RedisModule_KeyType(). */
#define REDISMODULE_KEYTYPE_EMPTY 0

/* RedisModule_GetContextFlags(). */
#define REDISMODULE_CTX_FLAGS_LUA 0x1
#define REDISMODULE_CTX_FLAGS_MASTER 0x4
#define REDISMODULE_CTX_FLAGS_EVICT 0x200
#define REDISMODULE_CTX_FLAGS_OOM 0x400
#define REDISMODULE_CTX_FLAGS_REPLICATED 0x1000
#define REDISMODULE_CTX_FLAGS_LOADING 0x2000
#define REDISMODULE_CTX_FLAGS_DENY_BLOCKING 0x200000
#define REDISMODULE_CTX_FLAGS_ASYNC_LOADING 0x800000

/* Classes of keyspace events. */
#define REDISMODULE_NOTIFY_GENERIC 0x4
#define REDISMODULE_NOTIFY_EVICTED 0x200
#define REDISMODULE_NOTIFY_MODULE 0x2000

/* RedisModule_SetModuleOptions(). The last one exists in Valkey only. */
#define REDISMODULE_OPTIONS_HANDLE_IO_ERRORS 0x1
#define REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED 0x2
#define REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD 0x4
#define VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION 0x20

/* RedisModule_RegisterNumericConfig(). */
#define REDISMODULE_CONFIG_DEFAULT 0u
#define REDISMODULE_CONFIG_MEMORY 0x80u

/* RedisModule_CallReplyType(). */
#define REDISMODULE_REPLY_ERROR 1

/* RedisModule_ACLCheckChannelPermissions(). */
#define REDISMODULE_CMD_CHANNEL_PUBLISH 0x2

/* RedisModule_EventLoopAdd(). */
#define REDISMODULE_EVENTLOOP_READABLE 0x1

/* SERVER EVENTS: RedisModule_SubscribeToServerEvent(), and the data of
 * callbacks. */
#define REDISMODULE_EVENT_REPLICATION_ROLE_CHANGED 0
#define REDISMODULE_EVENT_FLUSHDB 2
#define REDISMODULE_EVENT_LOADING 3
#define REDISMODULE_EVENT_SWAPDB 11

#define REDISMODULE_EVENT_REPLROLECHANGED_NOW_MASTER 0
#define REDISMODULE_SUBEVENT_FLUSHDB_END 1
#define REDISMODULE_SUBEVENT_LOADING_ENDED 3
#define REDISMODULE_SUBEVENT_LOADING_FAILED 4

typedef struct RedisModuleEvent {
    uint64_t id;
    uint64_t dataver;
} RedisModuleEvent;

static const RedisModuleEvent RedisModuleEvent_ReplicationRoleChanged = {
    REDISMODULE_EVENT_REPLICATION_ROLE_CHANGED, 1};
static const RedisModuleEvent RedisModuleEvent_FlushDB = {
    REDISMODULE_EVENT_FLUSHDB, 1};
static const RedisModuleEvent RedisModuleEvent_Loading = {
    REDISMODULE_EVENT_LOADING, 1};
static const RedisModuleEvent RedisModuleEvent_SwapDB = {
    REDISMODULE_EVENT_SWAPDB, 1};

typedef struct RedisModuleFlushInfo {
    uint64_t version;
    int32_t sync;
    int32_t dbnum; /* -1: all databases */
} RedisModuleFlushInfoV1;

typedef struct RedisModuleSwapDbInfo {
    uint64_t version;
    int32_t dbnum_first;
    int32_t dbnum_second;
} RedisModuleSwapDbInfoV1;

/* CALLBACKS */

typedef int (*RedisModuleCmdFunc)(RedisModuleCtx *ctx, RedisModuleString **argv,
                                  int argc);
typedef void (*RedisModuleTimerProc)(RedisModuleCtx *ctx, void *data);
typedef void (*RedisModuleEventLoopFunc)(int fd, void *user_data, int mask);
typedef void (*RedisModuleEventCallback)(RedisModuleCtx *ctx,
                                         RedisModuleEvent eid,
                                         uint64_t subevent, void *data);
typedef int (*RedisModuleNotificationFunc)(RedisModuleCtx *ctx, int type,
                                           const char *event,
                                           RedisModuleString *key);
typedef void (*RedisModuleScanCB)(RedisModuleCtx *ctx,
                                  RedisModuleString *keyname,
                                  RedisModuleKey *key, void *privdata);
typedef void (*RedisModuleInfoFunc)(RedisModuleInfoCtx *ctx,
                                    int for_crash_report);
typedef long long (*RedisModuleConfigGetNumericFunc)(const char *name,
                                                     void *privdata);
typedef int (*RedisModuleConfigSetNumericFunc)(const char *name, long long val,
                                               void *privdata,
                                               RedisModuleString **err);
typedef int (*RedisModuleConfigApplyFunc)(RedisModuleCtx *ctx, void *privdata,
                                          RedisModuleString **err);

/* DATA TYPES: version 4 of the methods, that of Redis 7.0. Methods that this
 * module does not implement have no parameters here and are NULL. */
#define REDISMODULE_TYPE_METHOD_VERSION 4
typedef struct RedisModuleTypeMethods {
    uint64_t version;
    void *(*rdb_load)(RedisModuleIO *rdb, int encver);
    void (*rdb_save)(RedisModuleIO *rdb, void *value);
    void (*aof_rewrite)(RedisModuleIO *aof, RedisModuleString *key,
                        void *value);
    void (*mem_usage)(void);
    void (*digest)(RedisModuleDigest *digest, void *value);
    void (*free)(void *value);
    void (*aux_load)(void);
    void (*aux_save)(void);
    int aux_save_triggers;
    void (*free_effort)(void);
    void (*unlink)(void);
    void (*copy)(void);
    int (*defrag)(RedisModuleDefragCtx *ctx, RedisModuleString *key,
                  void **value);
    size_t (*mem_usage2)(RedisModuleKeyOptCtx *ctx, const void *value,
                         size_t sample_size);
    size_t (*free_effort2)(RedisModuleKeyOptCtx *ctx, const void *value);
    void (*unlink2)(RedisModuleKeyOptCtx *ctx, const void *value);
    void *(*copy2)(RedisModuleKeyOptCtx *ctx, const void *value);
} RedisModuleTypeMethods;

/* COMMAND DOCUMENTATION: RedisModule_SetCommandInfo(). Lists end with an
 * element that is all zero. */
typedef enum {
    REDISMODULE_ARG_TYPE_STRING,
    REDISMODULE_ARG_TYPE_INTEGER,
    REDISMODULE_ARG_TYPE_DOUBLE,
    REDISMODULE_ARG_TYPE_KEY,
    REDISMODULE_ARG_TYPE_PATTERN,
    REDISMODULE_ARG_TYPE_UNIX_TIME,
    REDISMODULE_ARG_TYPE_PURE_TOKEN,
    REDISMODULE_ARG_TYPE_ONEOF,
    REDISMODULE_ARG_TYPE_BLOCK
} RedisModuleCommandArgType;
#define REDISMODULE_CMD_ARG_OPTIONAL 0x1
#define REDISMODULE_CMD_ARG_MULTIPLE 0x2

typedef struct RedisModuleCommandArg {
    const char *name;
    RedisModuleCommandArgType type;
    int key_spec_index; /* -1: none */
    const char *token;
    const char *summary;
    const char *since;
    int flags;
    const char *deprecated_since;
    struct RedisModuleCommandArg *subargs;
    const char *display_text;
} RedisModuleCommandArg;

#define REDISMODULE_CMD_KEY_RO 0x1u
#define REDISMODULE_CMD_KEY_RW 0x2u
#define REDISMODULE_CMD_KEY_OW 0x4u
#define REDISMODULE_CMD_KEY_RM 0x8u
#define REDISMODULE_CMD_KEY_ACCESS 0x10u
#define REDISMODULE_CMD_KEY_UPDATE 0x20u
#define REDISMODULE_CMD_KEY_INSERT 0x40u
#define REDISMODULE_CMD_KEY_DELETE 0x80u
#define REDISMODULE_CMD_KEY_NOT_KEY 0x100u

typedef enum {
    REDISMODULE_KSPEC_BS_INDEX = 2,
    REDISMODULE_KSPEC_BS_KEYWORD
} RedisModuleKeySpecBeginSearchType;
typedef enum { REDISMODULE_KSPEC_FK_RANGE = 2 } RedisModuleKeySpecFindKeysType;

typedef struct RedisModuleCommandKeySpec {
    const char *notes;
    uint64_t flags;
    RedisModuleKeySpecBeginSearchType begin_search_type;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int startfrom;
        } keyword;
    } bs;
    RedisModuleKeySpecFindKeysType find_keys_type;
    union {
        struct {
            int lastkey;
            int keystep;
            int limit;
        } range;
    } fk;
} RedisModuleCommandKeySpec;

typedef struct RedisModuleCommandHistoryEntry {
    const char *since;
    const char *changes;
} RedisModuleCommandHistoryEntry;

/* With these sizes, a newer server can read lists of this layout. */
typedef struct RedisModuleCommandInfoVersion {
    int version;
    size_t sizeof_historyentry;
    size_t sizeof_keyspec;
    size_t sizeof_arg;
} RedisModuleCommandInfoVersion;

typedef struct RedisModuleCommandInfo {
    const RedisModuleCommandInfoVersion *version;
    const char *summary;
    const char *complexity;
    const char *since;
    RedisModuleCommandHistoryEntry *history;
    const char *tips;
    int arity;
    RedisModuleCommandKeySpec *key_specs;
    RedisModuleCommandArg *args;
} RedisModuleCommandInfo;

/* FUNCTIONS. Those that redismodule_api.c lists as optional are NULL on servers
 * that lack them. Hidden visibility, so that a call needs no GOT entry. */
#pragma GCC visibility push(hidden)

/* Memory, time, random numbers */
extern void *(*RedisModule_Alloc)(size_t bytes);
extern void *(*RedisModule_TryAlloc)(size_t bytes);
extern void (*RedisModule_Free)(void *ptr);
extern size_t (*RedisModule_MallocSize)(void *ptr);
extern long long (*RedisModule_Milliseconds)(void);
extern long long (*RedisModule_CachedMicroseconds)(void);
extern void (*RedisModule_GetRandomBytes)(unsigned char *dst, size_t len);

/* The module */
extern void (*RedisModule_SetModuleAttribs)(RedisModuleCtx *ctx,
                                            const char *name, int ver,
                                            int apiver);
extern int (*RedisModule_IsModuleNameBusy)(const char *name);
extern void (*RedisModule_SetModuleOptions)(RedisModuleCtx *ctx, int options);
extern int (*RedisModule_GetModuleOptionsAll)(void);
extern void (*RedisModule_Log)(RedisModuleCtx *ctx, const char *levelstr,
                               const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
extern void (*RedisModule__Assert)(const char *estr, const char *file,
                                   int line);
extern int (*RedisModule_GetContextFlags)(RedisModuleCtx *ctx);
extern RedisModuleCtx *(*RedisModule_GetDetachedThreadSafeContext)(
    RedisModuleCtx *ctx);

/* Commands */
extern int (*RedisModule_CreateCommand)(RedisModuleCtx *ctx, const char *name,
                                        RedisModuleCmdFunc cmdfunc,
                                        const char *strflags, int firstkey,
                                        int lastkey, int keystep);
extern RedisModuleCommand *(*RedisModule_GetCommand)(RedisModuleCtx *ctx,
                                                     const char *name);
extern int (*RedisModule_SetCommandInfo)(RedisModuleCommand *command,
                                         const RedisModuleCommandInfo *info);
extern int (*RedisModule_SetCommandACLCategories)(RedisModuleCommand *command,
                                                  const char *ctgrsflags);
extern int (*RedisModule_IsKeysPositionRequest)(RedisModuleCtx *ctx);
extern void (*RedisModule_KeyAtPos)(RedisModuleCtx *ctx, int pos);
extern unsigned long long (*RedisModule_GetClientId)(RedisModuleCtx *ctx);
extern RedisModuleString *(*RedisModule_GetClientUserNameById)(
    RedisModuleCtx *ctx, uint64_t id);
extern RedisModuleUser *(*RedisModule_GetModuleUserFromUserName)(
    RedisModuleString *name);
extern int (*RedisModule_ACLCheckCommandPermissions)(RedisModuleUser *user,
                                                     RedisModuleString **argv,
                                                     int argc);
extern int (*RedisModule_ACLCheckChannelPermissions)(RedisModuleUser *user,
                                                     RedisModuleString *ch,
                                                     int flags);
extern void (*RedisModule_FreeModuleUser)(RedisModuleUser *user);

/* Strings */
extern RedisModuleString *(*RedisModule_CreateString)(RedisModuleCtx *ctx,
                                                      const char *ptr,
                                                      size_t len);
extern void (*RedisModule_FreeString)(RedisModuleCtx *ctx,
                                      RedisModuleString *str);
extern void (*RedisModule_RetainString)(RedisModuleCtx *ctx,
                                        RedisModuleString *str);
extern const char *(*RedisModule_StringPtrLen)(const RedisModuleString *str,
                                               size_t *len);

/* Replies */
extern int (*RedisModule_ReplyWithNull)(RedisModuleCtx *ctx);
extern int (*RedisModule_ReplyWithLongLong)(RedisModuleCtx *ctx, long long ll);
extern int (*RedisModule_ReplyWithStringBuffer)(RedisModuleCtx *ctx,
                                                const char *ptr, size_t len);
extern int (*RedisModule_ReplyWithSimpleString)(RedisModuleCtx *ctx,
                                                const char *msg);
extern int (*RedisModule_ReplyWithError)(RedisModuleCtx *ctx, const char *msg);
extern int (*RedisModule_ReplyWithArray)(RedisModuleCtx *ctx, long len);
extern int (*RedisModule_ReplyWithMap)(RedisModuleCtx *ctx, long len);

/* Keys */
extern int (*RedisModule_GetSelectedDb)(RedisModuleCtx *ctx);
extern int (*RedisModule_SelectDb)(RedisModuleCtx *ctx, int newid);
extern RedisModuleKey *(*RedisModule_OpenKey)(RedisModuleCtx *ctx,
                                              RedisModuleString *keyname,
                                              int mode);
extern void (*RedisModule_CloseKey)(RedisModuleKey *key);
extern RedisModuleScanCursor *(*RedisModule_ScanCursorCreate)(void);
extern void (*RedisModule_ScanCursorRestart)(RedisModuleScanCursor *cursor);
extern void (*RedisModule_ScanCursorDestroy)(RedisModuleScanCursor *cursor);
extern int (*RedisModule_Scan)(RedisModuleCtx *ctx,
                               RedisModuleScanCursor *cursor,
                               RedisModuleScanCB fn, void *privdata);
extern int (*RedisModule_KeyType)(RedisModuleKey *key);
extern int (*RedisModule_DeleteKey)(RedisModuleKey *key);
extern int (*RedisModule_SignalModifiedKey)(RedisModuleCtx *ctx,
                                            RedisModuleString *name);
extern RedisModuleType *(*RedisModule_CreateDataType)(
    RedisModuleCtx *ctx, const char *name, int encver,
    RedisModuleTypeMethods *typemethods);
extern RedisModuleType *(*RedisModule_ModuleTypeGetType)(RedisModuleKey *key);
extern void *(*RedisModule_ModuleTypeGetValue)(RedisModuleKey *key);
extern int (*RedisModule_ModuleTypeSetValue)(RedisModuleKey *key,
                                             RedisModuleType *type,
                                             void *value);
extern const RedisModuleString *(*RedisModule_GetKeyNameFromOptCtx)(
    RedisModuleKeyOptCtx *ctx);
extern int (*RedisModule_GetDbIdFromOptCtx)(RedisModuleKeyOptCtx *ctx);

/* Replication, calls, notifications, blocked clients, timers */
extern int (*RedisModule_Replicate)(RedisModuleCtx *ctx, const char *cmdname,
                                    const char *fmt, ...);
extern RedisModuleCallReply *(*RedisModule_Call)(RedisModuleCtx *ctx,
                                                 const char *cmdname,
                                                 const char *fmt, ...);
extern int (*RedisModule_CallReplyType)(RedisModuleCallReply *reply);
extern const char *(*RedisModule_CallReplyStringPtr)(
    RedisModuleCallReply *reply, size_t *len);
extern void (*RedisModule_FreeCallReply)(RedisModuleCallReply *reply);
extern int (*RedisModule_AvoidReplicaTraffic)(void);
extern int (*RedisModule_NotifyKeyspaceEvent)(RedisModuleCtx *ctx, int type,
                                              const char *event,
                                              RedisModuleString *key);
extern int (*RedisModule_SubscribeToKeyspaceEvents)(
    RedisModuleCtx *ctx, int types, RedisModuleNotificationFunc cb);
extern int (*RedisModule_SubscribeToServerEvent)(
    RedisModuleCtx *ctx, RedisModuleEvent event,
    RedisModuleEventCallback callback);
extern RedisModuleBlockedClient *(*RedisModule_BlockClientOnKeys)(
    RedisModuleCtx *ctx, RedisModuleCmdFunc reply_callback,
    RedisModuleCmdFunc timeout_callback,
    void (*free_privdata)(RedisModuleCtx *, void *), long long timeout_ms,
    RedisModuleString **keys, int numkeys, void *privdata);
extern void *(*RedisModule_GetBlockedClientPrivateData)(RedisModuleCtx *ctx);
extern void (*RedisModule_SignalKeyAsReady)(RedisModuleCtx *ctx,
                                            RedisModuleString *key);
extern RedisModuleTimerID (*RedisModule_CreateTimer)(
    RedisModuleCtx *ctx, long long period, RedisModuleTimerProc callback,
    void *data);
extern int (*RedisModule_StopTimer)(RedisModuleCtx *ctx, RedisModuleTimerID id,
                                    void **data);
extern int (*RedisModule_EventLoopAdd)(int fd, int mask,
                                       RedisModuleEventLoopFunc func,
                                       void *user_data);

/* Persistence, digests, defragmentation */
extern void (*RedisModule_SaveUnsigned)(RedisModuleIO *io, uint64_t value);
extern uint64_t (*RedisModule_LoadUnsigned)(RedisModuleIO *io);
extern void (*RedisModule_SaveStringBuffer)(RedisModuleIO *io, const char *str,
                                            size_t len);
extern char *(*RedisModule_LoadStringBuffer)(RedisModuleIO *io, size_t *lenptr);
extern int (*RedisModule_IsIOError)(RedisModuleIO *io);
extern void (*RedisModule_EmitAOF)(RedisModuleIO *io, const char *cmdname,
                                   const char *fmt, ...);
extern void (*RedisModule_LogIOError)(RedisModuleIO *io, const char *levelstr,
                                      const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
extern const RedisModuleString *(*RedisModule_GetKeyNameFromIO)(
    RedisModuleIO *io);
extern int (*RedisModule_GetDbIdFromIO)(RedisModuleIO *io);
extern void (*RedisModule_DigestAddStringBuffer)(RedisModuleDigest *md,
                                                 const char *ele, size_t len);
extern void (*RedisModule_DigestAddLongLong)(RedisModuleDigest *md,
                                             long long ele);
extern void (*RedisModule_DigestEndSequence)(RedisModuleDigest *md);
extern void *(*RedisModule_DefragAlloc)(RedisModuleDefragCtx *ctx, void *ptr);
extern int (*RedisModule_DefragShouldStop)(RedisModuleDefragCtx *ctx);
extern int (*RedisModule_DefragCursorSet)(RedisModuleDefragCtx *ctx,
                                          unsigned long cursor);
extern int (*RedisModule_DefragCursorGet)(RedisModuleDefragCtx *ctx,
                                          unsigned long *cursor);

/* Settings, INFO */
extern int (*RedisModule_RegisterNumericConfig)(
    RedisModuleCtx *ctx, const char *name, long long default_val,
    unsigned int flags, long long min, long long max,
    RedisModuleConfigGetNumericFunc getfn,
    RedisModuleConfigSetNumericFunc setfn, RedisModuleConfigApplyFunc applyfn,
    void *privdata);
extern int (*RedisModule_LoadConfigs)(RedisModuleCtx *ctx);
extern int (*RedisModule_RegisterInfoFunc)(RedisModuleCtx *ctx,
                                           RedisModuleInfoFunc cb);
extern void (*RedisModule_LatencyAddSample)(const char *event,
                                            long long latency);
extern int (*RedisModule_InfoAddSection)(RedisModuleInfoCtx *ctx,
                                         const char *name);
extern int (*RedisModule_InfoAddFieldULongLong)(RedisModuleInfoCtx *ctx,
                                                const char *field,
                                                unsigned long long value);
#pragma GCC visibility pop

/* Looks up all functions. Returns the name of a required function that the
 * server lacks, or NULL if it has them all. */
const char *redismodule_api_load(RedisModuleCtx *ctx);

#endif
