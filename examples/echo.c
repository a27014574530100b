/* echo.c - an echo server: epoll, one lawn per thread, two timers per
 * connection.
 *
 *     echo PORT [THREADS [IDLE_MS [REQUEST_MS]]]
 *
 * A connection belongs to the thread that accepted it, and so do its timers.
 * The timer idle is restarted whenever data arrives. The timer request is
 * started by the first byte of a line and stopped when the line was echoed. So
 * each line takes a start and a stop, and neither involves another thread. On
 * SIGTERM or SIGINT, main starts a timer on each worker, which closes the
 * connections there. With port 0 the system chooses the port, and the program
 * prints it. Without arguments, three clients in the same process connect: one
 * becomes idle, one is slow, one remains.
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include <lawn_workers.h>

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define FDS 1024 /* the default limit of descriptors */

enum why { LEFT, IDLE, SLOW, LAST, WHYS }; /* why a connection ended */

struct worker {
    struct lawn_worker *self;
    pthread_t thread;
    unsigned number; /* in the set */
    int listener, epoll;
    bool ended;
    struct lawn_workers_timer end;
    unsigned long lines, closed[WHYS];
    struct connection *connections[FDS];
};

struct connection {
    struct worker *worker;
    struct lawn_workers_timer idle, request;
    size_t from, to; /* range of data to be echoed */
    int fd;
    bool within; /* the last line is incomplete */
    bool full;   /* waiting until the client reads */
    char data[4096];
};

static struct lawn_workers *set;
static uint64_t idle_ttl, request_ttl;
static pthread_barrier_t all_there;

static void
need(bool it, const char *what)
{
    if (!it) {
        perror(what);
        exit(1);
    }
}

static void
watch(const struct worker *w, int how, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};

    need(epoll_ctl(w->epoll, how, fd, &event) == 0, "epoll_ctl");
}

static void
hang_up(struct connection *c, enum why why)
{
    /* On the worker of the timers, this does not wait. */
    (void)lawn_workers_stop_sync(set, &c->idle);
    (void)lawn_workers_stop_sync(set, &c->request);
    c->worker->closed[why]++;
    c->worker->connections[c->fd] = NULL;
    (void)close(c->fd);
    free(c);
}

static void
on_idle(struct lawn_workers_timer *timer, struct lawn_worker *self)
{
    (void)self;
    hang_up(LAWN_CONTAINER(timer, struct connection, idle), IDLE);
}

static void
on_slow(struct lawn_workers_timer *timer, struct lawn_worker *self)
{
    (void)self;
    hang_up(LAWN_CONTAINER(timer, struct connection, request), SLOW);
}

static void
on_end(struct lawn_workers_timer *timer, struct lawn_worker *self)
{
    struct worker *w = LAWN_CONTAINER(timer, struct worker, end);

    (void)self;
    for (int fd = 0; fd < FDS; fd++) {
        if (w->connections[fd] != NULL) {
            hang_up(w->connections[fd], LAST);
        }
    }
    w->ended = true;
}

static void
welcome(struct worker *w)
{
    int fd = accept4(w->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct connection *c = fd < 0 || fd >= FDS ? NULL : calloc(1, sizeof(*c));

    if (c == NULL) { /* disconnected, or out of memory or descriptors */
        (void)(fd < 0 ? 0 : close(fd));
        return;
    }
    c->worker = w;
    c->fd = fd;
    c->idle.fire = on_idle;
    c->request.fire = on_slow;
    w->connections[fd] = c;
    watch(w, EPOLL_CTL_ADD, fd, EPOLLIN);
    (void)lawn_workers_start(set, &c->idle, idle_ttl);
}

static void
echo(struct connection *c)
{
    ssize_t n = send(c->fd, c->data + c->from, c->to - c->from, MSG_NOSIGNAL);

    if (n < 0 && errno != EAGAIN) {
        hang_up(c, LEFT);
        return;
    }
    for (; n > 0; n--) {
        c->worker->lines += c->data[c->from++] == '\n';
    }
    if (c->from == c->to && !c->within) {
        (void)lawn_workers_stop(set, &c->request);
    }
    if (c->full != (c->from < c->to)) {
        c->full = !c->full;
        watch(c->worker, EPOLL_CTL_MOD, c->fd, c->full ? EPOLLOUT : EPOLLIN);
    }
}

static void
hear(struct connection *c)
{
    ssize_t n = read(c->fd, c->data, sizeof(c->data));

    if (n <= 0) {
        if (n == 0 || errno != EAGAIN) {
            hang_up(c, LEFT);
        }
        return;
    }
    /* TTLs count from the time of the round, and this data may have arrived
     * later. Update the time, so that the timeout is not too early. */
    lawn_worker_update(c->worker->self);
    (void)lawn_workers_start(set, &c->idle, idle_ttl);
    const char *newline = memrchr(c->data, '\n', (size_t)n);
    c->within = newline != &c->data[n - 1];
    if (!lawn_workers_pending(&c->request) || (newline != NULL && c->within)) {
        (void)lawn_workers_start(set, &c->request, request_ttl);
    }
    c->from = 0;
    c->to = (size_t)n;
    echo(c);
}

/* Returns how long epoll_wait() may sleep: rounded up, so that it does not
 * spin. */
static int
wait_ms(uint64_t next)
{
    uint64_t now = lawn_workers_now(set);
    uint64_t wait = next > now ? (next - now - 1) / MS + 1 : 0;

    return wait < 60000 ? (int)wait : 60000;
}

static void *
serve(void *arg)
{
    struct worker *w = (struct worker *)arg;

    need((w->self = lawn_workers_attach(set)) != NULL, "lawn_workers_attach");
    w->number = lawn_worker_number(w->self);
    need((w->epoll = epoll_create1(EPOLL_CLOEXEC)) >= 0, "epoll_create1");
    watch(w, EPOLL_CTL_ADD, lawn_worker_fd(w->self), EPOLLIN);
    watch(w, EPOLL_CTL_ADD, w->listener, EPOLLIN);
    (void)pthread_barrier_wait(&all_there);
    struct epoll_event events[64];
    uint64_t next = 0;
    int fd = 0;
    /* Data is read before timers fire, so that a connection is not considered
     * idle because the program was busy. */
    while (next = lawn_worker_turn(w->self), !w->ended) {
        int n = epoll_wait(w->epoll, events, 64, wait_ms(next));
        for (int i = 0; i < n; i++) {
            fd = events[i].data.fd;
            if (fd == w->listener) {
                welcome(w);
            } else if (w->connections[fd] != NULL) { /* or wake-up */
                (w->connections[fd]->full ? echo : hear)(w->connections[fd]);
            }
        }
    }
    lawn_worker_detach(w->self);
    (void)close(w->epoll);
    (void)close(w->listener);
    return NULL;
}

/* Each worker has its own listening socket, all on the same port. */
static int
listen_at(struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int yes = 1;
    socklen_t size = sizeof(*address);

    need(fd >= 0 &&
             setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof(yes)) == 0 &&
             bind(fd, (struct sockaddr *)address, size) == 0 &&
             listen(fd, SOMAXCONN) == 0 &&
             getsockname(fd, (struct sockaddr *)address, &size) == 0,
         "cannot listen at the port");
    return fd;
}

/* A test client: sends text, and reads this number of bytes or until the server
 * hangs up. */
static void
talk_to_server(const struct sockaddr_in *address, const char *words,
               size_t bytes)
{
    char heard[100] = "";
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr *to = (const struct sockaddr *)address;

    need(fd >= 0 && connect(fd, to, sizeof(*address)) == 0 &&
             write(fd, words, strlen(words)) == (ssize_t)strlen(words) &&
             recv(fd, heard, bytes, MSG_WAITALL) >= 0,
         "cannot call");
    printf("%.*s, and %s\n", (int)strcspn(heard, "\n"), heard,
           strlen(heard) < bytes ? "was hung up on" : "is still there");
}

static unsigned
number(const char *arg, const char *name, unsigned least, unsigned most)
{
    char *end = NULL;
    unsigned long value = strtoul(arg, &end, 10);

    if (end == arg || *end != '\0' || value < least || value > most) {
        (void)fprintf(stderr, "%s: \"%s\" is not a number from %u to %u\n",
                      name, arg, least, most);
        exit(2);
    }
    return (unsigned)value;
}

/* Ends the workers and prints the totals. */
static void
finish(struct worker *workers, unsigned threads)
{
    unsigned long lines = 0, all = 0, closed[WHYS] = {0};

    for (unsigned i = 0; i < threads; i++) {
        (void)lawn_workers_start_on(set, &workers[i].end, 0, workers[i].number);
    }
    for (unsigned i = 0; i < threads; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        lines += workers[i].lines;
        for (unsigned why = 0; why < WHYS; why++) {
            closed[why] += workers[i].closed[why];
            all += workers[i].closed[why];
        }
    }
    printf("%lu connections, %lu lines\n", all, lines);
    printf("%lu left, %lu idle, %lu slow, %lu at the end\n", closed[LEFT],
           closed[IDLE], closed[SLOW], closed[LAST]);
    printf("%llu timers left\n",
           (unsigned long long)lawn_workers_close(set, 0, NULL, NULL));
    lawn_workers_free(set);
}

int
main(int argc, char **argv)
{
    static struct worker workers[LAWN_WORKERS_MAX];
    const unsigned most = 1000000000;
    unsigned port = number(argc > 1 ? argv[1] : "0", "port", 0, 65535);
    unsigned threads =
        number(argc > 2 ? argv[2] : "2", "threads", 1, LAWN_WORKERS_MAX);
    struct sockaddr_in address = {.sin_family = AF_INET};

    idle_ttl = MS * number(argc > 3 ? argv[3] : "600", "idle ms", 1, most);
    request_ttl =
        MS * number(argc > 4 ? argv[4] : "200", "request ms", 1, most);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)port);
    sigset_t ends;
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigaddset(&ends, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &ends, NULL);
    need((set = lawn_workers_new(NULL)) != NULL, "lawn_workers_new");
    (void)pthread_barrier_init(&all_there, NULL, threads + 1);
    for (unsigned i = 0; i < threads; i++) {
        workers[i].listener = listen_at(&address);
        workers[i].end.fire = on_end;
        errno = pthread_create(&workers[i].thread, NULL, serve, &workers[i]);
        need(errno == 0, "pthread_create");
    }
    (void)pthread_barrier_wait(&all_there);
    int which = 0;
    if (argc == 1) {
        talk_to_server(&address, "hello\n", 99);
        talk_to_server(&address, "I wonder whe", 99);
        talk_to_server(&address, "good night\n", 11);
    } else {
        printf("port %d\n", ntohs(address.sin_port));
        (void)fflush(stdout);
        (void)sigwait(&ends, &which);
    }
    finish(workers, threads);
    return 0;
}

/* prints:
 * hello, and was hung up on
 * I wonder whe, and was hung up on
 * good night, and is still there
 * 3 connections, 2 lines
 * 0 left, 1 idle, 1 slow, 1 at the end
 * 0 timers left
 */
