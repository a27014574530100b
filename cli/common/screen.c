/* screen.c - draws on the whole terminal. */
#include "screen.h"
#include "output.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SCREEN_ENTER "\033[?1049h\033[?25l" /* alternate screen, no cursor */
#define SCREEN_LEAVE "\033[?25h\033[?1049l"

static volatile sig_atomic_t suspended;

static void
on_suspend(int number)
{
    (void)number;
    suspended = 1;
}

bool
screen_possible(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term != NULL && *term != '\0' &&
           strcmp(term, "dumb") != 0;
}

struct screen_size
screen_measure(void)
{
    struct screen_size size = {79, 24};
    struct winsize window;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 &&
        window.ws_row > 0) {
        size.columns = window.ws_col - 1U;
        size.rows = window.ws_row;
    }
    return size;
}

void
screen_open(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_suspend;
    action.sa_flags = SA_RESTART; /* a write in progress must not fail */
    sigemptyset(&action.sa_mask);
    sigaction(SIGTSTP, &action, NULL);
    fputs(SCREEN_ENTER, stdout);
}

void
screen_close(void)
{
    fputs(SCREEN_LEAVE, stdout);
    output_flush();
}

void
screen_wait(void)
{
    if (!suspended) {
        return;
    }
    suspended = 0;
    screen_close();
    kill(getpid(), SIGSTOP); /* until the shell continues the process */
    fputs(SCREEN_ENTER, stdout);
}

void
screen_begin(void)
{
    fputs("\033[H", stdout);
}

void
screen_end(void)
{
    fputs("\033[J", stdout);
}
