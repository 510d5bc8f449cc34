/* Functions of a library and of the C library; what comes before both (LD_PRELOAD) calls them. */
#define _GNU_SOURCE
#include "say.h"
#include <stdlib.h>
int found(void);
int main(int argc, char **argv) {
    const char *who = argv[1];
    say("%d %ld", found(), a64l(who));
    return 0;
}
