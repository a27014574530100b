/* words.c - see words.h. A hash table of words, which never shrinks. */
#include "words.h"

#include "explore.h"

#include <stdint.h>
#include <string.h>

#if !defined WORDS_BITS /* tests/sim has more */
#define WORDS_BITS 12
#endif
#define WORDS_MAX (1u << WORDS_BITS)

struct words_entry {
    uintptr_t word; /* 0: free */
    uint32_t users; /* a bit for each fibre */
    bool written;
    bool met;
};

static struct words_entry table[WORDS_MAX];
static unsigned used;
static bool learned;

void
words_clear(void)
{
    memset(table, 0, sizeof(table));
    used = 0;
    learned = false;
}

static struct words_entry *
find(uintptr_t word)
{
    uint32_t at = (uint32_t)(word >> 2) * 2654435769u >> (32 - WORDS_BITS);

    while (table[at].word != word) {
        if (table[at].word == 0) {
            if (++used > WORDS_MAX / 2) {
                explore_fail("too many words");
            }
            table[at].word = word;
            break;
        }
        at = (at + 1) % WORDS_MAX;
    }
    return &table[at];
}

static bool
meet(struct words_entry *entry, unsigned fibre, bool writes)
{
    entry->users |= 1u << fibre;
    entry->written = entry->written || writes;
    if (entry->written && (entry->users & (entry->users - 1)) != 0) {
        learned = learned || !entry->met;
        entry->met = true;
    }
    return entry->met;
}

bool
words_meet(const void *word, unsigned fibre, bool writes)
{
    return meet(find((uintptr_t)word), fibre, writes);
}

void
words_gone(const void *memory, size_t size, unsigned fibre)
{
    for (size_t at = 0; at < size; at += 4) {
        (void)meet(find((uintptr_t)memory + at), fibre, true);
    }
}

bool
words_learned(void)
{
    bool was = learned;

    learned = false;
    return was;
}
