/* options.c - parses a verb's arguments according to its option table.
 *
 * Numbers are parsed as integers, digit by digit, so that 0.1s is exactly
 * 100,000,000 ns and a value that is too large is detected, not rounded. Cost:
 * one scan of the table per argument.
 */
#include "options.h"
#include "../../src/base/decimal.h"
#include "text.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

#define OPTIONS_WORD_MAX 32 /* longer words get no suggestion */

/* *sum += a * b, unless that overflows. */
static bool
add_product(uint64_t *sum, uint64_t a, uint64_t b)
{
    if (b != 0 && a > (UINT64_MAX - *sum) / b) {
        return false;
    }
    *sum += a * b;
    return true;
}

/* Returns the number of digits at text, including at most one decimal point. */
static size_t
decimal_length(const char *text)
{
    size_t whole = strspn(text, "0123456789");
    if (whole == 0) {
        return 0;
    }
    if (text[whole] != '.' || !lawn__decimal_is_digit(text[whole + 1])) {
        return whole;
    }
    return whole + 1 + strspn(text + whole + 1, "0123456789");
}

/* *sum += (the decimal number of that length at text) * unit. Returns false if
 * the product is not an integer or the sum overflows. */
static bool
add_decimal(uint64_t *sum, const char *text, size_t length, uint64_t unit)
{
    const char *end = text + length;
    uint64_t whole = 0;
    const char *at = lawn__decimal_read(text, end, UINT64_MAX, &whole);
    if ((at < end && *at != '.') || !add_product(sum, whole, unit)) {
        return false;
    }
    if (at == end) {
        return true;
    }
    while (++at < end) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (digit != 0 && unit % 10 != 0) {
            return false;
        }
        unit /= 10;
        if (!add_product(sum, digit, unit)) {
            return false;
        }
    }
    return true;
}

bool
options_duration(const char **text, uint64_t *ns)
{
    size_t unit = 0; /* the next unit must not be larger: 1h30m */
    const char *at = *text;
    *ns = 0;
    while (lawn__decimal_is_digit(*at)) {
        size_t digits = decimal_length(at);
        size_t letters = strspn(at + digits, "dhmsun");
        while (unit < TEXT_UNITS &&
               !(strlen(text_units[unit].name) == letters &&
                 memcmp(text_units[unit].name, at + digits, letters) == 0)) {
            unit++;
        }
        if (unit == TEXT_UNITS ||
            !add_decimal(ns, at, digits, text_units[unit].ns)) {
            return false;
        }
        at += digits + letters;
        unit++;
    }
    if (at == *text) {
        return false;
    }
    *text = at;
    return true;
}

static bool
store_value(const struct options_spec *spec, uint64_t value, void *out)
{
    if (value < spec->min || value > spec->max) {
        return false;
    }
    memcpy(out, &value, sizeof(value));
    return true;
}

/* Stores the value of a number that was not given. */
static bool
store_absent(void *out)
{
    uint64_t none = UINT64_MAX;
    memcpy(out, &none, sizeof(none));
    return true;
}

bool
options_flag(const struct options_spec *spec, const char *text, void *out)
{
    (void)spec;
    bool on = text != NULL;
    memcpy(out, &on, sizeof(on));
    return true;
}

bool
options_number(const struct options_spec *spec, const char *text, void *out)
{
    if (text == NULL) {
        return store_absent(out);
    }
    uint64_t value = 0;
    size_t length = strspn(text, "0123456789");
    return length > 0 && text[length] == '\0' &&
           add_decimal(&value, text, length, 1) &&
           store_value(spec, value, out);
}

/* Returns the factor of a count's suffix; 0 if it is unknown. */
static uint64_t
parse_suffix(const char *suffix)
{
    static const char letters[] = "kMG";
    uint64_t unit = 1;
    if (*suffix == '\0') {
        return 1;
    }
    if (*suffix == 'e' && lawn__decimal_is_digit(suffix[1])) {
        char *end = NULL;
        unsigned long exponent = strtoul(suffix + 1, &end, 10);
        if (*end != '\0' || exponent > 19) {
            return 0;
        }
        while (exponent-- > 0) {
            unit *= 10;
        }
        return unit;
    }
    const char *letter = strchr(letters, *suffix);
    if (letter == NULL || suffix[1] != '\0') {
        return 0;
    }
    for (const char *l = letters; l <= letter; l++) {
        unit *= 1000;
    }
    return unit;
}

bool
options_count(const struct options_spec *spec, const char *text, void *out)
{
    if (text == NULL) {
        return store_absent(out);
    }
    uint64_t value = 0;
    size_t length = decimal_length(text);
    uint64_t unit = parse_suffix(text + length);
    return length > 0 && unit > 0 && add_decimal(&value, text, length, unit) &&
           store_value(spec, value, out);
}

bool
options_seconds(const struct options_spec *spec, const char *text, void *out)
{
    if (text == NULL) {
        return store_absent(out);
    }
    uint64_t ns = 0;
    size_t length = decimal_length(text);
    if (length > 0 && text[length] == '\0') {
        return add_decimal(&ns, text, length, 1000000000) &&
               store_value(spec, ns, out);
    }
    return options_duration(&text, &ns) && *text == '\0' &&
           store_value(spec, ns, out);
}

bool
options_word(const struct options_spec *spec, const char *text, void *out)
{
    size_t place = SIZE_MAX;
    for (size_t i = 0; text != NULL && spec->words[i] != NULL; i++) {
        if (strcmp(spec->words[i], text) == 0) {
            place = i;
        }
    }
    memcpy(out, &place, sizeof(place));
    return place != SIZE_MAX;
}

bool
options_text(const struct options_spec *spec, const char *text, void *out)
{
    (void)spec;
    memcpy(out, &text, sizeof(text));
    return text != NULL && *text != '\0';
}

bool
options_resembles(const char *word, const char *name)
{
    size_t columns = strlen(name);
    size_t rows = strlen(word);
    size_t row[OPTIONS_WORD_MAX + 1]; /* of a table of edit distances */
    if (rows > OPTIONS_WORD_MAX || columns > OPTIONS_WORD_MAX) {
        return false;
    }
    for (size_t j = 0; j <= columns; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= rows; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t best = diagonal + (word[i - 1] != name[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) {
                best = row[j] + 1;
            }
            if (row[j - 1] + 1 < best) {
                best = row[j - 1] + 1;
            }
            row[j] = best;
        }
    }
    /* Two letters are most of a short name, so for a short name two changes are
     * accepted only if its first letter matches. */
    size_t most = columns > 4 || word[0] == name[0] ? 2 : 1;
    return row[columns] <= most && row[columns] < columns;
}

/* Ends a message with the values that the option accepts. */
static void
put_accepts(const struct options_spec *spec, FILE *out)
{
    if (spec->words == NULL) {
        fprintf(out, "%s\n", spec->accepts);
        return;
    }
    for (size_t i = 0; spec->words[i] != NULL; i++) {
        fprintf(out, "%s%s", i == 0 ? "one of " : ", ", spec->words[i]);
    }
    putc('\n', out);
}

const struct options_spec *
options_at(const struct options_verb *verb, size_t i)
{
    const struct options_spec *tables[] = {verb->specs, verb->common};
    for (size_t t = 0; t < 2; t++) {
        const struct options_spec *s = tables[t];
        for (; s != NULL && s->name != NULL; s++) {
            if (i-- == 0) {
                return s;
            }
        }
    }
    return NULL;
}

const char *
options_prefix(const struct options_verb *verb)
{
    return verb->standalone ? "lawn-" : "lawn ";
}

/* Prints an error about an argument, and the command that prints help. */
static void
complain(const struct options_verb *verb, const char *what,
         const char *argument)
{
    size_t dashes = strspn(argument, "-");
    fprintf(stderr, "%s%s: %s '%s'\n", options_prefix(verb), verb->name, what,
            argument);
    const struct options_spec *s = NULL;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        if (dashes == 1 && s->letter != '\0' &&
            (argument[1] ^ s->letter) == ('a' ^ 'A')) {
            fprintf(stderr, "did you mean -%c?\n", s->letter);
        } else if (dashes > 0 &&
                   options_resembles(argument + dashes, s->name)) {
            fprintf(stderr, "did you mean --%s?\n", s->name);
        }
    }
    fprintf(stderr, "see '%s%s --help'\n", options_prefix(verb), verb->name);
}

/* Finds the spec of an argument "--name", "--name=value", "-n" or "-nvalue".
 * *value is the value in the argument, or NULL. */
static const struct options_spec *
find_spec(const struct options_verb *verb, const char *argument,
          const char **value)
{
    bool is_long = strncmp(argument, "--", 2) == 0;
    size_t length = is_long ? strcspn(argument, "=") : 2;
    *value = NULL;
    if (argument[0] != '-' || argument[1] == '\0') {
        return NULL;
    }
    if (argument[length] != '\0') {
        *value = argument + length + (is_long ? 1 : 0);
    }
    const struct options_spec *s = NULL;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        if (is_long ? strlen(s->name) == length - 2 &&
                          memcmp(s->name, argument + 2, length - 2) == 0
                    : s->letter == argument[1]) {
            return s;
        }
    }
    return NULL;
}

/* Parses the option at argv[*i], with its value there or in the next
 * argument. */
static bool
read_option(const struct options_verb *verb, char **argv, int *i, void *values)
{
    const char *text = NULL;
    const struct options_spec *spec = find_spec(verb, argv[*i], &text);
    if (spec == NULL) {
        complain(verb,
                 argv[*i][0] == '-' ? "unknown option" : "unexpected argument",
                 argv[*i]);
        return false;
    }
    if (spec->value == NULL && text != NULL) {
        fprintf(stderr, "%s%s: --%s takes no value\n", options_prefix(verb),
                verb->name, spec->name);
        return false;
    }
    if (spec->value == NULL) {
        text = "";
    } else if (text == NULL && spec->implied != NULL) {
        text = spec->implied;
    } else if (text == NULL) {
        text = argv[++*i]; /* NULL at the end of argv */
    }
    if (text == NULL) {
        fprintf(stderr, "%s%s: --%s needs a value: ", options_prefix(verb),
                verb->name, spec->name);
        put_accepts(spec, stderr);
        *i -= 1;
        return false;
    }
    if (!spec->parse(spec, text, (char *)values + spec->offset)) {
        fprintf(stderr, "%s%s: --%s: '%s' is not ", options_prefix(verb),
                verb->name, spec->name, text);
        put_accepts(spec, stderr);
        return false;
    }
    return true;
}

static bool
is_operand(const char *argument)
{
    return argument[0] != '-' || argument[1] == '\0';
}

bool
options_read(const struct options_verb *verb, int argc, char **argv,
             void *values, int *exit_code)
{
    struct options_operands operands = {0, argv + 1};
    bool takes = verb->operands != NULL;
    bool only = false; /* the remaining arguments are operands */
    const struct options_spec *s = NULL;
    for (size_t i = 0; (s = options_at(verb, i)) != NULL; i++) {
        s->parse(s, s->initial, (char *)values + s->offset);
    }
    for (int i = 1; i < argc; i++) {
        if (takes && (only || is_operand(argv[i]))) {
            operands.words[operands.count++] = argv[i];
        } else if (takes && strcmp(argv[i], "--") == 0) {
            only = true;
        } else if (strcmp(argv[i], "--help") == 0 ||
                   strcmp(argv[i], "-h") == 0) {
            options_help(verb, stdout);
            *exit_code = VERBS_OK;
            return false;
        } else if (!read_option(verb, argv, &i, values)) {
            *exit_code = VERBS_USAGE;
            return false;
        }
    }
    if (takes) {
        memcpy((char *)values + verb->operands_offset, &operands,
               sizeof(operands));
    }
    return true;
}
