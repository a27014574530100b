/* program.c - verbs that are separate programs.
 *
 * "lawn bench" runs lawn-bench, which is an optional package. It is searched
 * for in the directory of this program, so that a build or an installation
 * finds its own copy, and then in PATH. It replaces this process.
 */
#include "program.h"
#include "output.h"
#include "verbs.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM_PATH 4096u /* bytes of a path; the limit of Linux */

/* Writes the path of a program in the directory of this one. Returns false if
 * the directory is unknown. */
static bool
find_neighbor(const char *name, char path[PROGRAM_PATH])
{
    ssize_t length = readlink("/proc/self/exe", path, PROGRAM_PATH - 1);
    if (length <= 0 || length == PROGRAM_PATH - 1) {
        return false;
    }
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return false;
    }
    size_t room = PROGRAM_PATH - (size_t)(slash + 1 - path);
    if (strlen(name) >= room) {
        return false;
    }
    memcpy(slash + 1, name, strlen(name) + 1);
    return true;
}

/* Prints why the program cannot be run. Returns the exit code. */
static int
fail(const struct options_verb *verb, const char *path, int error)
{
    if (error == ENOENT) {
        fprintf(stderr,
                "lawn %s: %s is not installed; install the package %s or run "
                "make\n",
                verb->name, verb->program, verb->program);
        return VERBS_NOT_FOUND;
    }
    fprintf(stderr, "lawn %s: cannot run %s: %s\n", verb->name, path,
            strerror(error));
    return VERBS_FAILED;
}

int
program_run(const struct options_verb *verb, int argc, char **argv)
{
    (void)argc;
    (void)output_flush();
    signal(SIGPIPE, SIG_DFL); /* output_open() ignores it */
    int error = ENOENT;
    char path[PROGRAM_PATH];
    if (find_neighbor(verb->program, path)) {
        argv[0] = path;
        execv(path, argv);
        error = errno;
    }
    /* As in PATH: a directory with that name, or a file without permission,
     * does not end the search. */
    if (error != ENOENT && error != EACCES && error != ENOTDIR) {
        return fail(verb, path, error);
    }
    char name[PROGRAM_PATH];
    snprintf(name, sizeof(name), "%s", verb->program);
    argv[0] = name;
    execvp(name, argv);
    if (errno == ENOENT && error != ENOENT) {
        return fail(verb, path, error);
    }
    return fail(verb, name, errno);
}
