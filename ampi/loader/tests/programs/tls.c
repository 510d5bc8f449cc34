/* Thread-locals of each kind. */
#include "say.h"

int *general_address(void);
int *general_of_user(void);
int near_next(void);
int local_next(void);
int described_next(void);
extern __thread int described;
extern __thread int mixed;
int mixed_next(void);
int far_next(void);

static int target = 5;
static __thread int *pointer = &target;
static __thread int number = 40;
static __thread char zeroes[300];
static __thread long aligned __attribute__((aligned(64))) = 9;
static const char *who;

int main(int argc, char **argv) {
    who = argv[1];
    int own = atoi(argv[1]);
    for (int round = 0; round < 4; round++) {
        number += own;
        zeroes[299] += 1;
        *general_of_user() += own;
        *pointer += own;
        described += own;
        mixed += own;
        sched_yield();
        say("%d %d %d %d %ld %d", number, zeroes[299], *general_address(), target, aligned, (int)((long)&aligned % 64));
        say("%d %d %d", near_next(), local_next(), described_next());
        int next = mixed_next();
        say("%d %d", mixed, next);
        say("%d %s", far_next(), general_address() == general_of_user() ? "one" : "two");
    }
    return 0;
}
