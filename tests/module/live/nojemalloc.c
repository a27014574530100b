/* nojemalloc.c - functions that Valkey calls and that only jemalloc has, for a
 * server whose malloc() was replaced: see memcheck.py.
 */
#include <stdlib.h>

void sdallocx(void *memory, size_t size, int flags);

void
sdallocx(void *memory, size_t size, int flags)
{
    (void)size;
    (void)flags;
    free(memory);
}
