/* The dynamic linker's functions. */
#define _GNU_SOURCE
#include "say.h"
#include <dlfcn.h>
#include <link.h>

int lib_count(void);
int in_program(void) { return 12; }
static const char *who;
static int objects, own;

static int look(struct dl_phdr_info *info, size_t len, void *address) {
    objects++;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        unsigned long start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && (unsigned long)address - start < header->p_memsz) own = objects;
    }
    return 0;
}

int main(int argc, char **argv) {
    who = argv[1];
    void *all = dlopen(NULL, RTLD_NOW);
    int (*function)(void) = (int (*)(void))dlsym(all, "in_program");
    say("program %d", function == in_program);
    say("library %d", dlsym(RTLD_DEFAULT, "lib_count") == (void *)lib_count);
    say("next %d", dlsym(RTLD_NEXT, "lib_count") == (void *)lib_count);
    say("process %d", dlsym(RTLD_DEFAULT, "strlen") != NULL);
    void *library = dlopen("libdata_lib.so", RTLD_NOW);
    say("opened %d", library && dlsym(library, "lib_count") == (void *)lib_count);
    dlclose(library);
    void *nothing = dlsym(all, "no_such_symbol");
    say("nothing %d %d", nothing == NULL, dlerror() != NULL);
    nothing = dlopen("libno_such.so", RTLD_NOW);
    int told = dlerror() != NULL;
    say("no library %d %d %d", nothing == NULL, told, dlerror() == NULL);
    Dl_info info;
    int found = dladdr((char *)in_program + 1, &info);
    say("place %d %s %d", found, info.dli_sname, info.dli_saddr == (void *)in_program);
    const char *slash = strrchr(info.dli_fname, '/');
    say("file %s", slash ? slash + 1 : info.dli_fname);
    dl_iterate_phdr(look, (void *)in_program);
    int several = objects > 2;
    say("its own is number %d of several: %d", own, several);
    return 0;
}
