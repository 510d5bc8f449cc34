/* Ranks that start other programs, which have the folder, mask, variables and descriptors of their rank, and wait for them. */
#define _GNU_SOURCE
#include "report.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* A line comes out whole, as those of children do. */
static void say(const char *format, ...) {
    static char line[4096];
    static size_t len;
    va_list list;
    va_start(list, format);
    len += (size_t)vsnprintf(line + len, sizeof line - len, format, list);
    va_end(list);
    if (len == 0 || line[len - 1] != '\n') return;
    check(write(1, line, len) == (ssize_t)len, "write");
    len = 0;
}

static char *shell[] = {"sh", "-c", NULL, NULL};

/* What comes out of a pipe until its end, spaces in place of ends of lines; both ends are closed. */
static const char *all_of(int ends[2]) {
    static char text[4096];
    ssize_t len = 0, got;
    close(ends[1]);
    while ((got = read(ends[0], text + len, sizeof text - 1 - (size_t)len)) > 0) len += got;
    close(ends[0]);
    text[len] = 0;
    for (char *at = text; (at = strchr(at, '\n'));) *at = ' ';
    return text;
}

static pid_t spawned(const char *script, int out) {
    pid_t child = -1;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    if (out >= 0) posix_spawn_file_actions_adddup2(&files, out, 1);
    shell[2] = (char *)script;
    check(!posix_spawn(&child, "/bin/sh", &files, NULL, shell, environ), "posix_spawn");
    posix_spawn_file_actions_destroy(&files);
    return child;
}

/* A function that has called `vfork` is not to return in the child. */
static pid_t forked(const char *file, const char *script, int out) {
    pid_t child = vfork();
    if (child == 0) {
        if (out >= 0) dup2(out, 1);
        execlp(file, "sh", "-c", script, (char *)NULL);
        _exit(errno == ENOENT ? 127 : 126);
    }
    check(child > 0, "vfork");
    return child;
}

static const char *ended(pid_t child) {
    static char text[64];
    int status = 0;
    if (waitpid(child, &status, 0) != child) snprintf(text, sizeof text, "lost %d", errno == ECHILD);
    else if (WIFEXITED(status)) snprintf(text, sizeof text, "status %d", WEXITSTATUS(status));
    else snprintf(text, sizeof text, "signal %d", WTERMSIG(status));
    return text;
}

/* Each in a folder of its own. */
static void in_own_surroundings(void) {
    const char *script = "basename $PWD; umask; echo $NAMED";
    int ends[2];
    check(!pipe(ends), "pipe");
    pid_t child = spawned(script, ends[1]);
    say("rank %d: spawned in %s", rank, all_of(ends));
    say("%s\n", ended(child));
    check(!pipe2(ends, O_CLOEXEC), "pipe2");
    child = forked("sh", script, ends[1]);
    say("rank %d: forked in %s", rank, all_of(ends));
    say("%s\n", ended(child));
    char line[256];
    FILE *out = popen("basename $PWD", "r");
    check(out && fgets(line, sizeof line, out), "popen");
    line[strcspn(line, "\n")] = 0;
    say("rank %d: opened in %s, status %d, ", rank, line, WEXITSTATUS(pclose(out)));
    say("system %d\n", WEXITSTATUS(system("exit $((40 + ${NAMED#name}))")));
}

static void ends_are_told(void) {
    say("rank %d: ends with %s, ", rank, ended(forked("sh", "exit 7", -1)));
    say("%s, ", ended(forked("sh", "kill -KILL $$", -1)));
    say("%s, ", ended(forked("sh", "kill -PIPE $$", -1)));
    say("%s, ", ended(spawned("kill -PIPE $$", -1)));
    say("%s, ", ended(forked("/no/such/program", "", -1)));
    pid_t child = spawned("exec sleep 1000", -1);
    say("early %d, ", waitpid(child, NULL, WNOHANG));
    kill(child, SIGTERM);
    say("%s, ", ended(child));
    say("%s\n", ended(child));
}

/* What cannot be done is told as an error. */
static void misuse(void) {
    pid_t child = 0;
    int none = !posix_spawn(&child, "/no/such/program", NULL, NULL, shell, environ);
    none += !posix_spawnp(&child, "", NULL, NULL, shell, environ) + !posix_spawn(&child, "/tmp", NULL, NULL, shell, environ);
    say("rank %d: started %d, nobody %d %d, ", rank, none, wait(NULL) < 0 && errno == ECHILD, waitpid(1, NULL, 0) < 0 && errno == ECHILD);
    say("options %d ", waitpid(-1, NULL, 1 << 20) < 0 && errno == EINVAL);
    say("%d, ", waitid(P_ALL, 0, NULL, 0) < 0 && errno == EINVAL);
    say("shell %d %d %d\n", !!system(NULL), WEXITSTATUS(system("no-such-command 2>/dev/null")), popen("true", "q") == NULL);
}

/* Nobody is told of another rank's. */
static void any_is_an_own_one(void) {
    pid_t first = spawned("exit 1", -1), second = forked("sh", "exit 2", -1), got;
    int seen = 0, status;
    siginfo_t told = {0};
    check(!waitid(P_PID, (id_t)first, &told, WEXITED | WNOWAIT), "waitid");
    say("rank %d: waited for %d: %d of %d, ", rank, told.si_pid == first, told.si_status, told.si_code == CLD_EXITED);
    while ((got = wait(&status)) > 0) {
        seen += got == first && WEXITSTATUS(status) == 1;
        seen += got == second && WEXITSTATUS(status) == 2;
    }
    say("%d, then nobody %d\n", seen, errno == ECHILD);
}

/* Its rank may be in another process by then. */
static void an_end_is_told_later(void) {
    pid_t child = spawned("exit 5", -1);
    siginfo_t told;
    check(!waitid(P_PID, (id_t)child, &told, WEXITED | WNOWAIT), "waitid");
    for (int nth = 0; nth < 20; nth++) MPI_Barrier(MPI_COMM_WORLD);
    say("rank %d: later %s, ", rank, ended(child));
    say("%s\n", ended(child));
}

/* One that waits until the next rank has made a file. */
static void others_run_meanwhile(void) {
    char script[128], file[64];
    snprintf(file, sizeof file, "../made-by-%d", rank);
    unlink(file);
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(script, sizeof script, "while [ ! -e ../made-by-%d ]; do sleep 0.01; done", after(1));
    pid_t child = spawned(script, -1);
    if (rank == 0) close(open(file, O_CREAT | O_WRONLY, 0600));
    say("rank %d: met %s\n", rank, ended(child));
    if (rank > 0) close(open(file, O_CREAT | O_WRONLY, 0600));
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(file);
}

/* What its rank ignores or has blocked, and nothing of others. */
static void signals_are_the_ranks(void) {
    int ends[2];
    sigset_t set, former;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    check(!pipe2(ends, O_CLOEXEC), "pipe2");
    if (rank % 2) signal(SIGUSR1, SIG_IGN);
    if (rank % 2) sigprocmask(SIG_BLOCK, &set, &former);
    pid_t child = vfork();
    if (child == 0) {
        dup2(ends[1], 1);
        execlp("grep", "grep", "-E", "Sig(Blk|Ign)", "/proc/self/status", NULL);
        _exit(127);
    }
    unsigned long blocked = 0, ignored = 0;
    check(sscanf(all_of(ends), "SigBlk: %lx SigIgn: %lx", &blocked, &ignored) == 2, "grep");
    say("rank %d: blocked %lx, ignored USR1 %lu, PIPE %lu, ", rank, blocked, ignored >> (SIGUSR1 - 1) & 1, ignored >> (SIGPIPE - 1) & 1);
    say("%s\n", ended(child));
    signal(SIGUSR1, SIG_DFL);
    if (rank % 2) sigprocmask(SIG_SETMASK, &former, NULL);
}

/* Their output is the rank's. */
static void they_say(void) {
    char script[64];
    snprintf(script, sizeof script, "echo rank %d: said by a child", rank);
    check(!strcmp(ended(forked("sh", script, -1)), "status 0"), "echo");
}

/* Arguments: rounds, and a folder in which each rank makes its own. */
int main(int argc, char **argv) {
    char name[64];
    begin(&argc, &argv);
    check(argc > 2 && !chdir(argv[2]), "the folder of all ranks");
    snprintf(name, sizeof name, "starts-of-%d", rank);
    mkdir(name, 0700);
    check(!chdir(name), "chdir");
    umask(rank % 2 ? 077 : 027);
    snprintf(name, sizeof name, "name%d", rank);
    setenv("NAMED", name, 1);
    for (int round = 0; round < rounds; round++) {
        in_own_surroundings();
        ends_are_told();
        misuse();
        any_is_an_own_one();
        an_end_is_told_later();
        signals_are_the_ranks();
        others_run_meanwhile();
        they_say();
    }
    MPI_Finalize();
}
