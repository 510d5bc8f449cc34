/* A library that is loaded later, with one that it needs. */
#include <math.h>
#include <stdio.h>
#include <stdexcept>
#include <string>

extern "C" {
int program_count(int more);
int base_count(void);
const char *program_name(void);
extern int base_variable;
__attribute__((weak)) int first(int x);
__attribute__((weak)) int second(int x);
/* Which plugins it may use. */
int seen(void) { return (first != NULL) + 2 * (second != NULL); }
}

static int counted;
static int *pointer = &base_variable;
thread_local int own_of_thread = NUMBER;

namespace {
struct Begun {
    Begun() { counted = program_count(NUMBER); }
    ~Begun() { printf("%s: plugin %d ends\n", program_name(), NUMBER); }
} begun;
}

extern "C" int FUNCTION(int x) {
    (*pointer)++;
    own_of_thread += x;
    return counted + base_count() * 1000 + own_of_thread * 10 + (int)lrint(cos(0.0));
}

extern "C" void throw_it(const char *text) { throw std::runtime_error(std::string(text) + " thrown"); }
