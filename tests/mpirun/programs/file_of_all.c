/* All ranks have a file open that each of them writes and reads: it is emptied at first, each round has values behind those
   before, and a place of each rank that it writes anew. How long the file is, what others have written there, and where the
   pointer of all is, is sent on. Rank 0 says what came of it. Words behind the number of rounds are as of together.c. */
#include "lost.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int rank, size;

static void must(int result, const char *what) {
    if (result == MPI_SUCCESS) return;
    printf("%d: %s\n", rank, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 95);
}

static MPI_File opened(const char *name, const char *ending) {
    MPI_File file;
    char text[4096];
    snprintf(text, sizeof text, "%s.%s", name, ending);
    must(MPI_File_open(MPI_COMM_WORLD, text, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), "open");
    must(MPI_File_set_size(file, 0), "set_size");
    return file;
}

static long at_once(MPI_File file, int round) {
    long value = 1000 * round + rank, of_next = -1, of_round = -1;
    MPI_Offset length, behind = size * (round + 1), next = (rank + 1) % size;
    must(MPI_File_write_at(file, rank, &value, 1, MPI_LONG, MPI_STATUS_IGNORE), "write_at");
    must(MPI_File_write_at_all(file, behind + rank, &value, 1, MPI_LONG, MPI_STATUS_IGNORE), "write_at_all");
    MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_File_get_size(file, &length), "get_size");
    must(MPI_File_read_at(file, next, &of_next, 1, MPI_LONG, MPI_STATUS_IGNORE), "read_at");
    must(MPI_File_read_at_all(file, behind + next, &of_round, 1, MPI_LONG, MPI_STATUS_IGNORE), "read_at_all");
    must(MPI_File_seek(file, -8, MPI_SEEK_END), "seek");
    must(MPI_File_get_position(file, &behind), "get_position");
    return 3 * of_next + 5 * of_round + length + behind;
}

/* A place is written by one rank after the other, and read by all, who open the file for that. */
static long by_turns(MPI_File file, const char *name, int round) {
    MPI_File for_all;
    char text[4096];
    long value = round, seen = -1;
    int place = 8 * (round / 4);
    if (rank == round % size) must(MPI_File_write_at(file, place, &value, 1, MPI_LONG, MPI_STATUS_IGNORE), "write of a turn");
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(text, sizeof text, "%s.turns", name);
    must(MPI_File_open(MPI_COMM_WORLD, text, MPI_MODE_RDONLY, MPI_INFO_NULL, &for_all), "open of turns");
    must(MPI_File_read_at(for_all, place, &seen, 1, MPI_LONG, MPI_STATUS_IGNORE), "read of a turn");
    must(MPI_File_close(&for_all), "close of turns");
    return seen;
}

/* The same file, for the system. */
static long length(int file) {
    struct stat seen;
    must(fstat(file, &seen), "fstat");
    off_t end = lseek(file, -8, SEEK_END), here = lseek(file, 0, SEEK_CUR);
    must(end != here, "lseek");
    MPI_Barrier(MPI_COMM_WORLD);
    return 7 * seen.st_size + end;
}

static long in_turns(MPI_File file, int round) {
    MPI_Offset at;
    char record[17];
    snprintf(record, sizeof record, "%7d %7d\n", rank, round);
    must(MPI_File_write_shared(file, record, 16, MPI_CHAR, MPI_STATUS_IGNORE), "write_shared");
    must(MPI_File_write_ordered(file, record, 16, MPI_CHAR, MPI_STATUS_IGNORE), "write_ordered");
    MPI_Barrier(MPI_COMM_WORLD);
    must(MPI_File_get_position_shared(file, &at), "get_position_shared");
    MPI_Barrier(MPI_COMM_WORLD);
    return at;
}

int main(int argc, char **argv) {
    char name[4096];
    long sum = 0, all = 0;
    int rounds = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File values = opened(argv[1], "values"), records = opened(argv[1], "records"), turns = opened(argv[1], "turns");
    int file = open(strcat(strcpy(name, argv[1]), ".values"), O_RDONLY);
    must(file < 0, name);
    must(MPI_File_set_view(values, 0, MPI_LONG, MPI_LONG, "native", MPI_INFO_NULL), "set_view");
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 3; i < argc; i++) be_lost_if(argv[i], argv[1], rank, round);
        MPI_Barrier(MPI_COMM_WORLD);
        sum += at_once(values, round) + length(file) + in_turns(records, round) + by_turns(turns, argv[1], round);
        MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    must(MPI_File_close(&values), "close");
    must(MPI_File_close(&records), "close");
    must(MPI_File_close(&turns), "close");
    if (rank == 0) printf("%ld\n", all);
    MPI_Finalize();
    return 0;
}
