/* memory.h - the memory of a scenario: put back before each schedule; what is
 * freed is filled with a pattern, and looked after. See explore.h. */
#ifndef LAWN_EXPLORE_MEMORY_H
#define LAWN_EXPLORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Forgets everything; what setup then does is kept; and is put back. */
void memory_clear(void);
void memory_save(void);
void memory_restore(void);

/* How many pieces were freed, and whether a word is in one. */
extern unsigned memory_freed;
bool memory_is_freed(const void *word, size_t size);

/* Whether nobody has written to what was freed. */
bool memory_intact(void);

/* "timer 0", +24; or "memory" of the library. */
const char *memory_name(const void *word, size_t *offset);

#endif
