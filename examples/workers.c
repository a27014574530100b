/* workers.c - deadlines of requests, managed by two threads of the library.
 *
 * Any thread may start and stop the timers; here main does. It reads a request
 * after the workers have ended, and frees one after lawn_workers_stop_sync()
 * has ensured that no worker uses it.
 */
#include <lawn_workers.h>

#include <stdlib.h>

#define SECOND UINT64_C(1000000000)

struct request {
    struct lawn_workers_timer deadline;
    bool late;
};

static void
give_up(struct lawn_workers_timer *timer, struct lawn_worker *worker)
{
    (void)worker;
    LAWN_CONTAINER(timer, struct request, deadline)->late = true;
}

int
main(void)
{
    struct request *dropped = calloc(1, sizeof(*dropped));
    struct request answered = {.deadline.fire = give_up}, lost = answered;
    struct lawn_workers *set = lawn_workers_new(NULL);

    if (dropped == NULL || set == NULL || lawn_workers_add(set) < 0 ||
        lawn_workers_add(set) < 0) {
        free(dropped);
        return 1;
    }
    dropped->deadline.fire = give_up;
    (void)lawn_workers_start(set, &answered.deadline, 3600 * SECOND);
    (void)lawn_workers_start(set, &dropped->deadline, 3600 * SECOND);
    (void)lawn_workers_start(set, &lost.deadline, 3600 * SECOND);
    (void)lawn_workers_start(set, &lost.deadline, SECOND / 100); /* sooner */

    printf("one is answered%s\n",
           lawn_workers_stop(set, &answered.deadline) ? " in time" : "");
    if (lawn_workers_stop_sync(set, &dropped->deadline)) {
        printf("one is not needed any more\n");
    }
    free(dropped);
    /* Waits until the last timer has fired. */
    (void)lawn_workers_close(set, LAWN_NEVER, NULL, NULL);
    printf("one is %s\n", lost.late && !answered.late ? "late" : "forgotten");
    lawn_workers_free(set);
    return 0;
}

/* prints:
 * one is answered in time
 * one is not needed any more
 * one is late
 */
