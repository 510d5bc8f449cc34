// Exceptions that are thrown and caught on both sides of a wait, and objects that are destroyed at the end.
#include <mpi.h>

#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

static std::map<std::string, int> made_first{{"a", 1}, {"b", 2}};

struct Last {
    ~Last() { std::cout << "destroyed" << std::endl; }
};
static Last last;

static int descend(int depth, int rank) {
    std::vector<int> held(depth + 1, rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (depth == 0) throw std::runtime_error("from rank " + std::to_string(rank));
    return descend(depth - 1, rank) + held[0];
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    made_first["rank"] = rank;
    int rounds = argc > 1 ? std::stoi(argv[1]) : 3;
    for (int round = 0; round < rounds; round++) {
        try {
            descend(5, rank);
        } catch (const std::runtime_error &error) {
            MPI_Barrier(MPI_COMM_WORLD);
            std::cout << error.what() << ", round " << round << ", " << made_first.size() << std::endl;
        }
    }
    MPI_Finalize();
}
