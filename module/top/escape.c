/* escape.c - makes texts from servers safe to print. A key may contain any
 * bytes, including terminal control sequences.
 */
#include "top.h"

#include <stdio.h>
#include <string.h>

/* Writes the printable form of one byte to out. Returns its length. */
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
    /* end of the last character that leaves room for the dots */
    size_t fits = 0;
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
