/* Shows the thread sanitizer two kinds of synchronization that the Swift runtime does not report. `scripts/sanitize` links these functions
   into the tests, where they take the place of the runtime's: they call it, and report the edge.

   - Synchronization.Mutex under contention. An uncontended lock and unlock are inlined into the instrumented caller; the other three
     paths are in libswiftSynchronization.so, which is not instrumented, and end in futex(2).
   - A continuation that is resumed before its task awaits it. swift_continuation_resume() reports a release of the task, and a task that
     was suspended acquires it when its job runs, but one that was not goes on at once. The next call into the runtime from instrumented
     code is the deallocation of the frame that it awaited in.

   The first edge is exact. The second may be reported early: a task that deallocates another frame between the resumption and its await
   acquires too, so a race of what it does in between with what came before the resumption would be hidden. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define DEALLOCATE "swift_task_dealloc"

void __tsan_acquire(void *address);
void __tsan_release(void *address);
SWIFT void *swift_task_getCurrent(void);

SWIFT void sanitized_lock(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool sanitized_try_lock(SELF) __asm__(TRY_LOCK);
SWIFT void sanitized_unlock(SELF) __asm__(UNLOCK);
SWIFT void sanitized_deallocate(void *frame) __asm__(DEALLOCATE);

static SWIFT void (*library_lock)(uint32_t thread, SELF);
static SWIFT bool (*library_try_lock)(SELF);
static SWIFT void (*library_unlock)(SELF);
static SWIFT void (*library_deallocate)(void *frame);

static void *library_function(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function) return function;
    fprintf(stderr, "error: the Swift runtime has no %s; scripts/sanitize-thread.c is made for Swift 6.3\n", name);
    abort();
}

__attribute__((constructor)) static void find_library_functions(void) {
    library_lock = library_function(LOCK);
    library_try_lock = library_function(TRY_LOCK);
    library_unlock = library_function(UNLOCK);
    library_deallocate = library_function(DEALLOCATE);
}

SWIFT void sanitized_lock(uint32_t thread, SELF) {
    library_lock(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT bool sanitized_try_lock(SELF) {
    bool locked = library_try_lock(mutex);
    if (locked) __tsan_acquire(mutex);
    return locked;
}

SWIFT void sanitized_unlock(SELF) {
    __tsan_release(mutex);
    library_unlock(mutex);
}

SWIFT void sanitized_deallocate(void *frame) {
    library_deallocate(frame);
    void *task = swift_task_getCurrent();
    if (task) __tsan_acquire(task);
}
