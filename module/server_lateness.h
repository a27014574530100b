/* server_lateness.h - the lateness with which keys are processed, in us. It
 * counts from the due time of an event. If the server could not process the key
 * then, lateness counts from when that became possible: the end of a pause or a
 * load, a change of role, or the arrival of the key.
 */
#ifndef SERVER_LATENESS_H
#define SERVER_LATENESS_H

#include <lawn_histogram.h>
#include <stdint.h>

extern struct lawn_histogram lateness;

/* Reports that no key could be processed until now. */
void lateness_restart(void);
/* Reports the arrival of a key that has due events. */
void lateness_arrived(void);

/* Counts a processed key. `due` is the time of its first event in ms. `armed`
 * is its wake-up in ms, or REGISTRY_AT_ONCE. */
void lateness_count(uint64_t due, uint64_t armed, uint64_t now_us);

#endif
