/* redismodule_api.c - defines the server's functions and looks them up by
 * name. */
#include "redismodule_api.h"

#include <string.h>

#define REQUIRED_FUNCTIONS(X)                                                  \
    X(RedisModule_Alloc)                                                       \
    X(RedisModule_Free)                                                        \
    X(RedisModule_MallocSize)                                                  \
    X(RedisModule_Milliseconds)                                                \
    X(RedisModule_GetRandomBytes)                                              \
    X(RedisModule_SetModuleAttribs)                                            \
    X(RedisModule_IsModuleNameBusy)                                            \
    X(RedisModule_SetModuleOptions)                                            \
    X(RedisModule_Log)                                                         \
    X(RedisModule_GetContextFlags)                                             \
    X(RedisModule_GetDetachedThreadSafeContext)                                \
    X(RedisModule_CreateCommand)                                               \
    X(RedisModule_GetCommand)                                                  \
    X(RedisModule_SetCommandInfo)                                              \
    X(RedisModule_IsKeysPositionRequest)                                       \
    X(RedisModule_KeyAtPos)                                                    \
    X(RedisModule_GetClientId)                                                 \
    X(RedisModule_GetClientUserNameById)                                       \
    X(RedisModule_GetModuleUserFromUserName)                                   \
    X(RedisModule_ACLCheckCommandPermissions)                                  \
    X(RedisModule_ACLCheckChannelPermissions)                                  \
    X(RedisModule_FreeModuleUser)                                              \
    X(RedisModule_CreateString)                                                \
    X(RedisModule_FreeString)                                                  \
    X(RedisModule_RetainString)                                                \
    X(RedisModule_StringPtrLen)                                                \
    X(RedisModule_ReplyWithNull)                                               \
    X(RedisModule_ReplyWithLongLong)                                           \
    X(RedisModule_ReplyWithStringBuffer)                                       \
    X(RedisModule_ReplyWithSimpleString)                                       \
    X(RedisModule_ReplyWithError)                                              \
    X(RedisModule_ReplyWithArray)                                              \
    X(RedisModule_ReplyWithMap)                                                \
    X(RedisModule_GetSelectedDb)                                               \
    X(RedisModule_SelectDb)                                                    \
    X(RedisModule_OpenKey)                                                     \
    X(RedisModule_CloseKey)                                                    \
    X(RedisModule_ScanCursorCreate)                                            \
    X(RedisModule_ScanCursorRestart)                                           \
    X(RedisModule_ScanCursorDestroy)                                           \
    X(RedisModule_Scan)                                                        \
    X(RedisModule_KeyType)                                                     \
    X(RedisModule_DeleteKey)                                                   \
    X(RedisModule_SignalModifiedKey)                                           \
    X(RedisModule_CreateDataType)                                              \
    X(RedisModule_ModuleTypeGetType)                                           \
    X(RedisModule_ModuleTypeGetValue)                                          \
    X(RedisModule_ModuleTypeSetValue)                                          \
    X(RedisModule_GetKeyNameFromOptCtx)                                        \
    X(RedisModule_GetDbIdFromOptCtx)                                           \
    X(RedisModule_Replicate)                                                   \
    X(RedisModule_Call)                                                        \
    X(RedisModule_CallReplyType)                                               \
    X(RedisModule_CallReplyStringPtr)                                          \
    X(RedisModule_FreeCallReply)                                               \
    X(RedisModule_AvoidReplicaTraffic)                                         \
    X(RedisModule_NotifyKeyspaceEvent)                                         \
    X(RedisModule_SubscribeToKeyspaceEvents)                                   \
    X(RedisModule_SubscribeToServerEvent)                                      \
    X(RedisModule_BlockClientOnKeys)                                           \
    X(RedisModule_GetBlockedClientPrivateData)                                 \
    X(RedisModule_SignalKeyAsReady)                                            \
    X(RedisModule_CreateTimer)                                                 \
    X(RedisModule_StopTimer)                                                   \
    X(RedisModule_SaveUnsigned)                                                \
    X(RedisModule_LoadUnsigned)                                                \
    X(RedisModule_SaveStringBuffer)                                            \
    X(RedisModule_LoadStringBuffer)                                            \
    X(RedisModule_IsIOError)                                                   \
    X(RedisModule_EmitAOF)                                                     \
    X(RedisModule_LogIOError)                                                  \
    X(RedisModule_GetKeyNameFromIO)                                            \
    X(RedisModule_GetDbIdFromIO)                                               \
    X(RedisModule_DigestAddStringBuffer)                                       \
    X(RedisModule_DigestAddLongLong)                                           \
    X(RedisModule_DigestEndSequence)                                           \
    X(RedisModule_DefragAlloc)                                                 \
    X(RedisModule_DefragShouldStop)                                            \
    X(RedisModule_DefragCursorSet)                                             \
    X(RedisModule_DefragCursorGet)                                             \
    X(RedisModule_RegisterNumericConfig)                                       \
    X(RedisModule_LoadConfigs)                                                 \
    X(RedisModule_RegisterInfoFunc)                                            \
    X(RedisModule_LatencyAddSample)                                            \
    X(RedisModule_InfoAddSection)                                              \
    X(RedisModule_InfoAddFieldULongLong)

/* NULL if the server lacks the function. */
#define OPTIONAL_FUNCTIONS(X)                                                  \
    X(RedisModule_TryAlloc)                                                    \
    X(RedisModule_CachedMicroseconds)                                          \
    X(RedisModule_GetModuleOptionsAll)                                         \
    X(RedisModule_SetCommandACLCategories)                                     \
    X(RedisModule_EventLoopAdd)                                                \
    X(RedisModule__Assert)

#define DEFINE(name) __typeof__(name)(name);
REQUIRED_FUNCTIONS(DEFINE)
OPTIONAL_FUNCTIONS(DEFINE)
#undef DEFINE

/* Stores the function of that name at *out. Returns REDISMODULE_ERR if it does
 * not exist. */
typedef int get_api_fn(const char *name, void *out);

const char *
redismodule_api_load(RedisModuleCtx *ctx)
{
    /* The first member of a context is this pointer; the rest is opaque. */
    get_api_fn *get_api = NULL;
    memcpy(&get_api, ctx, sizeof(get_api));
    const char *missing = NULL;
#define LOAD(name)                                                             \
    if (get_api(#name, &(name)) != REDISMODULE_OK && missing == NULL) {        \
        missing = #name;                                                       \
    }
    REQUIRED_FUNCTIONS(LOAD)
#undef LOAD
#define TRY(name)                                                              \
    if (get_api(#name, &(name)) != REDISMODULE_OK) {                           \
        (name) = NULL;                                                         \
    }
    OPTIONAL_FUNCTIONS(TRY)
#undef TRY
    return missing;
}
