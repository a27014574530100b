/* store_common.c - implements store_common.h. */
#include "store_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#endif

/* Guard bytes before and after each block. Every other block is aligned to a
 * cache line, so that a store uses it up to its end. */
#define LEDGER_LINE 64u
#define LEDGER_GUARD 32u

struct ledger_head {
    void *raw;
    size_t size;
};

void *
trial_alloc(size_t size, void *context)
{
    struct ledger *ledger = (struct ledger *)context;

    if (ledger->refuse == 0) {
        ledger->refused++;
        ledger->refuse = ledger->for_good ? 0 : SIZE_MAX;
        return NULL;
    }
    ledger->refuse -= ledger->refuse != SIZE_MAX;
    unsigned char *raw = malloc(3 * LEDGER_LINE + size + LEDGER_GUARD);
    if (raw == NULL) {
        return NULL;
    }
    unsigned char *block =
        raw + 2 * LEDGER_LINE - (uintptr_t)raw % LEDGER_LINE +
        (ledger->requests % 2 == 0 ? 0 : 16 * (ledger->requests % 4));
    struct ledger_head head;
    head.raw = raw;
    head.size = size;
    memcpy(block - sizeof(head), &head, sizeof(head));
    memset(block, 0xA5, size < 4096 ? size : 4096);
    memset(block + size, 0x5A, LEDGER_GUARD);
    ledger->bytes += size;
    ledger->blocks++;
    ledger->requests++;
    ledger->largest = size > ledger->largest ? size : ledger->largest;
    return block;
}

void
trial_release(void *memory, void *context)
{
    struct ledger *ledger = (struct ledger *)context;
    const unsigned char *block = (const unsigned char *)memory;

    if (memory == NULL) {
        return;
    }
    struct ledger_head head;
    memcpy(&head, block - sizeof(head), sizeof(head));
    for (unsigned i = 0; i < LEDGER_GUARD; i++) {
        CHECK_EQ(block[head.size + i], 0x5A); /* not written past its end */
    }
    ledger->bytes -= head.size;
    ledger->blocks--;
    free(head.raw);
}

void
trial_begin(struct trial *trial, const struct lawn_store_options *options)
{
    struct lawn_store_options mine = {0};

    memset(trial, 0, sizeof(*trial));
    if (options != NULL) {
        mine = *options;
    }
    trial->ledger.refuse = SIZE_MAX;
    mine.lawn.alloc = trial_alloc;
    mine.lawn.release = trial_release;
    mine.lawn.context = &trial->ledger;
    trial->store = lawn_store_new(&mine);
    CHECK(trial->store != NULL);
}

void
trial_end(struct trial *trial)
{
    if (trial->store != NULL) {
        CHECK(lawn_store_check(trial->store, stdout));
        CHECK_EQ(lawn_store_bytes(trial->store), trial->ledger.bytes);
    }
    lawn_store_free(trial->store);
    CHECK_EQ(trial->ledger.blocks, 0); /* [S7] */
    CHECK_EQ(trial->ledger.bytes, 0);
}

int
put_how(struct trial *trial, const char *id, uint64_t ttl, const char *payload,
        unsigned how)
{
    return lawn_store_start(trial->store, id, strlen(id), ttl, payload,
                            strlen(payload), how);
}

void
put(struct trial *trial, const char *id, uint64_t ttl, const char *payload)
{
    CHECK_EQ(put_how(trial, id, ttl, payload, 0), 0);
}

bool
drop(struct trial *trial, const char *id)
{
    return lawn_store_stop(trial->store, id, strlen(id));
}

bool
has(const struct trial *trial, const char *id)
{
    return lawn_store_get(trial->store, id, strlen(id), NULL);
}

struct lawn_store_timer
look(const struct trial *trial, const char *id)
{
    struct lawn_store_timer timer;

    memset(&timer, 0, sizeof(timer));
    CHECK(lawn_store_get(trial->store, id, strlen(id), &timer));
    CHECK_EQ(timer.id_size, strlen(id));
    CHECK(memcmp(timer.id, id, timer.id_size) == 0);
    CHECK(timer.payload != NULL);
    CHECK_EQ((uintptr_t)timer.payload % 8, 0);
    return timer;
}

void
check_timer(const struct trial *trial, const char *id, const char *payload,
            uint64_t deadline, const char *file, int line)
{
    if (!has(trial, id)) {
        kit_fail(file, line, "there is no timer %s", id);
    }
    struct lawn_store_timer timer = look(trial, id);
    if (timer.payload_size != strlen(payload) ||
        memcmp(timer.payload, payload, timer.payload_size) != 0) {
        kit_fail(file, line, "the payload of %s is %.*s, expected %s", id,
                 (int)timer.payload_size, (const char *)timer.payload, payload);
    }
    if (timer.deadline != deadline) {
        kit_fail(file, line, "the deadline of %s is %llu, expected %llu", id,
                 (unsigned long long)timer.deadline,
                 (unsigned long long)deadline);
    }
}

int
put_number(struct trial *trial, uint64_t number, uint64_t ttl)
{
    return lawn_store_start(trial->store, &number, sizeof(number), ttl, &number,
                            sizeof(number), 0);
}

bool
drop_number(struct trial *trial, uint64_t number)
{
    return lawn_store_stop(trial->store, &number, sizeof(number));
}

bool
has_number(const struct trial *trial, uint64_t number)
{
    return lawn_store_get(trial->store, &number, sizeof(number), NULL);
}

static size_t
copy_text(char *out, const void *bytes, size_t size)
{
    if (size >= TRIAL_TEXT) {
        size = TRIAL_TEXT - 1;
    }
    memcpy(out, bytes, size);
    out[size] = '\0';
    return size;
}

static void
on_fire(const struct lawn_store_timer *timer, void *arg)
{
    struct trial *trial = (struct trial *)arg;
    struct lawn_store_timer was = *timer;
    unsigned at = trial->fired++ % TRIAL_LOG;
    char id[TRIAL_TEXT];
    char payload[TRIAL_TEXT];
    size_t id_size = copy_text(id, timer->id, timer->id_size);
    size_t payload_size =
        copy_text(payload, timer->payload, timer->payload_size);

    memcpy(trial->ids[at], id, sizeof(id));
    memcpy(trial->payloads[at], payload, sizeof(payload));
    CHECK(!lawn_store_get(trial->store, timer->id, timer->id_size, NULL));
    CHECK(timer->deadline <= trial->mowing);   /* [P1] */
    CHECK(timer->deadline >= trial->last_due); /* [P4] */
    CHECK(timer->payload != NULL);
    CHECK_EQ((uintptr_t)timer->payload % 8, 0);
    trial->last_due = timer->deadline;
    if (trial->act != NULL) {
        trial->act(trial, timer);
    }
    CHECK(memcmp(&was, timer, sizeof(was)) == 0); /* [S3] */
    CHECK(memcmp(timer->id, id, id_size) == 0);
    CHECK(memcmp(timer->payload, payload, payload_size) == 0);
}

size_t
trial_mow_some(struct trial *trial, uint64_t now, size_t budget)
{
    uint64_t until = now < LAST ? now : LAST;

    trial->mowing = until > trial->mowing ? until : trial->mowing;
    trial->depth++;
    size_t fired = lawn_store_mow(trial->store, now, budget, on_fire, trial);
    trial->depth--;
    CHECK(fired <= budget);
    if (trial->store != NULL) {
        CHECK(lawn_store_check(trial->store, stdout));
        if (fired < budget && trial->depth == 0) { /* [P2] */
            CHECK(lawn_store_next(trial->store) > now ||
                  lawn_store_now(trial->store) == LAST);
        }
    }
    return fired;
}

size_t
trial_mow(struct trial *trial, uint64_t now)
{
    return trial_mow_some(trial, now, SIZE_MAX);
}

static void
check_words(const char (*got)[TRIAL_TEXT], unsigned count, const char *expected,
            const char *file, int line)
{
    char all[4096];
    size_t length = 0;

    all[0] = '\0';
    for (unsigned i = 0; i < count && length + TRIAL_TEXT + 1 < sizeof(all);
         i++) {
        length += (size_t)snprintf(all + length, sizeof(all) - length, "%s%s",
                                   i == 0 ? "" : " ", got[i]);
    }
    if (strcmp(all, expected) != 0) {
        kit_fail(file, line, "fired: %s; expected: %s", all, expected);
    }
}

void
check_store_fired(struct trial *trial, const char *ids, const char *payloads,
                  const char *file, int line)
{
    check_words((const char(*)[TRIAL_TEXT])trial->ids, trial->fired, ids, file,
                line);
    if (payloads != NULL) {
        check_words((const char(*)[TRIAL_TEXT])trial->payloads, trial->fired,
                    payloads, file, line);
    }
    trial->fired = 0;
}

static uint64_t
print_number(uint64_t print, uint64_t number)
{
    print = (print ^ number) * UINT64_C(0x9E3779B97F4A7C15);
    return print ^ print >> 29;
}

static uint64_t
print_bytes(uint64_t print, const void *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;

    print = print_number(print, size);
    for (size_t i = 0; i < size; i++) {
        print = (print ^ at[i]) * UINT64_C(0x100000001B3);
    }
    return print;
}

uint64_t
trial_print(const struct trial *trial)
{
    struct lawn_store_timer timer = {0};
    uint64_t cursor = 0;
    uint64_t sum = 0;

    while (lawn_store_iterate(trial->store, &cursor, &timer)) {
        uint64_t one = print_bytes(1, timer.id, timer.id_size);

        one = print_bytes(one, timer.payload, timer.payload_size);
        one = print_number(one, timer.deadline);
        sum += print_number(one, timer.ttl);
    }
    CHECK_EQ(lawn_store_bytes(trial->store), trial->ledger.bytes);
    sum = print_number(sum, lawn_store_count(trial->store));
    sum = print_number(sum, lawn_store_now(trial->store));
    sum = print_number(sum, lawn_store_next(trial->store));
    return sum;
}

bool
watched(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    return true;
#else
    const char *preloaded = getenv("LD_PRELOAD");

    return preloaded != NULL && strstr(preloaded, "vgpreload") != NULL;
#endif
}

void
check_child(int (*body)(void))
{
    int status = 0;

    (void)fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        exit(body()); /* not _exit(), which writes no coverage */
    }
    CHECK_EQ(waitpid(child, &status, 0), (uint64_t)child);
    CHECK_EQ(status, 0);
}

#if defined __linux__
bool
refuse_if(unsigned call, unsigned error, unsigned which, uint32_t mask,
          uint32_t value)
{
    const uint16_t one = 1;
    /* The lower half of the argument. */
    size_t half = *(const unsigned char *)&one == 1 ? 0 : 4;
    size_t at = offsetof(struct seccomp_data, args) + (size_t)which * 8 + half;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)at),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {COUNT(code), code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool
refuse(unsigned call, unsigned error)
{
    return refuse_if(call, error, 0, 0, 0);
}
#endif

unsigned
how_many(unsigned many, unsigned some, unsigned few)
{
#if !defined __OPTIMIZE__
    (void)many;
    (void)some;
    return few;
#elif defined NDEBUG
    (void)some;
    return watched() ? few : many;
#else
    (void)many;
    return watched() ? few : some;
#endif
}
