/* words.h - the words that several fibres share.
 *
 * If only one fibre uses a word, or no fibre writes it, the time of its use
 * makes no difference. So no fibre needs to be interrupted there, and a store
 * need not be delayed. Which words these are is learned during the walk: each
 * time a word turns out to be shared, the walk starts over. So in the end no
 * schedule has been left out. */
#ifndef LAWN_EXPLORE_WORDS_H
#define LAWN_EXPLORE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

void words_clear(void);

/* Records that a fibre uses a word. Returns whether others share it. */
bool words_meet(const void *word, unsigned fibre, bool writes);

/* Records that a fibre frees all words in this memory. */
void words_gone(const void *memory, size_t size, unsigned fibre);

/* Returns whether a shared word was found since the last call. */
bool words_learned(void);

#endif
