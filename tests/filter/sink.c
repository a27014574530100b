/* sink.c - written lines, and write errors: see cli/filter/sink.h. */
#include "sink.h"

#include "kit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static bool sink_is_stopped;

static bool
sink_stopped(void)
{
    return sink_is_stopped;
}

/* Opens a sink to a pipe and returns the other end. */
static int
sink_open_pipe(struct sink *sink)
{
    sink_is_stopped = false;
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    CHECK(sink_open(sink, ends[1], sink_stopped));
    return ends[0];
}

/* Opens a non-blocking pipe that holds one page. */
static int
sink_open_small(struct sink *sink)
{
    int end = sink_open_pipe(sink);
    CHECK(fcntl(sink->fd, 1031, 4096) == 4096); /* F_SETPIPE_SZ */
    CHECK_EQ(fcntl(sink->fd, F_SETFL, O_NONBLOCK), 0);
    return end;
}

static void
sink_close_all(struct sink *sink, int end)
{
    close(sink->fd);
    if (end >= 0) {
        close(end);
    }
    sink_close(sink);
}

static void
sink_line(struct sink *sink, const char *text, enum sink_kind kind)
{
    sink_append_text(sink, text);
    sink_end_line(sink, kind);
}

/* Reads all available bytes and compares. */
static void
sink_expect(int end, const char *text)
{
    CHECK_EQ(fcntl(end, F_SETFL, O_NONBLOCK), 0);
    char got[8192];
    ssize_t size = read(end, got, sizeof(got));
    CHECK_EQ(size < 0 ? 0 : size, strlen(text));
    CHECK(memcmp(got, text, strlen(text)) == 0);
}

TEST(a_sink_gathers_lines_until_it_is_flushed)
{
    struct sink sink;
    int end = sink_open_pipe(&sink);
    CHECK(sink_flush(&sink));
    sink_line(&sink, "one", SINK_INPUT);
    sink_append(&sink, "t\0o", 3);
    sink_append(&sink, "", 0);
    sink_end_line(&sink, SINK_PAIR);
    sink_line(&sink, "", SINK_MADE);
    CHECK_EQ(sink.carried, 3);
    CHECK_EQ(sink.out, 0);
    sink_expect(end, "");
    CHECK(sink_flush(&sink));
    char got[32];
    CHECK_EQ(read(end, got, sizeof(got)), 9);
    CHECK(memcmp(got, "one\nt\0o\n\n", 9) == 0);
    CHECK_EQ(sink.carried, 0);
    CHECK_EQ(sink.out, 3);
    CHECK_EQ(sink.made, 2);
    CHECK_EQ(sink.lines, 0);
    sink_line(&sink, "marked", SINK_MARKED);
    CHECK(sink_flush(&sink));
    sink_expect(end, "marked\n");
    CHECK_EQ(sink.out, 4);
    CHECK_EQ(sink.made, 3);
    sink_close_all(&sink, end);
}

TEST(a_sink_writes_much_without_being_asked)
{
    struct sink sink;
    int end = sink_open_pipe(&sink);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        size_t all = 0;
        close(sink.fd);
        char got[4096];
        ssize_t some = 0;
        while ((some = read(end, got, sizeof(got))) > 0) {
            for (ssize_t i = 0; i < some; i++, all++) {
                if (got[i] !=
                    (all % 11 == 10 ? '\n' : '0' + (char)(all % 11))) {
                    _exit(1);
                }
            }
        }
        _exit(all == 11 * 100000 ? 0 : 2);
    }
    close(end);
    for (unsigned i = 0; i < 100000; i++) {
        sink_line(&sink, "0123456789", SINK_INPUT);
        CHECK(sink.size < 1 << 18);
    }
    CHECK(sink.out > 50000);
    CHECK(sink_flush(&sink));
    CHECK_EQ(sink.out, 100000);
    sink_close_all(&sink, -1);
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

TEST(a_sink_gives_the_memory_of_a_long_line_back)
{
    struct sink sink;
    sink_is_stopped = false;
    CHECK(sink_open(&sink, open("/dev/null", O_WRONLY), sink_stopped));
    size_t before = sink.capacity;
    char *line = malloc(10 * before);
    CHECK(line != NULL);
    memset(line, 'x', 10 * before);
    sink_append(&sink, line, 10 * before);
    CHECK(sink.capacity > 10 * before);
    sink_end_line(&sink, SINK_INPUT);
    CHECK_EQ(sink.out, 1);
    CHECK_EQ(sink.capacity, before);
    free(line);
    sink_close_all(&sink, -1);
}

/* Writes ten lines of a thousand bytes. */
static void
sink_ten(struct sink *sink)
{
    char line[1000];
    memset(line, 'x', sizeof(line));
    line[999] = '\0';
    for (unsigned i = 0; i < 10; i++) {
        line[0] = (char)('0' + i);
        sink_line(sink, line, i % 2 == 0 ? SINK_INPUT : SINK_PAIR);
    }
}

/* Checks that four of these and a part of the next were written. */
static void
sink_check_four(const struct sink *sink)
{
    CHECK_EQ(sink->out, 6);
    CHECK_EQ(sink->made, 2);
    CHECK_EQ(sink->lines, 6);
    CHECK_EQ(sink->carried, 9);
    CHECK_EQ(sink->size, 6000);
    CHECK_EQ(sink->bytes[0], '4');
    CHECK_EQ(sink->kinds[0], SINK_INPUT);
    CHECK_EQ(sink->kinds[5], SINK_PAIR);
}

static void
sink_tick(int number)
{
    (void)number;
}

/* From now on a signal interrupts system calls repeatedly. */
static void
sink_start_ticks(void)
{
    struct sigaction tick = {.sa_handler = sink_tick};
    const struct itimerval often = {{0, 5000}, {0, 5000}};
    CHECK_EQ(sigaction(SIGALRM, &tick, NULL), 0);
    CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
}

static void
sink_stop_ticks(void)
{
    const struct itimerval never = {{0, 0}, {0, 0}};
    CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
}

TEST(a_sink_that_is_stopped_does_not_wait_and_keeps_whole_lines)
{
    for (unsigned blocking = 0; blocking < 2; blocking++) {
        struct sink sink;
        int end = sink_open_small(&sink);
        if (blocking) {
            CHECK_EQ(fcntl(sink.fd, F_SETFL, 0), 0);
        }
        sink_ten(&sink);
        sink_is_stopped = true;
        sink_start_ticks();
        CHECK(!sink_flush(&sink));
        sink_stop_ticks();
        CHECK(sink.stuck);
        CHECK_EQ(sink.error, 0);
        sink_check_four(&sink);
        CHECK(!sink_flush(&sink)); /* and does not try again */
        sink_line(&sink, "more", SINK_INPUT);
        CHECK_EQ(sink.carried, 10);
        CHECK_EQ(sink.lines, 7);
        sink_close_all(&sink, end);
    }
}

/* Reads very slowly until the end. Exits with 0 if that was after size
 * bytes. */
static pid_t
sink_read_slowly(int end, int other, size_t size)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        size_t all = 0;
        close(other);
        char some[50];
        ssize_t got = 0;
        while ((got = read(end, some, sizeof(some))) > 0) {
            all += (size_t)got;
        }
        _exit(all == size ? 0 : 1);
    }
    close(end);
    return child;
}

TEST(a_sink_waits_for_a_reader_though_its_pipe_does_not)
{
    for (unsigned ticks = 0; ticks < 2; ticks++) {
        struct sink sink;
        int end = sink_open_small(&sink);
        pid_t child = sink_read_slowly(end, sink.fd, 200000);
        if (ticks) {
            sink_start_ticks();
        }
        for (unsigned i = 0; i < 20; i++) {
            sink_ten(&sink);
        }
        CHECK(sink_flush(&sink));
        sink_stop_ticks();
        CHECK_EQ(sink.out, 300);
        CHECK_EQ(sink.carried, 0);
        sink_close_all(&sink, -1);
        int status = 0;
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
}

TEST(a_sink_whose_write_fails_in_a_line_keeps_that_line)
{
    char path[] = "/tmp/lawn-sink-XXXXXX";
    struct sink sink;
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    unlink(path);
    sink_is_stopped = false;
    CHECK(sink_open(&sink, fd, sink_stopped));
    sink_ten(&sink);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old;
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &(struct rlimit){4500, old.rlim_max}), 0);
    bool flushed = sink_flush(&sink);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
    CHECK(!flushed);
    CHECK_EQ(sink.error, EFBIG);
    sink_check_four(&sink);
    CHECK(!sink_flush(&sink)); /* also now that it could succeed */
    CHECK_EQ(lseek(fd, 0, SEEK_CUR), 4500);
    sink_close_all(&sink, -1);
}

TEST(a_sink_whose_reader_is_gone_keeps_all_and_counts_none)
{
    struct sink sink;
    int end = sink_open_pipe(&sink);
    signal(SIGPIPE, SIG_IGN);
    close(end);
    sink_ten(&sink);
    CHECK(!sink_flush(&sink));
    CHECK_EQ(sink.error, EPIPE);
    CHECK_EQ(sink.out, 0);
    CHECK_EQ(sink.carried, 15);
    CHECK_EQ(sink.lines, 10);
    for (unsigned i = 0; i < 100; i++) { /* more than is written unasked */
        sink_ten(&sink);
    }
    CHECK_EQ(sink.lines, 1010);
    CHECK_EQ(sink.carried, 1515);
    sink_close_all(&sink, -1);
}

TEST(lines_that_a_sink_kept_are_written_by_another)
{
    struct sink first;
    int end = sink_open_pipe(&first);
    signal(SIGPIPE, SIG_IGN);
    close(end);
    for (unsigned i = 0; i < 50; i++) {
        sink_ten(&first);
    }
    sink_line(&first, "", SINK_MADE);
    CHECK(!sink_flush(&first));
    struct sink second;
    end = sink_open_pipe(&second);
    CHECK(sink_restore(&second, first.bytes, first.size, first.kinds,
                       first.lines));
    CHECK_EQ(second.size, first.size); /* nothing was written yet */
    CHECK_EQ(second.lines, 501);
    CHECK_EQ(second.carried, 750);
    CHECK(memcmp(second.bytes, first.bytes, first.size) == 0);
    CHECK(memcmp(second.kinds, first.kinds, first.lines) == 0);
    pid_t child = sink_read_slowly(end, second.fd, first.size);
    CHECK(sink_flush(&second));
    CHECK_EQ(second.out, 750);
    CHECK_EQ(second.made, 251);
    sink_close_all(&first, -1);
    sink_close_all(&second, -1);
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

TEST(bytes_that_no_sink_has_kept_are_rejected)
{
    static const struct {
        const char *bytes;
        const char *kinds;
    } wrong[] = {
        {"a\n", ""},          {"", "\1"},       {"a", "\1"},
        {"a\nb", "\1"},       {"a\nb", "\1\1"}, {"a\n", "\1\1"},
        {"a\nb\n", "\1"},     {"a\n", "\2"},    {"a\n", "\3"},
        {"a\n", "\7"},        {"a\n", "\x10"},  {"a\n", "\x81"},
        {"a\nb\n", "\1\x55"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct sink sink;
        int end = sink_open_pipe(&sink);
        CHECK(!sink_restore(&sink, wrong[i].bytes, strlen(wrong[i].bytes),
                            wrong[i].kinds, strlen(wrong[i].kinds)));
        sink_expect(end, "");
        sink_close_all(&sink, end);
    }
    struct sink sink;
    int end = sink_open_pipe(&sink);
    CHECK(sink_restore(&sink, "", 0, "", 0));
    CHECK(sink_restore(&sink, "a\nb\n\n", 5, "\1\5\6", 3));
    CHECK(sink_flush(&sink));
    CHECK_EQ(sink.out, 4);
    sink_expect(end, "a\nb\n\n");
    sink_close_all(&sink, end);
}
