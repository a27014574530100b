/* module.c - the module as the server loads it: finds the server's functions,
 * registers type, settings, figures and commands, and tells of each command what
 * COMMAND DOCS, access lists and cluster clients want to know.
 *
 * loadmodule lawn.so [rede-compat yes|no]
 */
#include "config.h"
#include "info.h"
#include "redis.h"
#include "server.h"
#include "type.h"
#include "wake.h"

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

int RedisModule_OnLoad(struct redis_ctx *ctx, struct redis_string **argv,
                       int argc);

/* ENTRIES. The server calls a command by a function alone, without a word about
 * which: so each has one of its own. */
#define MODULE_TEN(X, t)                                                       \
    X(t##0)                                                                    \
    X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7) X(t##8) X(t##9)
#define MODULE_ENTRIES(X)                                                      \
    MODULE_TEN(X, 1) MODULE_TEN(X, 2) MODULE_TEN(X, 3) MODULE_TEN(X, 4)
#define MODULE_FIRST 10u
#define MODULE_COUNT 40u

static struct server_entry module_entries[MODULE_COUNT];

#define MODULE_DEFINE(n)                                                       \
    static int module_run_##n(struct redis_ctx *ctx,                           \
                              struct redis_string **argv, int argc)            \
    {                                                                          \
        return server_run(&module_entries[(n)-MODULE_FIRST], SERVER_CALLED,    \
                          ctx, argv, argc);                                    \
    }
MODULE_ENTRIES(MODULE_DEFINE)
#undef MODULE_DEFINE

#define MODULE_NAME_OF(n) module_run_##n,
static redis_command_fn *const module_runs[MODULE_COUNT] = {
    MODULE_ENTRIES(MODULE_NAME_OF)};
#undef MODULE_NAME_OF

/* DOCUMENTATION. The server copies what it is told. */

struct module_pool {
    const struct command *command;
    struct redis_arg args[MODULE_ARGS];
    size_t used;
};

/* Which of the key specs an argument is of: that which is found by its token, or
 * the first. */
static int
module_key(const struct command *command, const struct command_arg *arg)
{
    if (arg->type != COMMAND_KEY)
        return -1;
    for (int i = 0; command->more && arg->token && command->more[i].word; i++) {
        if (strcmp(command->more[i].word, arg->token) == 0)
            return i + 1;
    }
    return 0;
}

static enum redis_arg_type
module_type(enum command_type type)
{
    switch (type) {
    case COMMAND_KEY:
        return REDIS_ARG_KEY;
    case COMMAND_INTEGER:
        return REDIS_ARG_INTEGER;
    case COMMAND_TIME:
        return REDIS_ARG_TIME;
    case COMMAND_WORD:
        return REDIS_ARG_WORD;
    case COMMAND_ONEOF:
        return REDIS_ARG_ONEOF;
    case COMMAND_BLOCK:
        return REDIS_ARG_BLOCK;
    case COMMAND_PATTERN:
        return REDIS_ARG_PATTERN;
    case COMMAND_STRING:
        break;
    }
    return REDIS_ARG_STRING;
}

/* A list and those below it; NULL if there is none, or too much. */
static struct redis_arg *
module_args(struct module_pool *pool, const struct command_arg *from)
{
    size_t count = 0;
    while (from && from[count].name)
        count++;
    if (count == 0 || pool->used + count + 1 > MODULE_ARGS)
        return NULL;
    struct redis_arg *to = &pool->args[pool->used];
    pool->used += count + 1;
    for (size_t i = 0; i < count; i++) {
        to[i] = (struct redis_arg){
            .name = from[i].name,
            .type = module_type(from[i].type),
            .key = module_key(pool->command, &from[i]),
            .token = from[i].token,
            .flags =
                (from[i].flags & COMMAND_OPTIONAL ? REDIS_ARG_OPTIONAL : 0) |
                (from[i].flags & COMMAND_MULTIPLE ? REDIS_ARG_MULTIPLE : 0)};
        to[i].args = module_args(pool, from[i].args);
    }
    to[count] = (struct redis_arg){0};
    return to;
}

/* Whether a word is one of those in text, which stand apart by a space. */
static bool
module_has(const char *text, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = text; at && (at = strstr(at, word)); at += size) {
        if ((at == text || at[-1] == ' ') &&
            (at[size] == ' ' || at[size] == '\0'))
            return true;
    }
    return false;
}

static uint64_t
module_key_flags(const char *words)
{
    static const struct {
        const char *word;
        uint64_t flag;
    } all[] = {{"RO", REDIS_KEY_RO},          {"RW", REDIS_KEY_RW},
               {"OW", REDIS_KEY_OW},          {"RM", REDIS_KEY_RM},
               {"ACCESS", REDIS_KEY_ACCESS},  {"UPDATE", REDIS_KEY_UPDATE},
               {"INSERT", REDIS_KEY_INSERT},  {"DELETE", REDIS_KEY_DELETE},
               {"NOT_KEY", REDIS_KEY_NOT_KEY}};
    uint64_t flags = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (module_has(words, all[i].word))
            flags |= all[i].flag;
    }
    return flags;
}

/* Where the keys are: the first, and those that come after a word. Access lists go
 * by this; clusters ask the command itself, see server_positions(). */
static void
module_keys(const struct command *command,
            struct redis_key_spec keys[MODULE_KEYS + 1])
{
    size_t count = 0;
    keys[count++] =
        (struct redis_key_spec){.flags = module_key_flags(command->key_flags),
                                .begin = REDIS_BEGIN_INDEX,
                                .at.position = 1,
                                .find = REDIS_FIND_RANGE,
                                .range = {.last = 0, .step = 1, .limit = 0}};
    for (const struct command_key *more = command->more;
         more && more->word && count < MODULE_KEYS; more++)
        keys[count++] = (struct redis_key_spec){
            .flags = module_key_flags(more->flags),
            .begin = REDIS_BEGIN_KEYWORD,
            .at.keyword = {more->word, more->from},
            .find = REDIS_FIND_RANGE,
            .range = {.last = 0, .step = 1, .limit = 0}};
    keys[count] = (struct redis_key_spec){0};
}

static bool
module_document(struct redis_command *to, const struct command *command)
{
    static const struct redis_layout layout = {
        .version = 1,
        .change = sizeof(struct redis_change),
        .key_spec = sizeof(struct redis_key_spec),
        .arg = sizeof(struct redis_arg)};
    static struct module_pool pool;
    struct redis_key_spec keys[MODULE_KEYS + 1];
    module_keys(command, keys);
    pool.command = command;
    pool.used = 0;
    struct redis_docs docs = {.layout = &layout,
                              .summary = command->summary,
                              .complexity = command->complexity,
                              .since = command->since,
                              .arity = command->arity,
                              .keys = command->key ? keys : NULL,
                              .args = module_args(&pool, command->args)};
    return redis.SetCommandInfo(to, &docs) == REDIS_OK;
}

/* Servers before 7.2 have no categories for commands of modules: see
 * server_entry.guarded. */
static bool
module_categorise(struct redis_command *to, const struct command *command)
{
    if (!redis.SetCommandACLCategories)
        return true;
    const char *categories = "slow";
    bool fast = module_has(command->flags, "fast");
    if (module_has(command->flags, "admin"))
        categories = "write admin dangerous slow";
    else if (module_has(command->flags, "blocking"))
        categories = "write blocking slow";
    else if (module_has(command->flags, "write"))
        categories = fast ? "write fast" : "write slow";
    else if (module_has(command->flags, "readonly"))
        categories = fast ? "read fast" : "read slow";
    return redis.SetCommandACLCategories(to, categories) == REDIS_OK;
}

static void
module_lower(const char *name, char out[MODULE_NAME_SIZE])
{
    size_t i;
    for (i = 0; i < MODULE_NAME_SIZE - 1 && name[i]; i++)
        out[i] = (char)tolower((unsigned char)name[i]);
    out[i] = '\0';
}

/* They are in lower case, as are the server's own: so they are shown in errors
 * and figures. */
static bool
module_register(struct redis_ctx *ctx, const struct command *list,
                size_t *count)
{
    for (const struct command *command = list; command->name; command++) {
        char name[MODULE_NAME_SIZE];
        if (*count == MODULE_COUNT)
            return false;
        module_lower(command->name, name);
        module_entries[*count] = (struct server_entry){
            command,
            module_has(command->flags, "write") ? REDIS_READ | REDIS_WRITE
                                                : REDIS_READ,
            !redis.SetCommandACLCategories &&
                module_has(command->flags, "admin")};
        redis_command_fn *run = module_runs[(*count)++];
        char flags[MODULE_FLAGS_SIZE];
        snprintf(flags, sizeof(flags), "%s%s", command->flags,
                 command->more ? " getkeys-api" : "");
        struct redis_command *to = NULL;
        if (redis.CreateCommand(ctx, name, run, flags, 0, 0, 0) == REDIS_OK)
            to = redis.GetCommand(ctx, name);
        if (!to || !module_document(to, command) ||
            !module_categorise(to, command)) {
            redis.Log(ctx, "warning", "cannot register the command %s", name);
            return false;
        }
    }
    return true;
}

/* LOADING */

static bool
module_is(struct redis_string *string, const char *word)
{
    struct bytes bytes = server_bytes(string);
    return bytes.size == strlen(word) &&
           strncasecmp(bytes.at, word, bytes.size) == 0;
}

static bool
module_options(struct redis_ctx *ctx, struct redis_string **argv, int argc,
               bool *rede)
{
    *rede = true;
    for (int i = 0; i < argc; i += 2) {
        bool yes = i + 1 < argc && module_is(argv[i + 1], "yes");
        if (!module_is(argv[i], "rede-compat") ||
            (!yes && !(i + 1 < argc && module_is(argv[i + 1], "no")))) {
            redis.Log(ctx, "warning",
                      "arguments: rede-compat yes, or rede-compat no");
            return false;
        }
        *rede = yes;
    }
    return true;
}

static void
module_promise(struct redis_ctx *ctx)
{
    int options = REDIS_OPTION_IO_ERRORS | REDIS_OPTION_NO_SIGNAL |
                  REDIS_OPTION_ASYNC_LOAD;
    if (redis.GetModuleOptionsAll)
        options |= redis.GetModuleOptionsAll() & REDIS_OPTION_SLOT_MIGRATION;
    redis.SetModuleOptions(ctx, options);
}

int
RedisModule_OnLoad(struct redis_ctx *ctx, struct redis_string **argv, int argc)
{
    const char *missing = redis_find(ctx);
    if (!redis.SetModuleAttribs || !redis.Log || !redis.IsModuleNameBusy ||
        redis.IsModuleNameBusy(MODULE_NAME))
        return REDIS_ERR;
    redis.SetModuleAttribs(ctx, MODULE_NAME, MODULE_VERSION, REDIS_API);
    if (missing) {
        redis.Log(ctx, "warning",
                  "this server has no function %s for modules: 7.0 is the "
                  "first version that will do",
                  missing);
        return REDIS_ERR;
    }
    bool rede;
    size_t count = 0;
    if (!module_options(ctx, argv, argc, &rede))
        return REDIS_ERR;
    module_promise(ctx);
    if (!type_init(ctx)) {
        redis.Log(ctx, "warning",
                  "another module has the data type already: "
                  "is ReDe loaded?");
        return REDIS_ERR;
    }
    server_init();
    if (!module_register(ctx, command_lawn, &count) ||
        (rede && !module_register(ctx, command_rede, &count)) ||
        !config_init(ctx) || !info_init(ctx) || !wake_init(ctx))
        return REDIS_ERR;
    redis.Log(ctx, "notice", "version %s, rede-compat %s", MODULE_VERSION_TEXT,
              rede ? "yes" : "no");
    if (!redis.SetCommandACLCategories)
        redis.Log(ctx, "notice",
                  "on this server commands of modules are in no ACL category: "
                  "name them in ACL rules");
    return REDIS_OK;
}
