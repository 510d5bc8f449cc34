__thread int general = 17;
__thread char room[700];
int *general_address(void) { room[699]++; return &general; }
