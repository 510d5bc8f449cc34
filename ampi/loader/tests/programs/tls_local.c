static int elsewhere = 3;
static __thread int first = 1;
static __thread int second = 2;
static __thread int *third = &elsewhere;
int local_next(void) { first += second; second += 1; *third += 1; return first + *third; }
