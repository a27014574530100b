/* ids.h - ids that the server generates: "1731724800000-0", time and number.
 * They are unique over all keys, provided that ids_seen() was called for all
 * earlier ids. They remain unique if a key is emptied, the clock is set back,
 * the server is restarted, or a replica is promoted.
 */
#ifndef IDS_H
#define IDS_H

#include "bytes.h"

#include <stdint.h>

#define IDS_SIZE 42 /* enough for two numbers of 64 bits, a dash and a 0 byte */

/* Limits of generated ids. ids_seen() ignores greater ones: if they counted, no
 * ids would remain. */
#define IDS_MS_MAX (UINT64_C(1) << 53)
#define IDS_NUMBER_MAX (UINT64_C(1) << 53)

/* Writes the next id and returns its size. now is the wall clock, not the time
 * of a key, which may be years ahead. */
size_t ids_next(uint64_t now, char id[IDS_SIZE]);

/* ids_last() returns the last generated id, for saving; 0 and 0 if there is
 * none. ids_seen() records an id that was saved, or generated elsewhere. */
void ids_last(uint64_t *ms, uint64_t *number);
void ids_seen(uint64_t ms, uint64_t number);
/* The same for the text of an id. Returns false if it is not a generated id. */
bool ids_seen_text(struct bytes id);

#endif
