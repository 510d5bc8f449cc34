/* What the C library hides: each rank has its own. */
#define _GNU_SOURCE
#include "say.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ether.h>
#include <locale.h>
#include <math.h>
#include <search.h>
#include <signal.h>
#include <getopt.h>
#include <pthread.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static const char *who;

static void numbers(void) {
    say("without a seed %d %ld %.6f", rand(), random(), drand48());
    srand(atoi(who) + 5);
    srand48(atoi(who) + 5);
    for (int i = 0; i < 3; i++) {
        int first = rand();
        sched_yield();
        say("numbers %d %ld %.6f %ld", first, random(), drand48(), lrand48());
    }
    char state[64];
    char *former = initstate(9, state, sizeof state);
    say("another state %ld", random());
    setstate(former);
    say("the former one %ld", random());
    unsigned short seed[3] = {1, 2, 3};
    unsigned short *old = seed48(seed);
    say("seed48 %d %ld %ld", old[0] != 0, mrand48(), nrand48(seed));
}

static void tokens(void) {
    char text[] = "one,two;three";
    for (char *token = strtok(text, ",;"); token; token = strtok(NULL, ",;")) {
        sched_yield();
        say("token %s", token);
    }
}

static void options(int argc, char **argv) {
    static int flag;
    static const struct option longs[] = {
        {"verbose", no_argument, &flag, 6}, {"value", required_argument, NULL, 'v'},
        {"maybe", optional_argument, NULL, 'm'}, {NULL, 0, NULL, 0}};
    int option, index = -1;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "ab:c::", longs, &index)) != -1) {
        sched_yield();
        say("option %d %s %d %d %d", option, optarg ? optarg : "-", optopt, index, flag);
    }
    for (int i = optind; i < argc; i++) say("rest %s", argv[i]);
    char *again[] = {"x", "-q", "--", "-a", NULL};
    optind = 0;
    say("again %d %d", getopt(4, again, "+:ab:"), optopt);
    say("again %d %d", getopt(4, again, "+:ab:"), optind);
}

static void environment(void) {
    char name[32], own[] = "LOADER_PUT=yes";
    snprintf(name, sizeof name, "LOADER_%s", who);
    setenv(name, "mine", 1);
    setenv("LOADER_BOTH", who, 1);
    setenv("LOADER_BOTH", "not this", 0);
    putenv(own);
    sched_yield();
    say("%s %s %s %s", getenv(name), getenv("LOADER_BOTH"), getenv("LOADER_PUT"), getenv("LOADER_TEST"));
    unsetenv("LOADER_TEST");
    say("%s", getenv("LOADER_TEST") ? "still there" : "removed");
    int count = 0;
    for (char **entry = environ; *entry; entry++) count += !strncmp(*entry, "LOADER_", 7);
    say("%d entries", count);
    errno = 0;
    int result = setenv("a=b", "c", 1);
    say("a bad name %d %d", result, errno == EINVAL);
    clearenv();
    say("cleared %s", environ && environ[0] ? "not" : "all");
    setenv("LOADER_NEW", "1", 1);
    say("new %s", getenv("LOADER_NEW"));
}

static void folders(void) {
    char path[4096];
    sched_yield();
    if (atoi(who) % 2) chdir("/usr/lib");
    sched_yield();
    say("folder %s", atoi(who) % 2 ? getcwd(path, sizeof path) : "as it was");
    chdir("/tmp");
    sched_yield();
    say("folder %s", getcwd(path, sizeof path));
}

static void times(void) {
    time_t then = 86400 * (atoi(who) + 1);
    struct tm *time = gmtime(&then);
    sched_yield();
    int day = time->tm_mday;
    sched_yield();
    char *text = asctime(time);
    sched_yield();
    say("day %d, %.10s", day, text);
}

static volatile int signals;
static void count(int signal) { signals += signal; }

static void handlers(void) {
    struct sigaction action, former;
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &action, NULL);
    sched_yield();
    sigaction(SIGUSR1, NULL, &former);
    say("handler %d %d", former.sa_handler == count, sigismember(&former.sa_mask, SIGUSR2));
    raise(SIGUSR1);
    say("signals %d", signals);
    void (*before)(int) = signal(SIGUSR2, SIG_IGN);
    raise(SIGUSR2);
    say("ignored %d, default before %d", signals, before == SIG_DFL);
    sigset_t set, known;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    int blocked = sigprocmask(SIG_BLOCK, &set, NULL);
    sched_yield();
    sigprocmask(SIG_UNBLOCK, &set, &known);
    say("blocked %d %d", blocked, sigismember(&known, SIGTERM));
    kill(getpid(), SIGUSR1);
    say("sent %d", signals);
    errno = 0;
    before = signal(SIGKILL, count);
    say("no such %d %d", before == SIG_ERR, errno == EINVAL);
}

/* What was handled, in order, and what is pending. */
static char handled[100];
static int queued;

static void note(int signal) {
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    snprintf(handled + strlen(handled), sizeof handled - strlen(handled), "%d%s ", signal, sigismember(&now, signal) ? "" : "!");
    if (signal == SIGUSR1) raise(SIGUSR2);
}

static void note_value(int signal, siginfo_t *info, void *context) {
    queued = info->si_value.sival_int + (info->si_signo == signal) + (info->si_pid == getpid());
}

static void blocked_signals(void) {
    struct sigaction action, value;
    sigset_t all, own, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    value = action;
    value.sa_sigaction = note_value;
    value.sa_flags = SA_SIGINFO;
    sigaction(SIGRTMIN + 1, &value, NULL);
    /* The second waits until the first one's handler returns. */
    raise(SIGUSR1);
    say("handled %s", handled);
    sigemptyset(&own);
    sigaddset(&own, SIGUSR1);
    sigaddset(&own, SIGUSR2);
    sigprocmask(SIG_BLOCK, &own, &before);
    *handled = 0;
    raise(SIGUSR2);
    raise(SIGUSR2);
    sched_yield();
    sigpending(&all);
    say("pending %d %d %s", sigismember(&all, SIGUSR1), sigismember(&all, SIGUSR2), handled);
    int taken = 0, error = sigwait(&own, &taken);
    say("taken %d %d", error, taken);
    pthread_kill(pthread_self(), SIGUSR1);
    siginfo_t info;
    say("taken %d %d", sigwaitinfo(&own, &info), info.si_signo);
    struct timespec short_time = {0, 2000000};
    errno = 0;
    int none = sigtimedwait(&own, &info, &short_time);
    say("none %d %d", none, errno == EAGAIN);
    raise(SIGUSR1);
    errno = 0;
    none = sigsuspend(&before);
    say("suspended %d %d %s", none, errno == EINTR, handled);
    raise(SIGUSR2);
    sigprocmask(SIG_SETMASK, &before, NULL);
    say("unblocked %s", handled);
    union sigval with = {.sival_int = 40};
    sigqueue(getpid(), SIGRTMIN + 1, with);
    say("queued %d", queued);
    pthread_kill(pthread_self(), SIGUSR2);
    say("in the thread %s", handled);
    signal(SIGUSR1, SIG_DFL);
    signal(SIGUSR2, SIG_DFL);
}

static void keys(void) {
    pthread_key_t first, second;
    int made = pthread_key_create(&first, NULL) + pthread_key_create(&second, free);
    pthread_setspecific(first, who);
    sched_yield();
    int none = pthread_getspecific(second) == NULL;
    pthread_setspecific(second, &signals);
    say("keys %d %d %d", made, none, pthread_getspecific(first) == who);
    int deleted = pthread_key_delete(first) + pthread_key_delete(second);
    say("deleted %d %d", deleted, pthread_getspecific(first) == NULL);
}

static void locales(void) {
    char text[64];
    time_t noon = 43200;
    struct tm local;
    say("locale %s %s", setlocale(LC_ALL, "C"), strerror(ENOENT));
    strftime(text, sizeof text, "%Y-%m-%d", localtime_r(&noon, &local));
    say("date %s", text);
}

/* Each has another one, of which no file is needed. */
static void zones(void) {
    static const char *all[] = {"XXT-9", "EST5EDT,M3.2.0,M11.1.0", "YYT+3:30", "ZZT0"};
    const time_t winter = 1700000000, summer = 1720000000;
    char text[100];
    say("zone before %s", getenv("TZ") ? getenv("TZ") : "-");
    for (int i = 0; i < 3; i++) {
        setenv("TZ", all[(atoi(who) + i) % 4], 1);
        tzset();
        sched_yield();
        say("zone %s %s %ld %d", tzname[0], tzname[1], timezone, daylight);
        struct tm local, *kept = localtime(&summer);
        sched_yield();
        say("summer %d %d %s %ld", kept->tm_hour, kept->tm_isdst, kept->tm_zone, kept->tm_gmtoff);
        localtime_r(&winter, &local);
        sched_yield();
        strftime(text, sizeof text, "%F %T %Z %z", &local);
        say("winter %s %s %ld", text, local.tm_zone, (long)mktime(&local));
        say("text %s", strtok(ctime(&summer), "\n"));
        /* As many do who have no timegm. */
        struct tm *universal = gmtime(&winter);
        setenv("TZ", "", 1);
        tzset();
        say("universal %ld", (long)mktime(universal));
    }
    unsetenv("TZ");
    tzset();
}

static void gammas(void) {
    volatile double below = -0.5, above = 0.5;
    double one = lgamma(below);
    int sign = signgam;
    sched_yield();
    say("gamma %.6f %d %d", one, sign, signgam);
    one = lgamma(above);
    say("gamma %.6f %d", one, signgam);
    say("gamma %.6f %d", lgammaf(below), signgam);
    long double longer = lgammal(1.5L);
    say("gamma %.6Lf %d", longer, signgam);
    longer = lgammal(-2.5L);
    say("gamma %.6Lf %d", longer, signgam);
}

/* Texts in places of the C library's own, while others ask for theirs. */
static void number_texts(void) {
    int number = atoi(who), point, sign;
    struct in_addr address = {htonl(0x0a000000 + number)};
    struct ether_addr hardware = {{1, 2, 3, 4, 5, number}};
    char *text = inet_ntoa(address), *other = ether_ntoa(&hardware), *base = l64a(123456 + number);
    char *digits = ecvt(-1.5 - number, 5, &point, &sign);
    sched_yield();
    say("texts %s %s %s %s %d %d", text, other, base, digits, point, sign != 0);
    digits = fcvt(12.25 + number, 3, &point, &sign);
    sched_yield();
    say("texts %s %d %d [%s] %s", digits, point, sign, l64a(0), l64a(-1));
    digits = ecvt(1e300, 400, &point, &sign);
    say("texts %zu %d", strlen(digits), point);
}

static void tables(void) {
    ENTRY own = {(char *)"key", (void *)who}, other = {(char *)"none", NULL};
    say("table %d", hcreate(20) != 0);
    hsearch(own, ENTER);
    sched_yield();
    own.data = NULL;
    ENTRY *found = hsearch(own, FIND);
    say("found %s %d", found ? (char *)found->data : "-", hsearch(other, FIND) == NULL);
    hdestroy();
}

int main(int argc, char **argv) {
    who = argv[1];
    const char *slash = strrchr(argv[0], '/');
    say("name %d %d", !strcmp(program_invocation_short_name, slash + 1), program_invocation_name == argv[0]);
    numbers();
    tokens();
    options(argc, argv);
    environment();
    folders();
    times();
    zones();
    gammas();
    number_texts();
    tables();
    handlers();
    blocked_signals();
    keys();
    locales();
    struct timespec pause = {0, 1000000};
    int first = sleep(0), second = usleep(10), third = nanosleep(&pause, NULL);
    say("pauses %d %d %d", first, second, third);
    fflush(stdout);
    _exit(atoi(who) + 1);
}
