/* histogram.c - tests of lawn_histogram.h. */
#include "common.h"

#include <lawn_histogram.h>
#include <stdlib.h>
#include <string.h>

static void
add_each(struct lawn_histogram *histogram, uint64_t first, uint64_t last)
{
    for (uint64_t value = first; value <= last; value++) {
        lawn_histogram_add(histogram, value);
    }
}

/* Returns the histogram as text; the caller frees it. */
static char *
print(const struct lawn_histogram *histogram, double unit)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    CHECK(out != NULL);
    CHECK_EQ(lawn_histogram_print(histogram, out, unit), 0);
    CHECK_EQ(fclose(out), 0);
    return text;
}

TEST(a_histogram_without_values_reports_0)
{
    struct lawn_histogram histogram = {0};

    CHECK_EQ(lawn_histogram_at(&histogram, 50000), 0);
    CHECK_EQ(lawn_histogram_at(&histogram, 100000), 0);
}

TEST(a_histogram_returns_percentiles_within_its_precision)
{
    static struct lawn_histogram histogram;

    histogram = (struct lawn_histogram){0};
    add_each(&histogram, 1, 100000);
    CHECK_EQ(histogram.count, 100000);
    CHECK_EQ(histogram.max, 100000);
    for (uint64_t parts = 1; parts <= 100000; parts += 37) {
        uint64_t is = lawn_histogram_at(&histogram, (unsigned)parts);

        CHECK(is >= parts);
        CHECK(is <= parts + parts / 31);
    }
    CHECK_EQ(lawn_histogram_at(&histogram, 100000), 100000);
    CHECK_EQ(lawn_histogram_at(&histogram, 4000000000u), 100000);
    CHECK_EQ(lawn_histogram_at(&histogram, 0), 1);
}

TEST(a_histogram_takes_every_value_there_is)
{
    static struct lawn_histogram histogram;

    for (unsigned k = 0; k < 64; k++) {
        uint64_t power = UINT64_C(1) << k;

        for (uint64_t offs = 0; offs <= 2; offs++) {
            uint64_t value = power - 1 + offs;

            histogram = (struct lawn_histogram){0};
            lawn_histogram_add(&histogram, value);
            CHECK_EQ(lawn_histogram_at(&histogram, 1), value);
        }
    }
    histogram = (struct lawn_histogram){0};
    lawn_histogram_add(&histogram, UINT64_MAX);
    lawn_histogram_add(&histogram, 0);
    CHECK_EQ(lawn_histogram_at(&histogram, 50000), 0);
    CHECK_EQ(lawn_histogram_at(&histogram, 50001), UINT64_MAX);
}

TEST(a_histogram_whose_count_is_wrong_ends_at_its_largest_value)
{
    struct lawn_histogram histogram = {0};

    add_each(&histogram, 1, 9);
    histogram.count = 1000;
    CHECK_EQ(lawn_histogram_at(&histogram, 90000), 9);
}

TEST(two_merged_histograms_equal_a_single_one)
{
    static struct lawn_histogram one;
    static struct lawn_histogram other;
    static struct lawn_histogram both;

    one = other = both = (struct lawn_histogram){0};
    add_each(&one, 1, 50);
    add_each(&other, 1000, 1100);
    add_each(&both, 1, 50);
    add_each(&both, 1000, 1100);
    lawn_histogram_merge(&one, &other);
    CHECK(memcmp(&one, &both, sizeof(one)) == 0);
    lawn_histogram_merge(&both, &(struct lawn_histogram){0});
    CHECK(memcmp(&one, &both, sizeof(one)) == 0);
}

/* The format that HdrHistogram plotters read: one line of four columns per
 * percentile, ascending to 1, then three lines that start with #. */
TEST(a_histogram_is_printed_as_hdr_histogram_does)
{
    static struct lawn_histogram histogram;
    double last = -1;
    unsigned long long seen = 0;
    unsigned lines = 0;

    histogram = (struct lawn_histogram){0};
    add_each(&histogram, 1, 1000);
    char *text = print(&histogram, 1000);
    CHECK(strncmp(text,
                  "       Value     Percentile TotalCount "
                  "1/(1-Percentile)\n\n",
                  57) == 0);
    char *line = NULL;
    for (line = strchr(text, '\n') + 2; *line != '#';
         line = strchr(line, '\n') + 1) {
        double value = 0.0;
        double share = 0.0;
        unsigned long long count = 0;
        char inverse[32];

        CHECK_EQ(
            sscanf(line, "%lf %lf %llu %31s", &value, &share, &count, inverse),
            4);
        CHECK(share > last);
        CHECK(count >= seen);
        CHECK(value * 1000 >= (double)count * 0.999);
        CHECK(share * 1000 <= (double)count);
        CHECK(share == 1.0 ? strcmp(inverse, "inf") == 0
                           : strtod(inverse, NULL) >= 1 / (1 - share) - 0.01);
        last = share;
        seen = count;
        lines++;
    }
    CHECK(last == 1.0);
    CHECK_EQ(seen, 1000);
    CHECK(lines > 20 && lines < 80);
    CHECK(strstr(text, " 0.100000000000 ") != NULL); /* five to each half */
    CHECK(strstr(text, " 0.550000000000 ") != NULL);
    CHECK(strstr(text, " 0.775000000000 ") != NULL);
    CHECK(strstr(line, "#[Mean    =        0.50") == line);
    CHECK(strstr(line, ", StdDeviation   =        0.28") != NULL);
    CHECK(strstr(line, "#[Max     =        1.000, Total count    =         "
                       "1000]\n") != NULL);
    free(text);
}

TEST(a_histogram_of_large_values_is_printed_with_their_deviation)
{
    static struct lawn_histogram histogram;

    histogram = (struct lawn_histogram){0};
    lawn_histogram_add(&histogram, 0);
    lawn_histogram_add(&histogram, 1 << 20);
    char *text = print(&histogram, 1);
    CHECK(strstr(text, "StdDeviation   =   532") != NULL); /* within 3.2 % */
    free(text);
}

/* hdr-plot parses only lines that start with a blank. */
TEST(a_line_of_a_histogram_begins_with_a_blank_however_large_the_value)
{
    static struct lawn_histogram histogram;

    histogram = (struct lawn_histogram){0};
    lawn_histogram_add(&histogram, UINT64_MAX);
    char *text = print(&histogram, 1);
    CHECK(strstr(text, "\n 18446744073709551616.000 0.000000000000 ") != NULL);
    free(text);
}

TEST(a_histogram_of_more_values_than_a_double_can_count_is_printed)
{
    static struct lawn_histogram histogram;

    histogram =
        (struct lawn_histogram){.count = (UINT64_C(1) << 60) + 1, .max = 2};
    histogram.buckets[1] = UINT64_C(1) << 60;
    histogram.buckets[2] = 1;
    char *text = print(&histogram, 1);
    CHECK(strlen(text) < 100000);
    CHECK(strstr(text, " 1.000000000000 ") != NULL);
    free(text);
}

TEST(an_empty_histogram_is_printed_without_lines)
{
    static const struct lawn_histogram none;
    char *text = print(&none, 0);

    CHECK(strstr(text, "\n\n#[Mean    =        0.000, StdDeviation   =       "
                       " 0.000]\n") != NULL);
    CHECK(strstr(text, "Total count    =            0]") != NULL);
    free(text);
}

TEST(a_histogram_that_cannot_be_printed_reports_it)
{
    static const struct lawn_histogram none;
    FILE *full = fopen("/dev/full", "w");

    CHECK(full != NULL);
    (void)setvbuf(full, NULL, _IONBF, 0);
    CHECK(lawn_histogram_print(&none, full, 1) < 0);
    (void)fclose(full);
}
