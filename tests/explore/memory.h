/* memory.h - the memory of a scenario: restored before each schedule; freed
 * memory is filled with a pattern and checked. See explore.h. */
#ifndef LAWN_EXPLORE_MEMORY_H
#define LAWN_EXPLORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Clear all; save the state after setup; restore it. */
void memory_clear(void);
void memory_save(void);
void memory_restore(void);

/* The number of freed pieces, and whether a word is in one. */
extern unsigned memory_freed;
bool memory_is_freed(const void *word, size_t size);

/* Returns whether freed memory is unmodified. */
bool memory_intact(void);

/* Returns "timer 0" with offset 24, or "memory" of the library. */
const char *memory_name(const void *word, size_t *offset);

#endif
