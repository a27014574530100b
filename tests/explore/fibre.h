/* fibre.h - threads that run by turns on one, and change only when asked to.
 *
 * A change costs a few nanoseconds on x86-64 and aarch64, where it is written
 * out below; elsewhere it is swapcontext(), which calls the system. */
#ifndef LAWN_EXPLORE_FIBRE_H
#define LAWN_EXPLORE_FIBRE_H

#include <stddef.h>

#if !defined __x86_64__ && !defined __aarch64__ && !defined FIBRE_UCONTEXT
#define FIBRE_UCONTEXT
#endif
#if defined FIBRE_UCONTEXT
#include <ucontext.h>
#endif

struct fibre {
#ifdef FIBRE_UCONTEXT
    ucontext_t context;
#else
    void *top; /* of its stack, where its registers are while others run */
#endif
};

/* The fibre begins with entry, which must never return, on a stack of the
 * caller's: aligned to 16, and size a multiple of that. */
void fibre_make(struct fibre *fibre, void *stack, size_t size,
                void (*entry)(void));

/* The caller is from; it goes on when somebody switches to it. */
void fibre_switch(struct fibre *from, struct fibre *to);

#endif
