/* fibre.c - see fibre.h. A switch pushes the registers that a function must
 * preserve by the machine's calling convention, and changes the stack
 * pointer. */
#include "fibre.h"

#include <stdint.h>
#include <string.h>

#ifdef FIBRE_UCONTEXT

void
fibre_make(struct fibre *fibre, void *stack, size_t size, void (*entry)(void))
{
    (void)getcontext(&fibre->context);
    fibre->context.uc_stack.ss_sp = stack;
    fibre->context.uc_stack.ss_size = size;
    fibre->context.uc_link = NULL;
    makecontext(&fibre->context, entry, 0);
}

void
fibre_switch(struct fibre *from, struct fibre *to)
{
    (void)swapcontext(&from->context, &to->context);
}

#else

void fibre_switch_tops(void **from, void *to);

#ifdef __x86_64__
/* Six registers, and above them the return address. */
#define FIBRE_RETURN 6
#define FIBRE_FRAME 8
__asm__(".text\n"
        ".globl fibre_switch_tops\n"
        ".type fibre_switch_tops,@function\n"
        "fibre_switch_tops:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size fibre_switch_tops,.-fibre_switch_tops\n");
#else
/* x19 to x30, the last one being the return address, and d8 to d15. */
#define FIBRE_RETURN 11
#define FIBRE_FRAME 20
__asm__(".text\n"
        ".globl fibre_switch_tops\n"
        ".type fibre_switch_tops,%function\n"
        "fibre_switch_tops:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size fibre_switch_tops,.-fibre_switch_tops\n");
#endif

void
fibre_make(struct fibre *fibre, void *stack, size_t size, void (*entry)(void))
{
    uintptr_t *top = (uintptr_t *)(void *)((char *)stack + size) - FIBRE_FRAME;

    memset(top, 0, FIBRE_FRAME * sizeof(*top));
    top[FIBRE_RETURN] = (uintptr_t)entry;
    fibre->top = top;
}

void
fibre_switch(struct fibre *from, struct fibre *to)
{
    fibre_switch_tops(&from->top, to->top);
}

#endif
