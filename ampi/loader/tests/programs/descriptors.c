/* Descriptors that are open while the rank moves. */
#define _GNU_SOURCE
#include "say.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *who;
static char path[4096];

static void show(const char *name, int descriptor) {
    char text[128];
    int len = pread(descriptor, text, sizeof text - 1, 0);
    text[len < 0 ? 0 : len] = 0;
    struct stat meta;
    fstat(descriptor, &meta);
    say("%s: %s, %ld bytes, at %ld", name, text, (long)meta.st_size, (long)lseek(descriptor, 0, SEEK_CUR));
}

static void write_and_share(int file) {
    int written = 0;
    for (int i = 0; i < 3; i++) {
        written += write(file, "part ", 5);
        sched_yield();
    }
    show("written", file);
    int other = dup(file), third = fcntl(file, F_DUPFD_CLOEXEC, 0);
    say("numbers follow %d %d", other - file, third - file);
    sched_yield();
    lseek(file, 5, SEEK_SET);
    say("one position %ld %ld", (long)lseek(other, 0, SEEK_CUR), (long)lseek(third, 0, SEEK_CUR));
    sched_yield();
    write(third, "PART ", 5);
    sched_yield();
    show("shared", other);
    say("on exec %d %d %d", fcntl(file, F_GETFD), fcntl(other, F_GETFD), fcntl(third, F_GETFD));
    int same = dup2(file, other);
    say("onto it %d, onto itself %d", same == other, dup2(file, file) == file);
    int closed = close(other), again = close(other);
    int error = errno;
    say("closed %d %d %d", closed, again, error == EBADF);
    int lowest = dup(file);
    say("lowest first %d", lowest == other);
    close(lowest);
    close(third);
}

static void own_positions(int file) {
    int other = open(path, O_RDONLY), added = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    sched_yield();
    char text[8] = "";
    int len = read(other, text, 4);
    sched_yield();
    len += write(added, "end", 3);
    sched_yield();
    say("own positions %d %s %ld", len, text, (long)lseek(other, 0, SEEK_CUR));
    say("flags %d %d", fcntl(other, F_GETFL) & O_ACCMODE, !!(fcntl(added, F_GETFL) & O_APPEND));
    int refused = write(other, "x", 1);
    int error = errno;
    say("read only %d %d", refused, error == EBADF);
    int moved = dup3(other, added, O_CLOEXEC);
    sched_yield();
    say("moved %d %d %ld", moved == added, fcntl(added, F_GETFD), (long)lseek(added, 0, SEEK_CUR));
    close(other);
    close(added);
    show("added to", file);
}

static void masks(const char *folder) {
    struct stat meta;
    mode_t own = 022 | (atoi(who) + 1), first = umask(own);
    sched_yield();
    snprintf(path, sizeof path, "%s/mask_%s", folder, who);
    int made = open(path, O_CREAT | O_EXCL | O_WRONLY, 0777);
    sched_yield();
    fstat(made, &meta);
    say("mask %o, mode %o", umask(first), meta.st_mode & 0777);
    say("back %o", umask(first) == first);
    say("once %d", open(path, O_CREAT | O_EXCL | O_WRONLY, 0777));
    close(made);
    unlink(path);
}

static void others(const char *folder) {
    snprintf(path, sizeof path, "%s/temporary_%s_XXXXXX", folder, who);
    int file = mkstemp(path);
    sched_yield();
    say("temporary %d", (int)write(file, "four", 4));
    int at = open(folder, O_RDONLY | O_DIRECTORY);
    sched_yield();
    int beside = openat(at, strrchr(path, '/') + 1, O_RDONLY);
    show("beside", beside);
    int as_path = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), error_of_read = 0;
    sched_yield();
    struct stat meta;
    char byte;
    if (read(as_path, &byte, 1) < 0) error_of_read = errno;
    say("by a path %d %d", fstatat(as_path, strrchr(path, '/') + 1, &meta, 0), error_of_read == EBADF);
    close(as_path);
    say("removed %d", unlinkat(at, strrchr(path, '/') + 1, 0));
    int closed = close(at) + close(beside) + close(file);
    say("closed %d", closed);
    int many[100], count = 0;
    while (count < 40 && (many[count] = open("/dev/null", O_RDWR)) >= 0) count++;
    sched_yield();
    int good = 0;
    for (int i = 0; i < count; i++) good += write(many[i], "x", 1) == 1 && !close(many[i]);
    say("many %d %d", count, good);
    int out = dup(1);
    sched_yield();
    fflush(stdout);
    dprintf(out, "%s: to the output\n", who);
    close(out);
}

int main(int argc, char **argv) {
    who = argv[1];
    setvbuf(stdout, NULL, _IOLBF, 4096);
    snprintf(path, sizeof path, "%s/cut_%s", argv[2], who);
    int file = open(path, O_CREAT | O_EXCL | O_TRUNC | O_RDWR, 0644);
    write_and_share(file);
    own_positions(file);
    close(file);
    unlink(path);
    masks(argv[2]);
    others(argv[2]);
    return 0;
}
