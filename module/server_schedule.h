/* server_schedule.h - when each key is looked at: the registry and the wake-up.
 *
 * A key's time in the registry is never after an event becomes due that listeners
 * have not heard of, and after all those that they have. So an entry that is out of
 * date costs a look, and no event is passed over. Listeners may hear of one twice, if
 * a command finds it due between that time and the tick. If there is no memory for
 * the registry the key is untracked, and searched for: server_untracked.h.
 */
#ifndef SERVER_SCHEDULE_H
#define SERVER_SCHEDULE_H

#include "queue.h"

/* How long to wait while writes are paused or data is loaded, in ms. */
#define SCHEDULE_RETRY_MS 10u

/* Keys whose blocked clients could not be served have a second entry in the registry,
 * as keys of another database: they are looked at again, whatever their time is. */
#define SCHEDULE_RETRY_DB(db) (-1 - (db))

/* Looks at the key at that time, instead of the one that was set before. Stores it in
 * queue_armed(), or LAWN_NEVER if there is no memory. O(1). */
void schedule_key(int db, struct bytes name, struct queue *queue,
                  uint64_t when);

/* The same for the time at which its next event is due; at once if one is, or if
 * there are dead events to hand over. For a key whose queue came by no command of
 * this module. */
void schedule_arrived(int db, struct bytes name, struct queue *queue);

/* A queue was loaded; its key does not exist yet. */
void schedule_loaded(int db, struct bytes name, struct queue *queue);

/* Looks at the key again soon: its blocked clients could not be served. */
void schedule_retry(int db, struct bytes name, struct queue *queue);

#endif
