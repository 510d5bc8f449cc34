/* Each line begins with the first argument, so that the lines of several ranks can be told apart. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define say(...) (printf("%s: ", who), printf(__VA_ARGS__), printf("\n"))
