/* request.c - the parsers of public cache traces: see convert.c. */
#include "request.h"

#include <string.h>

#define TRACE_REQUEST_FIELDS 32

static const char *const header_names[TRACE_COLUMNS] = {"op_time", "key", "op",
                                                        "ttl"};

static const struct {
    const char *name;
    enum trace_request_kind kind;
    bool meta;
} trace_request_operations[] = {
    {"get", TRACE_REQUEST_READ, false},
    {"gets", TRACE_REQUEST_READ, false},
    {"set", TRACE_REQUEST_WRITE, false},
    {"add", TRACE_REQUEST_WRITE, false},
    {"replace", TRACE_REQUEST_WRITE, false},
    {"cas", TRACE_REQUEST_WRITE, false},
    {"append", TRACE_REQUEST_WRITE, false},
    {"prepend", TRACE_REQUEST_WRITE, false},
    {"incr", TRACE_REQUEST_WRITE, false},
    {"decr", TRACE_REQUEST_WRITE, false},
    {"delete", TRACE_REQUEST_DELETE, false},
    {"GET", TRACE_REQUEST_READ, true},
    {"GET_LEASE", TRACE_REQUEST_READ, true},
    {"SET", TRACE_REQUEST_WRITE, true},
    {"SET_LEASE", TRACE_REQUEST_WRITE, true},
    {"DELETE", TRACE_REQUEST_DELETE, true},
};

struct request_field {
    const char *at;
    size_t length;
};

static bool
field_is(struct request_field field, const char *text)
{
    return strlen(text) == field.length &&
           memcmp(field.at, text, field.length) == 0;
}

static bool
set_wrong(struct trace_wrong *wrong, const char *expected,
          struct request_field found)
{
    wrong->expected = expected;
    wrong->found = found.length > 0 ? found.at : NULL;
    wrong->length = found.length;
    return false;
}

/* Splits a line at commas into at most TRACE_REQUEST_FIELDS fields. Further
 * columns are ignored. Returns the number of fields. */
static unsigned
split_line(const char *line, size_t length, struct request_field *fields)
{
    unsigned count = 0;
    const char *end = line + length;
    for (;;) {
        const char *comma = memchr(line, ',', (size_t)(end - line));
        const char *stop = comma != NULL ? comma : end;
        fields[count].at = line;
        fields[count].length = (size_t)(stop - line);
        count++;
        if (comma == NULL || count == TRACE_REQUEST_FIELDS) {
            return count;
        }
        line = comma + 1;
    }
}

/* Finds the four relevant fields of Twitter's seven: the first, the last two,
 * and the text from the first comma to the fifth comma from the end. */
static bool
split_twitter(const char *line, size_t length, struct request_field *fields)
{
    const char *end = line + length;
    const char *at = end;
    const char *commas[5];
    const char *first = memchr(line, ',', length);
    for (size_t i = 0; i < 5; i++) {
        while (at > line && at[-1] != ',') {
            at--;
        }
        if (at == line) {
            return false;
        }
        commas[i] = --at;
    }
    if (first >= commas[4]) {
        return false;
    }
    fields[TRACE_COLUMN_TIME] =
        (struct request_field){line, (size_t)(first - line)};
    fields[TRACE_COLUMN_KEY] =
        (struct request_field){first + 1, (size_t)(commas[4] - first - 1)};
    fields[TRACE_COLUMN_OPERATION] = (struct request_field){
        commas[1] + 1, (size_t)(commas[0] - commas[1] - 1)};
    fields[TRACE_COLUMN_TTL] =
        (struct request_field){commas[0] + 1, (size_t)(end - commas[0] - 1)};
    return true;
}

/* Finds the relevant columns in a header. Returns false if it is not a
 * header. */
static bool
read_header(struct trace_format *format, const struct request_field *all,
            unsigned count)
{
    unsigned columns[TRACE_COLUMNS];
    for (unsigned c = 0; c < TRACE_COLUMNS; c++) {
        columns[c] = 0;
        while (columns[c] < count &&
               !field_is(all[columns[c]], header_names[c])) {
            columns[c]++;
        }
        if (columns[c] == count) {
            return false;
        }
    }
    memcpy(format->columns, columns, sizeof(columns));
    format->known = true;
    return true;
}

/* Makes an id from a key. Returns false if it would be empty or too long. */
static bool
make_id(struct request_field key, struct trace_request *out)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t length = 0;
    for (size_t i = 0; i < key.length; i++) {
        unsigned char c = (unsigned char)key.at[i];
        bool plain = c > ' ';
        if (length + (plain ? 1 : 3) > TRACE_ID_MAX) {
            return false;
        }
        if (plain) {
            out->id[length++] = (char)c;
        } else {
            out->id[length++] = '%';
            out->id[length++] = hex[c >> 4];
            out->id[length++] = hex[c & 15];
        }
    }
    out->id_length = length;
    return length > 0;
}

static bool
read_kind(const struct trace_format *format, struct request_field field,
          struct trace_request *out)
{
    for (size_t i = 0; i < sizeof(trace_request_operations) /
                               sizeof(trace_request_operations[0]);
         i++) {
        if (trace_request_operations[i].meta == format->meta &&
            field_is(field, trace_request_operations[i].name)) {
            out->kind = trace_request_operations[i].kind;
            return true;
        }
    }
    out->kind = TRACE_REQUEST_UNKNOWN;
    return format->meta;
}

/* Finds the relevant fields of Meta's format. */
static bool
split_meta(struct trace_format *format, const char *line, size_t length,
           struct request_field *fields, bool *is_header,
           struct trace_wrong *wrong)
{
    struct request_field all[TRACE_REQUEST_FIELDS];
    struct request_field whole = {line, length};
    unsigned count = split_line(line, length, all);
    *is_header = format->first && read_header(format, all, count);
    if (!format->known) {
        return set_wrong(
            wrong, "a header with the columns op_time, key, op and ttl", whole);
    }
    for (unsigned c = 0; c < TRACE_COLUMNS; c++) {
        if (format->columns[c] >= count) {
            return set_wrong(wrong, "the same number of columns as the header",
                             whole);
        }
        fields[c] = all[format->columns[c]];
    }
    return true;
}

bool
trace_request_parse(struct trace_format *format, const char *line,
                    size_t length, struct trace_request *out,
                    struct trace_wrong *wrong)
{
    struct request_field fields[TRACE_COLUMNS];
    bool is_header = false;
    if (format->meta) {
        if (!split_meta(format, line, length, fields, &is_header, wrong)) {
            return false;
        }
    } else if (!split_twitter(line, length, fields)) {
        return set_wrong(
            wrong,
            "seven columns: timestamp, key, key size, value size, client, "
            "operation, TTL",
            (struct request_field){line, length});
    }
    if (is_header) {
        out->kind = TRACE_REQUEST_HEADER;
        return true;
    }
    struct request_field time = fields[TRACE_COLUMN_TIME];
    if (!trace_number(time.at, time.length, &out->time)) {
        return set_wrong(wrong, "a timestamp in seconds", time);
    }
    if (out->time < format->time) {
        return set_wrong(
            wrong, "a timestamp not before the previous one (sort the file)",
            time);
    }
    format->time = out->time;
    if (!read_kind(format, fields[TRACE_COLUMN_OPERATION], out)) {
        return set_wrong(
            wrong,
            "get, gets, set, add, replace, cas, append, prepend, delete, incr "
            "or decr",
            fields[TRACE_COLUMN_OPERATION]);
    }
    struct request_field ttl = fields[TRACE_COLUMN_TTL];
    out->ttl = 0;
    if (ttl.length > 0 && !trace_number(ttl.at, ttl.length, &out->ttl)) {
        return set_wrong(wrong, "a TTL in seconds", ttl);
    }
    if (!make_id(fields[TRACE_COLUMN_KEY], out)) {
        return set_wrong(wrong, "a key of 1 to 255 encoded bytes",
                         fields[TRACE_COLUMN_KEY]);
    }
    return true;
}
