/* link.c - the socket of a server.
 *
 * Only the lookup of a host name blocks. The caller polls the socket and
 * reports when it is readable or writable.
 */
#include "top.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void
top_link_close(struct top_node *node)
{
    if (node->socket >= 0) {
        close(node->socket);
    }
    node->socket = -1;
    node->asked_count = 0;
    resp_reader_fini(&node->in);
    resp_writer_fini(&node->out);
}

static int
fail(struct top_node *node, int error)
{
    const char *advice = "";
    if (error == ECONNREFUSED) {
        advice = node->url.path != NULL
                     ? "; is a server running that listens on this socket?"
                     : "; is a server running on this host and port?";
    } else if (error == ENOENT) {
        advice = "; check unixsocket in the server's configuration";
    } else if (error == EACCES) {
        advice = "; check unixsocketperm in the server's configuration";
    }
    top_conversation_fail(node, "%s%s", strerror(error), advice);
    return -error;
}

static int
begin_connect(struct top_node *node, int family, const struct sockaddr *address,
              socklen_t size)
{
    int one = 1;
    int fd = socket(family, SOCK_STREAM, 0);
    if (fd < 0) {
        return -errno;
    }
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
        (connect(fd, address, size) < 0 && errno != EINPROGRESS)) {
        int error = errno;
        close(fd);
        return -error;
    }
    if (family != AF_UNIX) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    }
    node->socket = fd;
    return 0;
}

static int
open_path(struct top_node *node)
{
    struct sockaddr_un address;
    size_t size = strlen(node->url.path);
    memset(&address, 0, sizeof(address));
    address.sun_family = AF_UNIX;
    if (size >= sizeof(address.sun_path)) {
        return fail(node, ENAMETOOLONG);
    }
    memcpy(address.sun_path, node->url.path, size);
    int code = begin_connect(node, AF_UNIX, (const struct sockaddr *)&address,
                             (socklen_t)sizeof(address));
    return code < 0 ? fail(node, -code) : 0;
}

int
top_link_open(struct top_node *node)
{
    struct addrinfo *found = NULL;
    if (node->url.path != NULL) {
        return open_path(node);
    }
    struct addrinfo hints;
    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    int wrong = getaddrinfo(node->url.host, node->url.port, &hints, &found);
    if (wrong != 0) {
        top_conversation_fail(node, "%s; check the host name in the URL",
                              gai_strerror(wrong));
        return -ENOENT;
    }
    int code = -1;
    size_t place = 0;
    for (const struct addrinfo *a = found; a != NULL && code < 0;
         a = a->ai_next) {
        if (place++ < node->attempts) {
            continue;
        }
        node->attempts++;
        code = begin_connect(node, a->ai_family, a->ai_addr, a->ai_addrlen);
        if (code < 0) {
            node->refused_by = -code;
        }
    }
    freeaddrinfo(found);
    return code < 0 ? fail(node, node->refused_by) : 0;
}

int
top_link_connected(struct top_node *node)
{
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(node->socket, SOL_SOCKET, SO_ERROR, &error, &size) < 0) {
        error = errno;
    }
    if (error == 0 || node->url.path != NULL) {
        return error != 0 ? fail(node, error) : 0;
    }
    close(node->socket);
    node->socket = -1;
    node->refused_by = error;
    int code = top_link_open(node);
    return code < 0 ? code : 1;
}

int
top_link_write(struct top_node *node)
{
    struct resp_writer *out = &node->out;
    while (out->sent < out->size) {
        ssize_t sent = send(node->socket, out->bytes + out->sent,
                            out->size - out->sent, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            return 0;
        }
        /* A server that refuses a client sends the reason and then closes the
         * connection: read it first. */
        if (sent < 0 && errno == EPIPE) {
            out->sent = out->size;
            return 0;
        }
        if (sent < 0) {
            return fail(node, errno);
        }
        out->sent += (size_t)sent;
    }
    return 0;
}

int
top_link_read(struct top_node *node)
{
    size_t room = 0;
    char *to = resp_room(&node->in, &room);
    if (to == NULL) {
        return fail(node, ENOMEM);
    }
    ssize_t came = recv(node->socket, to, room, 0);
    if (came < 0 && (errno == EAGAIN || errno == EINTR)) {
        return 0;
    }
    if (came < 0) {
        return fail(node, errno);
    }
    if (came == 0) {
        top_conversation_fail(node,
                              "the server closed the connection; see its log");
        return -EPIPE;
    }
    resp_came(&node->in, (size_t)came);
    return 0;
}
