/* gate_store.h - the cost of a store, compared with a hash table without
 * timers. */
#ifndef LAWN_BENCH_GATE_STORE_H
#define LAWN_BENCH_GATE_STORE_H

#include "bench.h"

/* Runs alternate between the store and the tables of uthash and GLib. The store
 * is compared with the table that was faster at S7. Negative: not measured. */
struct gate_store {
    uint64_t n;
    const char *table; /* the name of the faster table; NULL: there is none */
    double pair;       /* a start and a stop, ns */
    double table_pair; /* an insert and an erase */
    double churn;      /* the same while n timers run */
    double table_churn;
    double bytes;          /* per timer, without id and payload; as the store
                              counts */
    double resident;       /* the same, as the system counts */
    double table_resident; /* of the table */
};

/* Measures with options->n timers, or a million. Returns false after printing a
 * message if it was interrupted, stores disagree, or there is no memory. */
bool gate_store_measure(const struct bench_options *options,
                        struct gate_store *out);

#endif
