/* top_screen.c - "lawn top" on a terminal.
 *
 * The whole screen is printed anew each time, from the top left corner, as the
 * demo does it. The terminal's settings stay as they are: what is typed is not
 * read, and Ctrl-C is the way out.
 */
#include "output.h"
#include "top.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SCREEN_ENTER "\033[?1049h\033[?25l" /* other screen, hide the cursor */
#define SCREEN_LEAVE "\033[?25h\033[?1049l"

static volatile sig_atomic_t screen_suspended;

static void
screen_on_suspend(int number)
{
    (void)number;
    screen_suspended = 1;
}

bool
top_screen_possible(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term != NULL && *term != '\0' &&
           strcmp(term, "dumb") != 0;
}

void
top_screen_open(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = screen_on_suspend;
    sigemptyset(&action.sa_mask);
    sigaction(SIGTSTP, &action, NULL);
    fputs(SCREEN_ENTER, stdout);
}

void
top_screen_close(void)
{
    fputs(SCREEN_LEAVE, stdout);
    output_flush();
}

void
top_screen_wait(void)
{
    if (!screen_suspended)
        return;
    screen_suspended = 0;
    top_screen_close();
    kill(getpid(), SIGSTOP); /* until the shell continues us */
    fputs(SCREEN_ENTER, stdout);
}

bool
top_screen_draw(const struct top *top)
{
    struct winsize window;
    size_t columns = 79;
    size_t rows = 24;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 &&
        window.ws_row > 0) {
        columns = window.ws_col;
        rows = window.ws_row;
    }
    /* Without the last column: some terminals wrap when it is written. */
    columns = columns > 20 ? columns - 1 : 20;
    fputs("\033[H", stdout);
    bool good = top_table_write(top, columns, rows);
    fputs("\033[J", stdout);
    return good;
}
