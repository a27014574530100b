/* placed.c - a lawn in caller-owned memory: no heap, 11 KiB.
 *
 * For embedded systems, shared memory and arenas. Fewer blades and a smaller
 * index save memory. The example debounces a button.
 */
#include <lawn.h>

#define PRESSES 5

static unsigned char memory[12 * 1024];

static void
settled(struct lawn_timer *timer, void *arg)
{
    (void)timer;
    printf("the button has been still for 20 ms, at %llu ms\n",
           (unsigned long long)*(uint64_t *)arg);
}

int
main(void)
{
    static const uint64_t presses[PRESSES] = {3, 5, 9, 100, 103};
    struct lawn_options options = {.blades = 8, .slot_bits = 4};
    struct lawn *lawn = lawn_place(memory, sizeof(memory), &options);
    struct lawn_timer quiet = {0};
    unsigned next = 0;

    if (lawn == NULL) {
        printf("a lawn needs %zu bytes\n", lawn_size(&options));
        return 1;
    }
    uint64_t now = 0;
    for (now = 1; now <= 150; now++) {
        /* Advance the clock first: TTLs of new timers count from there. */
        (void)lawn_mow(lawn, now, SIZE_MAX, settled, &now);
        if (next < PRESSES && presses[next] == now) {
            next++;
            lawn_start(lawn, &quiet, 20);
        }
    }
    lawn_free(lawn);
    return 0;
}

/* prints:
 * the button has been still for 20 ms, at 29 ms
 * the button has been still for 20 ms, at 123 ms
 */
