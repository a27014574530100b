/* glob.c - patterns: see glob.h.
 *
 * All but a star takes exactly one byte, so the last star alone can be wrong:
 * where the pattern fails behind it, it takes one byte more, and what stands
 * before it stays. That is O(pattern x text) at worst, and needs no stack.
 *
 * What a pattern means is the server's own affair, its corners included: a
 * class that is not closed ends with the pattern; "[]" matches nothing and "[^]"
 * anything; "a-]" in a class is a range, and one that runs backwards is turned;
 * a backslash at the end is one. Bytes compare as char does, as they do there.
 */
#include "glob.h"

/* Whether c is in the class that begins at *at, behind its bracket; moves *at
 * behind its end. */
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

/* Whether c matches what stands at *at, which is no star; moves *at behind it. */
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
    size_t star = SIZE_MAX; /* behind the last one; none yet */
    size_t taken = 0;       /* the text's end as that star has it */

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
