/* jobs.c - periodic jobs until a signal; one takes longer than its period.
 *
 *     jobs [wait]
 *
 * The mode of a job determines how it handles missed periods: it skips them, or
 * it runs once for each of them, or it has no fixed periods and pauses after
 * each run. The signal is received through a descriptor. The program sends the
 * signal to itself after 20 runs of the second job, unless the argument is
 * "wait".
 */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier) */
#include <lawn_loop.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define PERIOD (10 * LAWN_LOOP_MS)

struct job {
    struct lawn_loop_timer timer;
    enum lawn_loop_mode mode;
    long work_ms;
    unsigned long runs, missed, limit;
    uint64_t first, ended;
    bool wrong;
};

static void
run_job(struct lawn_loop_timer *timer, struct lawn_loop *loop)
{
    struct job *job = timer->arg;
    struct timespec work = {0, job->work_ms * 1000000};
    uint64_t began = lawn_loop_update(loop);

    job->missed += timer->missed;
    if (job->mode == LAWN_LOOP_DELAY) {
        job->wrong |= began - job->ended < PERIOD;
    } else { /* due is exactly that of this period */
        job->wrong |=
            timer->due != job->first + (job->runs + job->missed) * PERIOD;
    }
    (void)nanosleep(&work, NULL);
    if (++job->runs == job->limit) {
        (void)raise(SIGTERM);
    }
    job->ended = lawn_loop_update(loop);
}

static void
on_signal(struct lawn_loop_watcher *watch, unsigned ready,
          struct lawn_loop *loop)
{
    (void)ready;
    struct signalfd_siginfo info;
    if (read(watch->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        *(int *)watch->arg = (int)info.ssi_signo;
        lawn_loop_quit(loop);
    }
}

static void
start(struct lawn_loop *loop, struct job *job)
{
    job->timer = (struct lawn_loop_timer){.fire = run_job, .arg = job};
    job->ended = lawn_loop_update(loop);
    job->first = job->ended + PERIOD;
    lawn_loop_every_at(loop, &job->timer, job->first, PERIOD, job->mode);
}

int
main(int argc, char **argv)
{
    struct job skip = {.mode = LAWN_LOOP_SKIP, .work_ms = 25};
    struct job each = {.mode = LAWN_LOOP_CATCH_UP, .limit = argc > 1 ? 0 : 20};
    struct job rest = {.mode = LAWN_LOOP_DELAY, .work_ms = 1};
    int which = 0;
    struct lawn_loop_watcher ends = {.ready = on_signal, .arg = &which};
    struct lawn_loop *loop = lawn_loop_new(NULL);

    if (argc > 2 || (argc > 1 && strcmp(argv[1], "wait") != 0)) {
        (void)fprintf(stderr, "usage: jobs [wait]\n");
        lawn_loop_free(loop);
        return 2;
    }
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    /* Block the signals; otherwise they would end the program before they are
     * read. */
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    int fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0 || loop == NULL ||
        (errno = -lawn_loop_watch(loop, &ends, fd, LAWN_LOOP_READ)) != 0) {
        perror("jobs");
        return 1;
    }
    start(loop, &skip);
    start(loop, &each);
    start(loop, &rest);
    printf("jobs are running\n");
    (void)fflush(stdout);
    errno = -lawn_loop_run(loop);
    if (errno != 0) {
        perror("lawn_loop_run");
        return 1;
    }
    printf("one job skips: %s, %s\n", skip.wrong ? "off the beat" : "in step",
           skip.missed > 0 ? "but not for every period" : "for every period");
    printf("one catches up: %s, for every period\n",
           each.wrong || each.missed > 0 ? "off the beat" : "in step");
    printf("one rests: %s\n", rest.wrong ? "not always" : "after each run");
    printf("it was %s\n", which == SIGTERM ? "SIGTERM" : "SIGINT");
    lawn_loop_free(loop);
    (void)close(fd);
    return 0;
}

/* prints:
 * jobs are running
 * one job skips: in step, but not for every period
 * one catches up: in step, for every period
 * one rests: after each run
 * it was SIGTERM
 */
