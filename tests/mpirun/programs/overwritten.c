/* Each rank has files that it writes over, in every way that there is, and one with all others. In each round it finds there what the
   round before has left. With "alone" it does only what a rank that goes back alone finds as it was. Words behind the number of rounds
   are as of together.c. */
#define _GNU_SOURCE
#include "lost.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* Longer than what is told again. */
enum { RECORD = 8, RECORDS = 4096 };

static int rank, size, round_now;
static const char *stem;

static void must(int is_right, const char *what) {
    if (is_right) return;
    printf("%d: round %d: %s\n", rank, round_now, what);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 95);
}

static const char *name_of(const char *what) {
    static char names[2][400];
    static int last;
    last = !last;
    snprintf(names[last], sizeof names[last], "%s.%s-%d", stem, what, rank);
    return names[last];
}

static void record(char text[RECORD], int value) { snprintf(text, RECORD, "%06d\n", value); }

/* A long file that stays open: records at several places, by several functions. */
static int places;

static void begin_places(void) {
    char text[RECORD];
    places = open(name_of("places"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(places >= 0, "open of places");
    record(text, 0);
    for (int i = 0; i < RECORDS; i++) must(write(places, text, RECORD) == RECORD, "write of places");
}

static void write_places(int round) {
    char text[4][RECORD], found[RECORD];
    int own[4] = {0, 1 + round % 7, 8 + round % 5, RECORDS - 1};
    for (int i = 0; i < 4; i++) {
        int last = i == 1 ? round - 7 : i == 2 ? round - 5 : round - 1;
        must(pread(places, found, RECORD, own[i] * RECORD) == RECORD, "pread");
        must(atoi(found) == (last < 0 ? 0 : last + 1), "what was in places");
        record(text[i], round + 1);
    }
    struct iovec pieces[2] = {{text[2], 3}, {text[2] + 3, RECORD - 3}};
    must(lseek(places, own[0] * RECORD, SEEK_SET) >= 0 && write(places, text[0], RECORD) == RECORD, "write");
    must(pwrite(places, text[1], RECORD, own[1] * RECORD) == RECORD, "pwrite");
    must(lseek(places, own[2] * RECORD, SEEK_SET) >= 0 && writev(places, pieces, 2) == RECORD, "writev");
    must(pwrite(places, text[3], RECORD, own[3] * RECORD) == RECORD, "pwrite at the end");
    /* Closed and opened again. */
    must(close(places) == 0 && (places = open(name_of("places"), O_RDWR)) >= 0, "reopen");
}

/* A number in a file that is read and written anew. */
static void count(int round) {
    int counted = 0;
    FILE *file = fopen(name_of("count"), "r");
    if (file != NULL) must(fscanf(file, "%d", &counted) == 1 && fclose(file) == 0, "fscanf");
    must(counted == round, "what was counted");
    file = fopen(name_of("count"), "w");
    must(file != NULL && fprintf(file, "%d\n", round + 1) > 0 && fclose(file) == 0, "fprintf");
}

/* A stream that is opened to update a file, and one that stays open. */
static FILE *updated;

static void update(FILE *file, int round) {
    char text[RECORD], found[RECORD] = "";
    must(fseek(file, 3 * RECORD, SEEK_SET) == 0 && fread(found, 1, RECORD, file) == RECORD, "fread");
    must(atoi(found) == round, "what was in the stream");
    rewind(file);
    record(text, round + 1);
    for (int i = 0; i < 4; i++) must(fwrite(text, 1, RECORD, file) == RECORD, "fwrite");
}

static FILE *begin_stream(const char *what) {
    char text[RECORD];
    FILE *file = fopen(name_of(what), "w+");
    record(text, 0);
    for (int i = 0; i < 600; i++) must(fwrite(text, 1, RECORD, file) == RECORD, "fwrite at first");
    return file;
}

static void update_streams(int round) {
    update(updated, round);
    FILE *file = fopen(name_of("stream"), "r+");
    must(file != NULL, "fopen");
    update(file, round);
    must(fclose(file) == 0, "fclose");
}

static int number_in(const char *what) {
    int number = -1;
    FILE *file = fopen(name_of(what), "r");
    if (file != NULL) must(fscanf(file, "%d", &number) == 1 && fclose(file) == 0, "fscanf of a number");
    return number;
}

static void put_number(const char *what, int number) {
    FILE *file = fopen(name_of(what), "w");
    must(file != NULL && fprintf(file, "%d\n", number) > 0 && fclose(file) == 0, "fprintf of a number");
}

/* A state that is written to another file, which is renamed; one that is removed and made again; one that is cut. */
static void replace(int round) {
    must(number_in("state") == round - 1, "the state");
    put_number("new", round);
    must(rename(name_of("new"), name_of("state")) == 0, "rename");
    must(number_in(round % 2 ? "removed" : "made") == (round ? round - 1 : -1), "what is removed");
    if (round) must(remove(name_of(round % 2 ? "removed" : "made")) == 0, "remove");
    put_number(round % 2 ? "made" : "removed", round);
    must(number_in(round % 2 ? "removed" : "made") == -1, "what was removed");
    char text[64] = "", line[64];
    int cut = open(name_of("cut"), O_RDWR | O_CREAT, 0600);
    int had = read(cut, text, sizeof text);
    snprintf(line, sizeof line, "%*d", 3 + round % 5, round);
    must(had == (round ? 3 + (round - 1) % 5 : 0) && (!round || atoi(text) == round - 1), "what was cut");
    must((round % 2 ? ftruncate(cut, 0) : truncate(name_of("cut"), 0)) == 0, "truncate");
    must(pwrite(cut, line, strlen(line), 0) == (ssize_t)strlen(line) && close(cut) == 0, "write of what was cut");
}

/* A folder that is there in every other round, with a file and a link in it. */
static void fold(int round) {
    char file[450], another[450], target[450];
    snprintf(file, sizeof file, "%s/file", name_of("folder"));
    snprintf(another, sizeof another, "%s/link", name_of("folder"));
    if (round % 2 == 0) {
        must(mkdir(name_of("folder"), 0700) == 0, "mkdir");
        int made = open(file, O_WRONLY | O_CREAT | O_EXCL, 0600);
        must(made >= 0 && write(made, "file\n", 5) == 5 && close(made) == 0, "open of what is new");
        must(symlink(file, another) == 0, "symlink");
    } else {
        must(readlink(another, target, sizeof target) == (ssize_t)strlen(file), "readlink");
        must(unlink(another) == 0 && unlink(file) == 0 && rmdir(name_of("folder")) == 0, "rmdir");
    }
}

/* A stream that stays open where it has something to write over, while the rank waits. */
static FILE *amid;

static void write_amid(int round) {
    char text[RECORD], found[RECORD] = "";
    int other = open(name_of("amid"), O_RDONLY);
    must(pread(other, found, RECORD, 0) == RECORD && atoi(found) == round && close(other) == 0, "what is in the stream");
    record(text, round + 1);
    usleep(1000);
    must(fwrite(text, 1, RECORD, amid) == RECORD && fseek(amid, 0, SEEK_SET) == 0, "fwrite amid");
}

/* A file that stays open, and is replaced by another one of its name in each seventh round. */
static int replaced = -1;

static void replace_open(int round) {
    char text[RECORD], found[RECORD] = "";
    if (round) {
        int by_name = open(name_of("replaced"), O_RDONLY);
        must(pread(replaced, found, RECORD, 0) == RECORD && atoi(found) == round - 1, "what is in the open one");
        must(pread(by_name, found, RECORD, 0) == RECORD && atoi(found) == round - 1 && close(by_name) == 0, "what has its name");
    }
    if (round % 7 == 0) {
        if (round) must(unlink(name_of("replaced")) == 0 && close(replaced) == 0, "unlink");
        replaced = open(name_of("replaced"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    }
    record(text, round);
    must(pwrite(replaced, text, RECORD, 0) == RECORD, "pwrite to what is replaced");
}

/* A file to which lines are added only from a certain round on. */
enum { LATE = 45 };

static void append_late(int round) {
    int lines = 0, expected = round > LATE ? round - LATE : 0;
    FILE *file = fopen(name_of("late"), "r");
    for (int c; file != NULL && (c = fgetc(file)) != EOF;) lines += c == '\n';
    must(file != NULL && fclose(file) == 0 && lines == expected, "lines that come late");
    if (round < LATE) return;
    file = fopen(name_of("late"), "a");
    must(file != NULL && fprintf(file, "%d\n", round) > 0 && fclose(file) == 0, "a line that comes late");
}

/* All ranks have one file, by MPI and by a descriptor; each looks at the place of another one. */
static MPI_File by_mpi;
static int by_all;

static void write_together(int round) {
    int last = round - 1, found = 0, next = (rank + 1) % size;
    if (round) {
        must(pread(by_all, &found, sizeof found, next * sizeof found) == sizeof found && found == last, "the next one's place");
        must(MPI_File_read_at(by_mpi, next * sizeof found, &found, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS, "read_at");
        must(found == last, "the next one's place by MPI");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    must(pwrite(by_all, &round, sizeof round, rank * sizeof round) == sizeof round, "own place");
    must(MPI_File_write_at(by_mpi, rank * sizeof round, &round, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS, "write_at");
    /* One after the other at the same place. */
    int turn = rank == round % size;
    if (turn) {
        int place = size + 1;
        must(pread(by_all, &found, sizeof found, place * sizeof found) == (round ? sizeof found : 0), "the place of all");
        must(!round || found == last, "what is at the place of all");
        must(pwrite(by_all, &round, sizeof round, place * sizeof round) == sizeof round, "write to the place of all");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* How the job ends before its time, in the middle of it: the first word behind the number of rounds says so. */
static void end(const char *how) {
    if (!strcmp(how, "aborts") && rank == 2) MPI_Abort(MPI_COMM_WORLD, 7);
    if (!strcmp(how, "exits") && rank == 2) exit(7);
    if (!strcmp(how, "faults") && rank == 2) *(volatile int *)8 = 1;
    if (!strcmp(how, "waits") && rank == 2) {
        fprintf(stderr, "it waits\n");
        for (;;) usleep(100000);
    }
    /* Nobody sees it: a folder is where a file was that is written over. */
    if (!strcmp(how, "spoils") && rank == 2) {
        /* No checkpoint comes in between. */
        const char *name = name_of("places");
        must(pwrite(places, "0", 1, 0) == 1, "pwrite of what is spoiled");
        ask_system(SYS_unlink, (long)name, 0, 0);
        ask_system(SYS_mkdir, (long)name, 0700, 0);
        be_lost_if("2@90", stem, rank, 90);
    }
}

int main(int argc, char **argv) {
    char all[400];
    int rounds = atoi(argv[3]), is_alone = strcmp(argv[1], "alone") == 0;
    stem = argv[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* Of a job that had no checkpoint yet. */
    const char *former[] = {"count", "state", "new", "removed", "made", "cut"};
    for (int i = 0; i < 6; i++) remove(name_of(former[i]));
    begin_places();
    if (!is_alone) {
        updated = begin_stream("updated");
        amid = begin_stream("amid");
        must(fflush(amid) == 0 && fseek(amid, 0, SEEK_SET) == 0, "fseek");
        snprintf(all, sizeof all, "%s/file", name_of("folder"));
        remove(all);
        snprintf(all, sizeof all, "%s/link", name_of("folder"));
        remove(all);
        rmdir(name_of("folder"));
        FILE *late = fopen(name_of("late"), "w");
        must(late != NULL && fclose(late) == 0, "fopen of what is late");
        must(fclose(begin_stream("stream")) == 0, "fclose at first");
        snprintf(all, sizeof all, "%s.all", stem);
        if (rank == 0) remove(all);
        MPI_Barrier(MPI_COMM_WORLD);
        by_all = open(all, O_RDWR | O_CREAT, 0600);
        strcat(all, "-mpi");
        int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
        must(by_all >= 0 && MPI_File_open(MPI_COMM_WORLD, all, mode, MPI_INFO_NULL, &by_mpi) == MPI_SUCCESS, "File_open");
    }
    for (int round = 0; round < rounds; round++) {
        round_now = round;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 4; i < argc; i++) be_lost_if(argv[i], stem, rank, round);
        MPI_Barrier(MPI_COMM_WORLD);
        write_places(round);
        count(round);
        if (!is_alone) {
            update_streams(round);
            replace(round);
            append_late(round);
            fold(round);
            replace_open(round);
            write_amid(round);
            write_together(round);
        }
        usleep(2000);
        if (round == 90 && argc > 4) end(argv[4]);
    }
    if (!is_alone) must(MPI_File_close(&by_mpi) == MPI_SUCCESS, "File_close");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%d rounds\n", rounds);
    MPI_Finalize();
    return 0;
}
