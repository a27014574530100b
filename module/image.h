/* image.h - a queue as the server's dump files hold it: a row of numbers and
 * strings. Reads what ReDe wrote as well. What is hostile is refused, with no
 * more memory taken than it brought itself.
 *
 * FORMAT 1, numbers unsigned unless said: the queue's time; the earliest time at
 * which an event is due or a lease ends, or LAWN_NEVER; max_events, max_bytes,
 * overflow, resolution, paused, tries, lease; the last id made by PUSH *: time and
 * number; the greatest token; the sink: kind, where to, maxlen, dead letters; then
 * tags and what belongs to them:
 *   1 TTL       events that follow were pushed with this delay; 0: for a time
 *   2 event     due, id, payload
 *   3 event     due, id, payload, period, times, missed
 *   4 tries     of the event that comes next: made, most
 *   5 lease     of the event that comes next, after its tries: token, end, how
 *               long (0: of no queue of equal leases), owner
 *   0           the end, and how many events there were
 * The events stand in the order of queue_each(). The TTL means nothing for an event
 * with a lease, or that is dead.
 *
 * FORMAT 0 is ReDe's, the same in all its versions: the name of the key; how many
 * TTLs; for each the TTL, how many events, and for each of them due, id, payload.
 * Numbers are unsigned, though ReDe's own were not: a TTL is an int, cut to 32
 * bits, and a due time may be before 1970. Ids and payloads are whole strings,
 * with any bytes, and no end mark. The name may be that of another key, if it was
 * renamed. There may be TTLs without events.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include "queue.h"

#define IMAGE_VERSION 1

struct image_writer {
    void (*number)(uint64_t number, void *arg);
    void (*string)(struct bytes string, void *arg);
    void *arg;
};

/* Both return false if there is no more, or it is damaged. A string stays until
 * the next call. */
struct image_reader {
    bool (*number)(uint64_t *number, void *arg);
    bool (*string)(struct bytes *string, void *arg);
    void *arg;
};

/* Saves what image_load() takes. O(events and their bytes). */
void image_save(struct queue *queue, const struct image_writer *writer);

/* NULL: *error says what is wrong with it, in a few words, and nothing has
 * changed. blades as in queue_new(). Events that ReDe wrote are put in as pushed
 * for a time: its TTLs cannot be trusted to say when. O(what was read). */
struct queue *image_load(const struct image_reader *reader, int version,
                         size_t blades, const char **error);

#endif
