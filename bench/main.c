/* main.c - lawn-bench(1), which "lawn bench" runs. */
#include "bench.h"
#include "output.h"
#include "verbs.h"

int
main(int argc, char **argv)
{
    output_open();
    int code = bench_verb.run(&bench_verb, argc, argv);
    return output_close("lawn-bench") ? code : VERBS_OUTPUT;
}
