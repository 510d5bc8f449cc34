/* Who has called whom, also through a library, as a program prints it when something is wrong. */
#include "say.h"
#include <execinfo.h>

static const char *who;

static int names(const void *one, const void *other) {
    static int done;
    if (done++) return 0;
    void *places[30];
    int count = backtrace(places, 30);
    char **texts = backtrace_symbols(places, count);
    say("more than %d", count > 4);
    for (int i = 0; i < count; i++) {
        char *name = strchr(texts[i], '('), *end = name ? strchr(name, '+') : NULL;
        if (!end) continue;
        *end = 0;
        int is_own = !strncmp(name + 1, "inner", 5) || !strncmp(name + 1, "outer", 5) || !strcmp(name + 1, "main");
        if (is_own) say("%s", name + 1);
        if (!strcmp(name + 1, "main")) break;
    }
    free(texts);
    say("no more than there is room for: %d", backtrace(places, 2));
    return *(int *)one - *(int *)other;
}

__attribute__((noinline)) int inner_function(int depth) {
    int values[] = {2, 1};
    if (depth > 0) return inner_function(depth - 1) + 1;
    qsort(values, 2, sizeof values[0], names);
    return values[0];
}

__attribute__((noinline)) int outer_function(void) { return inner_function(2) + 1; }

int main(int argc, char **argv) {
    who = argv[1];
    say("%d", outer_function());
    return 0;
}
