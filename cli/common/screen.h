/* screen.h - a terminal that a verb has for itself: drawn anew as a whole each time,
 * from the top left corner. Its settings stay as they are: what is typed is not read,
 * and Ctrl-C is the way out.
 */
#ifndef LAWN_CLI_SCREEN_H
#define LAWN_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether stdout is one that can be drawn on. */
bool screen_possible(void);

/* Without the last column: some terminals wrap when it is written. */
struct screen_size {
    size_t columns;
    size_t rows;
};
struct screen_size screen_measure(void);

/* From here on what is printed goes there; and no more. */
void screen_open(void);
void screen_close(void);

/* If we are to be suspended, until that is over. */
void screen_wait(void);

/* Before what is drawn, and after it. */
void screen_begin(void);
void screen_end(void);

#endif
