#ifdef MORE
static __thread volatile char more[MORE];
#else
static __thread volatile char more[1];
#endif
static __thread int near = 1000;
static __thread int zero;
int near_next(void) { zero++; return ++near + zero + more[0]; }
