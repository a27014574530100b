/* server_lateness.h - how late keys are looked at, in us: from when an event was due,
 * or from when the server could have looked: after a pause, a load, a change of role,
 * or the arrival of the key.
 */
#ifndef SERVER_LATENESS_H
#define SERVER_LATENESS_H

#include <lawn_histogram.h>
#include <stdint.h>

extern struct lawn_histogram lateness;

/* Nothing could be looked at until now. */
void lateness_restart(void);
/* A key has arrived that holds something due. */
void lateness_arrived(void);

/* Counts a key that was looked at: due is the time of its first event, armed the time
 * at which it was to be looked at, REGISTRY_AT_ONCE or a time; both in ms. */
void lateness_count(uint64_t due, uint64_t armed, uint64_t now_us);

#endif
