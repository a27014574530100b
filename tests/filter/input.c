/* input.c - lines from files and pipes: see cli/filter/input.h. */
#include "input.h"

#include "kit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT_BLOCK ((size_t)1 << 18) /* as in input.c */

/* A file that is removed at the end, with a name that opens it. */
struct input_file {
    int fd;
    char name[64];
};

static struct input_file
input_open_file(const void *bytes, size_t size)
{
    char path[] = "/tmp/lawn-input-XXXXXX";
    struct input_file file = {.fd = mkstemp(path)};
    CHECK(file.fd >= 0);
    unlink(path);
    CHECK_EQ(write(file.fd, bytes, size), size);
    snprintf(file.name, sizeof(file.name), "/proc/self/fd/%d", file.fd);
    return file;
}

/* Returns the next line, after reading as many blocks as needed. */
static enum input_result
read_line(struct input *input, struct input_line *line)
{
    enum input_result result = input_next(input, line);
    while (result == INPUT_MORE) {
        CHECK_EQ(input_fill(input), 0);
        result = input_next(input, line);
    }
    return result;
}

static void
input_expect(struct input *input, const void *bytes, size_t size)
{
    struct input_line line;
    CHECK_EQ(read_line(input, &line), INPUT_LINE);
    CHECK(line.at != NULL);
    CHECK_EQ(line.size, size);
    CHECK(memcmp(line.at, bytes, size) == 0);
}

static void
input_expect_end(struct input *input)
{
    struct input_line line;
    CHECK_EQ(read_line(input, &line), INPUT_END);
    CHECK_EQ(read_line(input, &line), INPUT_END);
}

/* Opens one file with these bytes. */
static struct input_file
input_open_bytes(struct input *input, const void *bytes, size_t size)
{
    struct input_file file = input_open_file(bytes, size);
    char *names[] = {file.name};
    CHECK_EQ(input_open(input, names, 1, false), 0);
    return file;
}

/* Opens a pipe and returns its write end. */
static int
input_open_pipe(struct input *input, char name[64])
{
    int ends[2];
    char *names[] = {name};
    CHECK_EQ(pipe(ends), 0);
    snprintf(name, 64, "/proc/self/fd/%d", ends[0]);
    CHECK_EQ(input_open(input, names, 1, false), 0);
    close(ends[0]);
    CHECK(input->waits);
    return ends[1];
}

TEST(an_input_returns_lines_without_their_newlines)
{
    static const char bytes[] = "one\n\n\ntwo\r\n a\0b\xff\n";
    struct input input;
    struct input_file file = input_open_bytes(&input, bytes, sizeof(bytes) - 1);
    CHECK(!input.waits);
    input_expect(&input, "one", 3);
    CHECK_EQ(input.number, 1);
    input_expect(&input, "", 0);
    input_expect(&input, "", 0);
    input_expect(&input, "two\r", 4);
    input_expect(&input, " a\0b\xff", 5);
    CHECK_EQ(input.number, 5);
    input_expect_end(&input);
    input_close(&input);
    close(file.fd);
}

TEST(the_last_line_of_an_input_needs_no_newline)
{
    struct input input;
    struct input_file file = input_open_bytes(&input, "a\nlast", 6);
    input_expect(&input, "a", 1);
    input_expect(&input, "last", 4);
    input_expect_end(&input);
    input_close(&input);
    close(file.fd);
    file = input_open_bytes(&input, "", 0);
    input_expect_end(&input);
    input_close(&input);
    close(file.fd);
}

TEST(several_files_are_one_input_and_each_counts_its_lines)
{
    struct input_file files[] = {
        input_open_file("a\nb", 3), input_open_file("", 0),
        input_open_file("c\n", 2), input_open_file("d", 1)};
    char *names[] = {files[0].name, files[1].name, files[2].name,
                     files[3].name};
    struct input input;
    CHECK_EQ(input_open(&input, names, 4, false), 0);
    input_expect(&input, "a", 1);
    input_expect(&input, "b", 1);
    CHECK(strcmp(input.name, names[0]) == 0 && input.number == 2);
    input_expect(&input, "c", 1);
    CHECK(strcmp(input.name, names[2]) == 0 && input.number == 1);
    input_expect(&input, "d", 1);
    CHECK(strcmp(input.name, names[3]) == 0 && input.number == 1);
    input_expect_end(&input);
    input_close(&input);
    for (size_t i = 0; i < 4; i++) {
        close(files[i].fd);
    }
}

TEST(a_file_that_cannot_be_read_is_reported_with_its_name)
{
    static char none[] = "/nonexistent/file";
    static char folder[] = "/";
    struct input_file file = input_open_file("a\n", 2);
    char *names[] = {file.name, none};
    char *folders[] = {folder};
    struct input input;
    CHECK_EQ(input_open(&input, folders, 1, false), -EISDIR);
    input_close(&input);
    CHECK_EQ(input_open(&input, &names[1], 1, false), -ENOENT);
    CHECK(input.name == none);
    input_close(&input);
    CHECK_EQ(input_open(&input, names, 2, false), 0);
    input_expect(&input, "a", 1);
    int error = 0;
    struct input_line line;
    while (error == 0 && input_next(&input, &line) == INPUT_MORE) {
        error = input_fill(&input);
    }
    CHECK_EQ(error, -ENOENT);
    CHECK(input.name == none);
    input_close(&input);
    close(file.fd);
}

/* Returns consecutive lines of these sizes, each of different bytes. */
static char *
input_make(const size_t *sizes, size_t count, size_t *total)
{
    *total = 0;
    for (size_t i = 0; i < count; i++) {
        *total += sizes[i] + 1;
    }
    char *bytes = malloc(*total);
    CHECK(bytes != NULL);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < sizes[i]; j++) {
            bytes[at++] = (char)('a' + (i * 7 + j) % 26);
        }
        bytes[at++] = '\n';
    }
    return bytes;
}

/* Reads lines of these sizes from a file. */
static void
input_check_sizes(const size_t *sizes, size_t count)
{
    size_t total = 0;
    char *bytes = input_make(sizes, count, &total);
    struct input input;
    struct input_file file = input_open_bytes(&input, bytes, total);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        input_expect(&input, bytes + at, sizes[i]);
        at += sizes[i] + 1;
    }
    input_expect_end(&input);
    CHECK_EQ(input.number, count);
    input_close(&input);
    close(file.fd);
    free(bytes);
}

TEST(lines_around_the_end_of_a_block_are_whole)
{
    for (size_t size = INPUT_BLOCK - 3; size <= INPUT_BLOCK + 3; size++) {
        input_check_sizes((size_t[]){size, 5, size, 0, 1}, 5);
    }
    for (size_t size = INPUT_BLOCK / 2 - 2; size <= INPUT_BLOCK / 2 + 2;
         size++) {
        input_check_sizes((size_t[]){size, size, size, size, 3}, 5);
    }
    for (size_t size = 1; size < 20; size++) {
        input_check_sizes((size_t[]){INPUT_BLOCK - 10, size, INPUT_BLOCK}, 3);
    }
}

TEST(a_buffer_grows_for_a_long_line_and_shrinks_after_it)
{
    size_t sizes[1002] = {7 * INPUT_BLOCK, 3};
    for (size_t i = 2; i < 1002; i++) {
        sizes[i] = 1000;
    }
    size_t total = 0;
    char *bytes = input_make(sizes, 1002, &total);
    struct input input;
    struct input_file file = input_open_bytes(&input, bytes, total);
    CHECK_EQ(input.capacity, INPUT_BLOCK);
    input_expect(&input, bytes, sizes[0]);
    CHECK(input.capacity > sizes[0]);
    CHECK(input.capacity <= 16 * INPUT_BLOCK);
    input_expect(&input, bytes + sizes[0] + 1, 3);
    size_t at = sizes[0] + 5;
    for (size_t i = 2; i < 1002; i++) {
        input_expect(&input, bytes + at, 1000);
        at += 1001;
    }
    input_expect_end(&input);
    CHECK_EQ(input.capacity, INPUT_BLOCK);
    input_close(&input);
    close(file.fd);
    free(bytes);
}

TEST(bytes_of_a_pipe_are_lines_when_their_newline_has_come)
{
    char name[64];
    struct input input;
    struct input_line line;
    int end = input_open_pipe(&input, name);
    CHECK_EQ(input_next(&input, &line), INPUT_MORE);
    CHECK_EQ(input_fill(&input), 0); /* no data, without blocking */
    for (const char *at = "abc"; *at != '\0'; at++) {
        CHECK_EQ(write(end, at, 1), 1);
        CHECK_EQ(input_fill(&input), 0);
        CHECK_EQ(input_next(&input, &line), INPUT_MORE);
    }
    CHECK_EQ(write(end, "\nx\ny", 4), 4);
    CHECK_EQ(input_fill(&input), 0);
    input_expect(&input, "abc", 3);
    input_expect(&input, "x", 1);
    CHECK_EQ(input_next(&input, &line), INPUT_MORE);
    CHECK_EQ(input_fill(&input), 0);
    CHECK_EQ(input_next(&input, &line), INPUT_MORE);
    close(end);
    input_expect(&input, "y", 1);
    input_expect_end(&input);
    input_close(&input);
}

/* Checks the bytes that were read and not taken, and how many of them are whole
 * lines. */
static void
input_expect_parts(const struct input *input, const char *bytes, size_t lines)
{
    const char *rest = NULL;
    size_t whole = 0;
    CHECK_EQ(input_remaining(input, &rest, &whole), strlen(bytes));
    CHECK(memcmp(rest, bytes, strlen(bytes)) == 0);
    CHECK_EQ(whole, lines);
}

static void
input_expect_rest(const struct input *input, const char *bytes)
{
    const char *newline = strrchr(bytes, '\n');
    size_t lines = newline != NULL ? (size_t)(newline - bytes) + 1 : 0;
    input_expect_parts(input, bytes, input->over ? strlen(bytes) : lines);
}

TEST(the_rest_of_an_input_has_the_bytes_not_yet_returned)
{
    struct input input;
    struct input_file file = input_open_bytes(&input, "a\nbc\nd", 6);
    input_expect_rest(&input, "");
    CHECK_EQ(input_fill(&input), 0);
    input_expect_rest(&input, "a\nbc\nd");
    struct input_line line;
    CHECK_EQ(input_next(&input, &line), INPUT_LINE);
    CHECK_EQ(input_next(&input, &line), INPUT_LINE);
    input_expect_rest(&input, "d");
    input_push_back(&input, &line);
    CHECK_EQ(input.number, 1);
    input_expect_rest(&input, "bc\nd");
    input_expect(&input, "bc", 2);
    CHECK_EQ(input.number, 2);
    CHECK_EQ(input_next(&input, &line), INPUT_MORE);
    input_expect_rest(&input, "d");
    CHECK_EQ(read_line(&input, &line), INPUT_LINE);
    input_expect_rest(&input, "");
    input_push_back(&input, &line);
    input_expect_rest(&input, "d");
    input_expect(&input, "d", 1);
    input_expect_end(&input);
    input_close(&input);
    close(file.fd);
}

TEST(part_of_a_line_is_whole_only_once_the_input_has_ended)
{
    char name[64];
    struct input input;
    int end = input_open_pipe(&input, name);
    struct input_source source = input_get_source(&input);
    CHECK(source.inode != 0);
    CHECK_EQ(write(end, "a\nhalf", 6), 6);
    CHECK_EQ(input_fill(&input), 0);
    input_expect_parts(&input, "a\nhalf", 2);
    input_expect(&input, "a", 1);
    input_expect_parts(&input, "half", 0);
    close(end);
    CHECK_EQ(input_fill(&input), 0);
    input_expect_parts(&input, "half", 4);
    CHECK(input_get_source(&input).inode == source.inode);
    input_expect(&input, "half", 4);
    input_close(&input);
    CHECK_EQ(input_get_source(&input).inode, 0);
}

TEST(only_pipes_are_sources_that_can_be_known_again)
{
    struct input input;
    struct input_file file = input_open_bytes(&input, "a", 1);
    CHECK_EQ(input_get_source(&input).device, 0);
    CHECK_EQ(input_get_source(&input).inode, 0);
    input_close(&input);
    close(file.fd);
}

TEST(prepended_bytes_come_before_the_rest)
{
    struct input input;
    struct input_file file = input_open_bytes(&input, "f\nlast", 6);
    CHECK(input_prepend(&input, "", 0));
    CHECK(input_prepend(&input, "whole\nhal", 9));
    input_expect_rest(&input, "whole\nhal");
    input_expect(&input, "whole", 5);
    input_expect(&input, "half", 4);
    input_expect(&input, "last", 4);
    input_expect_end(&input);
    input_close(&input);
    close(file.fd);
}

TEST(much_more_than_a_block_can_be_unread)
{
    size_t sizes[] = {1000, 3 * INPUT_BLOCK, 0, 2 * INPUT_BLOCK};
    size_t total = 0;
    char *bytes = input_make(sizes, 4, &total);
    for (size_t less = 0; less < 2; less++) { /* with a newline, and without */
        struct input input;
        struct input_file file = input_open_bytes(&input, "\nx", 2);
        CHECK(input_prepend(&input, bytes, total - less));
        size_t at = 0;
        for (size_t i = 0; i < 4; i++) {
            input_expect(&input, bytes + at, sizes[i]);
            at += sizes[i] + 1;
        }
        if (less == 0) {
            input_expect(&input, "", 0);
        }
        input_expect(&input, "x", 1);
        input_expect_end(&input);
        input_close(&input);
        close(file.fd);
    }
    free(bytes);
}

/* Reads a line of this size, and one after it, with this limit for lines. */
static void
input_check_limit(size_t size, size_t limit, bool newline, bool by_pipe)
{
    size_t total = 0;
    char *bytes = input_make((size_t[]){size, 1}, 2, &total);
    struct input input;
    int end = -1;
    struct input_file file = {.fd = -1};
    if (!newline) {
        total = size;
    }
    /* cppcheck-suppress variableScope ; input refers to it */
    char name[64];
    if (by_pipe) {
        end = input_open_pipe(&input, name);
    } else {
        file = input_open_bytes(&input, bytes, total);
    }
    input.longest = limit;
    for (size_t at = 0; by_pipe && at < total;) {
        size_t some = total - at < 60000 ? total - at : 60000;
        CHECK_EQ(write(end, bytes + at, some), some);
        CHECK_EQ(input_fill(&input), 0);
        at += some;
    }
    if (by_pipe) {
        close(end);
    }
    struct input_line line;
    CHECK_EQ(read_line(&input, &line), INPUT_LINE);
    CHECK((line.at == NULL) == (size > limit));
    CHECK_EQ(input.number, 1);
    CHECK(line.at == NULL || line.size == size);
    if (newline) {
        input_expect(&input, bytes + size + 1, 1);
    }
    input_expect_end(&input);
    CHECK(input.capacity <= 4 * (limit + INPUT_BLOCK));
    input_close(&input);
    close(file.fd);
    free(bytes);
}

TEST(a_line_longer_than_may_be_is_reported_as_such_and_the_next_is_good)
{
    static const size_t limits[] = {10,          1000,   INPUT_BLOCK - 1,
                                    INPUT_BLOCK, 300000, 600000};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        size_t limit = limits[i];
        size_t sizes[] = {1,         limit - 1,           limit,
                          limit + 1, limit + INPUT_BLOCK, 5 * limit};
        for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
            for (unsigned how = 0; how < 4; how++) {
                input_check_limit(sizes[j], limit, how & 1, how & 2);
            }
        }
    }
}

TEST(a_line_that_was_too_long_stays_gone_when_it_is_taken_back)
{
    size_t total = 0;
    char *bytes = input_make((size_t[]){500000, 2}, 2, &total);
    struct input input;
    struct input_file file = input_open_bytes(&input, bytes, total);
    input.longest = 1000;
    struct input_line line;
    CHECK_EQ(read_line(&input, &line), INPUT_LINE);
    CHECK(line.at == NULL);
    input_push_back(&input, &line);
    CHECK_EQ(input.number, 0);
    input_expect(&input, bytes + 500001, 2);
    input_expect_end(&input);
    input_close(&input);
    close(file.fd);
    free(bytes);
}

TEST(lines_of_any_sizes_come_through_in_pieces_of_any_sizes)
{
    uint64_t random = 12345;
    for (unsigned round = 0; round < 60; round++) {
        size_t sizes[200];
        for (size_t i = 0; i < 200; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963;
            sizes[i] = (size_t)(random >> 33) % (round % 3 == 0 ? 5 : 5000);
        }
        size_t total = 0;
        char *bytes = input_make(sizes, 200, &total);
        char name[64];
        struct input input;
        struct input_line line;
        int end = input_open_pipe(&input, name);
        size_t sent = 0;
        size_t seen = 0;
        size_t count = 0;
        while (count < 200) {
            enum input_result result = input_next(&input, &line);
            CHECK(result != INPUT_END);
            if (result == INPUT_LINE) {
                CHECK_EQ(line.size, sizes[count]);
                CHECK(memcmp(line.at, bytes + seen, line.size) == 0);
                seen += sizes[count++] + 1;
                continue;
            }
            random = random * UINT64_C(6364136223846793005) + 1442695040888963;
            size_t some = 1 + (size_t)(random >> 33) % 3000;
            if (some > total - sent) {
                some = total - sent;
            }
            CHECK_EQ(write(end, bytes + sent, some), some);
            sent += some;
            CHECK_EQ(input_fill(&input), 0);
        }
        close(end);
        input_expect_end(&input);
        input_close(&input);
        free(bytes);
    }
}
