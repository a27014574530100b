/* gate_store.h - what ids and payloads cost a store, beside the same in a hash
 * table without timers. */
#ifndef LAWN_BENCH_GATE_STORE_H
#define LAWN_BENCH_GATE_STORE_H

#include "bench.h"

/* The tables of uthash and GLib take turns with ours; compared is with the one
 * that was faster at S7. Negative: not measured. */
struct gate_store {
    uint64_t n;
    const char *table; /* the faster one's name; NULL: there is none */
    double pair;       /* a start and a stop, ns */
    double table_pair; /* an insert and an erase */
    double churn;      /* the same with n all the time */
    double table_churn;
    double bytes;          /* per timer, beyond id and payload; by its own
                              count, */
    double resident;       /* and as the system sees it */
    double table_resident; /* of the table */
};

/* With options->n timers, or a million. False: it was interrupted, stores
 * disagree, or there was no memory; a message has been printed. */
bool gate_store_measure(const struct bench_options *options,
                        struct gate_store *out);

#endif
