/* One library of the chain: LEVEL is its number, NEXT the function of the next one. */
#include <stdio.h>
#define NAME2(level) level_##level
#define NAME(level) NAME2(level)
#ifdef NEXT
int NEXT(void);
#endif
__attribute__((constructor(200))) static void begin_late(void) { printf("begin late %d\n", LEVEL); }
__attribute__((constructor(101))) static void begin(void) { printf("begin %d\n", LEVEL); }
__attribute__((destructor)) static void end(void) { printf("end %d\n", LEVEL); }
__attribute__((destructor(101))) static void end_last(void) { printf("end last %d\n", LEVEL); }
int OWN(void) {
#ifdef NEXT
    return 1 + NEXT();
#else
    return 1;
#endif
}
