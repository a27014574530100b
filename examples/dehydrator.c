/* dehydrator.c - delays events, each by its own time, and emits them in the
 * order of their deadlines.
 *
 * Reads lines "delay id payload" from the file given as argument (- for
 * standard input); without an argument it uses built-in sample lines. Each line
 * is one tick later than the previous one, so the program never sleeps. With a
 * real clock, wait for lawn_store_next(), as wait.c does. An id that occurs
 * again before its event was emitted replaces that event: only the last event
 * of a burst is emitted.
 */
#define _POSIX_C_SOURCE 200809L /* NOLINT(bugprone-reserved-identifier) */
#include <lawn_store.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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

/* Returns false if the line is invalid. */
static bool
dehydrate(struct lawn_store *store, const char *line)
{
    char *end = NULL;
    unsigned long long delay = strtoull(line, &end, 10);
    const char *id = end + strspn(end, " ");
    size_t id_size = strcspn(id, " ");
    const char *payload = id + id_size + strspn(id + id_size, " ");

    /* strtoull() accepts -1, and returns ULLONG_MAX for numbers that are too
     * large. */
    return isdigit((unsigned char)*line) && delay < LAWN_NEVER && id > end &&
           id_size > 0 &&
           lawn_store_start(store, id, id_size, delay, payload, strlen(payload),
                            0) == 0;
}

int
main(int argc, char **argv)
{
    struct lawn_store *store = lawn_store_new(NULL);
    FILE *in = argc < 2 ? fmemopen(sample, sizeof(sample) - 1, "r")
               : strcmp(argv[1], "-") == 0 ? stdin
                                           : fopen(argv[1], "r");
    char *line = NULL;
    size_t size = 0;
    int status = 0;

    if (store == NULL || in == NULL) {
        perror(argc > 1 ? argv[1] : argv[0]);
        return 1;
    }
    while (getline(&line, &size, in) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        if (!dehydrate(store, line)) {
            (void)fprintf(stderr, "not \"delay id payload\": %s\n", line);
        }
        (void)lawn_store_mow(store, lawn_store_now(store) + 1, SIZE_MAX,
                             rehydrate, NULL);
    }
    if (ferror(in)) {
        perror(argc > 1 ? argv[1] : argv[0]);
        status = 1;
    }
    while (lawn_store_count(store) > 0) { /* emit the remaining events */
        (void)lawn_store_mow(store, lawn_store_next(store), SIZE_MAX, rehydrate,
                             NULL);
    }
    free(line);
    (void)fclose(in);
    lawn_store_free(store);
    return status;
}

/* prints:
 * 5 door: locked
 * 8 mail:7: your parcel has left
 * 10 lamp: off after all
 * 22 mail:9: how was it?
 */
