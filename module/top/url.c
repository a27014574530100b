/* url.c - the address of a server:
 * redis://[user[:password]@][host][:port][/db], unix://[user[:password]@]/path,
 * or a path.
 *
 * The password is overwritten in the process's argument, so that a list of
 * processes shows it only during the start.
 */
#include "top.h"

#include "../../src/base/decimal.h"

#include <stdlib.h>
#include <string.h>

void
top_url_fini(struct top_url *url)
{
    char **fields[] = {&url->host, &url->port,     &url->path,
                       &url->user, &url->password, &url->db};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        free(*fields[i]);
        *fields[i] = NULL;
    }
}

/* Returns the end of user and password: the last @ before a path begins; NULL
 * if there is none. */
static char *
find_at(char *rest)
{
    char *at = NULL;
    if (*rest == '/') {
        return NULL;
    }
    for (char *c = rest; *c != '\0' && (*c != '/' || at == NULL); c++) {
        if (*c == '@') {
            at = c;
        }
    }
    return at;
}

/* Hides all between the first colon after the scheme and the last @: in an
 * invalid URL, all of it may be part of a password. */
void
top_url_hide(char *text)
{
    char *scheme = strstr(text, "://");
    char *rest = scheme != NULL ? scheme + 3 : text;
    char *at = strrchr(rest, '@');
    char *colon = at != NULL ? memchr(rest, ':', (size_t)(at - rest)) : NULL;
    if (colon != NULL) {
        memset(colon + 1, '*', (size_t)(at - colon - 1));
    }
}

static int
hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Copies bytes, decoding %40 to @ and so on. Returns false if memory allocation
 * fails or an escape is invalid. */
static bool
copy_decoded(char **out, const char *from, size_t size, bool decode)
{
    char *to = malloc(size + 1);
    *out = to;
    if (to == NULL) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if (!decode || from[i] != '%') {
            *to++ = from[i];
            continue;
        }
        int high = i + 1 < size ? hex_digit(from[i + 1]) : -1;
        int low = i + 2 < size ? hex_digit(from[i + 2]) : -1;
        if (high < 0 || low < 0) {
            return false;
        }
        *to++ = (char)(high * 16 + low);
        i += 2;
    }
    *to = '\0';
    return true;
}

static bool
is_number(const char *text, size_t size, uint64_t least, uint64_t most)
{
    uint64_t number = 0;

    return size > 0 && size <= 6 &&
           lawn__decimal_read(text, text + size, most, &number) ==
               text + size &&
           number >= least;
}

/* Parses user:password@; either part may be missing. */
static const char *
read_user(struct top_url *url, char **rest)
{
    char *at = find_at(*rest);
    if (at == NULL) {
        return NULL;
    }
    size_t size = (size_t)(at - *rest);
    size_t user = strcspn(*rest, ":");
    if (user > size) {
        user = size;
    }
    bool good = user == 0 || copy_decoded(&url->user, *rest, user, true);
    if (good && user < size) {
        char *password = *rest + user + 1;
        size_t length = size - user - 1;
        good = copy_decoded(&url->password, password, length, true);
        memset(password, '*', length);
    }
    *rest = at + 1;
    return good ? NULL
                : "a % in user or password must be followed by two hexadecimal "
                  "digits; write % as %25";
}

/* Parses host:port/db; each part may be missing. */
static const char *
read_place(struct top_url *url, const char *rest)
{
    const char *slash = strchr(rest, '/');
    const char *host = rest;
    if (strchr(rest, '@') != NULL) {
        return "more than one @; write @ and / in a password as %40 and %2F";
    }
    size_t host_size = strcspn(rest, ":/");
    if (*rest == '[') {
        host = rest + 1;
        host_size = strcspn(host, "]/");
        if (host[host_size] != ']') {
            return "missing ] after the IPv6 address";
        }
        rest = host + host_size + 1;
    } else {
        rest += host_size;
    }
    size_t size = slash != NULL ? (size_t)(slash - rest) : strlen(rest);
    if (size > 0 &&
        (*rest != ':' || !is_number(rest + 1, size - 1, 1, 65535))) {
        return "the port must be a number from 1 to 65535";
    }
    const char *db = slash != NULL ? slash + 1 : "";
    if (*db != '\0' && !is_number(db, strlen(db), 0, 999999)) {
        return "the database after the / must be a number from 0 to 999999";
    }
    if (host_size == 0) {
        host = "127.0.0.1";
        host_size = strlen(host);
    }
    if (!copy_decoded(&url->host, host, host_size, false) ||
        !copy_decoded(&url->port, size > 0 ? rest + 1 : "6379",
                      size > 0 ? size - 1 : 4, false) ||
        !copy_decoded(&url->db, *db != '\0' ? db : "0",
                      *db != '\0' ? strlen(db) : 1, false)) {
        return "out of memory";
    }
    return NULL;
}

static const char *
add_password(struct top_url *url)
{
    const char *password = getenv("LAWN_PASSWORD");
    if (url->password != NULL || password == NULL || *password == '\0') {
        return NULL;
    }
    return copy_decoded(&url->password, password, strlen(password), false)
               ? NULL
               : "out of memory";
}

const char *
top_url_read(struct top_url *url, char *text)
{
    const char *wrong = NULL;
    memset(url, 0, sizeof(*url));
    if (strncmp(text, "rediss://", 9) == 0 ||
        strncmp(text, "valkeys://", 10) == 0) {
        return "TLS is not supported; use a tunnel (stunnel, ssh -L) and its "
               "local address";
    }
    char *scheme = strstr(text, "://");
    bool is_unix = strncmp(text, "unix://", 7) == 0;
    bool is_path = scheme == NULL && text[strcspn(text, ":/")] == '/';
    char *rest = scheme != NULL ? scheme + 3 : text;
    bool is_place = text[strcspn(text, "/@")] == '\0';
    if (!is_unix && !is_path && !is_place &&
        strncmp(text, "redis://", 8) != 0 &&
        strncmp(text, "valkey://", 9) != 0) {
        return "unknown scheme; use redis://, valkey:// or unix://";
    }
    if (!is_path) {
        wrong = read_user(url, &rest);
    }
    if (wrong == NULL && !is_unix && !is_path) {
        wrong = read_place(url, rest);
    }
    if (wrong == NULL && (is_unix || is_path)) {
        if (*rest == '\0') {
            return "missing socket path";
        }
        if (!copy_decoded(&url->path, rest, strlen(rest), false) ||
            !copy_decoded(&url->db, "0", 1, false)) {
            wrong = "out of memory";
        }
    }
    return wrong != NULL ? wrong : add_password(url);
}

char *
top_url_name(const struct top_url *url)
{
    const char *parts[6] = {NULL};
    size_t count = 0;
    size_t size = 1;
    if (url->path != NULL) {
        parts[count++] = url->path;
    } else {
        bool six = strchr(url->host, ':') != NULL;
        parts[count++] = six ? "[" : "";
        parts[count++] = url->host;
        parts[count++] = six ? "]:" : ":";
        parts[count++] = url->port;
        if (strcmp(url->db, "0") != 0) {
            parts[count++] = "/";
            parts[count++] = url->db;
        }
    }
    for (size_t i = 0; i < count; i++) {
        size += strlen(parts[i]);
    }
    char *name = malloc(size);
    if (name == NULL) {
        return NULL;
    }
    char *to = name;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(parts[i]);
        memcpy(to, parts[i], length);
        to += length;
    }
    *to = '\0';
    return name;
}
