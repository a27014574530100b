/* loopback.h - common code of the echo servers in this folder: a listening
 * socket, operations on client sockets, and three test clients. The first sends
 * data for 600 ms, the second sends nothing, the third disconnects. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <lawn_loop.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#define LOOPBACK_CLIENTS 3

/* Returns the port given as argument, or 0 if there is none. */
static inline uint16_t
loopback_port(int argc, char **argv)
{
    char *end = NULL;
    long port = argc > 1 ? strtol(argv[1], &end, 10) : 0;

    if (argc > 1 && (end == argv[1] || *end != '\0' || argc > 2 || port < 0 ||
                     port > 65535)) {
        (void)fprintf(stderr,
                      "port: \"%s\" is not a number from 0 to 65535\n"
                      "usage: %s [PORT]\n",
                      argv[1], argv[0]);
        exit(2);
    }
    return (uint16_t)port;
}

/* Returns a socket that listens on the port given as argument. With port 0 the
 * system chooses the port; it is printed. */
static inline int
loopback_listen(int argc, char **argv)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(loopback_port(argc, argv)),
        .sin_addr = {htonl(INADDR_LOOPBACK)},
    };
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (const void *)&address, size) != 0 ||
        listen(fd, 128) != 0 || getsockname(fd, (void *)&address, &size) != 0) {
        perror("cannot listen");
        exit(1);
    }
    if (argc > 1) {
        printf("port %u\n", ntohs(address.sin_port));
        (void)fflush(stdout);
    }
    return fd;
}

/* Returns the socket of a new client, or -1. Sets *full if out of descriptors
 * or memory: the listener would then remain ready. */
static inline int
loopback_accept(int listener, bool *full)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    *full = fd < 0 && errno != EAGAIN && errno != ECONNABORTED;
    return fd;
}

/* Returns whether data is waiting to be read. It may have arrived while the
 * program was busy; then it is read in the next round. */
static inline bool
loopback_spoke(int fd)
{
    char byte = 0;

    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

static inline unsigned
loopback_lines(const char *data, size_t length)
{
    unsigned lines = 0;

    while (length > 0) {
        lines += data[--length] == '\n';
    }
    return lines;
}

/* Echoes the received data and counts its lines. Returns a reason to hang up,
 * or NULL. */
static inline const char *
loopback_echo(int fd, unsigned *lines)
{
    char data[4096];
    ssize_t length = recv(fd, data, sizeof(data), MSG_DONTWAIT);

    if (length <= 0) {
        return length < 0 && errno == EAGAIN ? NULL : "left";
    }
    *lines += loopback_lines(data, (size_t)length);
    return send(fd, data, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL) == length
               ? NULL
               : "does not listen";
}

struct loopback_talker {
    struct lawn_loop_timer timer;
    unsigned lines;
    int fd;
};

static inline void
loopback_talk(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct loopback_talker *talker =
        LAWN_CONTAINER(timer, struct loopback_talker, timer);

    (void)send(talker->fd, "hello\n", 6, MSG_NOSIGNAL);
    if (++talker->lines == 12) {
        (void)lawn_loop_stop(loop, timer);
    }
}

/* Connects the test clients; the system completes the connections before the
 * server accepts them. */
static inline bool
loopback_clients(struct lawn_loop *loop, int listener)
{
    static struct loopback_talker talker;
    struct sockaddr_in address;
    socklen_t size = sizeof(address);

    if (getsockname(listener, (void *)&address, &size) != 0) {
        return false;
    }
    int fds[LOOPBACK_CLIENTS];
    for (int i = 0; i < LOOPBACK_CLIENTS; i++) {
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
