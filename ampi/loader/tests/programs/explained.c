/* Something of each kind. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;
extern int explained_variable;
int explained_function(void);
int answer(int x);
int nobody_defines_this(void);
__attribute__((weak)) int nor_this(void);

int main(void) {
    if (fork() == 0) return nobody_defines_this();
    printf("%d %s %s\n", explained_function() + explained_variable, getenv("PATH"), environ[0]);
    return nor_this ? nor_this() : answer(1);
}
