#include <stdlib.h>
int explained_variable = 1;
int answer(int x);
int explained_function(void) { return atexit(NULL) + answer(2) + abs(explained_variable); }
#ifdef ALL
int nobody_defines_this(void) { return 0; }
#endif
