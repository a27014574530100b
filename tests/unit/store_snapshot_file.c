/* store_snapshot_file.c - snapshot files are replaced as a whole or not at
 * all. */
#include "store_common.h"
#include "store_tape.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined __linux__
#include <sys/syscall.h>
#endif

#define NOBODY 65534

/* A temporary folder that is the current folder of a test. */
struct yard {
    char path[64];
    int home;     /* the previous folder */
    int next_fd;  /* descriptor of the next opened file */
    mode_t umask; /* previous value */
};

static int
lowest_fd(void)
{
    int fd = open("/dev/null", O_RDONLY);

    CHECK(fd >= 0);
    (void)close(fd);
    return fd;
}

static void
yard_begin(struct yard *yard)
{
    strcpy(yard->path, "/tmp/lawn-test-XXXXXX");
    CHECK(mkdtemp(yard->path) != NULL);
    yard->home = open(".", O_RDONLY | O_DIRECTORY);
    CHECK(yard->home >= 0);
    CHECK_EQ(chdir(yard->path), 0);
    yard->umask = umask(022);
    yard->next_fd = lowest_fd();
}

/* Returns the number of files. */
static unsigned
yard_count(void)
{
    DIR *folder = opendir(".");
    unsigned count = 0;

    CHECK(folder != NULL);
    const struct dirent *entry = NULL;
    while ((entry = readdir(folder)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(folder);
    return count;
}

/* Checks that this number of files is left and that no file is open. */
static void
yard_end(struct yard *yard, unsigned files)
{
    static const char *const names[] = {"file", "link", "other", "folder/file"};

    CHECK_EQ(yard_count(), files);
    CHECK_EQ(lowest_fd(), yard->next_fd);
    for (size_t i = 0; i < COUNT(names); i++) {
        (void)unlink(names[i]);
    }
    (void)rmdir("folder");
    (void)umask(yard->umask);
    CHECK_EQ(fchdir(yard->home), 0);
    (void)close(yard->home);
    CHECK_EQ(rmdir(yard->path), 0);
}

/* Creates a store with count timers. */
static struct lawn_store *
store_of(struct meter *meter, uint64_t count)
{
    struct lawn_store *store = meter_store(meter, 0);

    CHECK(store != NULL);
    for (uint64_t i = 0; i < count; i++) {
        CHECK_EQ(lawn_store_start(store, &i, sizeof(i), 5 + i, "some payload",
                                  12, 0),
                 0);
    }
    return store;
}

/* Checks that a file contains a snapshot of count timers. */
static void
check_file(const char *path, uint64_t count)
{
    struct meter meter = {0};
    struct lawn_store *store = meter_store(&meter, 0);

    CHECK(store != NULL);
    CHECK_EQ(lawn_store_load_file(store, path), 0);
    CHECK_EQ(lawn_store_count(store), count);
    lawn_store_free(store);
}

static struct stat
status_of(const char *path)
{
    struct stat status;

    CHECK_EQ(lstat(path, &status), 0);
    return status;
}

TEST(a_file_that_was_saved_loads)
{
    struct meter meter = {0};
    struct lawn_store *a = store_of(&meter, 10000);
    struct lawn_store *b = store_of(&meter, 0);
    struct yard yard;

    yard_begin(&yard);
    CHECK_EQ(lawn_store_save_file(a, "file"), 0);
    CHECK_EQ(lawn_store_load_file(b, "file"), 0);
    check_same(a, b);
    CHECK_EQ(mkdir("folder", 0755), 0);
    CHECK_EQ(lawn_store_save_file(a, "./folder/../folder//file"), 0);
    check_file("folder/file", 10000);
    lawn_store_free(a);
    lawn_store_free(b);
    CHECK_EQ(meter.live, 0);
    yard_end(&yard, 2);
}

TEST(a_save_replaces_the_old_file_by_a_new_one)
{
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct yard yard;

    yard_begin(&yard);
    CHECK_EQ(lawn_store_save_file(store, "file"), 0);
    int fd = open("file", O_RDONLY);
    CHECK(fd >= 0);
    struct stat old = status_of("file");
    CHECK_EQ(lawn_store_start(store, "new", 3, 5, "", 0, 0), 0);
    CHECK_EQ(lawn_store_save_file(store, "file"), 0);
    check_file("file", 11);
    struct stat kept;
    /* A process that has the old file open continues to read it. */
    CHECK_EQ(fstat(fd, &kept), 0);
    CHECK_EQ(kept.st_size, old.st_size);
    CHECK_EQ(kept.st_nlink, 0);
    CHECK(status_of("file").st_ino != old.st_ino);
    (void)close(fd);
    lawn_store_free(store);
    yard_end(&yard, 1);
}

TEST(a_disk_that_is_full_leaves_the_old_file_and_nothing_else)
{
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct yard yard;

    yard_begin(&yard);
    CHECK_EQ(lawn_store_save_file(store, "file"), 0);
    for (uint64_t i = 100; i < 5000; i++) {
        CHECK_EQ(lawn_store_start(store, &i, sizeof(i), i, &i, 8, 0), 0);
    }
    struct rlimit before;
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit;
    for (rlim_t size = 0; size < 150000; size += 29999) {
        limit = before;
        limit.rlim_cur = size;
        CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
        int error = lawn_store_save_file(store, "file");
        CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
        CHECK_EQ(error, -EFBIG);
        CHECK_EQ(yard_count(), 1);
        check_file("file", 10);
    }
    (void)signal(SIGXFSZ, SIG_DFL);
    CHECK_EQ(lawn_store_save_file(store, "file"), 0);
    check_file("file", 4910);
    lawn_store_free(store);
    yard_end(&yard, 1);
}

TEST(a_save_without_memory_leaves_the_old_file_and_nothing_else)
{
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct yard yard;

    yard_begin(&yard);
    CHECK_EQ(lawn_store_save_file(store, "file"), 0);
    CHECK_EQ(lawn_store_start(store, "new", 3, 5, "", 0, 0), 0);
    int error = 0;
    do {
        meter.requests = 0;
        meter.refuse++;
        error = lawn_store_save_file(store, "file");
        CHECK(error == 0 || error == -ENOMEM);
        CHECK_EQ(yard_count(), 1);
        check_file("file", error == 0 ? 11 : 10);
    } while (error != 0);
    CHECK(meter.refuse > 2);
    lawn_store_free(store);
    yard_end(&yard, 1);
}

/* Saves in a child process as an unprivileged user, and returns the error. */
static int
save_as_nobody(struct lawn_store *store, const char *path)
{
    int status = 0;

    (void)fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
            _exit(255);
        }
        _exit(-lawn_store_save_file(store, path) & 0xff);
    }
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

TEST(a_folder_that_cannot_be_written_to_is_left_alone)
{
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct yard yard;

    yard_begin(&yard);
    CHECK_EQ(chmod(yard.path, 0755), 0);
    CHECK_EQ(mkdir("folder", 0755), 0);
    CHECK_EQ(lawn_store_save_file(store, "folder/file"), 0);
    CHECK_EQ(chmod("folder", 0555), 0);
    CHECK_EQ(save_as_nobody(store, "folder/file"), -EACCES);
    CHECK_EQ(save_as_nobody(store, "folder/other"), -EACCES);
    CHECK_EQ(chmod("folder", 0755), 0);
    check_file("folder/file", 10);
    CHECK_EQ(lawn_store_save_file(store, "missing/file"), -ENOENT);
    CHECK_EQ(lawn_store_save_file(store, "folder/file/file"), -ENOTDIR);
    CHECK_EQ(lawn_store_save_file(store, ""), -ENOENT);
    CHECK_EQ(lawn_store_save_file(store, "missing/"), -ENOENT);
    lawn_store_free(store);
    yard_end(&yard, 1);
}

TEST(a_folder_or_a_device_is_not_replaced)
{
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct yard yard;

    yard_begin(&yard);
    CHECK_EQ(mkdir("folder", 0755), 0);
    CHECK_EQ(mkfifo("other", 0600), 0);
    CHECK_EQ(lawn_store_save_file(store, "folder"), -EISDIR);
    CHECK_EQ(lawn_store_save_file(store, "folder/"), -EISDIR);
    CHECK_EQ(lawn_store_save_file(store, "."), -EISDIR);
    CHECK_EQ(lawn_store_save_file(store, "/"), -EISDIR);
    CHECK_EQ(lawn_store_save_file(store, "other"), LAWN_STORE_NOT_A_FILE);
    CHECK(S_ISFIFO(status_of("other").st_mode));
    lawn_store_free(store);
    yard_end(&yard, 2);
}

TEST(a_link_is_replaced_and_not_what_it_leads_to)
{
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct yard yard;

    yard_begin(&yard);
    CHECK_EQ(lawn_store_save_file(store, "file"), 0);
    CHECK_EQ(symlink("file", "link"), 0);
    CHECK_EQ(lawn_store_start(store, "new", 3, 5, "", 0, 0), 0);
    CHECK_EQ(lawn_store_save_file(store, "link"), 0);
    CHECK(S_ISREG(status_of("link").st_mode));
    check_file("file", 10);
    check_file("link", 11);
    lawn_store_free(store);
    yard_end(&yard, 2);
}

/* The name of the temporary file is longer by 11. */
TEST(a_name_that_leaves_no_room_for_the_temporary_name_is_too_long)
{
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct yard yard;

    yard_begin(&yard);
    long longest = pathconf(".", _PC_NAME_MAX);
    char name[4096];
    CHECK(longest > 11 && longest < (long)sizeof(name));
    memset(name, 'x', sizeof(name));
    name[longest - 10] = '\0';
    CHECK_EQ(lawn_store_save_file(store, name), -ENAMETOOLONG);
    CHECK_EQ(yard_count(), 0);
    name[longest - 11] = '\0';
    CHECK_EQ(lawn_store_save_file(store, name), 0);
    check_file(name, 10);
    CHECK_EQ(unlink(name), 0);
    lawn_store_free(store);
    yard_end(&yard, 0);
}

TEST(no_path_at_all_is_an_error)
{
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 0);

    CHECK_EQ(lawn_store_save_file(store, NULL), -EFAULT);
    CHECK_EQ(lawn_store_load_file(store, NULL), -EFAULT);
    check_unchanged(store, meter.live, 0);
    lawn_store_free(store);
}

TEST(a_new_file_has_the_mode_that_the_umask_leaves)
{
    static const mode_t masks[] = {022, 027, 077, 0};
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct yard yard;

    yard_begin(&yard);
    for (size_t i = 0; i < COUNT(masks); i++) {
        (void)umask(masks[i]);
        CHECK_EQ(lawn_store_save_file(store, "file"), 0);
        CHECK_EQ(status_of("file").st_mode & 07777, 0666 & ~masks[i]);
        CHECK_EQ(unlink("file"), 0);
    }
    lawn_store_free(store);
    yard_end(&yard, 0);
}

TEST(a_file_keeps_its_mode_and_its_owner)
{
    static const mode_t modes[] = {0600, 0640, 0666, 0444};
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    bool root = geteuid() == 0;
    struct yard yard;

    yard_begin(&yard);
    CHECK_EQ(lawn_store_save_file(store, "file"), 0);
    if (root) {
        CHECK_EQ(chown("file", NOBODY, NOBODY - 1), 0);
    }
    for (size_t i = 0; i < COUNT(modes); i++) {
        CHECK_EQ(chmod("file", modes[i]), 0);
        CHECK_EQ(lawn_store_save_file(store, "file"), 0);
        CHECK_EQ(status_of("file").st_mode & 07777, modes[i]);
        CHECK_EQ(status_of("file").st_uid, root ? NOBODY : geteuid());
        CHECK(!root || status_of("file").st_gid == NOBODY - 1);
    }
    lawn_store_free(store);
    yard_end(&yard, 1);
}

TEST(a_group_other_than_that_of_the_old_file_has_no_more_rights_than_others)
{
    static const struct {
        mode_t old;
        mode_t new;
    } modes[] = {{0664, 0644}, {0775, 0755}, {0671, 0611}, {0627, 0627}};
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct yard yard;

    yard_begin(&yard);
    if (geteuid() == 0) {
        CHECK_EQ(chmod(yard.path, 0777), 0);
        for (size_t i = 0; i < COUNT(modes); i++) {
            CHECK_EQ(lawn_store_save_file(store, "file"), 0);
            CHECK_EQ(chown("file", 0, 1), 0);
            CHECK_EQ(chmod("file", modes[i].old), 0);
            CHECK_EQ(save_as_nobody(store, "file"), 0);
            CHECK_EQ(status_of("file").st_uid, NOBODY);
            CHECK_EQ(status_of("file").st_gid, NOBODY);
            CHECK_EQ(status_of("file").st_mode & 07777, modes[i].new);
        }
    } else {
        CHECK_EQ(lawn_store_save_file(store, "file"), 0);
    }
    lawn_store_free(store);
    yard_end(&yard, 1);
}

/* Appends bytes to a file, or truncates it by -by bytes. */
static void
lengthen(const char *path, int by)
{
    int fd = open(path, O_WRONLY | O_APPEND);

    CHECK(fd >= 0);
    if (by < 0) {
        CHECK_EQ(ftruncate(fd, status_of(path).st_size + by), 0);
    } else {
        CHECK_EQ(write(fd, "more bytes", (size_t)by), by);
    }
    (void)close(fd);
}

/* Changes the last byte of a file. */
static void
damage_end(const char *path)
{
    off_t end = status_of(path).st_size - 1;
    int fd = open(path, O_RDWR);
    unsigned char byte = 0;

    CHECK(fd >= 0);
    CHECK_EQ(pread(fd, &byte, 1, end), 1);
    byte ^= 1;
    CHECK_EQ(pwrite(fd, &byte, 1, end), 1);
    (void)close(fd);
}

TEST(a_file_with_bytes_after_its_end_loads_nothing)
{
    struct meter meter = {0};
    struct lawn_store *from = store_of(&meter, 1000);
    struct lawn_store *to = store_of(&meter, 0);
    size_t bytes = lawn_store_bytes(to);
    struct yard yard;

    yard_begin(&yard);
    lawn_store_set_now(to, 9);
    CHECK_EQ(lawn_store_save_file(from, "file"), 0);
    lengthen("file", 1);
    CHECK_EQ(lawn_store_load_file(to, "file"), LAWN_STORE_TRAILING);
    check_unchanged(to, bytes, 9);
    lengthen("file", -1);
    damage_end("file");
    CHECK_EQ(lawn_store_load_file(to, "file"), LAWN_STORE_DAMAGED);
    check_unchanged(to, bytes, 9);
    lengthen("file", -1);
    CHECK_EQ(lawn_store_load_file(to, "file"), LAWN_STORE_TRUNCATED);
    check_unchanged(to, bytes, 9);
    lawn_store_free(from);
    lawn_store_free(to);
    yard_end(&yard, 1);
}

TEST(a_file_that_cannot_be_read_loads_nothing)
{
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 0);
    size_t bytes = lawn_store_bytes(store);
    struct yard yard;

    yard_begin(&yard);
    CHECK_EQ(lawn_store_load_file(store, "file"), -ENOENT);
    CHECK_EQ(lawn_store_load_file(store, "."), -EISDIR);
    CHECK_EQ(lawn_store_load_file(store, "/dev/null"), LAWN_STORE_TRUNCATED);
    check_unchanged(store, bytes, 0);
    CHECK_EQ(lawn_store_start(store, "id", 2, 5, "", 0, 0), 0);
    CHECK_EQ(lawn_store_load_file(store, "file"), -ENOTEMPTY);
    lawn_store_free(store);
    yard_end(&yard, 0);
}

#if defined __linux__
/* File descriptors: the folder gets the lowest free one, the temporary file the
 * next. */
static int folder_fd;
static int temporary_fd;

static void
find_fds(void)
{
    folder_fd = open("/dev/null", O_RDONLY);
    temporary_fd = open("/dev/null", O_RDONLY);
    CHECK(folder_fd >= 0 && temporary_fd >= 0);
    (void)close(folder_fd);
    (void)close(temporary_fd);
}

/* Which system call the C library makes depends on its version and the
 * machine. */
static const unsigned fsync_calls[] = {SYS_fsync};
static const unsigned write_calls[] = {SYS_write};
static const unsigned close_calls[] = {SYS_close};
static const unsigned both_calls[] = {SYS_fsync, SYS_close};
static const unsigned openat_calls[] = {SYS_openat};
static const unsigned fchmod_calls[] = {SYS_fchmod};
static const unsigned read_calls[] = {SYS_read};
static const unsigned fchown_calls[] = {
#if defined SYS_fchown32
    SYS_fchown32,
#endif
    SYS_fchown};
static const unsigned fstat_calls[] = {
#if defined SYS_newfstatat
    SYS_newfstatat,
#endif
#if defined SYS_fstatat64
    SYS_fstatat64,
#endif
#if defined SYS_fstat64
    SYS_fstat64,
#endif
#if defined SYS_fstat
    SYS_fstat,
#endif
    SYS_statx};
static const unsigned rename_calls[] = {
#if defined SYS_rename
    SYS_rename,
#endif
#if defined SYS_renameat
    SYS_renameat,
#endif
    SYS_renameat2};

/* Refused calls: those whose argument number `which` equals *fd or, if fd is
 * NULL, equals `value` in the bits of `mask`. */
struct ban {
    const unsigned *calls;
    size_t count;
    unsigned error;
    unsigned which;
    const int *fd;
    uint32_t mask;
    uint32_t value;
};
#define CALLS(name) .calls = (name), .count = COUNT(name)

static bool
ban_calls(const struct ban *ban)
{
    uint32_t mask = ban->fd != NULL ? UINT32_MAX : ban->mask;
    uint32_t value = ban->fd != NULL ? (uint32_t)*ban->fd : ban->value;

    for (size_t i = 0; i < ban->count; i++) {
        if (!refuse_if(ban->calls[i], ban->error, ban->which, mask, value)) {
            return false;
        }
    }
    return true;
}

/* The task of a child process, which frees its copy of the store. */
static struct {
    struct lawn_store *store;
    struct ban ban;
    int error;              /* expected error */
    bool replaces;          /* whether a new file is expected */
    const struct tape *old; /* contents of the old file */
    struct stat status;     /* expected status of the new file */
} task;

/* Returns whether a file has exactly these bytes. */
static bool
file_is(const char *path, const struct tape *tape)
{
    int fd = open(path, O_RDONLY);

    if (fd < 0) {
        return false;
    }
    unsigned char bytes[4096];
    ssize_t size = read(fd, bytes, sizeof(bytes));
    (void)close(fd);
    return size >= 0 && (size_t)size == tape->size &&
           memcmp(bytes, tape->bytes, tape->size) == 0;
}

static int
save_though_banned(void)
{
    struct lawn_store *store = task.store;
    size_t bytes = lawn_store_bytes(store);
    struct tape before = {0};
    struct tape after = {0};

    if (lawn_store_save(store, tape_write, &before) != 0) {
        return 1;
    }
    if (!ban_calls(&task.ban)) {
        return 0;
    }
    if (lawn_store_save_file(store, "file") != task.error) {
        return 2;
    }
    if (!file_is("file", task.replaces ? &before : task.old)) {
        return 3;
    }
    if (lawn_store_save(store, tape_write, &after) != 0 ||
        lawn_store_bytes(store) != bytes || !lawn_store_check(store, stdout)) {
        return 4;
    }
    bool same = before.size == after.size &&
                memcmp(before.bytes, after.bytes, after.size) == 0;
    tape_free(&before);
    tape_free(&after);
    lawn_store_free(store);
    return same ? 0 : 5;
}

TEST(a_save_that_the_system_refuses_leaves_the_old_file_and_nothing_else)
{
    static const struct ban bans[] = {
        {CALLS(openat_calls), .error = EMFILE, .which = 2,
         .mask = O_DIRECTORY | O_CLOEXEC, .value = O_DIRECTORY | O_CLOEXEC},
        {CALLS(openat_calls), .error = ENFILE, .fd = &folder_fd},
        {CALLS(openat_calls), .error = EEXIST, .fd = &folder_fd},
        {CALLS(write_calls), .error = ENOSPC, .fd = &temporary_fd},
        {CALLS(fstat_calls), .error = EIO, .fd = &temporary_fd},
        {CALLS(fchmod_calls), .error = EPERM, .fd = &temporary_fd},
        {CALLS(fsync_calls), .error = EIO, .fd = &temporary_fd},
        {CALLS(fsync_calls), .error = EINVAL, .fd = &temporary_fd},
        {CALLS(close_calls), .error = EDQUOT, .fd = &temporary_fd},
        {CALLS(both_calls), .error = EIO, .fd = &temporary_fd},
        {CALLS(rename_calls), .error = EROFS},
    };
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct tape old = {0};
    struct yard yard;

    yard_begin(&yard);
    find_fds();
    tape_save(&old, store);
    CHECK_EQ(lawn_store_save_file(store, "file"), 0);
    struct stat status = status_of("file");
    CHECK_EQ(lawn_store_start(store, "new", 3, 5, "", 0, 0), 0);
    task.store = store;
    task.replaces = false;
    task.old = &old;
    for (size_t i = 0; i < COUNT(bans); i++) {
        task.ban = bans[i];
        task.error = -(int)bans[i].error;
        check_child(save_though_banned);
        CHECK(file_is("file", &old));
        CHECK_EQ(status_of("file").st_ino, status.st_ino);
        CHECK_EQ(status_of("file").st_mode, status.st_mode);
        CHECK_EQ(yard_count(), 1);
    }
    /* A write that keeps returning 0 would otherwise be repeated forever. */
    task.ban = bans[3];
    task.ban.error = 0;
    task.error = -EIO;
    check_child(save_though_banned);
    CHECK(file_is("file", &old));
    CHECK_EQ(yard_count(), 1);
    lawn_store_free(store);
    tape_free(&old);
    yard_end(&yard, 1);
}

TEST(a_folder_that_cannot_be_flushed_is_an_error_unless_it_need_not)
{
    static const int errors[] = {EIO, EINVAL, ENOTSUP};
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct yard yard;

    yard_begin(&yard);
    find_fds();
    task.store = store;
    task.replaces = true;
    for (size_t i = 0; i < COUNT(errors); i++) {
        struct ban ban = {CALLS(fsync_calls), .error = (unsigned)errors[i],
                          .fd = &folder_fd};

        CHECK_EQ(lawn_store_start(store, &i, sizeof(i), 7, "new", 3, 0), 0);
        task.ban = ban;
        task.error = i == 0 ? -errors[i] : 0;
        check_child(save_though_banned);
        CHECK_EQ(yard_count(), 1);
    }
    lawn_store_free(store);
    yard_end(&yard, 1);
}

static int
save_as_another(void)
{
    if (!ban_calls(&task.ban)) {
        return 0;
    }
    struct stat status;
    if (lawn_store_save_file(task.store, "file") != 0 ||
        lstat("file", &status) != 0) {
        return 1;
    }
    lawn_store_free(task.store);
    return (status.st_mode & 07777) != task.status.st_mode ? 2
           : status.st_uid != task.status.st_uid           ? 3
           : status.st_gid != task.status.st_gid           ? 4
                                                           : 0;
}

/* An owner that may not be set stays unchanged; the group matters more than the
 * owner. */
TEST(an_owner_or_a_group_that_may_not_be_given_stays_ours)
{
    static const struct ban all = {CALLS(fchown_calls), .error = EPERM};
    static const struct ban owner = {CALLS(fchown_calls), .error = EPERM,
                                     .which = 1, .mask = UINT32_MAX,
                                     .value = NOBODY};
    const struct {
        const struct ban *ban;
        uid_t uid;
        gid_t gid;
        gid_t new_gid;
        mode_t new_mode;
    } cases[] = {
        {&all, NOBODY, NOBODY - 1, getegid(), 0644},
        {&all, NOBODY, getegid(), getegid(), 0664},
        {&all, geteuid(), NOBODY - 1, getegid(), 0644},
        {&owner, NOBODY, NOBODY - 1, NOBODY - 1, 0664},
    };
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct yard yard;

    yard_begin(&yard);
    CHECK_EQ(lawn_store_save_file(store, "file"), 0);
    task.store = store;
    for (size_t i = 0; i < COUNT(cases) && geteuid() == 0; i++) {
        CHECK_EQ(chown("file", cases[i].uid, cases[i].gid), 0);
        CHECK_EQ(chmod("file", 0664), 0);
        task.ban = *cases[i].ban;
        task.status.st_uid = geteuid();
        task.status.st_gid = cases[i].new_gid;
        task.status.st_mode = cases[i].new_mode;
        check_child(save_as_another);
    }
    lawn_store_free(store);
    yard_end(&yard, 1);
}

/* Delivers a signal every n milliseconds that interrupts system calls without
 * restarting them. */
static bool
signal_every(long milliseconds, void (*handler)(int number))
{
    struct timespec time = {0, milliseconds * 1000000};
    struct itimerspec period = {time, time};
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    timer_t timer = NULL;
    return sigaction(SIGALRM, &action, NULL) == 0 &&
           timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0 &&
           timer_settime(timer, 0, &period, NULL) == 0;
}

static volatile sig_atomic_t signals;

/* From the third signal on, the error is another one. */
static void
ban_otherwise(int number)
{
    (void)number;
    if (++signals == 3) {
        task.ban.error = EIO;
        (void)ban_calls(&task.ban);
    }
}

static int
save_though_interrupted(void)
{
    if (!ban_calls(&task.ban)) {
        return 0;
    }
    signals = 0;
    if (!signal_every(5, ban_otherwise)) {
        return 1;
    }
    if (lawn_store_save_file(task.store, "file") != -EIO) {
        return 2;
    }
    lawn_store_free(task.store);
    return signals >= 3 && file_is("file", task.old) ? 0 : 3;
}

TEST(a_save_that_is_interrupted_tries_again)
{
    static const struct ban bans[] = {
        {CALLS(write_calls), .error = EINTR, .fd = &temporary_fd},
        {CALLS(fsync_calls), .error = EINTR, .fd = &temporary_fd},
    };
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct tape old = {0};
    struct yard yard;

    yard_begin(&yard);
    find_fds();
    tape_save(&old, store);
    CHECK_EQ(lawn_store_save_file(store, "file"), 0);
    CHECK_EQ(lawn_store_start(store, "new", 3, 5, "", 0, 0), 0);
    task.store = store;
    task.old = &old;
    for (size_t i = 0; i < COUNT(bans); i++) {
        task.ban = bans[i];
        check_child(save_though_interrupted);
        CHECK(file_is("file", &old));
        CHECK_EQ(yard_count(), 1);
    }
    lawn_store_free(store);
    tape_free(&old);
    yard_end(&yard, 1);
}

static struct {
    const struct tape *tape;
    size_t at;
    int fd;
} drip;

/* Writes a part of the tape at each signal, and closes it after the last. */
static void
drip_more(int number)
{
    size_t some = drip.tape->size / 8 + 1;
    int error = errno;

    (void)number;
    if (some > drip.tape->size - drip.at) {
        some = drip.tape->size - drip.at;
    }
    if (some > 0 && write(drip.fd, drip.tape->bytes + drip.at, some) > 0) {
        drip.at += some;
    } else if (drip.fd >= 0) {
        (void)close(drip.fd);
        drip.fd = -1;
    }
    errno = error;
}

static int
load_drops(void)
{
    struct meter meter = {0};
    struct lawn_store *store = meter_store(&meter, 0);

    /* Also for writing, so that open() does not wait for a reader. */
    drip.fd = open("other", O_RDWR);
    if (store == NULL || drip.fd < 0 || !signal_every(5, drip_more)) {
        return 1;
    }
    if (lawn_store_load_file(store, "other") != 0 || drip.fd >= 0) {
        return 2;
    }
    uint64_t count = lawn_store_count(store);
    lawn_store_free(store);
    return count == 10 ? 0 : 3;
}

TEST(a_load_that_is_interrupted_continues)
{
    struct meter meter = {0};
    struct lawn_store *store = store_of(&meter, 10);
    struct tape tape = {0};
    struct yard yard;

    yard_begin(&yard);
    CHECK_EQ(mkfifo("other", 0600), 0);
    tape_save(&tape, store);
    lawn_store_free(store);
    drip.tape = &tape;
    drip.at = 0;
    check_child(load_drops);
    tape_free(&tape);
    yard_end(&yard, 1);
}

static int
load_though_banned(void)
{
    struct lawn_store *store = task.store;
    size_t bytes = lawn_store_bytes(store);

    if (!ban_calls(&task.ban)) {
        return 0;
    }
    if (lawn_store_load_file(store, "file") != task.error) {
        return 1;
    }
    if (lawn_store_count(store) != 0 || lawn_store_bytes(store) != bytes ||
        !lawn_store_check(store, stdout)) {
        return 2;
    }
    lawn_store_free(store);
    return 0;
}

TEST(a_load_that_the_system_refuses_loads_nothing)
{
    /* Fails in the header, and where only the end of the file remains. Selected
     * by size: a descriptor number would be reused when coverage is written. */
    static const struct ban bans[] = {
        {CALLS(read_calls), .error = EIO, .which = 2, .mask = UINT32_MAX,
         .value = 40},
        {CALLS(read_calls), .error = EIO, .which = 2, .mask = UINT32_MAX,
         .value = 1},
    };
    struct meter meter = {0};
    struct lawn_store *from = store_of(&meter, 10);
    struct yard yard;

    yard_begin(&yard);
    find_fds();
    CHECK_EQ(lawn_store_save_file(from, "file"), 0);
    lawn_store_free(from);
    task.store = store_of(&meter, 0);
    /* valgrind itself reads single bytes. */
    for (size_t i = 0; i < (watched() ? 1 : COUNT(bans)); i++) {
        task.ban = bans[i];
        task.error = -EIO;
        check_child(load_though_banned);
    }
    lawn_store_free(task.store);
    yard_end(&yard, 1);
}
#endif
