/* escape.c - texts of servers, made safe: a key may be any bytes, and what a
 * terminal does with some of them is not for others to decide.
 */
#include "top.h"

#include <stdio.h>
#include <string.h>

/* One byte as it is shown, into out; its length. */
static size_t
escape_byte(unsigned char byte, char out[5])
{
    static const char plain[] = "\n\r\t\\";
    static const char letters[] = "nrt\\";
    const char *found = byte != 0 ? strchr(plain, byte) : NULL;
    if (found != NULL) {
        return (size_t)snprintf(out, 5, "\\%c", letters[found - plain]);
    }
    if (byte >= 0x20 && byte < 0x7f) {
        out[0] = (char)byte;
        return 1;
    }
    return (size_t)snprintf(out, 5, "\\x%02x", byte);
}

size_t
top_escape(const char *text, size_t size, size_t most, char *out, size_t room)
{
    static const char dots[] = "...";
    size_t length = 0;
    size_t fits = 0; /* the end of the last that leaves room for the dots */
    if (most > room - 1) {
        most = room - 1;
    }
    for (size_t i = 0; i < size; i++) {
        char byte[5];
        size_t more = escape_byte((unsigned char)text[i], byte);
        if (length + more > most) {
            size_t end = most < 3 ? most : 3;
            memcpy(out + fits, dots, end);
            length = fits + end;
            break;
        }
        memcpy(out + length, byte, more);
        length += more;
        if (length + 3 <= most) {
            fits = length;
        }
    }
    out[length] = '\0';
    return length;
}
