/* hash.c - the public hash function: see hash.h. */
#include "hash.h"

#include <lawn_store.h>

uint64_t
lawn_hash(const uint64_t key[2], const void *bytes, size_t size)
{
    return lawn__store_hash(key, bytes, size);
}
