int present(void) { return 4; }
int one(void) { return 1; }
int two(void) { return 2; }
__asm__(".symver one, versioned@V1");
__asm__(".symver two, versioned@@V2");
static int plus(int x) { return x + 100; }
static void *choose(void) { return (void *)plus; }
int chosen(int) __attribute__((ifunc("choose")));
