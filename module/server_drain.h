/* server_drain.h - the queue that is being drained to its sink.
 *
 * During a delivery to a sink, a subscribed module may delete, rename or flush
 * the key. So the queue that is being drained is recorded here, and all code
 * that removes a queue from its key reports it. Commands on that key are
 * refused meanwhile.
 */
#ifndef SERVER_DRAIN_H
#define SERVER_DRAIN_H

#include "queue.h"

void drain_start(const struct queue *queue, int db);
/* Ends the drain. Returns false if the queue was removed from its key meanwhile
 * and must not be used any more. */
bool drain_end(const struct queue *queue);

/* Returns true if this queue is being drained and is still the value of its
 * key. */
bool drain_active(const struct queue *queue);

/* Reports that the queue was unlinked from its key. */
void drain_unlinked(const struct queue *queue);
/* Reports that a database was flushed; -1: all databases. */
void drain_flushed(int db);
/* Reports that databases were swapped. Returns true if a queue was being
 * drained. */
bool drain_swapped(void);

#endif
