/* fuzz_commands.c - the fuzzer's bytes as commands, one per line, on a master
 * with a replica.
 *
 * After each command both servers must have the same events and settings, and
 * their queues must be in order. tests/module/fake.c checks that there was one
 * reply, and that a command that reads changed nothing. A command that ran out
 * of memory must not replicate anything.
 *
 * A line consists of words separated by spaces. A word that begins with a byte
 * from 0x80 on is an entry of a list, so that a single byte makes a command or
 * an option. The second word is always one of four keys. A line may also be
 *   +N   the clock advances by N ms       =N   the clock is set to N
 *   @N   the replica's clock is set to N
 *   ~N   the next command has N blocks of memory
 *   !    the server toggles whether it accepts writes
 * The word ? is the token of the last leased event, and ^ its id, so that
 * leases can be acknowledged.
 */
#include "commands.h"
#include "fake.h"
#include "fuzz.h"
#include "memory_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 40

static const char *const fuzz_words[] = {
    "LAWN.PUSH",
    "LAWN.MPUSH",
    "LAWN.CANCEL",
    "LAWN.PULL",
    "LAWN.GET",
    "LAWN.UPDATE",
    "LAWN.TOUCH",
    "LAWN.POLL",
    "LAWN.NEXT",
    "LAWN.LEN",
    "LAWN.SCAN",
    "LAWN.INFO",
    "LAWN.CONFIG",
    "LAWN.PAUSE",
    "LAWN.RESUME",
    "LAWN.APPLY",
    "REDE.PUSH",
    "REDE.GIDPUSH",
    "REDE.PULL",
    "REDE.POLL",
    "REDE.XPOLL",
    "REDE.XACK",
    "REDE.LOOK",
    "REDE.TTN",
    "REDE.UPDATE",
    "REDE.TEST",
    "REDE.PRINT",
    "DELAY",
    "AT",
    "BY",
    "NX",
    "XX",
    "GT",
    "LT",
    "EVERY",
    "TIMES",
    "JITTER",
    "COUNT",
    "BLOCK",
    "META",
    "WAITING",
    "DUE",
    "STATE",
    "MATCH",
    "GET",
    "SET",
    "maxlen",
    "maxbytes",
    "overflow",
    "reject",
    "drop-oldest",
    "resolution-ms",
    "paused",
    "ADD",
    "DEL",
    "CFG",
    "*",
    "",
    "a",
    "b",
    "c",
    "d",
    "e",
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "10",
    "100",
    "1000",
    "1010",
    "9007199254740992",
    "18014398509481984",
    "a e5",
    "e5 t2",
    "g",
    "a g",
    "e10 t3 m1",
    "a somewhat longer payload, of fifty bytes or thereabouts",
    "LAWN.LEASE",
    "LAWN.ACK",
    "LAWN.NACK",
    "LAWN.EXTEND",
    "LAWN.SINK",
    "LAWN.PARTITION",
    "LEASE",
    "TRIES",
    "LEASED",
    "DEAD",
    "tries",
    "lease",
    "STREAM",
    "LIST",
    "PUBLISH",
    "NONE",
    "DEADLETTER",
    "TOKEN",
    "SINK",
    "n1 k2"};

#define FUZZ_WORDS (sizeof(fuzz_words) / sizeof(*fuzz_words))

static struct bytes
fuzz_word(const char *at, size_t size)
{
    unsigned char first = size > 0 ? (unsigned char)at[0] : 0;

    if (first >= 0x80 && first - 0x80u < FUZZ_WORDS) {
        return bytes_of(fuzz_words[first - 0x80u]);
    }
    return (struct bytes){at, size};
}

/* The event of a token. */
struct fuzz_held {
    uint64_t token;
    struct bytes id;
};

static bool
fuzz_visit(const struct queue_event *event, void *arg)
{
    struct fuzz_held *held = arg;

    if (event->lease.token != held->token) {
        return true;
    }
    held->id = event->id;
    return false;
}

/* The values of ? and ^ for a key; text is a buffer for the token. */
static struct bytes
fuzz_lease(struct fake *fake, const char *key, struct bytes word, char text[24])
{
    struct queue *queue = fake_queue(fake, key);
    struct fuzz_held held = {queue != NULL ? queue_token(queue) : 0, word};

    if (held.token == 0) {
        return word;
    }
    if (bytes_equal(word, bytes_of("?"))) {
        (void)snprintf(text, 24, "%llu", (unsigned long long)held.token);
        return bytes_of(text);
    }
    (void)queue_each(queue, fuzz_visit, &held);
    return held.id;
}

static void
fuzz_command(struct fake *fake, const char *line, size_t size)
{
    struct bytes args[WORDS];
    char key[] = "w";
    char token[24];
    char id[256];
    size_t count = 0;

    while (size > 0 && count < WORDS) {
        const char *end = memchr(line, ' ', size);
        size_t word = end != NULL ? (size_t)(end - line) : size;
        args[count] = fuzz_word(line, word);
        if (count == 1) {
            key[0] = (char)(key[0] + (word > 0 ? line[0] & 3 : 0));
            args[1] = (struct bytes){key, 1};
        }
        if (count > 1 && word == 1 && (line[0] == '?' || line[0] == '^')) {
            args[count] = fuzz_lease(fake, key, args[count], token);
        }
        /* The event may be freed before its id is used again. */
        if (count > 1 && word == 1 && line[0] == '^' &&
            args[count].size <= sizeof(id)) {
            memcpy(id, args[count].at, args[count].size);
            args[count].at = id;
        }
        count++;
        word += end != NULL;
        line += word;
        size -= word;
    }
    const char *reply = fake_call(fake, args, count);
    fuzz_check(strcmp(reply, "!ERR out of memory") != 0 ||
               fake->replicated.size == 0 ||
               bytes_equal(args[0], bytes_of("LAWN.APPLY")));
    fuzz_check(fake_same(fake, fake->replica));
    fake->memory = UINT64_MAX;
}

static uint64_t
fuzz_number(const char *at, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size && i < 16 && at[i] >= '0' && at[i] <= '9';
         i++) {
        number = number * 10 + (uint64_t)(at[i] - '0');
    }
    return number;
}

static void
fuzz_line(struct fake *fake, const char *line, size_t size)
{
    uint64_t number = size > 0 ? fuzz_number(line + 1, size - 1) : 0;

    if (size == 0) {
        return;
    }
    switch (line[0]) {
    case '+':
        if (fake->now < UINT64_C(1) << 53) {
            fake->now += number;
        }
        break;
    case '=':
        fake->now = number < QUEUE_TIME_MAX ? number : QUEUE_TIME_MAX;
        break;
    case '@':
        fake->replica->now = number;
        break;
    case '~':
        fake->memory = number;
        break;
    case '!':
        fake->frozen = !fake->frozen;
        break;
    default:
        fuzz_command(fake, line, size);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint64_t blocks = memory_blocks();
    struct fake *fake = fake_new();

    commands_tokens = (struct commands_tokens){0};
    const char *line = (const char *)bytes;

    fake->replica = fake_new();
    while (size > 0) {
        const char *end = memchr(line, '\n', size);
        size_t length = end != NULL ? (size_t)(end - line) : size;
        fuzz_line(fake, line, length);
        length += end != NULL;
        line += length;
        size -= length;
    }
    fake_free(fake->replica);
    fake_free(fake);
    fuzz_check(memory_blocks() == blocks);
    return 0;
}
