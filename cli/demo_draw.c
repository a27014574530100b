/* demo_draw.c - draws the lawn of "lawn demo" on a terminal.
 *
 * Each frame prints the whole screen again from the top left corner, so no
 * state of the screen is needed, and a resized window is correct in the next
 * frame. At the top, a mower crosses a meadow as the run proceeds. Below is a
 * strip of grass for each TTL: its length is the number of running timers, and
 * the cut part is the number of timers that fire in one second. Uses block
 * characters if the locale is UTF-8, otherwise ASCII; uses colors unless
 * NO_COLOR is set.
 *
 * Cost: about 4 KiB of output per frame at 80 columns, tens of microseconds.
 */
#include "demo.h"
#include "screen.h"
#include "text.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define DRAW_COLUMNS_MIN 59
#define DRAW_COLUMNS_MAX 200
#define DRAW_ROWS_MIN 16
#define DRAW_ROWS_FIXED 7 /* rows without grass; one is empty */
#define DRAW_LABELS 34    /* columns of a strip other than grass */
#define DRAW_MOWER 6

/* How to draw; set once at the start. */
static struct {
    bool utf8;
    bool colors;
    const char *ink; /* the current color */
} draw;

static const char draw_plain[] = "";
static const char draw_grass[] = "\033[32m";
static const char draw_cut[] = "\033[33m";
static const char draw_mower[] = "\033[31m";
static const char draw_faint[] = "\033[2m";

static struct screen_size
measure_screen(void)
{
    struct screen_size size = screen_measure();
    if (size.columns > DRAW_COLUMNS_MAX) {
        size.columns = DRAW_COLUMNS_MAX;
    }
    return size;
}

static bool
fits_screen(struct screen_size size)
{
    return size.columns >= DRAW_COLUMNS_MIN && size.rows >= DRAW_ROWS_MIN;
}

bool
demo_draw_possible(void)
{
    return screen_possible() && fits_screen(measure_screen());
}

void
demo_draw_open(void)
{
    const char *no_color = getenv("NO_COLOR");
    setlocale(LC_CTYPE, "");
    draw.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    draw.colors = no_color == NULL || *no_color == '\0';
    draw.ink = draw_plain;
    screen_open();
}

static void
use_ink(const char *ink)
{
    if (ink == draw.ink || !draw.colors) {
        return;
    }
    draw.ink = ink;
    printf("\033[0m%s", ink);
}

static void
end_line(void)
{
    use_ink(draw_plain);
    fputs("\033[K\n", stdout);
}

/* Draws one cell of grass, 0 to 8 eighths high. */
static void
draw_blade(size_t eighths)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄",
                                         "▅", "▆", "▇", "█"};
    static const char ascii[] = " ..,:;i||";
    if (draw.utf8) {
        fputs(blocks[eighths], stdout);
    } else {
        putchar(ascii[eighths]);
    }
}

/* Returns 0 to 7, always the same for a place: neighboring blades differ in
 * height. */
static size_t
hash_place(size_t place)
{
    return (size_t)(((uint32_t)place * UINT32_C(2654435769)) >> 29);
}

/* Returns the height of the grass at a place, in eighths below 8 * cells:
 * uneven, and lower where the wind blows. */
static size_t
height_of(size_t place, uint64_t frame, size_t cells)
{
    size_t wind = (size_t)((place + 40 - frame % 40) % 20);
    size_t bent = wind < 4 ? wind : wind < 8 ? 8 - wind : 0;
    return 8 * cells - 1 - hash_place(place) / 2 - bent / 2;
}

static void
draw_title(const struct demo *demo, struct screen_size size)
{
    const struct demo_counts *past = demo_past(demo, DEMO_FRAMES_PER_SECOND);
    double rate = demo_rate(demo, past, demo_operations(&demo->counts),
                            demo_operations(past));
    char left[80];
    char right[80];
    int length = snprintf(left, sizeof(left), " lawn demo: %s timers, %s ops/s",
                          text_count(demo_running(demo)).s, text_short(rate).s);
    int rest = (int)size.columns - length;
    snprintf(right, sizeof(right), "%.1f of %g s ",
             (double)(demo->now - demo->begin) / (double)DEMO_SECOND,
             (double)demo->options->run_ns / (double)DEMO_SECOND);
    printf("%s%*.*s", left, rest, rest, right);
    end_line();
}

/* Draws the mower's cell in a row. Row 0 is the ground. */
static void
draw_mower_cell(size_t row, size_t cell)
{
    static const char *const bodies[] = {"(o)(o)", "\\_[##]", "\\     "};
    use_ink(draw_mower);
    putchar(row < 3 ? bodies[row][cell] : ' ');
}

/* Draws the clippings behind the mower, fewer with distance. */
static void
draw_clipping(size_t row, size_t behind, uint64_t frame)
{
    bool flies = row > 0 && behind < 4 * row + 4 &&
                 hash_place(behind * 7 + row * 3 + (size_t)frame * 5) == 0;
    use_ink(draw_cut);
    putchar(flies ? '\'' : ' ');
}

/* Draws one row of the meadow. Row 0 is the ground. */
static void
draw_meadow_row(const struct demo *demo, struct screen_size size, size_t cells,
                size_t row)
{
    uint64_t passed = demo->now - demo->begin;
    double done = (double)passed / (double)demo->options->run_ns;
    size_t mower = (size_t)(done * (double)(size.columns - DRAW_MOWER));
    for (size_t x = 0; x < size.columns; x++) {
        if (x >= mower && x < mower + DRAW_MOWER) {
            draw_mower_cell(row, x - mower);
        } else if (x < mower && row > 0) {
            draw_clipping(row, mower - x, demo->frame);
        } else {
            size_t height = x < mower ? 1 + hash_place(x) / 4
                                      : height_of(x, demo->frame, cells);
            size_t here = height > 8 * row ? height - 8 * row : 0;
            use_ink(x < mower ? draw_cut : draw_grass);
            draw_blade(here < 8 ? here : 8);
        }
    }
    end_line();
}

/* Draws the strip of one TTL. longest is the largest number of timers of any
 * TTL. */
static void
draw_strip(const struct demo *demo, struct screen_size size, size_t ttl,
           uint64_t longest)
{
    const struct demo_counts *past = demo_past(demo, DEMO_FRAMES_PER_SECOND);
    uint64_t standing = demo->counts.standing[ttl];
    double fires =
        demo_rate(demo, past, demo->counts.fires_of[ttl], past->fires_of[ttl]);
    size_t width = size.columns - DRAW_LABELS;
    size_t length = (size_t)((standing * width + longest - 1) / longest);
    size_t cut = length;
    if (fires < (double)standing) {
        cut = (size_t)((double)length * fires / (double)standing + 0.5);
    }
    printf(" %8.8s ", text_ttl(demo->options->ttls.ns[ttl]).s);
    for (size_t x = 0; x < width; x++) {
        use_ink(x < cut ? draw_cut : draw_grass);
        if (x >= length) {
            putchar(' ');
        } else {
            draw_blade(x < cut ? 1 : height_of(x + 31 * ttl, demo->frame, 1));
        }
    }
    use_ink(draw_plain);
    printf(" %10s %9s/s ", text_count(standing).s, text_short(fires).s);
    end_line();
}

static void
draw_strips(const struct demo *demo, struct screen_size size, size_t rows)
{
    size_t count = demo->options->ttls.count;
    size_t shown = count <= rows ? count : rows - 1;
    uint64_t longest = 1;
    for (size_t i = 0; i < count; i++) {
        if (demo->counts.standing[i] > longest) {
            longest = demo->counts.standing[i];
        }
    }
    use_ink(draw_faint);
    printf(" %8s %-*s %10s %11s ", "TTL", (int)(size.columns - DRAW_LABELS),
           "running, fired in 1 s", "timers", "fired");
    end_line();
    for (size_t i = 0; i < shown; i++) {
        draw_strip(demo, size, i, longest);
    }
    if (shown < count) {
        printf(" %8s and %zu more", "...", count - shown);
        end_line();
    }
}

static struct text
format_rate(const struct demo *demo, uint64_t now_value, uint64_t past_value)
{
    return text_short(demo_rate(demo, demo_past(demo, DEMO_FRAMES_PER_SECOND),
                                now_value, past_value));
}

static void
draw_rates(const struct demo *demo)
{
    const struct demo_counts *counts = &demo->counts;
    const struct demo_counts *past = demo_past(demo, DEMO_FRAMES_PER_SECOND);
    printf(" starts %s/s  restarts %s/s  stops %s/s  fires %s/s",
           format_rate(demo, counts->starts, past->starts).s,
           format_rate(demo, counts->restarts, past->restarts).s,
           format_rate(demo, counts->stops, past->stops).s,
           format_rate(demo, counts->fires, past->fires).s);
    end_line();
    printf(" lateness p50 %s, p99 %s, max %s; %s early",
           text_lateness(lawn_histogram_at(&demo->lateness, 50000)).s,
           text_lateness(lawn_histogram_at(&demo->lateness, 99000)).s,
           text_lateness(demo->lateness.max).s, text_count(demo->early).s);
    end_line();
}

void
demo_draw_frame(const struct demo *demo)
{
    screen_wait();
    struct screen_size size = measure_screen();
    screen_begin();
    if (!fits_screen(size)) {
        screen_end();
        fputs("lawn demo: window too small", stdout);
        return;
    }
    size_t meadow = size.rows < 20 ? 2 : 3;
    draw_title(demo, size);
    for (size_t row = meadow; row-- > 0;) {
        draw_meadow_row(demo, size, meadow, row);
    }
    end_line();
    draw_strips(demo, size, size.rows - DRAW_ROWS_FIXED - meadow + 1);
    if (size.rows >= 20) {
        end_line();
    }
    draw_rates(demo);
    screen_end();
}
