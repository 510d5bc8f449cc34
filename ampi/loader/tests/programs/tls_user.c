extern __thread int general;
int *general_of_user(void) { return &general; }

/* The program reaches it from the thread pointer, the library by asking for its address. */
__thread int mixed = 33;
int mixed_next(void) { return ++mixed; }
