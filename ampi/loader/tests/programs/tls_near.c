static __thread int near = 1000;
static __thread int zero;
int near_next(void) { zero++; return ++near + zero; }
