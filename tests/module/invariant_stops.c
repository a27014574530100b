/* invariant_stops.c - a violated invariant stops the process with a message.
 * Each case runs in a child process. */
#include "invariant.h"
#include "redismodule_api.h"
#include "scene.h"

#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

static int out; /* the child writes its arguments there */

static void log_to_pipe(RedisModuleCtx *ctx, const char *level,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void
log_to_pipe(RedisModuleCtx *ctx, const char *level, const char *format, ...)
{
    (void)ctx;
    va_list arguments;
    va_start(arguments, format);
    dprintf(out, "[%s] ", level);
    vdprintf(out, format, arguments);
    va_end(arguments);
}

static void
assert_to_pipe(const char *condition, const char *file, int line)
{
    (void)line;
    dprintf(out, " [assert] %s in %s", condition, file);
}

/* Runs a function in a child, with a server that has these functions. Returns
 * the child's output. Fails unless the child ended by abort(). */
static const char *
run_in_child(void (*run)(void), bool has_assert)
{
    static char text[4096];
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    (void)fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        out = ends[1];
        RedisModule_Log = log_to_pipe;
        RedisModule__Assert = has_assert ? assert_to_pipe : NULL;
        run();
        _exit(0);
    }
    close(ends[1]);
    size_t size = 0;
    ssize_t got = 0;
    while ((got = read(ends[0], text + size, sizeof(text) - 1 - size)) > 0) {
        size += (size_t)got;
    }
    text[size] = '\0';
    close(ends[0]);
    int status = 0;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), SIGABRT);
    return text;
}

static void
violate(void)
{
    int answer = 41;
    INVARIANT(answer == 41, "the answer is 41");
    INVARIANT(answer == 42, "the answer is 42");
}

TEST(a_violated_invariant_is_logged_with_its_place_and_meaning)
{
    const char *text = run_in_child(violate, true);
    CHECK(strstr(text, "[warning] lawn: invariant violated at ") == text);
    CHECK(strstr(text, "invariant_stops.c:") != NULL);
    CHECK(strstr(text, " in violate(): the answer is 42: answer == 42; ") !=
          NULL);
    CHECK(strstr(text, " [assert] answer == 42 in ") != NULL);
    CHECK(strstr(text, "41") == NULL);
}

TEST(a_violated_invariant_stops_a_server_that_has_no_assert_function)
{
    const char *text = run_in_child(violate, false);
    CHECK(strstr(text, "the answer is 42") != NULL);
    CHECK(strstr(text, "[assert]") == NULL);
}

/* The replicated removal is of an event that never existed. */
static void
apply_a_wrong_batch(void)
{
    struct call call = {.queue = queue_new(0, 8)};
    struct commands_batch batch = {.gone_count = 1};
    batch.gone = batch.few;
    batch.few[0] = bytes_of("absent");
    commands_batch_apply(&call, &batch);
}

TEST(commands_stop_the_server_if_they_cannot_do_what_they_replicated)
{
    const char *text = run_in_child(apply_a_wrong_batch, true);
    CHECK(strstr(text, " in commands_batch_apply(): ") != NULL);
    CHECK(strstr(text, "replicated") != NULL);
}
