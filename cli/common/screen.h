/* screen.h - draws on the whole terminal: each frame is printed again from the
 * top left corner. The terminal's settings are not changed: input is not read,
 * and Ctrl-C ends the program.
 */
#ifndef LAWN_CLI_SCREEN_H
#define LAWN_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether stdout is a terminal that can be drawn on. */
bool screen_possible(void);

/* Excludes the last column: some terminals wrap when it is written. */
struct screen_size {
    size_t columns;
    size_t rows;
};
struct screen_size screen_measure(void);

/* Switches to the alternate screen, and back. */
void screen_open(void);
void screen_close(void);

/* If the process is to be suspended, suspends it and waits until it
 * continues. */
void screen_wait(void);

/* Must be called before and after a frame is printed. */
void screen_begin(void);
void screen_end(void);

#endif
