/* retransmit.c - a reliable datagram transport: one timer per packet.
 *
 *     retransmit [PEERS [LOSS_PERCENT [SEED]]]
 *
 * Each peer has up to WINDOW packets in flight. The timer of a packet sends it
 * and restarts itself, after RTO, 2 RTO, 4 RTO and so on, until the
 * acknowledgment stops it. So most timers fire only once, and there are few
 * TTLs, regardless of the number of peers. Sender and receiver are in this
 * program, with one UDP socket each. The program drops datagrams and
 * acknowledgments at random, depending on the seed; the system may drop more.
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include <lawn_loop.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define RTO (10 * LAWN_LOOP_MS)
#define BACKOFFS 3u /* the longest interval is RTO << BACKOFFS */
#define TRIES 100u
#define WINDOW 4u
#define PACKETS 20u /* per peer */

enum { SENDER, RECEIVER };

struct packet {
    struct lawn_loop_timer timer; /* runs until the packet is acknowledged */
    uint32_t peer, seq;
    unsigned tries;
};

struct peer {
    /* Sender: packets before first are acknowledged; packets from next on were
     * not sent. */
    struct packet flight[WINDOW];
    uint32_t first, next;

    /* Receiver: packets before due were delivered; packets received out of
     * order are held. */
    uint32_t due;
    uint64_t held[WINDOW];
    bool holds[WINDOW];
};

/* In host byte order, since it does not leave this machine. An acknowledgment
 * has no payload. */
struct datagram {
    uint32_t peer, seq;
    uint64_t payload;
};

static struct peer *peers;
static uint64_t many, loss, seed, delivered, wrong, resent;
static int fds[2];

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

/* Errors are ignored: the timers send lost packets again. */
static void
submit(int fd, const struct datagram *datagram, size_t size)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    if ((seed >> 33) % 100 >= loss) {
        (void)send(fd, datagram, size, MSG_DONTWAIT);
    }
}

static uint64_t
make_payload(uint32_t peer, uint32_t seq)
{
    return ((uint64_t)peer << 32 | seq) * UINT64_C(0x9e3779b97f4a7c15);
}

static void
transmit(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct packet *p = LAWN_CONTAINER(timer, struct packet, timer);
    struct datagram data = {p->peer, p->seq, make_payload(p->peer, p->seq)};
    unsigned backoffs = p->tries < BACKOFFS ? p->tries : BACKOFFS;

    resent += p->tries > 0;
    errno = ETIMEDOUT;
    need(p->tries++ < TRIES, "a peer is gone");
    lawn_loop_start(loop, timer, RTO << backoffs);
    submit(fds[SENDER], &data, sizeof(data));
}

/* Sends packets as far as the window allows: in the next turn and within its
 * budget, so that the receiver gets processor time and its socket does not
 * overflow. */
static void
proceed(struct lawn_loop *loop, struct peer *peer)
{
    while (peer->first < peer->next &&
           !lawn_loop_pending(&peer->flight[peer->first % WINDOW].timer)) {
        peer->first++;
    }
    struct packet *p = NULL;
    while (peer->next < PACKETS && peer->next < peer->first + WINDOW) {
        p = &peer->flight[peer->next % WINDOW];
        *p = (struct packet){
            {.fire = transmit}, (uint32_t)(peer - peers), peer->next++, 0};
        lawn_loop_start(loop, &p->timer, 0);
    }
}

static void
hear_ack(struct lawn_loop_watcher *watch, unsigned ready,
         struct lawn_loop *loop)
{
    struct datagram ack = {UINT32_MAX, 0, 0};

    (void)ready;
    struct packet *p = NULL;
    while (recv(watch->fd, &ack, sizeof(ack), MSG_DONTWAIT) > 0) {
        if (ack.peer >= many) {
            continue; /* not from this program */
        }
        p = &peers[ack.peer].flight[ack.seq % WINDOW];
        /* False if it was acknowledged before. */
        if (p->seq == ack.seq && lawn_loop_stop(loop, &p->timer)) {
            proceed(loop, &peers[ack.peer]);
        }
    }
}

static void
hear_data(struct lawn_loop_watcher *watch, unsigned ready,
          struct lawn_loop *loop)
{
    struct datagram data = {UINT32_MAX, 0, 0};
    struct peer *peer = NULL;

    (void)ready;
    (void)loop;
    unsigned slot = 0;
    while (recv(watch->fd, &data, sizeof(data), MSG_DONTWAIT) > 0) {
        if (data.peer >= many) {
            continue;
        }
        peer = &peers[data.peer];
        if (data.seq - peer->due < WINDOW) { /* else it was delivered before */
            peer->held[data.seq % WINDOW] = data.payload;
            peer->holds[data.seq % WINDOW] = true;
        }
        while (slot = peer->due % WINDOW, peer->holds[slot]) {
            peer->holds[slot] = false;
            wrong += peer->held[slot] != make_payload(data.peer, peer->due++);
            delivered++;
        }
        submit(watch->fd, &data, offsetof(struct datagram, payload));
    }
}

/* Opens two sockets that are connected to each other. */
static void
open_sockets(void)
{
    struct sockaddr_in address[2];
    socklen_t size = sizeof(*address);

    for (int i = 0; i < 2; i++) {
        address[i] = (struct sockaddr_in){.sin_family = AF_INET};
        address[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        fds[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        need(fds[i] >= 0 &&
                 bind(fds[i], (struct sockaddr *)&address[i], size) == 0 &&
                 getsockname(fds[i], (struct sockaddr *)&address[i], &size) ==
                     0,
             "cannot open a UDP socket");
    }
    for (int i = 0; i < 2; i++) {
        need(connect(fds[i], (struct sockaddr *)&address[!i], size) == 0,
             "connect");
    }
}

static uint64_t
number(const char *arg, const char *name, unsigned long most)
{
    char *end = NULL;
    unsigned long value = strtoul(arg, &end, 10);

    if (end == arg || *end != '\0' || value > most) {
        (void)fprintf(stderr, "%s: \"%s\" is not a number up to %lu\n", name,
                      arg, most);
        exit(2);
    }
    return value;
}

int
main(int argc, char **argv)
{
    struct lawn_loop_options options = {.budget = 64};
    struct lawn_loop_watcher acks = {.ready = hear_ack};
    struct lawn_loop_watcher datagrams = {.ready = hear_data};
    struct lawn_loop *loop = lawn_loop_new(&options);

    many = number(argc > 1 ? argv[1] : "2000", "peers", 1000000);
    loss = number(argc > 2 ? argv[2] : "10", "loss in percent", 50);
    seed = number(argc > 3 ? argv[3] : "1", "seed", UINT32_MAX);
    need(loop != NULL, "lawn_loop_new");
    need((peers = calloc(many, sizeof(*peers))) != NULL || many == 0, "peers");
    open_sockets();
    did(lawn_loop_watch(loop, &acks, fds[SENDER], LAWN_LOOP_READ), "sender");
    did(lawn_loop_watch(loop, &datagrams, fds[RECEIVER], LAWN_LOOP_READ),
        "receiver");
    for (uint64_t i = 0; i < many; i++) {
        proceed(loop, &peers[i]);
    }
    while (lawn_loop_count(loop) > 0) { /* some packets are not acknowledged */
        did(lawn_loop_once(loop, true), "lawn_loop_once");
    }
    printf("%llu packets were delivered%s\n", (unsigned long long)delivered,
           wrong == 0 ? ", each once and in its place" : " wrongly");
    printf("%s was sent again\n", resent > 0 ? "what was lost" : "nothing");
    lawn_loop_free(loop);
    free(peers);
    (void)close(fds[SENDER]);
    (void)close(fds[RECEIVER]);
    return 0;
}

/* prints:
 * 40000 packets were delivered, each once and in its place
 * what was lost was sent again
 */
