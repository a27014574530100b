/* server_schedule.h - schedules when each key is processed.
 *
 * The registry has one wake-up for each key. Clients have been notified of
 * events due before that. All other events are due at the wake-up or later. So
 * no event is missed; a wake-up that is too early costs one check. If a command
 * finds a due event between wake-up and tick, clients may be notified twice. If
 * there is no memory for the registry, the key is untracked, and a search finds
 * it: server_untracked.h.
 */
#ifndef SERVER_SCHEDULE_H
#define SERVER_SCHEDULE_H

#include "queue.h"

/* The delay before a retry while writes are paused or data is loaded, in ms. */
#define SCHEDULE_RETRY_MS 10u

/* Keys whose blocked clients could not be served have a second entry in the
 * registry, under a database number that does not exist. They are processed
 * again, whatever their time is. */
#define SCHEDULE_RETRY_DB(db) (-1 - (db))

/* Schedules the key for this time, replacing the previous one. Stores it in
 * queue_armed(), or LAWN_NEVER if memory allocation fails. O(1). */
void schedule_key(int db, struct bytes name, struct queue *queue,
                  uint64_t when);

/* For a queue that was not created by a command of this module: schedules the
 * key for its next event; at once if an event is due, or if dead events must be
 * delivered. */
void schedule_arrived(int db, struct bytes name, struct queue *queue);

/* The same for a queue that was loaded; its key does not exist yet. */
void schedule_loaded(int db, struct bytes name, struct queue *queue);

/* Schedules the key for soon, because its blocked clients could not be
 * served. */
void schedule_retry(int db, struct bytes name, struct queue *queue);

#endif
