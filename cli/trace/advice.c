/* advice.c - recommends a structure for the timers of a trace, with reasons.
 *
 * The rules are those of lawn(7) ("When not to use a lawn") and the
 * measurements of docs/DESIGN.md, checked in this order:
 *   few timers at once                       any structure
 *   a default lawn has a blade for each TTL  a lawn with default options
 *   a larger lawn has a blade for each TTL,
 *   and very many timers share each TTL      a lawn with more blades
 *   rounding leaves few different TTLs       round them a little
 *   otherwise                                a wheel or a heap
 */
#include "stats.h"

#include <lawn.h>
#include <stdarg.h>
#include <string.h>

#define TRACE_ADVICE_FEW 500          /* timers */
#define TRACE_ADVICE_BLADES 1024      /* of a default lawn */
#define TRACE_ADVICE_BLADES_MAX 16384 /* of any lawn */
#define TRACE_ADVICE_SHARE 512 /* timers per TTL that justify more blades */
/* A default lawn uses its blades from 4 timers per TTL on, or from
 * TRACE_ADVICE_SHARE on if there are more than 512 TTLs: src/core/tuning.h. */
#define TRACE_ADVICE_SHARE_LEAST 4
#define TRACE_ADVICE_TTLS_MANY 512
#define TRACE_ADVICE_ROUND 20 /* rounding adds at most 1/20 of a TTL */

static void add_reason(struct trace_advice *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
add_reason(struct trace_advice *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->reasons[out->reason_count++], sizeof(out->reasons[0]),
              format, arguments);
    va_end(arguments);
}

static void
choose(struct trace_advice *out, const char *name, const char *title)
{
    out->name = name;
    snprintf(out->title, sizeof(out->title), "%s", title);
}

/* Returns the number of distinct TTLs after rounding up to multiples of
 * quantum. */
static uint64_t
count_rounded(const struct trace_ttls *ttls, uint64_t quantum)
{
    uint64_t left = ttls->count > 0;
    for (size_t i = 1; i < ttls->count; i++) {
        left += (ttls->ttls[i].ttl - 1) / quantum !=
                (ttls->ttls[i - 1].ttl - 1) / quantum;
    }
    return left;
}

/* Finds the smallest round quantum that leaves at most as many TTLs as a
 * default lawn has blades. The quantum must be small compared with nearly all
 * TTLs. Returns false if there is none. */
static bool
find_quantum(const struct trace_stats *stats, struct trace_advice *out)
{
    uint64_t most = trace_stats_ttl(stats, 1) / TRACE_ADVICE_ROUND;
    for (size_t i = 1; trace_stats_class(i) <= most; i++) {
        out->quantised = count_rounded(&stats->ttls, trace_stats_class(i));
        if (out->quantised <= TRACE_ADVICE_BLADES) {
            out->quantum = trace_stats_class(i);
            return true;
        }
    }
    return false;
}

static void
advise_any(const struct trace_stats *stats, struct trace_advice *out)
{
    choose(out, "any", "anything: a sorted array or a heap is fast enough");
    add_reason(out,
               "At most %s timers run at once; no structure is slow with a few "
               "hundred.",
               text_count(stats->most).s);
}

/* Adds the reasons that hold for every lawn. */
static void
add_lawn_reasons(const struct trace_stats *stats, struct trace_advice *out)
{
    struct lawn_options options = {.blades = (size_t)out->blades};
    double ended = (double)(stats->stopped + stats->restarted);
    double share = 100 * ended / (double)stats->runs;
    out->bytes = lawn_size(&options);
    if (share >= 50) {
        add_reason(out,
                   "%.1f %% of the starts end in a stop or a restart: "
                   "a lawn does both in constant time, a heap in "
                   "O(log n).",
                   share);
    } else {
        add_reason(out,
                   "%.1f %% of the starts end in firing: a lawn fires a timer "
                   "in constant time on average, a heap in O(log n).",
                   100 * (double)stats->fired / (double)stats->runs);
    }
    add_reason(out,
               "The lawn takes %s bytes and never grows; each of at most %s "
               "timers takes 24 bytes.",
               text_count(out->bytes).s, text_count(stats->most).s);
}

static void
advise_default(const struct trace_stats *stats, struct trace_advice *out)
{
    choose(out, "lawn", "a lawn with default options");
    add_reason(out,
               "At most %s different TTLs are in use at once; a default lawn "
               "has queues for %s TTLs.",
               text_count(stats->most_ttls).s,
               text_count(TRACE_ADVICE_BLADES).s);
    unsigned share = stats->most_ttls > TRACE_ADVICE_TTLS_MANY
                         ? TRACE_ADVICE_SHARE
                         : TRACE_ADVICE_SHARE_LEAST;
    if (stats->most_ttls_timers < share * stats->most_ttls) {
        add_reason(out,
                   "There were %.1f timers per TTL when the number of TTLs was "
                   "highest; with fewer than about %u, a lawn works as a "
                   "timing wheel, without its queues.",
                   (double)stats->most_ttls_timers / (double)stats->most_ttls,
                   share);
    }
    add_lawn_reasons(stats, out);
}

static void
advise_more_blades(const struct trace_stats *stats, struct trace_advice *out)
{
    out->blades = TRACE_ADVICE_BLADES;
    while (out->blades < stats->most_ttls) {
        out->blades *= 2;
    }
    choose(out, "blades", "");
    snprintf(out->title, sizeof(out->title),
             "a lawn with more blades: options.blades = %u",
             (unsigned)out->blades);
    add_reason(out,
               "Up to %s different TTLs are in use at once, but a default lawn "
               "has queues for %s; timers of the other TTLs would cost as much "
               "as in a wheel.",
               text_count(stats->most_ttls).s,
               text_count(TRACE_ADVICE_BLADES).s);
    add_reason(
        out,
        "There were %.1f timers per TTL when the number of TTLs was highest.",
        (double)stats->most_ttls_timers / (double)stats->most_ttls);
    add_lawn_reasons(stats, out);
}

static void
advise_rounding(const struct trace_stats *stats, struct trace_advice *out)
{
    struct text quantum = trace_stats_time(stats, out->quantum);
    choose(out, "quantize", "");
    snprintf(out->title, sizeof(out->title),
             "a lawn, with TTLs rounded up to multiples of %s", quantum.s);
    add_reason(out,
               "Up to %s different TTLs are in use at once, by %s timers: too "
               "many for one queue per TTL.",
               text_count(stats->most_ttls).s,
               text_count(stats->most_ttls_timers).s);
    add_reason(out,
               "If TTLs are rounded up to multiples of %s before lawn_start(), "
               "%s different ones remain. Rounding delays a timer by less than "
               "%s, and for 99 %% of the starts by at most %d %% of the TTL.",
               quantum.s, text_count(out->quantised).s, quantum.s,
               100 / TRACE_ADVICE_ROUND);
    add_lawn_reasons(stats, out);
}

static void
advise_wheel(const struct trace_stats *stats, struct trace_advice *out)
{
    double canceled = (double)(stats->stopped + stats->restarted);
    choose(out, "wheel", "a hierarchical wheel or a heap; a lawn is no better");
    bool share =
        stats->most_ttls_timers >= TRACE_ADVICE_SHARE * stats->most_ttls;
    add_reason(
        out,
        "Up to %s different TTLs are in use at once, by %s timers: %s, and "
        "rounding TTLs a little does not help.",
        text_count(stats->most_ttls).s, text_count(stats->most_ttls_timers).s,
        share ? "more than a lawn has queues for" : "few timers share a TTL");
    add_reason(out, "%s",
               "Timers without a queue cost a lawn as much as a good "
               "hierarchical wheel; a heap is smaller.");
    if (2 * canceled >= (double)stats->runs) {
        add_reason(out,
                   "%.1f %% of the starts end in a stop or a restart, which "
                   "favors the wheel or the lawn: they take constant time, a "
                   "heap takes O(log n).",
                   100 * canceled / (double)stats->runs);
    }
    add_reason(out, "%s",
               "If deadlines may be inexact by 10 %, a wheel without cascades "
               "does less work.");
}

void
trace_advise(const struct trace_stats *stats, struct trace_advice *out)
{
    memset(out, 0, sizeof(*out));
    uint64_t shared = TRACE_ADVICE_SHARE * stats->most_ttls;
    if (stats->runs == 0) {
        choose(out, "none", "nothing: the trace starts no timer");
    } else if (stats->most < TRACE_ADVICE_FEW) {
        advise_any(stats, out);
    } else if (stats->most_ttls <= TRACE_ADVICE_BLADES) {
        advise_default(stats, out);
    } else if (stats->most_ttls <= TRACE_ADVICE_BLADES_MAX &&
               stats->most_ttls_timers >= shared) {
        advise_more_blades(stats, out);
    } else if (find_quantum(stats, out)) {
        advise_rounding(stats, out);
    } else {
        advise_wheel(stats, out);
    }
}
