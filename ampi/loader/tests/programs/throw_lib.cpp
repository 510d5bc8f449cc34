#include <sched.h>
#include <stdexcept>
#include <string>

void throw_it(int what) {
    std::string text = "text " + std::to_string(what);
    if (what == 0) throw std::runtime_error(text);
    if (what == 1) throw 42;
    throw text;
}

int call_and_catch(void (*function)()) {
    try {
        function();
    } catch (const std::logic_error &error) {
        sched_yield();
        return (int)std::string(error.what()).size();
    }
    return 0;
}
