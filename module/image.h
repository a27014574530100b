/* image.h - a queue in the server's dump files: a sequence of numbers and
 * strings. Also reads the format of ReDe. Hostile data is rejected, without
 * using more memory than its own size.
 *
 * FORMAT 1, numbers are unsigned: the queue's time; the earliest time at which
 * an event is due or a lease ends, or LAWN_NEVER; max_events, max_bytes,
 * overflow, resolution, paused, tries, lease; the last id generated for PUSH *:
 * time and number; the greatest token; the sink: kind, name, maxlen, dead
 * letter stream; then tags with their data:
 *     1 TTL       delay of the events that follow; 0: individual times
 *     2 event     due, id, payload
 *     3 event     due, id, payload, period, times, missed
 *     4 tries     of the next event: made, most
 *     5 lease     of the next event, after its tries: token, end, length
 *                 (0: the event is on no blade), owner
 *     0           end, followed by the number of events
 * The events are in the order of queue_each(). The TTL is ignored for leased
 * and dead events.
 *
 * FORMAT 0 is that of all versions of ReDe: the name of the key; the number of
 * TTLs; for each the TTL, the number of events, and for each event due, id,
 * payload. Numbers are unsigned, although ReDe's were not: a TTL is an int
 * truncated to 32 bits, and a due time may be before 1970. Ids and payloads are
 * strings of any bytes, without a terminator. The name differs if the key was
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

/* Both return false at the end of the data or if it is damaged. A string is
 * valid until the next call. */
struct image_reader {
    bool (*number)(uint64_t *number, void *arg);
    bool (*string)(struct bytes *string, void *arg);
    void *arg;
};

void image_save(struct queue *queue, const struct image_writer *writer);

/* Loads a queue. blades as in queue_new(). Events of ReDe get an individual
 * time, because the time of their push is not known. On failure, returns NULL
 * and sets *error to a short message. O(data read). */
struct queue *image_load(const struct image_reader *reader, int version,
                         size_t blades, const char **error);

#endif
