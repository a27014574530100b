/* machine.c - describes the machine and the build. On systems other than Linux
 * most values are unknown. */
#include "machine.h"
#include "build.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MACHINE_CACHE "/sys/devices/system/cpu/cpu0/cache/index%u/%s"
#define MACHINE_PAGES "/sys/kernel/mm/transparent_hugepage/enabled"

/* Finds the first line that begins with the key, and copies the text after the
 * given character. Returns false if there is none. */
static bool
find_value(const char *path, const char *key, char from, char *out, size_t size)
{
    FILE *file = fopen(path, "r");
    bool found = false;

    if (file == NULL) {
        return false;
    }
    char line[512];
    while (!found && fgets(line, sizeof(line), file) != NULL) {
        char *value = strchr(line, from);

        if (strncmp(line, key, strlen(key)) != 0 || value == NULL) {
            continue;
        }
        value += 1 + strspn(value + 1, " \t\"");
        value[strcspn(value, "\n\"")] = '\0';
        snprintf(out, size, "%s", value);
        found = true;
    }
    fclose(file);
    return found;
}

/* Reads a word from a file of sysfs. */
static bool
read_word(const char *path, char *word, size_t size)
{
    FILE *file = fopen(path, "r");
    bool read = file != NULL && fgets(word, (int)size, file) != NULL;

    if (read) {
        word[strcspn(word, "\n")] = '\0';
    }
    if (file != NULL) {
        fclose(file);
    }
    return read;
}

static void
read_caches(struct machine *machine)
{
    for (unsigned i = 0; i < 8; i++) {
        char path[128];
        unsigned long kib = 0;

        snprintf(path, sizeof(path), MACHINE_CACHE, i, "level");
        char level[16];
        if (!read_word(path, level, sizeof(level))) {
            return;
        }
        snprintf(path, sizeof(path), MACHINE_CACHE, i, "type");
        char type[16];
        if (!read_word(path, type, sizeof(type)) || type[0] == 'I') {
            continue;
        }
        snprintf(path, sizeof(path), MACHINE_CACHE, i, "size");
        char size[16];
        if (!read_word(path, size, sizeof(size)) ||
            sscanf(size, "%luK", &kib) != 1) {
            continue;
        }
        *(level[0] == '1'   ? &machine->l1d
          : level[0] == '2' ? &machine->l2
                            : &machine->l3) = kib * UINT64_C(1024);
    }
}

void
machine_read(struct machine *machine)
{
    long pages = sysconf(_SC_PHYS_PAGES);

    memset(machine, 0, sizeof(*machine));
    if (!find_value("/proc/cpuinfo", "model name", ':', machine->cpu,
                    sizeof(machine->cpu))) {
        snprintf(machine->cpu, sizeof(machine->cpu), "unknown");
    }
    if (!find_value("/etc/os-release", "PRETTY_NAME", '=', machine->system,
                    sizeof(machine->system))) {
        snprintf(machine->system, sizeof(machine->system), "unknown");
    }
    machine->cores = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    machine->memory =
        pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    read_caches(machine);
    struct utsname name;
    if (uname(&name) == 0) {
        snprintf(machine->kernel, sizeof(machine->kernel), "%.60s %.60s",
                 name.sysname, name.release);
    }
    if (find_value(MACHINE_PAGES, "", '[', machine->hugepages,
                   sizeof(machine->hugepages))) {
        char *chosen = strchr(machine->hugepages, ']');
        if (chosen != NULL) {
            *chosen = '\0';
        }
    }
    machine->compiler = BUILD_COMPILER;
    machine->flags = BUILD_FLAGS;
    machine->commit = BUILD_COMMIT;
}
