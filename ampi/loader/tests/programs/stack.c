/* Where the stack is, by all ways to ask for it. */
#define _GNU_SOURCE
#include "say.h"
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>

extern void *__libc_stack_end;

static int is_near(uintptr_t low, uintptr_t at, uintptr_t high) { return low < at && at < high; }

int main(int argc, char **argv) {
    const char *who = argv[1];
    uintptr_t here = (uintptr_t)&who, end = (uintptr_t)__libc_stack_end;
    say("the end is above %d, and near %d", here < end, end - here < 100000);
    pthread_attr_t attributes;
    void *low = 0;
    size_t len = 0;
    say("attributes %d", pthread_getattr_np(pthread_self(), &attributes));
    pthread_attr_getstack(&attributes, &low, &len);
    pthread_attr_destroy(&attributes);
    say("it is in there %d, and its end %d", is_near((uintptr_t)low, here, (uintptr_t)low + len),
        is_near((uintptr_t)low, end, (uintptr_t)low + len));
    struct rlimit limit;
    say("limit %d, not below %d", getrlimit(RLIMIT_STACK, &limit), limit.rlim_cur >= len / 2);
    say("other limit %d %d", getrlimit(RLIMIT_NOFILE, &limit), limit.rlim_cur > 0);
    return 0;
}
