/* input.h - lines from files, pipes and terminals.
 *
 * An input is a row of files that are read one after the other, in blocks; its
 * lines are told as they stand in the buffer. What holds between two calls:
 *
 *     buffer: [ done | at .. at + seen .. end )  at is where the next line begins;
 *                                                no newline before at + seen
 *
 * Cost: each byte is looked at once by memchr(), and moved at most once per
 * block, or as often as a buffer doubles that is too small for its line.
 */
#ifndef LAWN_CLI_INPUT_H
#define LAWN_CLI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INPUT_LINE_MAX 536870000u /* longer lines are told as too long */

struct input {
    char **names; /* of the files still to be read */
    size_t names_left;
    const char
        *name;  /* of the one being read; NULL: standard input by default */
    int fd;     /* below 0: none is open */
    bool waits; /* a pipe or a terminal, not a file: it may keep us waiting */
    int how;    /* to open them */
    bool over;  /* the file has no more bytes */
    bool too_long;  /* the line that is being read is */
    size_t longest; /* that a line may be: INPUT_LINE_MAX */
    char *buffer;
    size_t at;
    size_t seen;
    size_t end;
    size_t capacity;
    uint64_t number; /* of the line told last, in its file */
};

struct input_line {
    const char
        *at;     /* stays until the next input_fill(); NULL: it is too long */
    size_t size; /* without the newline */
};

enum input_result {
    INPUT_LINE, /* one was told */
    INPUT_MORE, /* input_fill() is needed first */
    INPUT_END   /* there are no more */
};

/* The files of these names, "-" being standard input; none: standard input.
 * Opens the first. If it waits, then also for someone to write to a named pipe,
 * and so does input_fill(). 0, or -errno; input->name tells which. */
int input_open(struct input *input, char **names, size_t count, bool waits);
void input_close(struct input *input);

enum input_result input_next(struct input *input, struct input_line *line);

/* Takes back that the last line was told. One that was too long stays gone. */
void input_back(struct input *input, const struct input_line *line);

/* Reads once, which may wait. 0, also if nothing has come; or -errno: it could
 * not be read, or the next file not be opened. */
int input_fill(struct input *input);

/* Sees whether a pipe that is not read any more has ended. */
void input_look_over(struct input *input);

/* Bytes that are to be read before what comes; their lines have numbers up to 0,
 * modulo 2^64. False: no memory. */
bool input_unread(struct input *input, const void *bytes, size_t size);

/* Which pipe or socket it reads; 0, 0 if it is another kind of file. */
struct input_source {
    uint64_t device;
    uint64_t inode;
};
struct input_source input_source(const struct input *input);

/* The lines that were read and not told: bytes, and how many of them are whole
 * lines. What follows these is part of a line whose end was not read. */
size_t input_rest(const struct input *input, const char **bytes, size_t *whole);

#endif
