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
    char *own = mmap(NULL, 20000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int zero = own[19999];
    strcpy(own, "mapped");
    sched_yield();
    own = mremap(own, 20000, 50000, MREMAP_MAYMOVE);
    sched_yield();
    own[49999] = 1;
    say("%s %d %d", own, zero, own[49998]);
    len = mprotect(own + 4096, 4096, PROT_NONE);
    sched_yield();
    len += munmap(own + 4096, 46000 - 4096);
    sched_yield();
    say("%s %d", own, len);
    say("unmapped %d", munmap(own, 4096) + munmap(own + 49152, 4096));
    void *mapped = mmap(NULL, 10, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sched_yield();
    len = mapped != MAP_FAILED;
    say("%d %d", len, munmap(mapped, 10));
    closefrom(3);
    sched_yield();
    say("closed %d", close(file));
    return 0;
}
