/* dehydrator.c - holds events back, each for its own time, then lets them go in
 * the order in which they are due.
 *
 * Reads lines "delay id payload" from its input if it has an argument; else it
 * has a few of its own. Each line is a tick later than the one before, so
 * nothing here sleeps: on a real clock, wait for lawn_store_next(), as wait.c
 * does. An id that comes again before it was let go replaces the one before: of
 * a burst of events only the last is seen.
 */
#define _POSIX_C_SOURCE 200809L /* NOLINT(bugprone-reserved-identifier) */
#include <lawn_store.h>

#include <string.h>

#define LINE 1024

static char sample[] = "8 mail:7 your parcel has left\n"
                       "3 lamp off\n"
                       "20 mail:9 how was it?\n"
                       "5 lamp dimmed\n"
                       "1 door locked\n"
                       "5 lamp off after all\n";

static void
rehydrate(const struct lawn_store_timer *timer, void *arg)
{
    (void)arg;
    printf("%llu %.*s: %.*s\n", (unsigned long long)timer->deadline,
           (int)timer->id_size, (const char *)timer->id,
           (int)timer->payload_size, (const char *)timer->payload);
}

/* False: the line is not as it should be. */
static bool
dehydrate(struct lawn_store *store, const char *line)
{
    unsigned long long delay;
    char id[LINE];
    int end = 0;

    if (sscanf(line, "%llu %1023s %n", &delay, id, &end) < 2) {
        return false;
    }
    return lawn_store_start(store, id, strlen(id), delay, line + end,
                            strcspn(line + end, "\n"), 0) == 0;
}

int
main(int argc, char **argv)
{
    FILE *in = argc > 1 ? stdin : fmemopen(sample, sizeof sample - 1, "r");
    struct lawn_store *store = lawn_store_new(NULL);
    char line[LINE];

    (void)argv;
    if (store == NULL || in == NULL) {
        return 1;
    }
    while (fgets(line, sizeof line, in) != NULL) {
        if (!dehydrate(store, line)) {
            (void)fprintf(stderr, "not \"delay id payload\": %s", line);
        }
        (void)lawn_store_mow(store, lawn_store_now(store) + 1, SIZE_MAX,
                             rehydrate, NULL);
    }
    while (lawn_store_count(store) > 0) { /* all that is left, in due time */
        (void)lawn_store_mow(store, lawn_store_next(store), SIZE_MAX, rehydrate,
                             NULL);
    }
    (void)fclose(in);
    lawn_store_free(store);
    return 0;
}

/* prints:
 * 5 door: locked
 * 8 mail:7: your parcel has left
 * 10 lamp: off after all
 * 22 mail:9: how was it?
 */
