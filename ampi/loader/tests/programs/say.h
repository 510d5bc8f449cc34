/* Each line begins with the first argument, so that the lines of several ranks can be told apart. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that is printed is computed before: others may run meanwhile. */
#define say(...) do { \
    char say_text[4096]; \
    snprintf(say_text, sizeof say_text, __VA_ARGS__); \
    printf("%s: %s\n", who, say_text); \
} while (0)
