#define _GNU_SOURCE
/* Open things that hold a rank where it is. */
#include "say.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *who = argv[1];
    char text[8] = "", path[4096];
    int ends[2], made = pipe(ends);
    int len = write(ends[1], "pipe", 4);
    sched_yield();
    len += read(ends[0], text, 4);
    say("%d %d %s", made, len, text);
    close(ends[0]);
    close(ends[1]);
    sched_yield();
    made = socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    len = write(ends[1], "pair", 4);
    sched_yield();
    len += read(ends[0], text, 4);
    say("%d %d %s", made, len, text);
    close(ends[0]);
    close(ends[1]);
    sched_yield();
    snprintf(path, sizeof path, "%s/held_%s", argv[2], who);
    int file = open(path, O_CREAT | O_RDWR, 0644);
    sched_yield();
    unlink(path);
    len = write(file, "file", 4);
    sched_yield();
    len += pread(file, text, 4, 0);
    say("%d %s", len, text);
    close(file);
    void *mapped = mmap(NULL, 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sched_yield();
    len = mapped != MAP_FAILED;
    say("%d %d", len, munmap(mapped, 10));
    closefrom(3);
    sched_yield();
    say("closed %d", close(file));
    return 0;
}
