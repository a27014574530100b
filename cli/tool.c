/* tool.c - the list of verbs of lawn(1). */
#include "tool.h"
#include "../module/top/top.h"
#include "program.h"
#include "trace/trace.h"

const struct options_verb bench_verb = {
    .name = "bench",
    .summary = "compare timer schemes and libraries",
    .program = "lawn-bench",
    .run = program_run,
};

const struct options_verb *const tool_verbs[] = {
    &delay_verb,   &debounce_verb,   &throttle_verb, &dedupe_verb, &absent_verb,
    &session_verb, &join_verb,       &demo_verb,     &bench_verb,  &trace_verb,
    &top_verb,     &completion_verb, NULL,
};

const size_t tool_filters = 7;
