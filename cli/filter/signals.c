/* signals.c - the signals that stop a filter: see signals.h. */
#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t received; /* the first signal; 0: none */
static int wake_pipe[2] = {-1, -1};    /* wakes the loop */

static const int handled[] = {SIGINT, SIGTERM, SIGHUP};
static bool caught[3]; /* not ignored at the start */

bool
signals_received(void)
{
    return received != 0;
}

int
signals_number(void)
{
    return received;
}

int
signals_fd(void)
{
    return wake_pipe[0];
}

/* Interrupts a write that waits for a reader, each second. */
static void
on_alarm(int number)
{
    (void)number;
    alarm(1);
}

/* Requests an orderly stop. A second signal, except SIGHUP, terminates the
 * process. */
static void
on_signal(int number)
{
    int error = errno;
    received = number;
    for (size_t i = 0; i < sizeof(handled) / sizeof(*handled); i++) {
        /* A terminal that closes may send SIGHUP twice. */
        if (caught[i]) {
            signal(handled[i], handled[i] == SIGHUP ? SIG_IGN : SIG_DFL);
        }
    }
    alarm(1);
    ssize_t put = write(wake_pipe[1], "", 1);
    (void)put; /* if the pipe is full, it is readable */
    errno = error;
}

bool
signals_open(void)
{
    struct sigaction catch = {.sa_handler = on_signal};
    struct sigaction tick = {.sa_handler = on_alarm};
    if (pipe(wake_pipe) != 0) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        fcntl(wake_pipe[i], F_SETFD, FD_CLOEXEC);
    }
    sigemptyset(&catch.sa_mask);
    sigemptyset(&tick.sa_mask);
    sigaction(SIGALRM, &tick, NULL);
    signal(SIGXFSZ, SIG_IGN); /* the write fails with EFBIG */
    struct sigaction old;
    for (size_t i = 0; i < sizeof(handled) / sizeof(*handled); i++) {
        int number = handled[i];
        caught[i] =
            sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN;
        if (caught[i]) {
            sigaction(number, &catch, NULL);
        }
    }
    return true;
}
