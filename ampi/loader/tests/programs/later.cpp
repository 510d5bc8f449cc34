/* Libraries that are loaded while the program runs. */
#include "say.h"
#include <dlfcn.h>
#include <link.h>
#include <stdexcept>

static const char *who;
static int count;
extern "C" int program_count(int more) { return count += more; }
extern "C" const char *program_name(void) { return who; }

static int look(struct dl_phdr_info *info, size_t, void *) { return strstr(info->dlpi_name, "libplugin_base") != NULL; }

static void *load(const char *folder, const char *name, int flags) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    void *library = dlopen(path, flags);
    if (!library) say("not loaded: %s", name);
    sched_yield();
    return library;
}

int main(int argc, char **argv) {
    who = argv[1];
    bool other_first = who[0] == '1';
    const char *names[] = {"libplugin1.so", "libplugin2.so"}, *functions[] = {"first", "second"};
    int a = other_first ? 1 : 0, b = 1 - a;
    void *none = load(argv[2], "libno_such.so", RTLD_NOW);
    bool told = dlerror() != NULL, again = dlerror() != NULL;
    say("none %d %d %d", none == NULL, told, again);
    void *before = dlsym(RTLD_DEFAULT, "base_count");
    void *one = load(argv[2], names[a], RTLD_NOW);
    int (*function)(int) = (int (*)(int))dlsym(one, functions[a]);
    for (int i = 1; i < 4; i++) {
        int result = function(i);
        sched_yield();
        say("%s %d, counted %d", names[a], result, count);
    }
    void *local = dlsym(RTLD_DEFAULT, functions[a]), *needed = dlsym(one, "base_count");
    say("seen %d %d %d", before == NULL, local == NULL, needed != NULL);
    void *two = load(argv[2], names[b], RTLD_LAZY | RTLD_GLOBAL);
    int (*second)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, functions[b]);
    int result = second(5);
    say("%s %d, counted %d", names[b], result, count);
    void *three = load(argv[2], "libplugin3.so", RTLD_NOW);
    say("sees %d", ((int (*)(void))dlsym(two, "seen"))());
    say("sees %d", ((int (*)(void))dlsym(three, "seen"))());
    say("same %d %d", load(argv[2], names[a], RTLD_NOW) == one, dlsym(two, "base_count") == needed);
    void *loaded = dlopen("libno_such.so", RTLD_NOW | RTLD_NOLOAD), *there = dlopen(names[b], RTLD_NOW | RTLD_NOLOAD);
    say("loaded %d %d", loaded != NULL, there == two);
    void (*thrower)(const char *) = (void (*)(const char *))dlsym(two, "throw_it");
    sched_yield();
    try {
        thrower(who);
    } catch (const std::runtime_error &error) {
        say("caught %s", error.what());
    }
    Dl_info info;
    int found = dladdr((void *)function, &info);
    const char *slash = strrchr(info.dli_fname, '/');
    say("place %d %s %s", found, slash + 1, info.dli_sname);
    say("in the list %d", dl_iterate_phdr(look, NULL));
    void *near = load(argv[2], "libnear.so", RTLD_NOW);
    int (*next)(void) = near ? (int (*)(void))dlsym(near, "near_next") : NULL;
    for (int i = 0; argc > 3 && i < 3; i++) {
        int value = next ? next() : 0;
        sched_yield();
        say("near %d", value);
    }
    result = function(1);
    say("%d %d", result, dlclose(two));
    say("own %d", dlsym(dlopen(NULL, RTLD_NOW), "program_count") == (void *)program_count);
    return 0;
}
