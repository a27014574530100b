/* stop.c - the signals that tell a filter to stop: see stop.h. */
#include "stop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t stop_number; /* the first that came; 0: none */
static int stop_pipe[2] = {-1, -1};       /* wakes the loop for it */

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
static bool stop_caught[3]; /* those that were not ignored before */

bool
stop_was_told(void)
{
    return stop_number != 0;
}

int
stop_signal(void)
{
    return stop_number;
}

int
stop_fd(void)
{
    return stop_pipe[0];
}

/* A write that waits for a reader is interrupted again and again. */
static void
stop_on_alarm(int number)
{
    (void)number;
    alarm(1);
}

/* The first signal stops us in good order, a second one at once. */
static void
stop_on_signal(int number)
{
    int error = errno;
    stop_number = number;
    for (size_t i = 0; i < sizeof stop_signals / sizeof *stop_signals; i++) {
        /* A terminal that goes may send two of SIGHUP. */
        if (stop_caught[i])
            signal(stop_signals[i],
                   stop_signals[i] == SIGHUP ? SIG_IGN : SIG_DFL);
    }
    alarm(1);
    ssize_t put = write(stop_pipe[1], "", 1);
    (void)put; /* it holds a byte already if there is no room */
    errno = error;
}

bool
stop_open(void)
{
    struct sigaction catch = {.sa_handler = stop_on_signal};
    struct sigaction tick = {.sa_handler = stop_on_alarm};
    struct sigaction old;
    if (pipe(stop_pipe) != 0)
        return false;
    for (size_t i = 0; i < 2; i++)
        fcntl(stop_pipe[i], F_SETFD, FD_CLOEXEC);
    sigemptyset(&catch.sa_mask);
    sigemptyset(&tick.sa_mask);
    sigaction(SIGALRM, &tick, NULL);
    signal(SIGXFSZ, SIG_IGN); /* such a write fails, as on a full disk */
    for (size_t i = 0; i < sizeof stop_signals / sizeof *stop_signals; i++) {
        int number = stop_signals[i];
        stop_caught[i] =
            sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN;
        if (stop_caught[i])
            sigaction(number, &catch, NULL);
    }
    return true;
}
