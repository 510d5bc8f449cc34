// C++: containers, virtual functions, exceptions that are thrown and caught around calls that wait, thread-locals with
// constructors.
#include <map>
#include <memory>
#include <mpi.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>
#include <iostream>

static int rank, size;

struct Tally {
    long sum = 0;
    std::map<std::string, long> by_name;
    void add(const std::string &name, long value) {
        sum += value;
        by_name[name] += value;
    }
    ~Tally() { std::ostringstream line; line << "tally " << rank << ": " << sum << " of " << by_name.size() << "\n"; std::cout << line.str(); }
};

static thread_local Tally tally;

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    double side;
    explicit Square(double side) : side(side) {}
    double area() const override { return side * side; }
};
struct Circle : Shape {
    double radius;
    explicit Circle(double radius) : radius(radius) {}
    double area() const override { return 3 * radius * radius; }
};

static double shift(double value) {
    double got = 0;
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + 1) % size, 0, &got, 1, MPI_DOUBLE, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return got;
}

struct Waits {
    int round;
    ~Waits() { shift(round); }
};

static void fail(int round) {
    Waits waits{round};
    if (round % 3 == 1) throw std::runtime_error("round " + std::to_string(round));
    if (round % 3 == 2) throw round;
}

static std::string text_around(const std::string &text) {
    int length = static_cast<int>(text.size()), theirs = 0;
    MPI_Sendrecv(&length, 1, MPI_INT, (rank + 1) % size, 1, &theirs, 1, MPI_INT, (rank + size - 1) % size, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::string got(theirs, ' ');
    MPI_Sendrecv(text.data(), length, MPI_CHAR, (rank + 1) % size, 2, &got[0], theirs, MPI_CHAR,
                 (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return got;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::vector<std::unique_ptr<Shape>> shapes;
    long caught = 0;
    std::string text = "from " + std::to_string(rank);
    for (int round = 0; round < 12; round++) {
        if (round % 2) shapes.push_back(std::make_unique<Square>(round));
        else shapes.push_back(std::make_unique<Circle>(shift(round)));
        try {
            fail(round);
            tally.add("none", 1);
        } catch (const std::runtime_error &error) {
            tally.add(error.what(), 10);
            caught += static_cast<long>(std::string(error.what()).size());
            shift(round);
        } catch (int number) {
            tally.add("number", number);
            shift(round);
        }
        text = text_around(text + "," + std::to_string(round));
    }
    double area = 0, all = 0;
    for (const auto &shape : shapes) area += shape->area();
    MPI_Allreduce(&area, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    std::ostringstream line;
    line << "classes " << rank << ": " << all << ", " << caught << ", " << text << "\n";
    std::cout << line.str();
    MPI_Finalize();
    return 0;
}
