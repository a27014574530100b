/* histogram.c - a log-linear histogram.
 *
 * The bucket number of a value consists of the position of its leading one and
 * the five bits below it, without gaps.
 */
#include <lawn_histogram.h>

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#define LAWN_HISTOGRAM_BITS 5
#define LAWN_HISTOGRAM_SPLIT (UINT64_C(1) << LAWN_HISTOGRAM_BITS)
/* Number of lines for each halving of the distance to 100 %. */
#define LAWN_HISTOGRAM_LINES 5

_Static_assert(LAWN_HISTOGRAM_BUCKETS == (64 - LAWN_HISTOGRAM_BITS + 1)
                                             << LAWN_HISTOGRAM_BITS,
               "a bucket for every value");

static size_t
find_bucket(uint64_t value)
{
    if (value < LAWN_HISTOGRAM_SPLIT) {
        return (size_t)value;
    }
    unsigned top = 63 - (unsigned)__builtin_clzll(value);
    unsigned shift = top - LAWN_HISTOGRAM_BITS;
    return (size_t)(shift * LAWN_HISTOGRAM_SPLIT + (value >> shift));
}

static uint64_t
bucket_end(size_t bucket)
{
    if (bucket < 2 * LAWN_HISTOGRAM_SPLIT) {
        return bucket;
    }
    uint64_t shift = bucket / LAWN_HISTOGRAM_SPLIT - 1;
    uint64_t leading = bucket % LAWN_HISTOGRAM_SPLIT + LAWN_HISTOGRAM_SPLIT;
    /* For the last bucket this is 0 - 1, UINT64_MAX. */
    return ((leading + 1) << shift) - 1;
}

/* At most the largest value that was added. */
static uint64_t
bucket_max(const struct lawn_histogram *histogram, size_t bucket)
{
    uint64_t end = bucket_end(bucket);

    return end < histogram->max ? end : histogram->max;
}

void
lawn_histogram_add(struct lawn_histogram *histogram, uint64_t value)
{
    histogram->buckets[find_bucket(value)]++;
    histogram->count++;
    if (value > histogram->max) {
        histogram->max = value;
    }
}

void
lawn_histogram_merge(struct lawn_histogram *histogram,
                     const struct lawn_histogram *other)
{
    for (size_t i = 0; i < LAWN_HISTOGRAM_BUCKETS; i++) {
        histogram->buckets[i] += other->buckets[i];
    }
    histogram->count += other->count;
    if (other->max > histogram->max) {
        histogram->max = other->max;
    }
}

uint64_t
lawn_histogram_at(const struct lawn_histogram *histogram, unsigned parts)
{
    uint64_t whole = 100000;
    uint64_t share = parts == 0 ? 1 : parts < whole ? parts : whole;
    uint64_t rank = histogram->count / whole * share +
                    (histogram->count % whole * share + whole - 1) / whole;
    uint64_t seen = histogram->buckets[0];
    size_t i = 0;

    while (seen < rank && i < LAWN_HISTOGRAM_BUCKETS - 1) {
        seen += histogram->buckets[++i];
    }
    return bucket_max(histogram, i);
}

/* The library does not link libm. */
static double
square_root(double square)
{
    double root = square > 1 ? square : 1;

    for (int i = 0; i < 100; i++) {
        root = (root + square / root) / 2;
    }
    return root;
}

/* In units. */
static double
bucket_middle(size_t bucket, double unit)
{
    double first = bucket == 0 ? 0 : (double)bucket_end(bucket - 1) + 1;

    return (first + (double)bucket_end(bucket)) / 2 / unit;
}

/* Prints one line for each percentile from `next` up to seen / count. Returns
 * the next percentile. */
static double
print_percentiles(FILE *out, double value, uint64_t seen, uint64_t count,
                  double next)
{
    double reached = 100 * ((double)seen / (double)count);

    while (next <= reached) {
        double halves = 1;

        if (next >= 100) {
            fprintf(out, " %11.3f %2.12f %10" PRIu64 " %14s\n", value, 1.0,
                    seen, "inf");
            return 200;
        }
        fprintf(out, " %11.3f %2.12f %10" PRIu64 " %14.2f\n", value, next / 100,
                seen, 100 / (100 - next));
        while (halves <= 100 / (100 - next)) {
            halves *= 2;
        }
        double step = 100 / (LAWN_HISTOGRAM_LINES * halves);
        /* Continue with 100 % if all following lines would show the same value,
         * or if the step is below the precision. */
        next = seen == count || next + step <= next ? 100 : next + step;
    }
    return next;
}

int
lawn_histogram_print(const struct lawn_histogram *histogram, FILE *out,
                     double unit)
{
    double by = unit > 0 ? unit : 1;
    double count = histogram->count > 0 ? (double)histogram->count : 1;
    double mean = 0;
    double variance = 0;
    double next = 0;
    uint64_t seen = 0;

    fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
            "1/(1-Percentile)");
    for (size_t i = 0; i < LAWN_HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] > 0) {
            double value = (double)bucket_max(histogram, i) / by;

            seen += histogram->buckets[i];
            next = print_percentiles(out, value, seen, histogram->count, next);
            mean +=
                bucket_middle(i, by) * ((double)histogram->buckets[i] / count);
        }
    }
    for (size_t i = 0; i < LAWN_HISTOGRAM_BUCKETS; i++) {
        double off = bucket_middle(i, by) - mean;

        variance += off * off * ((double)histogram->buckets[i] / count);
    }
    fprintf(out,
            "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n"
            "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n"
            "#[Buckets = %12d, SubBuckets     = %12d]\n",
            mean, square_root(variance), (double)histogram->max / by,
            histogram->count, 64 - LAWN_HISTOGRAM_BITS + 1,
            (int)LAWN_HISTOGRAM_SPLIT);
    return ferror(out) ? -EIO : 0;
}
