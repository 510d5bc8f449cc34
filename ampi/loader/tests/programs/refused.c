/* What a rank cannot do is refused with an error. */
#include "say.h"
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *who = argv[1];
    errno = 0;
    int child = fork();
    if (child == 0) _exit(0);
    say("fork %d %d", child, errno == ENOSYS);
    char *words[] = {"true", NULL};
    errno = 0;
    int one = execv("/bin/true", words);
    say("exec %d %d", one, errno == ENOSYS);
    one = execl("/bin/true", "true", NULL);
    say("exec %d %d", one, execvp("true", words));
    say("at fork %d", pthread_atfork(NULL, NULL, NULL));
    abort();
}
