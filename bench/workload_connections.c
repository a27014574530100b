/* workload_connections.c - W6: a proxy with five timers per connection.
 *
 * Each packet restarts its connection's idle timer and pacing timer. Packets
 * are alternately a request, which starts the request and deadline timers, and
 * a response, which stops them. Some packets close their connection, which
 * starts its close timer. Pacing timers fire; the others hardly ever do.
 */
#include "workload.h"

#include <stdlib.h>
#include <string.h>

enum { IDLE, CLOSE, PACING, REQUEST, DEADLINE, CONNECTION_TIMERS };

#define CONNECTIONS_PACING 20u  /* ticks at most */
#define CONNECTIONS_PERIOD 50u  /* ticks between a connection's packets */
#define CONNECTIONS_CLOSE 1000u /* packets per close */

void
connections_ttls(struct run *run)
{
    static const uint64_t ttls[] = {5000, 10000, 30000, 60000};
    static const unsigned which[CONNECTION_TIMERS] = {
        [IDLE] = 3, [CLOSE] = 0, [REQUEST] = 2, [DEADLINE] = 1};

    if (!run_list_ttls(run, CONNECTIONS_PACING + 4)) {
        return;
    }
    for (uint64_t i = 0; i < CONNECTIONS_PACING; i++) {
        run->ttls[i] = i + 1;
    }
    memcpy(run->ttls + CONNECTIONS_PACING, ttls, sizeof(ttls));
    for (uint64_t i = 0; i < run->cell->n; i++) {
        run_choose(run, i, CONNECTIONS_PACING + which[i % CONNECTION_TIMERS]);
    }
}

/* The timers of a connection are adjacent in memory, as in its struct. */
static void
play_packet(struct run *run, uint64_t connection, uint8_t *waiting)
{
    uint64_t first = connection * CONNECTION_TIMERS;
    uint64_t random = random_next(&run->random);

    run_start(run, first + IDLE);
    run_choose(run, first + PACING, random % CONNECTIONS_PACING);
    run_start(run, first + PACING);
    if (*waiting) {
        run_stop(run, first + REQUEST);
        run_stop(run, first + DEADLINE);
    } else {
        run_start(run, first + REQUEST);
        run_start(run, first + DEADLINE);
    }
    *waiting ^= 1;
    if ((random >> 32) % CONNECTIONS_CLOSE == 0) {
        run_start(run, first + CLOSE);
    }
}

static void
play_some(struct run *run, uint64_t packets, uint8_t *waiting)
{
    uint64_t connections = run->cell->n / CONNECTION_TIMERS;
    uint64_t per_tick = connections / CONNECTIONS_PERIOD + 1;

    for (uint64_t i = 1; i <= packets; i++) {
        uint64_t connection = random_below(&run->random, connections);

        play_packet(run, connection, &waiting[connection]);
        if (i % per_tick == 0) {
            run_tick(run);
        }
        if (i % WORKLOAD_STEP == 0 && !run_goes_on(run)) {
            return;
        }
    }
}

void
connections_play(struct run *run)
{
    uint64_t connections = run->cell->n / CONNECTION_TIMERS;
    uint8_t *waiting = run_alloc(run, connections, 1);

    if (waiting == NULL) {
        return;
    }
    play_some(run, 2 * connections, waiting); /* warm-up */
    run_weigh(run);
    run_begin(run, 0);
    play_some(run, workload_ops(run) / 2, waiting);
    run_finish(run, workload_ops(run) / 2);
    free(waiting);
}
