/* uringhost.c - an io_uring with a timeout in flight for each timer, and with
 * lawn's timers. The kernel finds a timeout to move or remove by walking a list
 * of all. */
#include "peer.h"

#include "../hosts/adapted.h"

#include <errno.h>
#include <lawn_uring.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ENTRIES 1024u

struct uringhost {
    struct adapted adapted;
    struct io_uring ring;
    bool over;
};

/* A node: its time, which the kernel reads at submission. */
struct uringnode {
    struct __kernel_timespec when;
    bool running;
};

static const char *
unusable(void)
{
    struct io_uring ring;
    int error = io_uring_queue_init(ENTRIES, &ring, 0);

    if (error != 0) {
        static char why[128];
        (void)snprintf(why, sizeof(why), "io_uring_queue_init(): %s",
                       strerror(-error));
        return why;
    }
    io_uring_queue_exit(&ring);
    return NULL;
}

static void *
make_own(const struct contender_setup *setup)
{
    struct uringhost *host = calloc(1, sizeof(*host));

    (void)setup;
    if (host == NULL || io_uring_queue_init(ENTRIES, &host->ring, 0) != 0) {
        free(host);
        return NULL;
    }
    return host;
}

static void
free_host(void *self)
{
    struct uringhost *host = self;

    lawn_uring_free(host->adapted.loop);
    io_uring_queue_exit(&host->ring);
    free(host);
}

static void *
make_adapted(const struct contender_setup *setup)
{
    struct uringhost *host = make_own(setup);

    if (host != NULL) {
        host->adapted.loop = lawn_uring_new(&host->ring, NULL);
    }
    return adapted_made(host, free_host);
}

static struct io_uring_sqe *
get_sqe(struct uringhost *host)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&host->ring);

    while (sqe == NULL) {
        (void)io_uring_submit(&host->ring);
        sqe = io_uring_get_sqe(&host->ring);
    }
    return sqe;
}

static void
start_own(void *self, struct object *object, uint64_t ttl)
{
    struct uringhost *host = self;
    struct uringnode *node = (void *)object->node;
    struct io_uring_sqe *sqe = get_sqe(host);
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    ttl += (uint64_t)now.tv_nsec;
    node->when.tv_sec = now.tv_sec + (int64_t)(ttl / 1000000000);
    node->when.tv_nsec = (long long)(ttl % 1000000000);
    if (node->running) {
        io_uring_prep_timeout_update(sqe, &node->when, (uintptr_t)object,
                                     IORING_TIMEOUT_ABS);
        sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
        io_uring_sqe_set_data64(sqe, 0);
    } else {
        io_uring_prep_timeout(sqe, &node->when, 0, IORING_TIMEOUT_ABS);
        io_uring_sqe_set_data64(sqe, (uintptr_t)object);
        node->running = true;
    }
}

/* A timer must not be reused before the kernel has reported its removal: the
 * benchmark first uses hundreds of others, and runs a round. */
static bool
stop_own(void *self, struct object *object)
{
    struct uringhost *host = self;
    struct uringnode *node = (void *)object->node;

    if (!node->running) {
        return false;
    }
    node->running = false;
    struct io_uring_sqe *sqe = get_sqe(host);
    io_uring_prep_timeout_remove(sqe, (uintptr_t)object, 0);
    sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
    io_uring_sqe_set_data64(sqe, 0);
    return true;
}

static void
handle(struct uringhost *host, const struct io_uring_cqe *cqe)
{
    struct object *object = (void *)(uintptr_t)cqe->user_data;

    if (host->adapted.loop != NULL) {
        (void)lawn_uring_handle(host->adapted.loop, cqe);
        return;
    }
    if (object == NULL || cqe->res != -ETIME) {
        return;
    }
    struct uringnode *node = (void *)object->node;
    node->running = false;
    host->adapted.self.fire(object, host->adapted.self.arg);
}

static void
reap(struct uringhost *host)
{
    struct io_uring_cqe *cqe = NULL;

    while (!host->over && io_uring_peek_cqe(&host->ring, &cqe) == 0) {
        struct io_uring_cqe copy = *cqe;

        io_uring_cqe_seen(&host->ring, cqe);
        handle(host, &copy);
    }
}

static void
turn(void *self)
{
    struct uringhost *host = self;

    host->over = false;
    (void)io_uring_submit(&host->ring);
    reap(host);
}

static void
serve(void *self)
{
    struct uringhost *host = self;

    for (host->over = false; !host->over;) {
        (void)io_uring_submit_and_wait(&host->ring, 1);
        reap(host);
    }
}

static void
quit(void *self)
{
    ((struct uringhost *)self)->over = true;
}

static const struct host own = {
    .face = {.abi = CONTENDER_ABI,
             .name = "uring",
             .title = "io_uring",
             .about = "An IORING_OP_TIMEOUT in flight for each timer; the "
                      "kernel walks a list to move or remove one.",
             .kind = CONTENDER_PEER,
             .flags = CONTENDER_HOST | CONTENDER_EXACT,
             .node = sizeof(struct uringnode),
             .unusable = unusable,
             .make = make_own,
             .free = free_host,
             .start = start_own,
             .stop = stop_own},
    .adapted = "uring+lawn",
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

static const struct host adapted = {
    .face = {ADAPTED_FACE, .name = "uring+lawn", .title = "Lawn in an io_uring",
             .about = "lawn_uring.h.", .unusable = unusable,
             .make = make_adapted, .free = free_host},
    .turn = turn,
    .serve = serve,
    .quit = quit,
};

const struct host *const HOST_PLUGIN[] = {&own, &adapted, NULL};
