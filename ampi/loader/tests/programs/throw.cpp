// Exceptions thrown in a library and caught in the program, and the other way round.
#include <iostream>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <vector>

void throw_it(int what);
int call_and_catch(void (*function)());

static std::string who;
struct Noisy {
    int number;
    ~Noisy() { std::cout << who << ": gone " << number << "\n"; }
};
static void throws() { throw std::out_of_range("from the program"); }
static std::vector<int> global{1, 2, 3};

int main(int, char **argv) {
    who = argv[1];
    for (int round = 0; round < 3; round++) {
        try {
            Noisy noisy{round};
            sched_yield();
            throw_it(round);
        } catch (const std::runtime_error &error) {
            std::cout << who << ": caught " << error.what() << "\n";
        } catch (int number) {
            sched_yield();
            std::cout << who << ": caught the number " << number << "\n";
        } catch (...) {
            std::cout << who << ": caught something\n";
        }
        int returned = call_and_catch(throws);
        std::cout << who << ": returned " << returned << "\n";
    }
    std::cout << who << ": " << global.size() << " elements" << std::endl;
    return 0;
}
