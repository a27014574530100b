/* module.c - loads the module: looks up the server's API functions, and
 * registers the data type, settings, INFO section and commands, with their
 * properties for COMMAND DOCS, ACLs and cluster clients.
 *
 * loadmodule lawn.so [rede-compat yes|no]
 */
#include "args.h"
#include "config.h"
#include "info.h"
#include "redismodule_api.h"
#include "server_access.h"
#include "server_call.h"
#include "server_keys.h"
#include "server_keyspace.h"
#include "server_replication.h"
#include "server_tick.h"
#include "server_wakeup.h"
#include "type.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#define MODULE_NAME "lawn"
#define MODULE_VERSION 1
#define MODULE_VERSION_TEXT "0.1.0"
#define MODULE_ARGS 64
#define MODULE_KEYS 8u
#define MODULE_NAME_SIZE 32
#define MODULE_FLAGS_SIZE 64

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);

/* ENTRIES. The server passes no data of the module to a command's function, so
 * each command needs its own function. */
#define MODULE_TEN(X, t)                                                       \
    X(t##0)                                                                    \
    X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7) X(t##8) X(t##9)
#define MODULE_ENTRIES(X)                                                      \
    MODULE_TEN(X, 1) MODULE_TEN(X, 2) MODULE_TEN(X, 3) MODULE_TEN(X, 4)
#define MODULE_FIRST 10u
#define MODULE_COUNT 40u

static struct server_entry module_entries[MODULE_COUNT];

#define MODULE_DEFINE(n)                                                       \
    static int module_run_##n(RedisModuleCtx *ctx, RedisModuleString **argv,   \
                              int argc)                                        \
    {                                                                          \
        return server_call(&module_entries[(n)-MODULE_FIRST], ctx, argv,       \
                           argc);                                              \
    }
MODULE_ENTRIES(MODULE_DEFINE)
#undef MODULE_DEFINE

#define MODULE_NAME_OF(n) module_run_##n,
static RedisModuleCmdFunc const module_runs[MODULE_COUNT] = {
    MODULE_ENTRIES(MODULE_NAME_OF)};
#undef MODULE_NAME_OF

/* DOCUMENTATION. The server copies the data. */

struct module_pool {
    const struct command *command;
    RedisModuleCommandArg args[MODULE_ARGS];
    size_t used;
};

/* Returns the key spec of an argument: the one with its token, or the first. */
static int
key_spec_of(const struct command *command, const struct command_arg *arg)
{
    if (arg->type != COMMAND_KEY) {
        return -1;
    }
    for (int i = 0; command->more != NULL && arg->token != NULL &&
                    command->more[i].word != NULL;
         i++) {
        if (strcmp(command->more[i].word, arg->token) == 0) {
            return i + 1;
        }
    }
    return 0;
}

static RedisModuleCommandArgType
arg_type(enum command_type type)
{
    switch (type) {
    case COMMAND_KEY:
        return REDISMODULE_ARG_TYPE_KEY;
    case COMMAND_INTEGER:
        return REDISMODULE_ARG_TYPE_INTEGER;
    case COMMAND_TIME:
        return REDISMODULE_ARG_TYPE_UNIX_TIME;
    case COMMAND_WORD:
        return REDISMODULE_ARG_TYPE_PURE_TOKEN;
    case COMMAND_ONEOF:
        return REDISMODULE_ARG_TYPE_ONEOF;
    case COMMAND_BLOCK:
        return REDISMODULE_ARG_TYPE_BLOCK;
    case COMMAND_PATTERN:
        return REDISMODULE_ARG_TYPE_PATTERN;
    case COMMAND_STRING:
        break;
    }
    return REDISMODULE_ARG_TYPE_STRING;
}

/* Converts a list and its sublists. Returns NULL if it is empty or too
 * large. */
static RedisModuleCommandArg *
make_args(struct module_pool *pool, const struct command_arg *from)
{
    size_t count = 0;
    while (from != NULL && from[count].name != NULL) {
        count++;
    }
    if (count == 0 || pool->used + count + 1 > MODULE_ARGS) {
        return NULL;
    }
    RedisModuleCommandArg *to = &pool->args[pool->used];
    pool->used += count + 1;
    for (size_t i = 0; i < count; i++) {
        to[i] = (RedisModuleCommandArg){
            .name = from[i].name,
            .type = arg_type(from[i].type),
            .key_spec_index = key_spec_of(pool->command, &from[i]),
            .token = from[i].token,
            .flags =
                (from[i].flags & COMMAND_OPTIONAL ? REDISMODULE_CMD_ARG_OPTIONAL
                                                  : 0) |
                (from[i].flags & COMMAND_MULTIPLE ? REDISMODULE_CMD_ARG_MULTIPLE
                                                  : 0)};
        to[i].subargs = make_args(pool, from[i].args);
    }
    to[count] = (RedisModuleCommandArg){0};
    return to;
}

static bool
has_word(const char *text, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = text; at != NULL && (at = strstr(at, word)) != NULL;
         at += size) {
        if ((at == text || at[-1] == ' ') &&
            (at[size] == ' ' || at[size] == '\0')) {
            return true;
        }
    }
    return false;
}

static uint64_t
parse_key_flags(const char *words)
{
    static const struct {
        const char *word;
        uint64_t flag;
    } all[] = {{"RO", REDISMODULE_CMD_KEY_RO},
               {"RW", REDISMODULE_CMD_KEY_RW},
               {"OW", REDISMODULE_CMD_KEY_OW},
               {"RM", REDISMODULE_CMD_KEY_RM},
               {"ACCESS", REDISMODULE_CMD_KEY_ACCESS},
               {"UPDATE", REDISMODULE_CMD_KEY_UPDATE},
               {"INSERT", REDISMODULE_CMD_KEY_INSERT},
               {"DELETE", REDISMODULE_CMD_KEY_DELETE},
               {"NOT_KEY", REDISMODULE_CMD_KEY_NOT_KEY}};
    uint64_t flags = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (has_word(words, all[i].word)) {
            flags |= all[i].flag;
        }
    }
    return flags;
}

/* Sets the positions of the keys: the first argument, and those that follow a
 * keyword. ACLs use this; clusters ask the command, see server_call.c. */
static void
make_key_specs(const struct command *command,
               RedisModuleCommandKeySpec keys[MODULE_KEYS + 1])
{
    size_t count = 0;
    keys[count++] = (RedisModuleCommandKeySpec){
        .flags = parse_key_flags(command->key_flags),
        .begin_search_type = REDISMODULE_KSPEC_BS_INDEX,
        .bs.index.pos = 1,
        .find_keys_type = REDISMODULE_KSPEC_FK_RANGE,
        .fk.range = {.lastkey = 0, .keystep = 1, .limit = 0}};
    for (const struct command_key *more = command->more;
         more != NULL && more->word != NULL && count < MODULE_KEYS; more++) {
        keys[count++] = (RedisModuleCommandKeySpec){
            .flags = parse_key_flags(more->flags),
            .begin_search_type = REDISMODULE_KSPEC_BS_KEYWORD,
            .bs.keyword = {more->word, more->from},
            .find_keys_type = REDISMODULE_KSPEC_FK_RANGE,
            .fk.range = {.lastkey = 0, .keystep = 1, .limit = 0}};
    }
    keys[count] = (RedisModuleCommandKeySpec){0};
}

static bool
set_command_info(RedisModuleCommand *to, const struct command *command)
{
    static const RedisModuleCommandInfoVersion layout = {
        .version = 1,
        .sizeof_historyentry = sizeof(RedisModuleCommandHistoryEntry),
        .sizeof_keyspec = sizeof(RedisModuleCommandKeySpec),
        .sizeof_arg = sizeof(RedisModuleCommandArg)};
    static struct module_pool pool;
    RedisModuleCommandKeySpec keys[MODULE_KEYS + 1];
    make_key_specs(command, keys);
    pool.command = command;
    pool.used = 0;
    RedisModuleCommandInfo docs = {.version = &layout,
                                   .summary = command->summary,
                                   .complexity = command->complexity,
                                   .since = command->since,
                                   .arity = command->arity,
                                   .key_specs = command->key ? keys : NULL,
                                   .args = make_args(&pool, command->args)};
    return RedisModule_SetCommandInfo(to, &docs) == REDISMODULE_OK;
}

/* Servers before 7.2 have no ACL categories for module commands: see
 * server_entry.guarded. */
static bool
set_categories(RedisModuleCommand *to, const struct command *command)
{
    if (RedisModule_SetCommandACLCategories == NULL) {
        return true;
    }
    const char *categories = "slow";
    bool fast = has_word(command->flags, "fast");
    if (has_word(command->flags, "admin")) {
        categories = "write admin dangerous slow";
    } else if (has_word(command->flags, "blocking")) {
        categories = "write blocking slow";
    } else if (has_word(command->flags, "write")) {
        categories = fast ? "write fast" : "write slow";
    } else if (has_word(command->flags, "readonly")) {
        categories = fast ? "read fast" : "read slow";
    }
    return RedisModule_SetCommandACLCategories(to, categories) ==
           REDISMODULE_OK;
}

static void
copy_lower(const char *name, char out[MODULE_NAME_SIZE])
{
    size_t i = 0;
    for (i = 0; i < MODULE_NAME_SIZE - 1 && name[i]; i++) {
        out[i] = (char)tolower((unsigned char)name[i]);
    }
    out[i] = '\0';
}

/* The names are in lower case, like the server's own, because errors and
 * statistics show them. */
static bool
register_commands(RedisModuleCtx *ctx, const struct command *list,
                  size_t *count)
{
    for (const struct command *command = list; command->name != NULL;
         command++) {
        if (*count == MODULE_COUNT) {
            return false;
        }
        char name[MODULE_NAME_SIZE];
        copy_lower(command->name, name);
        module_entries[*count] =
            (struct server_entry){command,
                                  has_word(command->flags, "write")
                                      ? REDISMODULE_READ | REDISMODULE_WRITE
                                      : REDISMODULE_READ,
                                  RedisModule_SetCommandACLCategories == NULL &&
                                      has_word(command->flags, "admin")};
        RedisModuleCmdFunc run = module_runs[(*count)++];
        char flags[MODULE_FLAGS_SIZE];
        snprintf(flags, sizeof(flags), "%s%s", command->flags,
                 command->more != NULL ? " getkeys-api" : "");
        RedisModuleCommand *to = NULL;
        if (RedisModule_CreateCommand(ctx, name, run, flags, 0, 0, 0) ==
            REDISMODULE_OK) {
            to = RedisModule_GetCommand(ctx, name);
        }
        if (to == NULL || !set_command_info(to, command) ||
            !set_categories(to, command)) {
            RedisModule_Log(ctx, "warning",
                            "cannot register command %s; another module may "
                            "have registered it",
                            name);
            return false;
        }
    }
    return true;
}

/* LOADING */

static bool
string_is(RedisModuleString *string, const char *word)
{
    struct bytes bytes = keys_bytes(string);
    return bytes.size == strlen(word) &&
           strncasecmp(bytes.at, word, bytes.size) == 0;
}

static bool
parse_options(RedisModuleCtx *ctx, RedisModuleString **argv, int argc,
              bool *rede)
{
    *rede = true;
    for (int i = 0; i < argc; i += 2) {
        bool yes = i + 1 < argc && string_is(argv[i + 1], "yes");
        if (!string_is(argv[i], "rede-compat") ||
            (!yes && !(i + 1 < argc && string_is(argv[i + 1], "no")))) {
            char quoted[ARGS_QUOTE_SIZE];
            args_quote(keys_bytes(argv[i]), quoted);
            RedisModule_Log(ctx, "warning",
                            "invalid module argument %s; use 'rede-compat yes' "
                            "or 'rede-compat no'",
                            quoted);
            return false;
        }
        *rede = yes;
    }
    return true;
}

static void
set_module_options(RedisModuleCtx *ctx)
{
    int options = REDISMODULE_OPTIONS_HANDLE_IO_ERRORS |
                  REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED |
                  REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD;
    if (RedisModule_GetModuleOptionsAll != NULL) {
        options |= RedisModule_GetModuleOptionsAll() &
                   VALKEYMODULE_OPTIONS_HANDLE_ATOMIC_SLOT_MIGRATION;
    }
    RedisModule_SetModuleOptions(ctx, options);
}

int
RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const char *missing = redismodule_api_load(ctx);
    if (RedisModule_SetModuleAttribs == NULL || RedisModule_Log == NULL ||
        RedisModule_IsModuleNameBusy == NULL ||
        RedisModule_IsModuleNameBusy(MODULE_NAME)) {
        return REDISMODULE_ERR;
    }
    RedisModule_SetModuleAttribs(ctx, MODULE_NAME, MODULE_VERSION,
                                 REDISMODULE_APIVER_1);
    if (missing != NULL) {
        RedisModule_Log(ctx, "warning",
                        "the server has no module API function %s; lawn "
                        "requires version 7.0 or newer",
                        missing);
        return REDISMODULE_ERR;
    }
    bool rede = false;
    size_t count = 0;
    if (!parse_options(ctx, argv, argc, &rede)) {
        return REDISMODULE_ERR;
    }
    set_module_options(ctx);
    if (!type_init(ctx)) {
        RedisModule_Log(ctx, "warning",
                        "cannot register the data type: another module has "
                        "registered it; is ReDe loaded?");
        return REDISMODULE_ERR;
    }
    server_host_init();
    server_replication_init();
    server_access_init();
    if (!register_commands(ctx, command_lawn, &count) ||
        (rede && !register_commands(ctx, command_rede, &count)) ||
        !config_init(ctx) || !info_init(ctx) || !keyspace_init(ctx)) {
        return REDISMODULE_ERR;
    }
    wakeup_init(ctx, tick_run);
    RedisModule_Log(ctx, "notice", "version %s, rede-compat %s",
                    MODULE_VERSION_TEXT, rede ? "yes" : "no");
    if (RedisModule_SetCommandACLCategories == NULL) {
        RedisModule_Log(ctx, "notice",
                        "this server does not support ACL categories for "
                        "module commands; name the commands in ACL rules");
    }
    return REDISMODULE_OK;
}
