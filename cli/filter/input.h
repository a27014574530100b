/* input.h - lines from files, pipes and terminals.
 *
 * An input is a list of files that are read one after the other, in blocks.
 * Lines are returned in place, in the buffer. Between two calls:
 *
 *     buffer: [ done | at .. at + seen .. end )
 *
 * The next line starts at the offset `at`. The `seen` bytes from there contain
 * no newline.
 *
 * Each byte is searched once by memchr(). It is moved at most once per block,
 * and when the buffer is doubled because a line does not fit.
 */
#ifndef LAWN_CLI_INPUT_H
#define LAWN_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_LINE_MAX 536870000u /* longer lines are bad */

struct input {
    char **names; /* of the remaining files */
    size_t names_left;
    const char *name; /* of the current file; NULL: standard input by default */
    int fd;           /* below 0: none is open */
    bool waits;       /* a pipe or a terminal: a read may block */
    int how;          /* flags to open files with */
    bool over;        /* the current file has no more bytes */
    bool too_long;    /* the line that is being read is too long */
    size_t longest;   /* the longest line that is accepted: INPUT_LINE_MAX */
    char *buffer;
    size_t at;
    size_t seen;
    size_t end;
    size_t capacity;
    uint64_t number; /* of the line returned last, in its file; see
                        input_is_resumed() */
};

struct input_line {
    const char *at; /* valid until the next input_fill(); NULL: too long */
    size_t size;    /* without the newline */
};

enum input_result {
    INPUT_LINE, /* a line was returned */
    INPUT_MORE, /* input_fill() is needed first */
    INPUT_END   /* there are no more lines */
};

/* Opens the first of the files; "-", or no file: standard input. If `waits` is
 * true, opening a named pipe blocks until it has a writer, and input_fill()
 * blocks too. Returns 0 or -errno; input->name is the file. */
int input_open(struct input *input, char **names, size_t count, bool waits);
void input_close(struct input *input);

enum input_result input_next(struct input *input, struct input_line *line);

/* Returns the last line to the input, so that input_next() returns it again. A
 * line that was too long is lost. */
void input_push_back(struct input *input, const struct input_line *line);

/* Reads once, which may block, or opens the next file. Returns 0, also if no
 * bytes were read, or -errno. */
int input_fill(struct input *input);

/* Checks whether a pipe that is no longer read has ended. */
void input_check_end(struct input *input);

/* Prepends bytes from a state to the bytes of the files. Returns false if there
 * is no memory. */
bool input_prepend(struct input *input, const void *bytes, size_t size);

/* Returns whether the line that was returned last is from the state. */
bool input_is_resumed(const struct input *input);

/* Returns the number of lines from the state that were not returned yet. */
uint64_t input_count_resumed(const struct input *input);

/* Identifies the pipe or socket that is read; 0, 0 for another kind of file. */
struct input_source {
    uint64_t device;
    uint64_t inode;
};
struct input_source input_get_source(const struct input *input);

/* Returns the number of bytes that were read and not returned as lines, and
 * sets *bytes to them. The first *whole bytes are complete lines; the others
 * are the start of a line. */
size_t input_remaining(const struct input *input, const char **bytes,
                       size_t *whole);

#endif
