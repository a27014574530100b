/* report.c - writes the page: the run's JSON between two halves of HTML. */
#include "report.h"

bool
report_write(FILE *out, const char *json, size_t length)
{
    size_t from = 0;

    fwrite(report_page_head, 1, report_page_head_size, out);
    /* In JSON, < occurs only in strings, where it can be escaped. Without it,
     * nothing can end the script element or open a comment in it. */
    for (size_t i = 0; i < length; i++) {
        if (json[i] != '<') {
            continue;
        }
        fwrite(json + from, 1, i - from, out);
        fputs("\\u003c", out);
        from = i + 1;
    }
    fwrite(json + from, 1, length - from, out);
    fwrite(report_page_tail, 1, report_page_tail_size, out);
    return fflush(out) == 0 && !ferror(out);
}
