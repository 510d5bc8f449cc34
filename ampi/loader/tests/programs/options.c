/* Options in every form, with what is printed about wrong ones. The program's name is "options" in all of them. */
#include "say.h"
#include <getopt.h>

static const char *who;
static int flag;
static const struct option longs[] = {
    {"verbose", no_argument, &flag, 6},      {"version", no_argument, NULL, 'V'},
    {"value", required_argument, NULL, 'v'}, {"maybe", optional_argument, NULL, 'm'},
    {"same", no_argument, NULL, 's'},        {"same-too", no_argument, NULL, 's'},
    {"b", no_argument, NULL, 'B'},           {NULL, 0, NULL, 0}};

enum { SHORT, LONG, ONLY };

static void scan(int kind, const char *shorts, const char *line) {
    char text[200], *argv[20];
    int argc = 1, option, index = -1;
    argv[0] = "options";
    strcpy(text, line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    argv[argc] = NULL;
    optind = 0;
    say("[%s] %s", shorts, line);
    do {
        option = kind == SHORT ? getopt(argc, argv, shorts)
                 : kind == LONG ? getopt_long(argc, argv, shorts, longs, &index)
                                : getopt_long_only(argc, argv, shorts, longs, &index);
        say("  %d %s at %d, %d, long %d, flag %d", option, optarg ? optarg : "-", optind, optopt, index, flag);
    } while (option != -1);
    for (int i = 1; i < argc; i++) say("  argument %s", argv[i]);
}

int main(int argc, char **argv) {
    who = argv[1];
    const char *lines[] = {
        "", "-a", "-ab", "-abx", "-b x", "-b", "-q", "-aq -b", "one -a two -b three four", "-c -cx -c x", "-- -a",
        "one -- -a two", "one -a -- -b two", "-", "- -a -", "--", "-a- --verbose", "-: -;",
        "--verbose", "--verb", "--ver", "--v", "--value=5", "--value 5", "--value", "--value= x", "--val=",
        "--maybe --maybe=1 --maybe 2", "--verbose=1", "--nothing", "--nothing=1", "--same --same-too --sam", "--=",
        "-verbose", "-value=5 x", "-b -ab", "-version", "-ver", "-b", "-same", "-v x", "-xyz", "-maybe=7 --m"};
    const char *shorts[] = {"ab:c::", "+ab:c::", "-ab:c::", ":ab:c::", "+:ab:", ""};
    for (int kind = SHORT; kind <= ONLY; kind++)
        for (unsigned i = 0; i < sizeof shorts / sizeof *shorts; i++)
            for (unsigned j = 0; j < sizeof lines / sizeof *lines; j++) scan(kind, shorts[i], lines[j]);
    opterr = 0;
    scan(LONG, "ab:", "-q --nothing");
    setenv("POSIXLY_CORRECT", "1", 1);
    scan(LONG, "ab:", "-a one -b two");
    return 0;
}
