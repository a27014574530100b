/* store_reel.h - a snapshot in memory, written and read in odd pieces. */
#ifndef LAWN_TESTS_STORE_REEL_H
#define LAWN_TESTS_STORE_REEL_H

#include <stddef.h>
#include <stdint.h>

struct store_reel {
    uint8_t *bytes;
    size_t size;
    size_t room;
    size_t at;      /* read position */
    size_t piece;   /* maximum bytes per read; 0: no limit */
    size_t fail_at; /* where writing or reading fails; SIZE_MAX: never */
    int error;      /* its error */
    unsigned asked; /* number of reads */
};

void store_reel_init(struct store_reel *reel);
void store_reel_fini(struct store_reel *reel);

/* For lawn_store_save() and lawn_store_load(); arg is the reel. */
int store_reel_write(const void *bytes, size_t size, void *arg);
ptrdiff_t store_reel_read(void *bytes, size_t size, void *arg);

#endif
