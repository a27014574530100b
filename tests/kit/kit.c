/* kit.c - runs the registered tests: see kit.h. */
#include "kit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIT_MAX 1000

struct kit_test {
    const char *name;
    kit_test_fn *run;
};

static struct kit_test tests[KIT_MAX];
static size_t test_count;
static jmp_buf failed;
static bool in_child;

void
kit_add(const char *name, kit_test_fn *run)
{
    if (test_count == KIT_MAX) {
        (void)fprintf(stderr, "kit: more than %d tests\n", KIT_MAX);
        abort();
    }
    tests[test_count].name = name;
    tests[test_count++].run = run;
}

void
kit_fail(const char *file, int line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("  %s:%d: ", file, line);
    vprintf(format, args);
    printf("\n");
    va_end(args);
    if (in_child) {
        _exit(1);
    }
    longjmp(failed, 1);
}

bool
kit_aborts_with(kit_test_fn *body, const char *message)
{
    size_t length = 0;
    ssize_t got = 0;
    int fds[2];
    pid_t child = 0;

    if (pipe(fds) != 0 || (child = fork()) < 0) {
        kit_fail(__FILE__, __LINE__, "no pipe or no process");
    }
    if (child == 0) {
        in_child = true;
        (void)dup2(fds[1], STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        body();
        _exit(0);
    }
    (void)close(fds[1]);
    char output[4096];
    while (length < sizeof(output) - 1 &&
           (got = read(fds[0], output + length, sizeof(output) - 1 - length)) >
               0) {
        length += (size_t)got;
    }
    output[length] = '\0';
    (void)close(fds[0]);
    int status = 0;
    if (waitpid(child, &status, 0) != child) {
        return false;
    }
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
           strstr(output, message) != NULL;
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct kit_test *)a)->name,
                  ((const struct kit_test *)b)->name);
}

/* Returns whether a test matches the arguments; without arguments all do. */
static bool
asked_for(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strstr(name, argv[i]) != NULL) {
            return true;
        }
    }
    return argc < 2;
}

int
main(int argc, char **argv)
{
    volatile size_t i = 0;
    volatile size_t passed = 0;
    volatile size_t failures = 0;

    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    qsort(tests, test_count, sizeof(tests[0]), by_name);
    for (i = 0; i < test_count; i++) {
        if (!asked_for(tests[i].name, argc, argv)) {
            continue;
        }
        if (setjmp(failed) == 0) {
            tests[i].run();
            passed++;
            printf("ok %s\n", tests[i].name);
        } else {
            failures++;
            printf("FAILED %s\n", tests[i].name);
        }
    }
    if (passed + failures == 0) {
        printf("no test name contains the argument\n");
    }
    printf("%zu passed, %zu failed\n", passed, failures);
    return failures != 0 || passed == 0;
}
