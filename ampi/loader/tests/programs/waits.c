#define _GNU_SOURCE
/* Ranks that wait for a file of the last one by nothing but looking for it, or by a pause of an old kind. */
#include "say.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *who = argv[1];
    char path[4096];
    struct stat meta;
    snprintf(path, sizeof path, "%s/waited_for", argv[2]);
    for (int tries = 0; tries < 1000; tries++) {
        if (*who == '0' && stat(path, &meta) == 0) {
            say("seen by stat");
            return 0;
        }
        if (*who == '1' && open(path, O_RDONLY) >= 0) {
            say("seen by open");
            return 0;
        }
        if (*who == '2') {
            struct timeval time = {0, 1};
            if (select(0, NULL, NULL, NULL, &time) == 0 && syscall(SYS_access, path, F_OK) == 0) {
                say("seen after select");
                return 0;
            }
        }
        if (*who == '3' && poll(NULL, 0, 1) == 0 && syscall(SYS_access, path, F_OK) == 0) {
            say("seen after poll");
            return 0;
        }
        if (*who == '4') {
            close(creat(path, 0644));
            say("made");
            return 0;
        }
    }
    say("never seen");
    return 0;
}
