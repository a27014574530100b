/* file_replace.c - replacing a whole file through a temporary name chosen by
 * the caller. store_snapshot_file.c tests random temporary names. */
#include "../../src/store/file_replace.h"
#include "kit.h"
#include "store_common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#if defined __linux__
#include <sys/syscall.h>
#endif
#include <unistd.h>

static char names[512];

static struct lawn__file_target
target_of(const char *path)
{
    struct lawn__file_target target = {
        .path = path, .suffix = ".new", .mode = 0600, .names = names};
    CHECK(lawn__file_names_size(path, target.suffix) <= sizeof(names));
    return target;
}

static int
fill_with(lawn__file_write_fn *write_bytes, void *file, void *arg)
{
    const char *text = arg;
    if (text == NULL) {
        return -ENOMEM;
    }
    return write_bytes(text, strlen(text), file);
}

static int
replace_with(const char *path, const char *text)
{
    struct lawn__file_target target = target_of(path);
    char copy[64];
    if (text != NULL) {
        memcpy(copy, text, strlen(text) + 1);
    }
    bool replaced = text == NULL;
    int error = lawn__file_replace(&target, fill_with,
                                   text != NULL ? copy : NULL, &replaced);
    CHECK_EQ(replaced, error == 0);
    return error;
}

static bool
contains(const char *path, const char *text)
{
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    char bytes[64];
    ssize_t size = read(fd, bytes, sizeof(bytes));
    CHECK_EQ(close(fd), 0);
    return size == (ssize_t)strlen(text) &&
           memcmp(bytes, text, strlen(text)) == 0;
}

/* Creates a folder and enters it. */
static void
enter(char path[32])
{
    memcpy(path, "/tmp/lawn-test-XXXXXX", sizeof("/tmp/lawn-test-XXXXXX"));
    CHECK(mkdtemp(path) != NULL);
    CHECK_EQ(chdir(path), 0);
}

/* Leaves and removes the folder, which must be empty. */
static void
leave(const char *path)
{
    CHECK_EQ(chdir("/"), 0);
    CHECK_EQ(rmdir(path), 0);
}

TEST(a_file_is_replaced_under_a_chosen_name_whatever_is_there)
{
    char path[32];
    int home = open(".", O_RDONLY | O_DIRECTORY);
    enter(path);
    CHECK_EQ(replace_with("file", "one"), 0);
    CHECK(contains("file", "one"));
    struct stat about;
    CHECK_EQ(stat("file", &about), 0);
    CHECK_EQ(about.st_mode & 0777, 0600);
    CHECK_EQ(symlink("file", "file.new"), 0); /* already exists */
    CHECK_EQ(replace_with("file", "two"), 0);
    CHECK(contains("file", "two"));
    CHECK_EQ(mkdir("file.new", 0700), 0);
    CHECK_EQ(replace_with("file", "three"), -EISDIR);
    CHECK_EQ(rmdir("file.new"), 0);
    CHECK_EQ(replace_with("file", NULL), -ENOMEM);
    CHECK(contains("file", "two"));
    CHECK_EQ(replace_with("./file", "four"), 0);
    CHECK(contains("file", "four"));
    CHECK_EQ(unlink("file"), 0);
    leave(path);
    CHECK_EQ(fchdir(home), 0);
    CHECK_EQ(close(home), 0);
}

TEST(a_check_returns_whether_a_file_can_be_replaced_and_changes_nothing)
{
    char path[32];
    int home = open(".", O_RDONLY | O_DIRECTORY);
    enter(path);
    struct lawn__file_target target = target_of("file");
    CHECK_EQ(lawn__file_check(&target), 0);
    CHECK(access("file", F_OK) != 0 && access("file.new", F_OK) != 0);
    CHECK_EQ(replace_with("file", "one"), 0);
    CHECK_EQ(lawn__file_check(&target), 0);
    CHECK(contains("file", "one"));
    CHECK_EQ(unlink("file"), 0);
    CHECK_EQ(mkfifo("file", 0600), 0);
    CHECK_EQ(lawn__file_check(&target), LAWN_STORE_NOT_A_FILE);
    CHECK_EQ(unlink("file"), 0);
    CHECK_EQ(mkdir("file", 0700), 0);
    CHECK_EQ(lawn__file_check(&target), -EISDIR);
    CHECK_EQ(rmdir("file"), 0);
    target = target_of("none/file");
    CHECK_EQ(lawn__file_check(&target), -ENOENT);
    char name[256];
    memset(name, 'n', sizeof(name));
    name[252] = '\0';
    target = target_of(name);
    CHECK_EQ(lawn__file_check(&target), -ENAMETOOLONG);
    name[251] = '\0';
    CHECK_EQ(lawn__file_check(&target), 0);
    leave(path);
    CHECK_EQ(fchdir(home), 0);
    CHECK_EQ(close(home), 0);
}

TEST(a_short_name_and_suffix_are_no_random_ones)
{
    char path[32];
    int home = open(".", O_RDONLY | O_DIRECTORY);
    enter(path);
    struct lawn__file_target target = target_of("f");
    target.suffix = "XX";
    CHECK_EQ(lawn__file_check(&target), 0);
    CHECK_EQ(mkdir("fXX", 0700), 0);
    CHECK_EQ(lawn__file_check(&target), -EISDIR);
    CHECK_EQ(rmdir("fXX"), 0);
    leave(path);
    CHECK_EQ(fchdir(home), 0);
    CHECK_EQ(close(home), 0);
}

TEST(a_long_suffix_that_does_not_end_in_xs_is_no_random_one)
{
    static const char *const suffixes[] = {".replacement", "XXXXXX.new"};
    char path[32];
    int home = open(".", O_RDONLY | O_DIRECTORY);
    enter(path);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char name[32] = "file";
        struct lawn__file_target target = target_of("file");
        target.suffix = suffixes[i];
        memcpy(name + strlen(name), suffixes[i], strlen(suffixes[i]) + 1);
        CHECK_EQ(lawn__file_check(&target), 0);
        CHECK_EQ(mkdir(name, 0700), 0);
        CHECK_EQ(lawn__file_check(&target), -EISDIR);
        CHECK_EQ(rmdir(name), 0);
    }
    leave(path);
    CHECK_EQ(fchdir(home), 0);
    CHECK_EQ(close(home), 0);
}

TEST(xs_at_the_end_of_a_name_are_no_random_ones)
{
    static const char *const suffixes[] = {"X", "XXX", "XXXXX"};
    char path[32];
    int home = open(".", O_RDONLY | O_DIRECTORY);
    enter(path);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char name[32] = "fileXXXXXX";
        struct lawn__file_target target = target_of("fileXXXXXX");
        target.suffix = suffixes[i];
        memcpy(name + strlen(name), suffixes[i], strlen(suffixes[i]) + 1);
        CHECK_EQ(mkdir(name, 0700), 0);
        CHECK_EQ(lawn__file_check(&target), -EISDIR);
        CHECK_EQ(rmdir(name), 0);
    }
    struct lawn__file_target target = target_of("file");
    target.suffix = "XXXXXX";
    CHECK_EQ(mkdir("fileXXXXXX", 0700), 0);
    CHECK_EQ(lawn__file_check(&target), 0);
    CHECK_EQ(rmdir("fileXXXXXX"), 0);
    leave(path);
    CHECK_EQ(fchdir(home), 0);
    CHECK_EQ(close(home), 0);
}

#if defined __linux__
/* File descriptors: the folder gets the lowest free one, the temporary file the
 * next. */
enum { FOLDER_FD, TEMPORARY_FD };

static int
next_fd(int which)
{
    int fds[2] = {open("/dev/null", O_RDONLY), open("/dev/null", O_RDONLY)};
    CHECK(fds[0] >= 0 && fds[1] >= 0);
    (void)close(fds[0]);
    (void)close(fds[1]);
    return fds[which];
}

/* The task of a child process: it replaces the file while a system call
 * fails. */
static struct {
    const unsigned *calls;
    size_t count;
    bool any_fd;
    int fd; /* the first argument of the call, unless any_fd */
    unsigned error;
    bool replaced; /* expected result */
} fault;

static int
replace_with_fault(void)
{
    for (size_t i = 0; i < fault.count; i++) {
        if (!refuse_if(fault.calls[i], fault.error, 0,
                       fault.any_fd ? 0 : UINT32_MAX,
                       fault.any_fd ? 0 : (uint32_t)fault.fd)) {
            return 0; /* not possible on this system */
        }
    }
    struct lawn__file_target target = target_of("file");
    char text[] = "new";
    bool replaced = !fault.replaced;
    int error = lawn__file_replace(&target, fill_with, text, &replaced);
    if (error != -(int)fault.error) {
        return 1;
    }
    if (replaced != fault.replaced) {
        return 2;
    }
    return contains("file", replaced ? "new" : "old") ? 0 : 3;
}

static const unsigned fsync_calls[] = {SYS_fsync};
static const unsigned close_calls[] = {SYS_close};
static const unsigned rename_calls[] = {
#if defined SYS_rename
    SYS_rename,
#endif
#if defined SYS_renameat
    SYS_renameat,
#endif
    SYS_renameat2};

TEST(a_replaced_file_is_reported_though_its_folder_is_not_flushed)
{
    char path[32];
    int home = open(".", O_RDONLY | O_DIRECTORY);
    enter(path);
    CHECK_EQ(replace_with("file", "old"), 0);
    fault.error = EIO;
    fault.count = 1;
    fault.replaced = false;
    fault.calls = fsync_calls;
    fault.fd = next_fd(TEMPORARY_FD);
    check_child(replace_with_fault);
    fault.calls = close_calls;
    check_child(replace_with_fault);
    fault.calls = rename_calls;
    fault.count = sizeof(rename_calls) / sizeof(rename_calls[0]);
    fault.any_fd = true;
    check_child(replace_with_fault);
    CHECK(contains("file", "old"));
    CHECK(access("file.new", F_OK) != 0);
    fault.calls = fsync_calls;
    fault.count = 1;
    fault.any_fd = false;
    fault.fd = next_fd(FOLDER_FD);
    fault.replaced = true;
    check_child(replace_with_fault);
    CHECK(access("file.new", F_OK) != 0);
    CHECK_EQ(unlink("file"), 0);
    leave(path);
    CHECK_EQ(fchdir(home), 0);
    CHECK_EQ(close(home), 0);
}

static int
replace_in_unreadable_folder(void)
{
    if (open("own", O_RDONLY | O_DIRECTORY) >= 0 || errno != EACCES) {
        return 2;
    }
    struct stat about;
    return replace_with("own/file", "one") != 0   ? 3
           : replace_with("own/file", "two") != 0 ? 4
           : !contains("own/file", "two")         ? 5
           : stat("own/file.new", &about) == 0    ? 6
                                                  : 0;
}

/* Replaces files as a user without privileges. Only the effective ids change:
 * the process needs the old ones to write its coverage data when it exits. */
static int
replace_unprivileged(void)
{
    if (setegid(65534) != 0 || seteuid(65534) != 0) {
        return 1;
    }
    int result = replace_in_unreadable_folder();
    return seteuid(0) != 0 || setegid(0) != 0 ? 1 : result;
}

TEST(a_file_is_replaced_in_a_folder_that_may_be_written_but_not_read)
{
    char path[32];
    int home = open(".", O_RDONLY | O_DIRECTORY);
    if (geteuid() == 0) {
        enter(path);
        CHECK_EQ(chmod(".", 0755), 0);
        CHECK_EQ(mkdir("own", 0300), 0);
        CHECK_EQ(chown("own", 65534, 65534), 0);
        check_child(replace_unprivileged);
        CHECK_EQ(unlink("own/file"), 0);
        CHECK_EQ(rmdir("own"), 0);
        leave(path);
        CHECK_EQ(fchdir(home), 0);
    }
    CHECK_EQ(close(home), 0);
}
#endif
