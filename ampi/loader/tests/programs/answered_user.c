int own_definition(void);
int own_first(void) { return own_definition(); }
