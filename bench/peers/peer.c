/* peer.c - the simulated clock, and how libraries are made to read it. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include "peer.h"

#include <elf.h>
#include <link.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>

struct timespec peer_clock;

static int
still_clock_gettime(clockid_t id, struct timespec *out)
{
    (void)id;
    *out = peer_clock;
    return 0;
}

static int
still_gettimeofday(struct timeval *out, void *zone)
{
    (void)zone;
    out->tv_sec = peer_clock.tv_sec;
    out->tv_usec = peer_clock.tv_nsec / 1000;
    return 0;
}

static time_t
still_time(time_t *out)
{
    if (out != NULL) {
        *out = peer_clock.tv_sec;
    }
    return peer_clock.tv_sec;
}

static int
no_epoll(int fd, struct epoll_event *events, int room, int ms)
{
    (void)fd;
    (void)events;
    (void)room;
    (void)ms;
    return 0;
}

static int
no_epoll_pwait(int fd, struct epoll_event *events, int room, int ms,
               const sigset_t *mask)
{
    (void)mask;
    return no_epoll(fd, events, room, ms);
}

static int
no_poll(struct pollfd *fds, nfds_t count, int ms)
{
    (void)ms;
    for (nfds_t i = 0; i < count; i++) {
        fds[i].revents = 0;
    }
    return 0;
}

const char *
peer_take_clock(const char *library)
{
    static const struct peer_patch clock[] = {
        {"clock_gettime", (peer_fn *)still_clock_gettime},
    };
    static const struct peer_patch rest[] = {
        {"gettimeofday", (peer_fn *)still_gettimeofday},
        {"time", (peer_fn *)still_time},
        {"epoll_wait", (peer_fn *)no_epoll},
        {"epoll_pwait", (peer_fn *)no_epoll_pwait},
        {"poll", (peer_fn *)no_poll},
    };

    if (peer_apply(library, clock, 1) == 0) {
        return "cannot replace its calls of clock_gettime()";
    }
    (void)peer_apply(library, rest, sizeof(rest) / sizeof(*rest));
    return NULL;
}

void
peer_give_clock(const char *library)
{
    static const struct peer_patch real[] = {
        {"clock_gettime", (peer_fn *)clock_gettime},
        {"gettimeofday", (peer_fn *)gettimeofday},
        {"time", (peer_fn *)time},
        {"epoll_wait", (peer_fn *)epoll_wait},
        {"epoll_pwait", (peer_fn *)epoll_pwait},
        {"poll", (peer_fn *)poll},
    };

    (void)peer_apply(library, real, sizeof(real) / sizeof(*real));
}

/* A search in the loaded objects. */
struct search {
    const char *library;
    void (*act)(const struct dl_phdr_info *info, void *arg);
    void *arg;
};

static int
search_step(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct search *search = arg;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash == NULL ? info->dlpi_name : slash + 1;

    (void)size;
    if (strncmp(name, search->library, strlen(search->library)) == 0) {
        search->act(info, search->arg);
    }
    return 0;
}

bool
peer_protect(void *start, size_t size, unsigned flags)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)start & ~(page - 1);
    uintptr_t to = ((uintptr_t)start + size + page - 1) & ~(page - 1);

    return mprotect((void *)from, to - from,
                    (flags & PF_R ? PROT_READ : 0) |
                        (flags & PF_W ? PROT_WRITE : 0) |
                        (flags & PF_X ? PROT_EXEC : 0)) == 0;
}

struct segments {
    unsigned flags;
    void (*act)(char *start, size_t size, void *arg);
    void *arg;
};

static void
segments_step(const struct dl_phdr_info *info, void *arg)
{
    const struct segments *segments = arg;

    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type == PT_LOAD &&
            (part->p_flags & segments->flags) == segments->flags) {
            segments->act((char *)(info->dlpi_addr + part->p_vaddr),
                          part->p_memsz, segments->arg);
        }
    }
}

void
peer_segments(const char *library, unsigned flags,
              void (*act)(char *start, size_t size, void *arg), void *arg)
{
    struct segments segments = {flags, act, arg};
    struct search search = {library, segments_step, &segments};

    (void)dl_iterate_phdr(search_step, &search);
}

/* The contents of a library's dynamic section. The loader of glibc has
 * converted its offsets to addresses. */
struct table {
    const ElfW(Sym) * symbols;
    const char *strings;
    const char *calls; /* relocations of called functions */
    size_t calls_size;
    const char *others; /* all other relocations */
    size_t others_size;
    size_t call_size; /* bytes of one relocation */
    size_t other_size;
};

static void
table_read(struct table *table, const ElfW(Dyn) * entry)
{
    *table = (struct table){.call_size = sizeof(ElfW(Rela)),
                            .other_size = sizeof(ElfW(Rela))};
    for (; entry->d_tag != DT_NULL; entry++) {
        size_t value = entry->d_un.d_val;
        const void *address = (const void *)entry->d_un.d_ptr;

        switch (entry->d_tag) {
        case DT_SYMTAB:
            table->symbols = address;
            break;
        case DT_STRTAB:
            table->strings = address;
            break;
        case DT_JMPREL:
            table->calls = address;
            break;
        case DT_PLTRELSZ:
            table->calls_size = value;
            break;
        case DT_PLTREL:
            if (value == DT_REL) {
                table->call_size = sizeof(ElfW(Rel));
            }
            break;
        case DT_REL:
            table->other_size = sizeof(ElfW(Rel));
            table->others = address;
            break;
        case DT_RELA:
            table->others = address;
            break;
        case DT_RELSZ:
        case DT_RELASZ:
            table->others_size = value;
            break;
        default:
            break;
        }
    }
}

struct patching {
    const struct peer_patch *patches;
    size_t count;
    size_t done;
};

#if UINTPTR_MAX > 0xFFFFFFFF
#define RELOCATION_SYMBOL(info) ELF64_R_SYM(info)
#else
#define RELOCATION_SYMBOL(info) ELF32_R_SYM(info)
#endif

static void
patch_relocations(struct patching *patching, const struct table *table,
                  const struct dl_phdr_info *info, const char *from,
                  size_t size, size_t step)
{
    for (size_t at = 0; from != NULL && at + step <= size; at += step) {
        /* A Rela begins like a Rel. */
        const ElfW(Rel) *entry = (const void *)(from + at);
        const ElfW(Sym) *symbol =
            &table->symbols[RELOCATION_SYMBOL(entry->r_info)];
        void *slot = (void *)(info->dlpi_addr + entry->r_offset);

        if (symbol->st_name == 0) {
            continue;
        }
        for (size_t i = 0; i < patching->count; i++) {
            const struct peer_patch *patch = &patching->patches[i];

            if (strcmp(table->strings + symbol->st_name, patch->name) != 0) {
                continue;
            }
            /* It remains writable: other data in its page may have to be. */
            if (!peer_protect(slot, sizeof(void *), PF_R | PF_W)) {
                continue;
            }
            memcpy(slot, &patch->instead, sizeof(void *));
            patching->done++;
        }
    }
}

static void
patch_step(const struct dl_phdr_info *info, void *arg)
{
    struct table table;

    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];

        if (part->p_type != PT_DYNAMIC) {
            continue;
        }
        table_read(&table, (const void *)(info->dlpi_addr + part->p_vaddr));
        if (table.symbols == NULL || table.strings == NULL) {
            continue;
        }
        patch_relocations(arg, &table, info, table.calls, table.calls_size,
                          table.call_size);
        patch_relocations(arg, &table, info, table.others, table.others_size,
                          table.other_size);
    }
}

size_t
peer_apply(const char *library, const struct peer_patch *patches, size_t count)
{
    struct patching patching = {patches, count, 0};
    struct search search = {library, patch_step, &patching};

    (void)dl_iterate_phdr(search_step, &search);
    return patching.done;
}
