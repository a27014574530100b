/* peers.c - finds and loads the plug-ins of peers/, and explains why others
 * cannot be used. */
#include "peers.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define PEERS_PATH 4096

#define PEERS_TEXT(x) PEERS_TEXT_(x)
#define PEERS_TEXT_(x) #x

/* Where `make install` puts them; set by mk/bench.mk. */
#ifndef LAWN_PEERS_DIR
#define LAWN_PEERS_DIR "/usr/local/lib/lawn/peers"
#endif

static const struct peers_known {
    const char *name;
    const char *package; /* Debian package that it needs to be built */
    enum contender_part part;
    const char *file; /* its plug-in */
} peers_known[PEERS_MAX] = {
    {"uv", "libuv1-dev", PART_TIMERS, "uv"},
    {"event", "libevent-dev", PART_TIMERS, "event"},
    {"common", "libevent-dev", PART_TIMERS, "common"},
    {"ev", "libev-dev", PART_TIMERS, "ev"},
    {"glib", "libglib2.0-dev", PART_TIMERS, "glib"},
    {"dpdk", "libdpdk-dev", PART_TIMERS, "dpdk"},
    {"uthash", "uthash-dev", PART_STORES, "uthash"},
    {"ghash", "libglib2.0-dev", PART_STORES, "ghash"},
    {"sqlite", "libsqlite3-dev", PART_STORES, "sqlite"},
    {"uplain", "uthash-dev", PART_STORES, "uplain"},
    {"gplain", "libglib2.0-dev", PART_STORES, "gplain"},
    {"uvloops", "libuv1-dev", PART_CREWS, "uvloops"},
    {"uv", "libuv1-dev", PART_HOSTS, "uvhost"},
    {"uv+lawn", "libuv1-dev", PART_HOSTS, "uvhost"},
    {"event", "libevent-dev", PART_HOSTS, "eventhost"},
    {"common", "libevent-dev", PART_HOSTS, "eventhost"},
    {"event+lawn", "libevent-dev", PART_HOSTS, "eventhost"},
    {"ev", "libev-dev", PART_HOSTS, "evhost"},
    {"ev+lawn", "libev-dev", PART_HOSTS, "evhost"},
    {"uring", "liburing-dev", PART_HOSTS, "uringhost"},
    {"uring+lawn", "liburing-dev", PART_HOSTS, "uringhost"},
    {"glib", "libglib2.0-dev", PART_HOSTS, "glibhost"},
    {"glib+lawn", "libglib2.0-dev", PART_HOSTS, "glibhost"},
    {"sdevent", "libsystemd-dev", PART_HOSTS, "sdeventhost"},
    {"sdevent+lawn", "libsystemd-dev", PART_HOSTS, "sdeventhost"},
};

static char peers_whys[PEERS_MAX][256];

__attribute__((format(printf, 2, 3))) static const struct contender *
refuse(char *why, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(why, sizeof(peers_whys[0]), format, args);
    va_end(args);
    return NULL;
}

/* Finds a plug-in next to the program, or installed. */
static bool
find_plugin(const char *name, char *path)
{
    char program[PEERS_PATH];
    ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (size > 0) {
        program[size] = '\0';
        *strrchr(program, '/') = '\0';
        size = snprintf(path, PEERS_PATH, "%s/peers/%s.so", program, name);
        if (size < PEERS_PATH && access(path, F_OK) == 0) {
            return true;
        }
    }
    size = snprintf(path, PEERS_PATH, "%s/%s.so", LAWN_PEERS_DIR, name);
    return size < PEERS_PATH && access(path, F_OK) == 0;
}

/* Returns the contender of that name in a plug-in, or NULL: its only contender,
 * or one of its hosts. */
static const struct contender *
find_contender(void *handle, const struct peers_known *peer)
{
    const struct host *const *hosts = NULL;

    if (peer->part != PART_HOSTS) {
        return dlsym(handle, PEERS_TEXT(CONTENDER_PLUGIN));
    }
    hosts = dlsym(handle, PEERS_TEXT(HOST_PLUGIN));
    while (hosts != NULL && *hosts != NULL &&
           strcmp((*hosts)->face.name, peer->name) != 0) {
        hosts++;
    }
    return hosts != NULL && *hosts != NULL ? &(*hosts)->face : NULL;
}

/* Returns the contender. On failure, returns NULL and writes the reason to
 * `why`. */
static const struct contender *
load_one(const struct peers_known *peer, char *why)
{
    char path[PEERS_PATH];

    if (!find_plugin(peer->file, path)) {
        return refuse(why,
                      "not built, or not next to this program; in the sources, "
                      "with %s installed, run: tools/deps bench; make",
                      peer->package);
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *fault = dlerror();
        return refuse(why, "cannot be loaded: %s",
                      fault == NULL ? path : fault);
    }
    const struct contender *contender = find_contender(handle, peer);
    if (contender == NULL) {
        return refuse(why, "%s is not a plug-in", path);
    }
    if (contender->abi != CONTENDER_ABI) {
        return refuse(
            why, "%s has interface version %u, not %u; rebuild it with make",
            path, contender->abi, CONTENDER_ABI);
    }
    if (contender->name == NULL || strcmp(contender->name, peer->name) != 0 ||
        contender_part_of(contender) != peer->part) {
        return refuse(why, "%s is the plug-in of another contender", path);
    }
    const char *fault =
        contender->unusable == NULL ? NULL : contender->unusable();
    if (fault != NULL) {
        return refuse(why, "%s", fault);
    }
    return contender;
}

size_t
peers_load(const struct contender **into, size_t room,
           struct contenders_missing *missing, size_t *missing_count)
{
    size_t count = 0;

    *missing_count = 0;
    for (size_t i = 0; i < PEERS_MAX && count < room; i++) {
        const struct contender *contender =
            load_one(&peers_known[i], peers_whys[i]);

        if (contender != NULL) {
            into[count++] = contender;
        } else {
            missing[*missing_count].name = peers_known[i].name;
            missing[*missing_count].why = peers_whys[i];
            missing[*missing_count].part = peers_known[i].part;
            ++*missing_count;
        }
    }
    return count;
}
