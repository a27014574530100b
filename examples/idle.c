/* idle.c - a server that closes connections that are idle for too long.
 *
 *     idle [CLIENTS]
 *
 * Each connection has one timer, which every message restarts. A restart moves
 * the timer to the end of the queue of its TTL and makes no system call, so it
 * is cheap enough for every message. The clients are in the same process: one
 * half sends messages for a while and disconnects, the other half sends
 * nothing.
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include <lawn_loop.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define IDLE (300 * LAWN_LOOP_MS)
#define PAUSE (20 * LAWN_LOOP_MS) /* between the messages of a client */
#define WORDS 20
#define MOST 4000

struct connection {
    struct lawn_loop_watcher watch;
    struct lawn_loop_timer idle;
};

static struct lawn_loop_watcher door;
static int listener;
static struct {
    int fd, words;
} clients[MOST];
static long many, here, accepted, heard, left, idle;

static void
need(bool it, const char *what)
{
    if (!it) {
        perror(what);
        exit(1);
    }
}

/* The same for functions that return a negative error. */
static void
did(int result, const char *what)
{
    errno = result < 0 ? -result : 0;
    need(result >= 0, what);
}

static void
hang_up(struct lawn_loop *loop, struct connection *c)
{
    (void)lawn_loop_stop(loop, &c->idle);
    lawn_loop_unwatch(loop, &c->watch);
    (void)close(c->watch.fd);
    free(c);
}

static void
on_idle(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct connection *c = LAWN_CONTAINER(timer, struct connection, idle);
    char byte = 0;

    /* Data may have arrived while the program was busy. It is read in the next
     * round, which restarts the timer. */
    if (recv(c->watch.fd, &byte, 1, MSG_PEEK) < 0) {
        idle++;
        hang_up(loop, c);
    }
}

static void
hear(struct lawn_loop_watcher *watch, unsigned ready, struct lawn_loop *loop)
{
    struct connection *c = LAWN_CONTAINER(watch, struct connection, watch);
    char data[512];
    ssize_t n = read(c->watch.fd, data, sizeof(data));

    (void)ready;
    if (n > 0) {
        lawn_loop_start(loop, &c->idle, IDLE);
        while (n-- > 0) {
            heard += data[n] == '\n';
        }
    } else if (n == 0 || errno != EAGAIN) {
        left++;
        hang_up(loop, c);
    }
}

static void
open_door(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    (void)timer;
    did(lawn_loop_watch(loop, &door, listener, LAWN_LOOP_READ),
        "lawn_loop_watch");
}

static void
welcome(struct lawn_loop_watcher *watch, unsigned ready, struct lawn_loop *loop)
{
    static struct lawn_loop_timer later = {.fire = open_door};
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct connection *c = fd < 0 ? NULL : calloc(1, sizeof(*c));

    (void)ready;
    if (fd < 0 && (errno == EAGAIN || errno == ECONNABORTED)) {
        return; /* the client has disconnected */
    }
    if (c == NULL) { /* out of resources: the listener would remain ready */
        (void)(fd < 0 ? 0 : close(fd));
        lawn_loop_unwatch(loop, watch);
        lawn_loop_start(loop, &later, 100 * LAWN_LOOP_MS);
        return;
    }
    c->watch.ready = hear;
    c->idle.fire = on_idle;
    did(lawn_loop_watch(loop, &c->watch, fd, LAWN_LOOP_READ),
        "lawn_loop_watch");
    lawn_loop_start(loop, &c->idle, IDLE);
    if (++accepted == many) { /* a real server would continue */
        lawn_loop_unwatch(loop, watch);
    }
}

/* Every other client sends a message, or disconnects after the last one. */
static void
speak(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    static long silent;

    for (long i = 0; i < here; i += 2) {
        if (clients[i].words < WORDS) {
            clients[i].words++;
            need(send(clients[i].fd, "hello\n", 6, MSG_NOSIGNAL) == 6, "send");
        } else if (clients[i].words++ == WORDS) {
            (void)close(clients[i].fd);
            silent++;
        }
    }
    if (silent == (many + 1) / 2) {
        (void)lawn_loop_stop(loop, timer);
    }
}

static void
come_in(struct lawn_loop *loop)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    struct sockaddr *at = (struct sockaddr *)&address;
    socklen_t size = sizeof(address);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    need(listener >= 0 && bind(listener, at, size) == 0 &&
             listen(listener, SOMAXCONN) == 0 &&
             getsockname(listener, at, &size) == 0,
         "cannot listen");
    door.ready = welcome;
    open_door(NULL, loop);
    for (here = 0; here < many; here++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        need(fd >= 0 && connect(fd, at, size) == 0, "connect");
        clients[here].fd = fd;
        did(lawn_loop_once(loop, false), "lawn_loop_once");
    }
}

int
main(int argc, char **argv)
{
    struct lawn_loop_timer pause = {.fire = speak};
    struct lawn_loop *loop = lawn_loop_new(NULL);
    long dismissed = 0;
    char *end = "";

    need(loop != NULL, "lawn_loop_new");
    many = argc > 1 ? strtol(argv[1], &end, 10) : 10;
    if (many < 1 || many > MOST || *end != '\0' || argc > 2) {
        (void)fprintf(stderr,
                      "clients: \"%s\" is not a number from 1 to %d\n"
                      "usage: idle [CLIENTS]\n",
                      argv[1], MOST);
        lawn_loop_free(loop);
        return 2;
    }
    lawn_loop_every(loop, &pause, PAUSE, LAWN_LOOP_SKIP);
    come_in(loop);
    /* Returns when the last connection is closed: nothing is left to wait
     * for. */
    did(lawn_loop_run(loop), "lawn_loop_run");
    char byte = 0;
    for (long i = 1; i < many; i += 2) {
        dismissed += recv(clients[i].fd, &byte, 1, 0) == 0;
        (void)close(clients[i].fd);
    }
    printf("%ld connections: %ld left, %ld idle\n", accepted, left, idle);
    printf("%ld words were heard, %ld clients dismissed\n", heard, dismissed);
    lawn_loop_free(loop);
    (void)close(listener);
    return 0;
}

/* prints:
 * 10 connections: 5 left, 5 idle
 * 100 words were heard, 5 clients dismissed
 */
