/* store_short.c - write(2) that writes fewer bytes than requested. */
#define _DEFAULT_SOURCE /* NOLINT(bugprone-reserved-identifier): syscall() */
#include "store_common.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined __linux__
#include <sys/syscall.h>

static size_t at_most; /* maximum bytes per write; 0: any */

/* Replaces write() of the C library for the whole program; like the original,
 * it is a cancellation point. */
ssize_t
write(int fd, const void *bytes, size_t size)
{
    pthread_testcancel();
    return syscall(SYS_write, fd, bytes,
                   at_most != 0 && size > at_most ? at_most : size);
}

/* [S9] */
TEST(a_save_continues_after_a_partial_write)
{
    static const size_t parts[] = {1, 7, 100, 4096};
    char path[64] = "/tmp/lawn-test-XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    (void)close(fd);
    struct trial t;
    trial_begin(&t, NULL);
    for (size_t i = 0; i < 500; i++) {
        CHECK_EQ(put_number(&t, i, 10 + i), 0);
    }
    for (size_t i = 0; i < COUNT(parts); i++) {

        at_most = parts[i];
        int error = lawn_store_save_file(t.store, path);
        at_most = 0;
        CHECK_EQ(error, 0);
        struct trial again;
        trial_begin(&again, NULL);
        CHECK_EQ(lawn_store_load_file(again.store, path), 0);
        CHECK_EQ(trial_print(&again), trial_print(&t));
        trial_end(&again);
    }
    CHECK_EQ(unlink(path), 0);
    trial_end(&t);
}
#endif
