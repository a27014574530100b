/* fuzz_times.c - the fuzzer's bytes as a time, a duration and a field's name;
 * the first byte selects the unit of numbers.
 *
 * An accepted time is printed, and must be parsed again as the same. Units,
 * formats and parsers must agree. Longer or padded spellings must mean the
 * same.
 */
#include "fuzz.h"
#include "times.h"

#include "lawn.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

/* A printed time is parsed as the same. */
static void
fuzz_again(uint64_t ns, enum times_form form, enum times_unit unit)
{
    struct text text = times_format(ns, form, unit);
    size_t size = strlen(text.s);
    fuzz_check(size < sizeof(text.s));
    uint64_t again = 0;
    enum times_form form_again = TIMES_NUMBER;
    fuzz_check(times_parse(text.s, size, unit, &again, &form_again));
    fuzz_check(again == ns && form_again == form);
    fuzz_check(strchr(text.s, '.') == NULL ||
               text.s[size - 1 - (form == TIMES_RFC3339)] != '0');
}

static void
fuzz_print(uint64_t ns)
{
    for (enum times_unit unit = TIMES_S; unit <= TIMES_NS; unit++) {
        fuzz_again(ns, TIMES_NUMBER, unit);
    }
    fuzz_again(ns, TIMES_RFC3339, TIMES_S);
    struct text text = times_format_ms(ns);
    uint64_t again = 0;
    fuzz_check(times_parse(text.s, strlen(text.s), TIMES_S, &again, NULL));
    fuzz_check(again == ns - ns % 1000000);
    text = text_ttl(ns);
    fuzz_check(times_parse_duration(text.s, strlen(text.s), TIMES_S, &again));
    fuzz_check(again == ns);
}

/* A number means the same with leading zeros and with an exponent of 0, and
 * both parsers agree on it. */
static void
fuzz_number(const char *text, size_t size, enum times_unit unit, uint64_t ns)
{
    char *longer = malloc(size + 32);
    fuzz_check(longer != NULL);
    memset(longer, '0', 30);
    memcpy(longer + 30, text, size);
    uint64_t again = 0;
    fuzz_check(times_parse(longer, size + 30, unit, &again, NULL));
    fuzz_check(again == ns);
    fuzz_check(times_parse_duration(longer, size + 30, unit, &again));
    fuzz_check(again == ns);
    if (memchr(text, 'e', size) == NULL && memchr(text, 'E', size) == NULL) {
        longer[30 + size] = 'e';
        longer[30 + size + 1] = '0';
        fuzz_check(times_parse(longer + 30, size + 2, unit, &again, NULL));
        fuzz_check(again == ns);
    }
    if (unit != TIMES_NS &&
        times_parse(text, size, (enum times_unit)(unit + 1), &again, NULL)) {
        fuzz_check(again == ns / 1000);
    }
    free(longer);
}

static void
fuzz_time(const char *text, size_t size, enum times_unit unit)
{
    uint64_t ns = 0;
    enum times_form form = TIMES_NUMBER;
    if (!times_parse(text, size, unit, &ns, &form)) {
        return;
    }
    fuzz_check(ns < LAWN_NEVER && size > 0);
    fuzz_check(text[0] >= '0' && text[0] <= '9');
    uint64_t length = 0;
    if (form == TIMES_NUMBER) {
        fuzz_number(text, size, unit, ns);
    } else {
        fuzz_check(size >= 20 && text[4] == '-');
        fuzz_check(!times_parse_duration(text, size, unit, &length));
    }
    fuzz_print(ns);
}

/* A duration that is not a plain number is what options_duration() returns. */
static void
fuzz_length(const char *text, size_t size, enum times_unit unit)
{
    uint64_t ns = 0;
    char *copy = malloc(size + 1);
    fuzz_check(copy != NULL);
    memcpy(copy, text, size);
    copy[size] = '\0';
    const char *at = copy;
    bool good = times_parse_duration(text, size, unit, &ns);
    uint64_t duration = 0;
    if (options_duration(&at, &duration)) {
        fuzz_check(at > copy && at <= copy + size);
        if (at == copy + size && duration < LAWN_NEVER && size <= 100) {
            fuzz_check(good && ns == duration);
        }
    } else if (good) {
        fuzz_check(times_parse(text, size, unit, &duration, NULL));
        fuzz_check(duration == ns);
    }
    if (good) {
        fuzz_print(ns);
    }
    (void)times_unit_of(copy);
    free(copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0) {
        return 0;
    }
    enum times_unit unit = (enum times_unit)(bytes[0] % 4);
    /* A copy, so that reading past the text is noticed. */
    char *text = malloc(size - 1 + (size == 1));
    fuzz_check(text != NULL);
    memcpy(text, bytes + 1, size - 1);
    fuzz_time(text, size - 1, unit);
    fuzz_length(text, size - 1, unit);
    uint64_t ns = 0;
    memcpy(&ns, bytes, size < sizeof(ns) ? size : sizeof(ns));
    if (ns < LAWN_NEVER) {
        fuzz_print(ns);
    }
    free(text);
    return 0;
}
