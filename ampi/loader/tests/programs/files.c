/* A file that is open while the rank moves. */
#include "say.h"

int main(int argc, char **argv) {
    const char *who = argv[1];
    char path[4096], line[64];
    snprintf(path, sizeof path, "%s/file_%s_%s", argv[2], who, argv[3]);
    FILE *file = fopen(path, "w+");
    for (int i = 0; i < 4; i++) {
        fprintf(file, "line %d\n", i);
        sched_yield();
    }
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        sched_yield();
        line[strlen(line) - 1] = 0;
        say("%s", line);
    }
    fclose(file);
    remove(path);
    return 0;
}
