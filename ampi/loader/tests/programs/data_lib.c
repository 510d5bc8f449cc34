static const char hello[] = "hello";
int lib_counter = 100;
const char *lib_names[3] = {hello, "world", hello + 2};
static int half(int x) { return x / 2; }
int (*lib_function)(int) = half;
int lib_count(void) { return ++lib_counter; }
int shared_name(void) { return 2; }
int ask_shared_name(void) { return shared_name(); }
