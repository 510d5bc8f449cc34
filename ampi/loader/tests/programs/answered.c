/* Functions and variables of a library that the process answers for. */
#define _GNU_SOURCE
#include "say.h"
#include <dlfcn.h>

int answer(int);
extern int answer_variable;
int own_first(void);
int own_definition(void) { return 1; }
int (*pointer)(int) = answer;

int main(int argc, char **argv) {
    const char *who = argv[1];
    say("%d %d %d", answer(1), pointer(2), answer_variable);
    say("by name %d", dlsym(RTLD_DEFAULT, "answer") == (void *)pointer);
    answer_variable += atoi(who);
    sched_yield();
    say("%d %d", answer_variable, own_first());
    return 0;
}
