/* nojemalloc.c - what Valkey calls of jemalloc and no other allocator has, for a
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
