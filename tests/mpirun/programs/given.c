/* What the C library gives a rank is there after it has waited, and was maybe moved: addresses of hosts, conversions of texts, users,
   and the locale that it has chosen, which is not that of ranks that have chosen none. */
#define _GNU_SOURCE
#include <grp.h>
#include <iconv.h>
#include <locale.h>
#include <mpi.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <wchar.h>
#include <unistd.h>

static int rank, wrong;

static void must(int holds, const char *what) {
    if (holds) return;
    printf("%d: %s\n", rank, what);
    wrong = 1;
}

static void addresses(void) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_CANONNAME}, *all = NULL;
    must(getaddrinfo("127.0.0.1", "80", &hints, &all) == 0 && all, "getaddrinfo");
    for (struct addrinfo *one = all; one; one = one->ai_next) {
        int made = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
        usleep(20);
        must(made >= 0 && one->ai_addr->sa_family == AF_INET && one->ai_addrlen == 16, "an address");
        must(!strcmp(all->ai_canonname, "127.0.0.1"), "a name");
        close(made);
    }
    freeaddrinfo(all);
}

static void conversions(void) {
    iconv_t to = iconv_open(rank % 2 ? "UTF-16LE" : "UTF-8", "ISO-8859-1");
    must(to != (iconv_t)-1, "iconv_open");
    for (int i = 0; i < 5; i++) {
        char text[] = "a\xe4", room[8], *from = text, *put = room;
        size_t left = 2, free = sizeof room;
        usleep(20);
        must(iconv(to, &from, &left, &put, &free) == 0 && left == 0, "iconv");
        must(sizeof room - free == (rank % 2 ? 4 : 3) && !memcmp(room, rank % 2 ? "a\0\xe4\0" : "a\xc3\xa4", sizeof room - free), "what was converted");
    }
    must(iconv_close(to) == 0, "iconv_close");
}

static void accounts(void) {
    struct passwd *user = getpwuid(0);
    struct group *group = getgrnam("root");
    must(user && group, "root");
    for (int i = 0; i < 3; i++) {
        usleep(20);
        must(!strcmp(user->pw_name, "root") && user->pw_dir[0] == '/' && user->pw_uid == 0, "the user");
        must(!strcmp(group->gr_name, "root") && group->gr_gid == 0, "the group");
        for (char **member = group->gr_mem; *member; member++) must(strlen(*member) > 0, "a member");
    }
    must(getpwnam("nobody of this name") == NULL, "nobody");
}

/* Time of the processor, which each process has another one of. */
static void times_of_processor(void) {
    static clock_t last;
    static struct timespec last_of_process;
    static long last_used;
    for (int i = 0; i < 5; i++) {
        struct timespec now;
        struct rusage used;
        for (volatile int turn = 0; turn < 20000; turn++) {}
        usleep(20);
        clock_t clocks = clock();
        must(clocks >= last, "clock");
        last = clocks;
        must(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0 && getrusage(RUSAGE_SELF, &used) == 0, "getrusage");
        must(now.tv_sec > last_of_process.tv_sec || (now.tv_sec == last_of_process.tv_sec && now.tv_nsec >= last_of_process.tv_nsec), "time of the process");
        last_of_process = now;
        long all = used.ru_utime.tv_sec * 1000000 + used.ru_utime.tv_usec;
        must(all >= last_used, "what was used");
        last_used = all;
    }
}

static void locales(void) {
    if (setlocale(LC_ALL, "C.UTF-8") == NULL) return;
    locale_t own = newlocale(LC_ALL_MASK, "C", NULL);
    if (rank % 2) must(uselocale(own) == LC_GLOBAL_LOCALE, "the first locale");
    for (int i = 0; i < 5; i++) {
        usleep(20);
        must(MB_CUR_MAX == (rank % 2 ? 1 : 6), "bytes of a character");
        must(uselocale(NULL) == (rank % 2 ? own : LC_GLOBAL_LOCALE), "the locale");
    }
    if (rank % 2) must(uselocale(LC_GLOBAL_LOCALE) == own, "the last locale");
    usleep(20);
    must(MB_CUR_MAX == 6, "bytes of a character, at last");
    freelocale(own);
    /* In whatever process it is now. */
    const char *name = setlocale(LC_ALL, NULL);
    wchar_t wide[4];
    usleep(20);
    must(!strcmp(name, "C.UTF-8") && !strcmp(setlocale(LC_CTYPE, NULL), name), "the name of the locale");
    must(mbstowcs(wide, "\xc3\xa9x", 4) == 2 && wide[0] == 0xe9, "wide characters");
    FILE *file = tmpfile();
    must(fwprintf(file, L"\xe9 %d", rank) > 0, "fwprintf");
    usleep(20);
    must(fwprintf(file, L" \xe9") > 0 && ftell(file) > 6, "fwprintf after that");
    fclose(file);
}

/* Nobody else has chosen one yet, on whatever node. */
static void first_locale(void) {
    if (rank == 0 && setlocale(LC_CTYPE, "C.UTF-8") != NULL) {
        const char *name = setlocale(LC_ALL, NULL);
        for (int i = 0; i < 5; i++) {
            usleep(20);
            must(MB_CUR_MAX == 6 && strstr(name, "LC_CTYPE=C.UTF-8;LC_NUMERIC=C"), "the locale of the first rank");
            must(!strcmp(setlocale(LC_ALL, NULL), name), "its name");
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    first_locale();
    for (int i = 0; i < 5; i++) {
        addresses();
        conversions();
        accounts();
        times_of_processor();
        locales();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!wrong) printf("%d: all there\n", rank);
    MPI_Finalize();
    return 0;
}
