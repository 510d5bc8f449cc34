__thread int described = 70;
static __thread int inner = 7;
int described_next(void) { inner++; return described + inner; }
