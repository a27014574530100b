/* fibre.h - cooperative threads, which run in turn on one thread and switch
 * only explicitly.
 *
 * A switch takes a few nanoseconds on x86-64 and aarch64, where it is written
 * in assembly; elsewhere it is swapcontext(), which makes a system call. */
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
    void *top; /* of its stack; its registers are saved there */
#endif
};

/* Creates a fibre that begins with entry, which must never return, on a
 * caller-owned stack, aligned to 16, with a size that is a multiple of 16. */
void fibre_make(struct fibre *fibre, void *stack, size_t size,
                void (*entry)(void));

/* Switches from the caller, which is from; returns when another fibre switches
 * back to it. */
void fibre_switch(struct fibre *from, struct fibre *to);

#endif
