extern __thread int general;
int *general_of_user(void) { return &general; }
