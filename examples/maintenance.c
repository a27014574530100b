/* maintenance.c - a lock service that pauses all leases during maintenance.
 *
 * A lease ends unless its holder renews it in time. During maintenance, holders
 * cannot reach the service. If leases continued to run, all of them would end.
 * So each class of leases is paused. Afterward, each lease has as much time
 * left as before, plus the time that holders need to reconnect. The cost does
 * not depend on the number of leases. The clock is simulated, in seconds.
 */
#include <lawn_class.h>

#define RECONNECT 5u

struct lock_lease {
    struct lawn_timer timer;
    const char *holder, *lock;
    struct lawn_class *cls; /* leases on databases last longer than others */
};

static void
end_lease(struct lawn_timer *timer, void *arg)
{
    const struct lock_lease *lease =
        LAWN_CONTAINER(timer, struct lock_lease, timer);

    printf("%3d s: %s has lost %s\n", (int)*(uint64_t *)arg, lease->holder,
           lease->lock);
}

/* Grants or renews a lease. */
static void
grant(struct lock_lease *lease)
{
    lawn_class_start(lease->cls, &lease->timer);
}

static void
begin_maintenance(const struct lawn *lawn)
{
    struct lawn_class *cls = NULL;

    while ((cls = lawn_class_each(lawn, cls)) != NULL) {
        lawn_class_pause(cls);
    }
}

static void
end_maintenance(const struct lawn *lawn)
{
    struct lawn_class *cls = NULL;

    while ((cls = lawn_class_each(lawn, cls)) != NULL) {
        lawn_class_resume(cls);
        lawn_class_postpone(cls, RECONNECT);
    }
}

static void
show(const struct lawn *lawn)
{
    struct lawn_class *cls = NULL;

    while ((cls = lawn_class_each(lawn, cls)) != NULL) {
        struct lawn_class_counters stats;

        lawn_class_stats(cls, &stats);
        printf("       %s: %d leases, the first ends at %d s\n", stats.name,
               (int)stats.count, (int)stats.next);
    }
}

int
main(void)
{
    struct lawn_options options = {.classes = 2};
    struct lawn *lawn = lawn_new(&options);

    if (lawn == NULL) {
        perror("maintenance");
        return 1;
    }
    struct lawn_class *files = lawn_class_new(lawn, 30, "files");
    struct lawn_class *databases = lawn_class_new(lawn, 60, "databases");
    struct lock_lease ada = {.holder = "ada", .lock = "a.txt", .cls = files};
    struct lock_lease bob = {.holder = "bob", .lock = "b.txt", .cls = files};
    struct lock_lease cid = {
        .holder = "cid", .lock = "orders", .cls = databases};
    for (uint64_t now = 1; now <= 500; now++) {
        bool reachable = now < 100 || now >= 400;

        (void)lawn_mow(lawn, now, SIZE_MAX, end_lease, &now);
        if (now == 100) {
            printf("%3d s: maintenance begins\n", (int)now);
            begin_maintenance(lawn);
        } else if (now == 400) {
            printf("%3d s: maintenance ends\n", (int)now);
            end_maintenance(lawn);
            show(lawn);
        }
        /* bob and cid fail before the maintenance. */
        if (reachable && now % 20 == 10) {
            grant(&ada);
        }
        if (now % 20 == 15 && now < 95) {
            grant(&bob);
        }
        if (now == 30 || now == 80) {
            grant(&cid);
        }
    }
    printf("ada has %s\n", lawn_pending(&ada.timer) ? ada.lock : "nothing");
    (void)lawn_class_stop(files, &ada.timer);
    lawn_free(lawn);
    return 0;
}

/* prints:
 * 100 s: maintenance begins
 * 400 s: maintenance ends
 *        files: 2 leases, the first ends at 410 s
 *        databases: 1 leases, the first ends at 445 s
 * 410 s: bob has lost b.txt
 * 445 s: cid has lost orders
 * ada has a.txt
 */
