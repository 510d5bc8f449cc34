/* Weak references, versions of symbols, functions that are chosen, absolute symbols. */
#include "say.h"

int missing(void) __attribute__((weak));
int present(void) __attribute__((weak));
int versioned(void);
int old_versioned(void);
__asm__(".symver old_versioned, versioned@V1");
int chosen(int);
static int own_seven(int x) { return x + 7; }
static void *choose(void) { return (void *)own_seven; }
int own_chosen(int) __attribute__((ifunc("choose")));
int (*pointer)(int) = chosen;
int (*own_pointer)(int) = own_chosen;
static const char *who;

int main(int argc, char **argv) {
    who = argv[1];
    say("%s %s", missing ? "there" : "missing", present ? "there" : "missing");
    say("present %d", present());
    say("versions %d %d", versioned(), old_versioned());
    say("chosen %d %d %d %d", chosen(1), pointer(2), own_chosen(3), own_pointer(4));
    say("memory %s", memchr("abc", 'c', 3) ? "found" : "lost");
    return 0;
}
