/* Files that are open while the rank moves. */
#define _GNU_SOURCE
#include "say.h"
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static const char *who;

static void folders(const char *path) {
    char name[64];
    DIR *folder = opendir(path);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)); sched_yield()) {
        snprintf(name, sizeof name, "cut_%s", who);
        count += !strncmp(entry->d_name, name, strlen(name));
    }
    rewinddir(folder);
    say("folder %d %d", count, readdir(folder) != NULL);
    say("closed %d", closedir(folder));
}

static void others(const char *path) {
    char text[64] = "";
    FILE *file = fopen(path, "a");
    fputs("added\n", file);
    sched_yield();
    file = freopen(path, "r+", file);
    sched_yield();
    int found = fgets(text, sizeof text, file) != NULL;
    say("opened anew %d %s", found, strtok(text, "\n"));
    int other = dup(fileno(file));
    sched_yield();
    FILE *second = fdopen(other, "r");
    fseek(second, -6, SEEK_END);
    sched_yield();
    found = fscanf(second, "%63s", text);
    say("of a descriptor %d %s", found, text);
    int closed = fclose(second), both = fclose(file);
    say("closed %d %d", closed, both);
    file = popen("echo of a child", "r");
    found = fgets(text, sizeof text, file) != NULL;
    say("child %d %s", found, strtok(text, "\n"));
    say("status %d", pclose(file));
}

/* Opened to be added to, and not added to yet. */
static void unwritten(const char *path) {
    char text[64] = "";
    int file = open(path, O_WRONLY | O_APPEND | O_TRUNC);
    sched_yield();
    say("written %d", (int)write(file, "only\n", 5));
    FILE *read = fopen(path, "r");
    while (fgets(text, sizeof text, read)) say("has %s", strtok(text, "\n"));
    fclose(read);
    close(file);
}

int main(int argc, char **argv) {
    char path[4096], line[64];
    who = argv[1];
    snprintf(path, sizeof path, "%s/cut_%s_%s", argv[2], who, argv[3]);
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
    others(path);
    unwritten(path);
    folders(argv[2]);
    remove(path);
    say("removed %d", access(path, F_OK));
    return 0;
}
