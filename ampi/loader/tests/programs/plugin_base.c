int base_variable = 7;
static int calls;
static __thread int of_thread = 3;
int base_count(void) { return base_variable + ++calls + of_thread++; }
