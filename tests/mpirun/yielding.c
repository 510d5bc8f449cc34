/* Loaded before MPICH's own libraries: ranks that wait give way to each other. MPICH asks for messages in a loop without ever doing so,
   and with more ranks than cores each waits until the system takes the core from another. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker) {
    static unsigned (*progress)(void *);
    if (!progress) *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    unsigned done = progress(worker);
    if (!done) sched_yield();
    return done;
}
