/* store_tape.h - a snapshot in memory, written and read in odd pieces. */
#ifndef LAWN_TESTS_STORE_TAPE_H
#define LAWN_TESTS_STORE_TAPE_H

#include <stddef.h>
#include <stdint.h>

struct store_tape {
    uint8_t *bytes;
    size_t size;
    size_t room;
    size_t at;      /* how far it was read */
    size_t piece;   /* so many bytes are read at once, at most; 0: any */
    size_t fail_at; /* where writing or reading fails; SIZE_MAX: nowhere */
    int error;      /* how it fails */
    unsigned asked; /* reads so far */
};

void store_tape_init(struct store_tape *tape);
void store_tape_fini(struct store_tape *tape);

/* For lawn_store_save() and lawn_store_load(); arg is the tape. */
int store_tape_write(const void *bytes, size_t size, void *arg);
ptrdiff_t store_tape_read(void *bytes, size_t size, void *arg);

#endif
