__thread int far_visible = 500;
static __thread int far_hidden = 50;
int far_next(void) { far_hidden++; return ++far_visible + far_hidden; }
