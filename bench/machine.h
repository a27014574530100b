/* machine.h - the machine and the build that were measured. */
#ifndef LAWN_BENCH_MACHINE_H
#define LAWN_BENCH_MACHINE_H

#include <stdint.h>

struct machine {
    char cpu[128];
    unsigned cores;
    uint64_t l1d; /* bytes; 0: unknown, here and below */
    uint64_t l2;
    uint64_t l3;
    uint64_t memory;
    char kernel[128];
    char system[128];
    char hugepages[32]; /* the setting of transparent huge pages */
    const char *compiler;
    const char *flags;
    const char *commit;
};

void machine_read(struct machine *machine);

#endif
