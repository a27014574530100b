/* glob.c - patterns: see glob.h.
 *
 * Everything except a star matches exactly one byte. So after a mismatch only
 * the last star has to match one byte more. This needs no recursion.
 *
 * The meaning of a pattern is that of the server, including its corner cases:
 * an unterminated class ends with the pattern; "[]" matches nothing and "[^]"
 * any byte; "a-]" in a class is a range, and a reversed range is swapped; a
 * backslash at the end matches itself. Bytes are compared as char, as in the
 * server.
 */
#include "glob.h"

/* Returns true if c is in the class that begins at *at, after its bracket.
 * Moves *at past the class. */
static bool
match_class(struct bytes pattern, size_t *at, char c)
{
    const char *p = pattern.at;
    size_t i = *at;
    size_t end = pattern.size;
    bool found = false;
    bool other = i < end && p[i] == '^';

    for (i += other; i < end && p[i] != ']'; i++) {
        char low = p[i];
        char high = low;
        if (low == '\\' && end - i >= 2) {
            low = high = p[++i];
        } else if (end - i >= 3 && p[i + 1] == '-') {
            i += 2;
            high = p[i];
        }
        found = found || (low <= c && c <= high) || (high <= c && c <= low);
    }
    *at = i < end ? i + 1 : end;
    return found != other;
}

/* Returns true if c matches the element at *at, which is not a star. Moves *at
 * past the element. */
static bool
match_byte(struct bytes pattern, size_t *at, char c)
{
    char p = pattern.at[(*at)++];

    if (p == '?') {
        return true;
    }
    if (p == '[') {
        return match_class(pattern, at, c);
    }
    if (p == '\\' && *at < pattern.size) {
        p = pattern.at[(*at)++];
    }
    return p == c;
}

bool
glob_match(struct bytes pattern, struct bytes text, uint64_t *work)
{
    size_t p = 0;
    size_t t = 0;
    size_t star = SIZE_MAX; /* position after the last star; none yet */
    size_t taken = 0;       /* end of the text that this star matches */

    while (t < text.size) {
        size_t next = p;
        bool is_star = p < pattern.size && pattern.at[p] == '*';
        bool fits = !is_star && p < pattern.size &&
                    match_byte(pattern, &next, text.at[t]);
        *work += next - p + 1;
        if (is_star) {
            star = ++p;
            taken = t;
            if (star == pattern.size) {
                return true;
            }
        } else if (fits) {
            p = next;
            t++;
        } else if (star != SIZE_MAX) {
            p = star;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.size && pattern.at[p] == '*') {
        p++;
    }
    return p == pattern.size;
}
