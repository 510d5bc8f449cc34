/* Data that has to be relocated, in the program and in a library; copies of variables; zeroes. */
#include "say.h"
#include <unistd.h>

extern int lib_counter;
extern const char *lib_names[3];
extern int (*lib_function)(int);
int lib_count(void);
extern char **environ;

static const char *who;
static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
static int zeroes[5000];
static int numbers[4] = {1, 2, 3, 4};
static int *third = &numbers[2];
static int *beyond = numbers + 4;
static struct { const char *name; int (*call)(int); int **where; } table[] = {
    {"twice", twice, &third}, {"thrice", thrice, &beyond}};
int shared_name(void) { return 1; }
int ask_shared_name(void);

int main(int argc, char **argv) {
    who = argv[1];
    for (int i = 0; i < 2; i++) say("%s %d %d", table[i].name, table[i].call(7), (int)(*table[i].where - numbers));
    int sum = 0;
    for (int i = 0; i < 5000; i++) sum += zeroes[i];
    zeroes[4999] = 5;
    say("zeroes %d", sum);
    for (int round = 0; round < 3; round++) {
        lib_counter += 10;
        sched_yield();
        say("counter %d %d", lib_counter, lib_count());
    }
    for (int i = 0; i < 3; i++) say("name %s", lib_names[i]);
    say("function %d", lib_function(20));
    say("the program's definition is used: %d", ask_shared_name());
    say("environment %s, %s", environ[0] ? "some" : "none", getenv("LOADER_TEST"));
    fprintf(stdout, "%s: stdout is %s\n", who, fileno(stdout) == 1 ? "1" : "another");
    say("%d arguments, zeroes %d", argc, zeroes[4999]);
    return 3;
}
