/* server_drain.h - the queue that is being drained to its sink.
 *
 * During a delivery, a subscribed module may delete, rename, move or flush the
 * key. So the queue is recorded here, and all code that removes a queue from
 * its key reports it. If RENAME, MOVE or SWAPDB gives the queue to another key,
 * the drain continues, because the delivered events must still be removed.
 * Commands on the key are refused meanwhile.
 */
#ifndef SERVER_DRAIN_H
#define SERVER_DRAIN_H

#include "queue.h"
#include "redismodule_api.h"

/* Starts the drain of the queue of this key. The name must stay valid until the
 * drain ends. */
void drain_start(const struct queue *queue, int db, RedisModuleString *name);
/* Ends the drain. Returns false if the queue was removed from its key; then it
 * must not be used any more. */
bool drain_end(const struct queue *queue);

/* Returns true if this queue is being drained and is the value of a key. */
bool drain_active(const struct queue *queue);
/* Returns the name of the key that has the queue now, and sets *db. Returns
 * NULL if the queue was not given to another key since the drain began. The
 * name is valid until a command runs or the drain ends. */
RedisModuleString *drain_moved_to(int *db);

void drain_created(const struct queue *queue);
/* Reports that the queue was unlinked from its key. */
void drain_unlinked(const struct queue *queue);
/* Reports that the queue was linked to this key. */
void drain_arrived(const struct queue *queue, int db,
                   const RedisModuleString *name);
/* Reports that a database was flushed; -1: all databases. */
void drain_flushed(int db);
/* Reports that two databases were swapped. Returns true if the queue being
 * drained was in one of them. */
bool drain_swapped(int first, int second);

#endif
