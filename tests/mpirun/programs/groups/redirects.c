/* Ranks that send their standard streams elsewhere, and back. */
#define _GNU_SOURCE
#include "report.h"
#include <fcntl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char base[4096];
static int is_alone;

static const char *name_of(const char *what) {
    static char name[4200];
    snprintf(name, sizeof name, "%s/%s-%d", base, what, rank);
    return name;
}

/* Its lines, with a bar at the end of each. */
static const char *content_of(const char *what) {
    static char text[4096];
    FILE *file = fopen(name_of(what), "r");
    check(file != NULL, "a file that was written");
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    for (char *at = text; (at = strchr(at, '\n'));) *at = '|';
    return text;
}

static void wait_often(void) {
    for (int nth = 0; nth < 5; nth++) MPI_Barrier(MPI_COMM_WORLD);
}

static void by_number(int saved) {
    int file = open(name_of("number"), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    printf("rank %d: before\n", rank);
    fflush(stdout);
    check(dup2(file, 1) == 1 && dup2(1, 2) == 2, "dup2");
    close(file);
    printf("printed\n");
    fflush(stdout);
    wait_often();
    check(write(1, "written\n", 8) == 8, "write");
    fprintf(stderr, "an error\n");
    if (is_alone) {
        struct iovec pieces[2] = {{"said by ", 8}, {"a child\n", 8}};
        check(writev(1, pieces, 2) == 16, "writev");
    } else {
        pid_t child = vfork();
        if (child == 0) {
            execlp("echo", "echo", "said by a child", NULL);
            _exit(127);
        }
        check(waitpid(child, NULL, 0) == child, "waitpid");
    }
    wait_often();
    printf("printed later\n");
    fflush(stdout);
    check(dup2(saved, 1) == 1, "dup2 back");
    printf("rank %d: back, and elsewhere was: %s\n", rank, content_of("number"));
    fflush(stdout);
}

static void by_name(int saved) {
    char line[8192];
    int value = 0;
    FILE *input = fopen(name_of("input"), "w");
    fprintf(input, "%d\n", 40 + rank);
    fclose(input);
    check(freopen(name_of("input"), "r", stdin) == stdin && scanf("%d", &value) == 1, "freopen of stdin");
    check(freopen(name_of("errors"), "w", stderr) == stderr, "freopen of stderr");
    fprintf(stderr, "an error\n");
    fflush(stderr);
    check(freopen(name_of("name"), "w", stdout) == stdout && freopen(NULL, "w", stdout) == stdout, "freopen of stdout");
    for (int nth = 0; nth < 3; nth++) {
        printf("line %d\n", nth);
        wait_often();
    }
    check(freopen(name_of("name"), "a", stdout) == stdout, "freopen again");
    puts("added");
    fflush(stdout);
    int len = snprintf(line, sizeof line, "rank %d: read %d, by name: %s ", rank, value, content_of("name"));
    len += snprintf(line + len, sizeof line - (size_t)len, "errors: %s\n", content_of("errors"));
    check(write(saved, line, (size_t)len) == len, "write");
    check(!freopen("/no/such/folder/file", "r", stdin), "freopen of what is not there");
    check(dup2(-1, 1) < 0 && dup2(900, 1) < 0 && dup2(1, -1) < 0, "dup2 of what is not open");
}

/* Arguments: rounds, which do not count, a folder, and one more if no child is to be started: a rank that has one cannot be lost. */
int main(int argc, char **argv) {
    begin(&argc, &argv);
    snprintf(base, sizeof base, "%s", argc > 2 ? argv[2] : "/");
    is_alone = argc > 3;
    int saved = dup(1);
    by_number(saved);
    by_name(saved);
    check(freopen(name_of("last"), "w", stdout) == stdout, "freopen at the end");
    printf("last words of rank %d\n", rank);
    MPI_Finalize();
}
