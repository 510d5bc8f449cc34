/* Which of several libraries of the same name is found. */
#include "say.h"
int found(void);
int needed(void);
int main(int argc, char **argv) {
    const char *who = argv[1];
    say("%d %d", found(), needed());
    return 0;
}
