/* ids.h - ids that the server makes: "1731724800000-0", time and number, never
 * the same twice, in any key: not after the key was emptied, nor after the clock
 * was set back, nor after a restart or a failover, as far as what went before was
 * told by ids_seen().
 */
#ifndef IDS_H
#define IDS_H

#include "bytes.h"

#include <stdint.h>

#define IDS_SIZE 42 /* enough for two numbers of 64 bits, a dash and a 0 byte */

/* Ids of a later time, or a greater number, are nobody's: none is made, and if one
 * is seen it is not believed, as it would use up what ids there are. */
#define IDS_MS_MAX (UINT64_C(1) << 53)
#define IDS_NUMBER_MAX (UINT64_C(1) << 53)

/* Writes the next id; returns its size. now: the wall clock, not the time of a key,
 * which may have been told to be years ahead. */
size_t ids_next(uint64_t now, char id[IDS_SIZE]);

/* What was made last, to be saved, 0 and 0 if nothing was; and what someone else
 * made, or saved. */
void ids_last(uint64_t *ms, uint64_t *number);
void ids_seen(uint64_t ms, uint64_t number);
/* The same by its text; false: it is no such id. */
bool ids_seen_text(struct bytes id);

#endif
