/* thief.c - a hostile module: it runs a command when it is notified of an event
 * of a key of another module. See sink.py.
 *
 * MODULE LOAD thief.so EVENT COMMAND [WORD ...]
 */
#include <string.h>

/* Classes of events: lists, streams, and modules. */
#define HEARD (0x10 | 0x400 | 0x2000)

struct ctx;
struct string;
typedef int get_fn(const char *name, void *function);
typedef int heard_fn(struct ctx *ctx, int type, const char *event,
                     struct string *key);

static void *(*call)(struct ctx *ctx, const char *name, const char *format,
                     ...);
static void (*free_reply)(void *reply);
static const char *(*text)(const struct string *string, size_t *size);
static struct string *(*hold)(struct ctx *ctx, struct string *string);

static struct string *words[16];
static size_t count;
static int busy;

int RedisModule_OnLoad(struct ctx *ctx, struct string **argv, int argc);

static int
heard(struct ctx *ctx, int type, const char *event, struct string *key)
{
    size_t size = 0;
    const char *wanted = text(words[0], &size);

    (void)type;
    (void)key;
    if (busy || strlen(event) != size || memcmp(event, wanted, size) != 0) {
        return 0;
    }
    busy = 1;
    void *reply = call(ctx, text(words[1], &size), "!v", words + 2, count - 2);
    if (reply != NULL) {
        free_reply(reply);
    }
    busy = 0;
    return 0;
}

int
RedisModule_OnLoad(struct ctx *ctx, struct string **argv, int argc)
{
    get_fn *get = *(get_fn **)ctx;
    void (*name_it)(struct ctx *, const char *, int, int) = NULL;
    int (*listen)(struct ctx *, int, heard_fn *) = NULL;

    if (argc < 2 || argc > 16 ||
        get("RedisModule_SetModuleAttribs", &name_it) ||
        get("RedisModule_SubscribeToKeyspaceEvents", &listen) ||
        get("RedisModule_Call", &call) ||
        get("RedisModule_FreeCallReply", &free_reply) ||
        get("RedisModule_StringPtrLen", &text) ||
        get("RedisModule_HoldString", &hold)) {
        return 1;
    }
    name_it(ctx, "thief", 1, 1);
    for (int i = 0; i < argc; i++) {
        words[count++] = hold(NULL, argv[i]);
    }
    return listen(ctx, HEARD, heard);
}
