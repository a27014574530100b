/* input.c - lines from files, pipes and terminals: see input.h. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUT_BLOCK ((size_t)1 << 18) /* bytes of a read, and of a buffer */

/* Opens the next file. Unless input_open() was called with `waits`, does not
 * wait until a named pipe has a writer: the writer may first write to the other
 * input, and both processes would wait forever. */
static int
open_next(struct input *input)
{
    input->over = false;
    input->number = 0;
    input->name = *input->names++;
    input->names_left--;
    if (strcmp(input->name, "-") == 0) {
        input->fd = STDIN_FILENO;
    } else {
        input->fd = open(input->name, input->how);
    }
    struct stat about;
    if (input->fd < 0 || fstat(input->fd, &about) != 0) {
        return -errno;
    }
    if (S_ISDIR(about.st_mode)) {
        return -EISDIR;
    }
    input->waits = !S_ISREG(about.st_mode) && !S_ISBLK(about.st_mode);
    return 0;
}

int
input_open(struct input *input, char **names, size_t count, bool waits)
{
    static char standard[] = "-";
    static char *none[] = {standard};
    *input = (struct input){.fd = -1, .longest = INPUT_LINE_MAX};
    input->how = O_RDONLY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK);
    input->names = count > 0 ? names : none;
    input->names_left = count > 0 ? count : 1;
    input->buffer = malloc(INPUT_BLOCK);
    if (input->buffer == NULL) {
        return -ENOMEM;
    }
    input->capacity = INPUT_BLOCK;
    int error = open_next(input);
    if (count == 0) {
        input->name = NULL;
    }
    return error;
}

static void
close_file(struct input *input)
{
    if (input->fd > STDERR_FILENO) {
        close(input->fd);
    }
    input->fd = -1;
}

void
input_close(struct input *input)
{
    close_file(input);
    free(input->buffer);
    input->buffer = NULL;
}

/* Returns the bytes of the buffer up to end as a line. */
static enum input_result
end_line(struct input *input, size_t end, struct input_line *line)
{
    line->size = end - input->at;
    input->too_long = input->too_long || line->size > input->longest;
    line->at = input->too_long ? NULL : input->buffer + input->at;
    input->too_long = false;
    input->seen = 0;
    input->number++;
    return INPUT_LINE;
}

enum input_result
input_next(struct input *input, struct input_line *line)
{
    char *from = input->buffer + input->at + input->seen;
    size_t left = input->end - input->at - input->seen;
    char *newline = left > 0 ? memchr(from, '\n', left) : NULL;
    if (newline != NULL) {
        size_t end = (size_t)(newline - input->buffer);
        end_line(input, end, line);
        input->at = end + 1;
        return INPUT_LINE;
    }
    if (input->over && (input->end > input->at || input->too_long)) {
        end_line(input, input->end, line);
        input->at = input->end;
        return INPUT_LINE;
    }
    input->seen = input->end - input->at;
    return input->over && input->names_left == 0 ? INPUT_END : INPUT_MORE;
}

void
input_push_back(struct input *input, const struct input_line *line)
{
    input->number--;
    if (line->at != NULL) {
        input->at = (size_t)(line->at - input->buffer);
    }
    input->seen = 0;
}

/* Moves the incomplete line to the front of the buffer, and makes room after
 * it. Discards the bytes of a line that is too long. */
static bool
make_room(struct input *input)
{
    size_t rest = input->end - input->at;
    if (rest > input->longest) {
        input->too_long = true;
        rest = 0;
        input->seen = 0;
    }
    size_t capacity = input->capacity;
    if (rest > capacity / 2) {
        capacity *= 2;
    } else if (rest < INPUT_BLOCK / 2) {
        capacity = INPUT_BLOCK;
    }
    if (rest > 0 && input->at > 0) {
        memmove(input->buffer, input->buffer + input->at, rest);
    }
    input->at = 0;
    input->end = rest;
    if (capacity != input->capacity) {
        char *buffer = realloc(input->buffer, capacity);
        if (buffer == NULL) {
            return false;
        }
        input->buffer = buffer;
        input->capacity = capacity;
    }
    return true;
}

int
input_fill(struct input *input)
{
    if (input->over) {
        close_file(input);
        return input->names_left > 0 ? open_next(input) : 0;
    }
    if (!make_room(input)) {
        return -ENOMEM;
    }
    ssize_t got = read(input->fd, input->buffer + input->end,
                       input->capacity - input->end);
    if (got < 0) {
        return errno == EINTR || errno == EAGAIN ? 0 : -errno;
    }
    if (got == 0) {
        input->over = true;
    }
    input->end += (size_t)got;
    return 0;
}

void
input_check_end(struct input *input)
{
    struct pollfd look = {.fd = input->fd, .events = POLLIN};
    if (input->waits && !input->over && poll(&look, 1, 0) == 1 &&
        (look.revents & (POLLIN | POLLHUP)) == POLLHUP) {
        input->over = true;
    }
}

bool
input_prepend(struct input *input, const void *bytes, size_t size)
{
    while (input->capacity - input->end <= size) {
        char *buffer = realloc(input->buffer, input->capacity * 2);
        if (buffer == NULL) {
            return false;
        }
        input->buffer = buffer;
        input->capacity *= 2;
    }
    memcpy(input->buffer + input->end, bytes, size);
    for (size_t i = 0; i < size; i++) {
        input->number -= input->buffer[input->end + i] == '\n';
    }
    input->end += size;
    return true;
}

bool
input_is_resumed(const struct input *input)
{
    /* Lines from the state have the numbers ..., -2, -1, 0, modulo 2^64. */
    return input->number == 0 || input->number > UINT64_MAX / 2;
}

uint64_t
input_count_resumed(const struct input *input)
{
    return input->number > UINT64_MAX / 2 ? 0 - input->number : 0;
}

struct input_source
input_get_source(const struct input *input)
{
    struct stat about;
    if (input->fd < 0 || fstat(input->fd, &about) != 0 ||
        !(S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode))) {
        return (struct input_source){0, 0};
    }
    return (struct input_source){about.st_dev, about.st_ino};
}

size_t
input_remaining(const struct input *input, const char **bytes, size_t *whole)
{
    size_t size = input->end - input->at;
    *bytes = input->buffer != NULL ? input->buffer + input->at : "";
    *whole = size;
    while (!input->over && *whole > 0 && (*bytes)[*whole - 1] != '\n') {
        --*whole;
    }
    return size;
}
