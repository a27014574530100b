/* loopback.h - a socket that listens, and clients to try the servers here with:
 * the first talks for 600 ms, the second is silent, the third leaves.
 */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <lawn_loop.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#define LOOPBACK_CLIENTS 3

/* A socket that listens on a port, or on any if that is 0; or -1. */
static int
loopback_listen(int port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr = {htonl(INADDR_LOOPBACK)},
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    return bind(fd, (const void *)&address, sizeof address) == 0 &&
                   listen(fd, 128) == 0
               ? fd
               : -1;
}

struct loopback_talker {
    struct lawn_loop_timer timer;
    unsigned lines;
    int fd;
};

static void
loopback_talk(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct loopback_talker *talker =
        LAWN_CONTAINER(timer, struct loopback_talker, timer);

    (void)send(talker->fd, "hello\n", 6, MSG_NOSIGNAL);
    if (++talker->lines == 12) {
        (void)lawn_loop_stop(loop, timer);
    }
}

/* Connects the clients, which the system accepts before the server does. */
static bool
loopback_clients(struct lawn_loop *loop, int listener)
{
    static struct loopback_talker talker;
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int fds[LOOPBACK_CLIENTS];
    int i;

    if (getsockname(listener, (void *)&address, &size) != 0) {
        return false;
    }
    for (i = 0; i < LOOPBACK_CLIENTS; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fds[i], (const void *)&address, size) != 0) {
            return false;
        }
    }
    talker.fd = fds[0];
    talker.timer.fire = loopback_talk;
    lawn_loop_every(loop, &talker.timer, 50 * LAWN_LOOP_MS, LAWN_LOOP_SKIP);
    return send(fds[2], "bye\n", 4, MSG_NOSIGNAL) == 4 &&
           shutdown(fds[2], SHUT_WR) == 0;
}

#endif
