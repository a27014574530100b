/* server_drain.h - which queue is being drained to its sink.
 *
 * While events are handed to a sink, a listener (a module) may delete, rename or
 * flush the key. So the queue that is being drained is remembered here, and whatever
 * takes it from its key says so. Commands on that key are refused meanwhile.
 */
#ifndef SERVER_DRAIN_H
#define SERVER_DRAIN_H

#include "queue.h"

void drain_start(const struct queue *queue, int db);
/* Ends it. Returns false if the queue was taken from its key meanwhile: it must not
 * be used any more. */
bool drain_end(const struct queue *queue);

/* Whether this queue is being drained, and is still the value of its key. */
bool drain_active(const struct queue *queue);

/* The queue was unlinked from its key. */
void drain_unlinked(const struct queue *queue);
/* A database was flushed; -1: all of them. */
void drain_flushed(int db);
/* Databases were swapped. Returns true if a queue was being drained. */
bool drain_swapped(void);

#endif
