/* Constructors and destructors of a chain of libraries, and functions for exit. */
#include "say.h"

int first_level(void);
static const char *who = "main";
static void late(void) { puts("at exit"); }
static void later(int status, void *text) { printf("on exit %d %s\n", status, (char *)text); }
__attribute__((constructor)) static void begin(int argc, char **argv, char **envp) {
    printf("begin main, %d arguments, %s\n", argc, envp && argv[0] ? "all given" : "not given");
}
__attribute__((destructor)) static void end(void) { puts("end main"); }
static void before(void) { puts("before all"); }
__attribute__((section(".preinit_array"), used)) static void (*preinit)(void) = before;

int main(void) {
    atexit(late);
    on_exit(later, "text");
    say("levels %d", first_level());
    exit(7);
}
