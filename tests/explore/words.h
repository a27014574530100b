/* words.h - which words fibres meet at.
 *
 * If only one fibre uses a word, or nobody writes it, then it makes no difference
 * when it is used; so nobody needs to be interrupted there, and a store need not
 * be delayed. Which words these are is learned on the way: each time that a word
 * turns out to be another, the walk begins anew. So in the end nothing has been
 * left out. */
#ifndef LAWN_EXPLORE_WORDS_H
#define LAWN_EXPLORE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

void words_clear(void);

/* A fibre uses a word; whether others meet it there. */
bool words_meet(const void *word, unsigned fibre, bool writes);

/* A fibre frees all words there. */
void words_gone(const void *memory, size_t size, unsigned fibre);

/* Whether something was learned since this was last asked. */
bool words_learned(void);

#endif
