#ifdef NEEDS
int found(void);
int needed(void) { return found(); }
#else
int found(void) { return FOUND; }
#endif
