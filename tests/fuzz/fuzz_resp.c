/* fuzz_resp.c - the fuzzer's bytes as the replies of a server.
 *
 * The first byte selects the pieces in which they arrive. The replies must be
 * the same as if they arrived at once, be within the received bytes, and
 * respect the limits. The output of "lawn top" for them must be complete and
 * safe for a terminal.
 */
#include "../../module/top/resp.h"
#include "../../module/top/top.h"
#include "fuzz.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/* Checks that two replies are equal, and each within the bytes of its
 * reader. */
static void
fuzz_same(const struct resp_value *a, const struct resp_value *b,
          const struct resp_reader *in, size_t depth)
{
    fuzz_check(depth <= RESP_DEPTH);
    fuzz_check(a->kind == b->kind && a->integer == b->integer);
    fuzz_check(a->size == b->size && a->count == b->count);
    if (a->kind == RESP_SIMPLE || a->kind == RESP_ERROR ||
        a->kind == RESP_BULK) {
        fuzz_check(a->at > in->bytes);
        fuzz_check(a->at + a->size + 2 <= in->bytes + in->end);
        fuzz_check(memcmp(a->at, b->at, a->size) == 0);
        fuzz_check(memcmp(a->at + a->size, "\r\n", 2) == 0);
    }
    for (size_t i = 0; i < a->count; i++) {
        fuzz_same(&a->items[i], &b->items[i], in, depth + 1);
    }
}

static void
fuzz_text(const char *text, size_t size, size_t most)
{
    char safe[64];
    size_t length = top_escape(text, size, most, safe, sizeof(safe));
    fuzz_check(length == strlen(safe) && length <= most);
    for (size_t i = 0; i < length; i++) {
        fuzz_check(safe[i] >= 0x20 && safe[i] < 0x7f);
    }
    for (size_t i = 0; i < size;) {
        size_t more = text_utf8(text + i, size - i);
        fuzz_check(more <= 4 && more <= size - i);
        i += more > 0 ? more : 1;
    }
}

static void
fuzz_use(const struct resp_value *reply, struct top_queues *queues,
         struct top_figures *figures, uint64_t now)
{
    struct top_queue *queue = top_queues_add(queues, "key", 3);
    fuzz_check(queue != NULL && queue == queues->list[0]);
    if (top_queue_read(queue, reply, now)) {
        top_queue_due(queue, 3);
        fuzz_check(queue->figures[TOP_LEN] >= 0);
        fuzz_check(queue->figures[TOP_DUE] != TOP_ABSENT);
    }
    if (reply->kind == RESP_BULK || reply->kind == RESP_SIMPLE) {
        size_t length = 0;
        const char *line =
            top_info_line(reply->at, reply->size, "role", &length);
        fuzz_check(line == NULL || line + length <= reply->at + reply->size);
        top_figures_read(figures, reply->at, reply->size, now);
        for (size_t i = 0; i < figures->count; i++) {
            fuzz_check(figures->list[i].value >= 0 &&
                       strncmp(figures->list[i].name, "lawn_", 5) == 0);
        }
        fuzz_text(reply->at, reply->size, reply->size % 60);
        queue = top_queues_add(queues, reply->at, reply->size);
        fuzz_check(queue == top_queues_add(queues, reply->at, reply->size));
        queue->gone = reply->size % 2 == 0 && queue != queues->list[0];
        top_queues_sweep(queues);
    }
}

static void
fuzz_put(struct resp_reader *reader, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        size_t room = 0;
        char *to = resp_room(reader, &room);
        fuzz_check(to != NULL && room >= 4096);
        size_t some = size < room ? size : room;
        memcpy(to, bytes, some);
        resp_came(reader, some);
        bytes += some;
        size -= some;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct resp_reader whole = {0};
    struct resp_reader pieces = {0};
    struct top_queues queues = {0};
    static struct top_figures figures;
    size_t piece = size > 0 ? bytes[0] % 17 + 1U : 1;
    size_t at = size > 0;
    size_t came = at;
    uint64_t now = 0;
    figures.count = 0;
    fuzz_put(&whole, bytes + at, size - at);
    const struct resp_value *one = NULL;
    const struct resp_value *other = NULL;
    int code = 0;
    do {
        code = resp_next(&whole, &one);
        int again = resp_next(&pieces, &other);
        while (again == 0 && came < size) {
            size_t some = size - came < piece ? size - came : piece;
            fuzz_put(&pieces, bytes + came, some);
            came += some;
            again = resp_next(&pieces, &other);
        }
        fuzz_check(code == again);
        if (code == 1) {
            fuzz_same(one, other, &whole, 0);
            fuzz_use(other, &queues, &figures, now += 1000);
        }
    } while (code == 1);
    top_queues_fini(&queues);
    resp_reader_fini(&whole);
    resp_reader_fini(&pieces);
    return 0;
}
