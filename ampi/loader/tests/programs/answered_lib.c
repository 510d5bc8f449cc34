int answer(int x) { return -x; }
int answer_variable = -1;
