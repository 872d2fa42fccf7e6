/* Faults at the n-th write below one folder, for any library in the process (LD_PRELOAD).

   Counted are the calls that change files there: writes, creations, renames, removals, syncs. At the
   n-th the process is killed, half of a write done; or from the n-th on the disk is full, nothing
   there answers any more (a mount that went away; what is mapped into memory stays), or the clock
   is 400 days behind or ahead. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { OFF, COUNT, KILL, TERM, FULL, GONE, BEHIND, AHEAD };
#define JUMP (400L * 24 * 3600)

static atomic_int mode = OFF;
static atomic_long steps = 0;
static long fatal = 0;
static char home[PATH_MAX];
static size_t home_length = 0;

void fault_set(int new_mode, long n, const char *folder) {
    strncpy(home, folder, sizeof home - 1);
    home_length = strlen(home);
    fatal = n;
    steps = 0;
    mode = new_mode;
}

long fault_steps(void) { return steps; }

static int below(const char *path) {
    char full[PATH_MAX];
    if (path[0] != '/') {
        if (!getcwd(full, sizeof full)) return 0;
        strncat(full, "/", sizeof full - strlen(full) - 1);
        strncat(full, path, sizeof full - strlen(full) - 1);
        path = full;
    }
    return strncmp(path, home, home_length) == 0 && strchr("/", path[home_length]);
}

static int below_at(int folder, const char *path) {
    if (path[0] == '/' || folder == AT_FDCWD) return below(path);
    char link[64], at[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t n = readlink(link, at, sizeof at - 1);
    if (n < 0) return 0;
    at[n] = 0;
    if (at[0] != '/') return 0; /* a pipe or a socket */
    if (path[0]) {
        strncat(at, "/", sizeof at - strlen(at) - 1);
        strncat(at, path, sizeof at - strlen(at) - 1);
    }
    return below(at);
}

static int below_fd(int file) {
    if (mode == OFF) return 0;
    return below_at(file, "");
}

static void end(void) { kill(getpid(), mode == TERM ? SIGTERM : SIGKILL); for (;;) pause(); }

/* Return 1 where the disk takes no more; *half is 1 where half of it is to be written first. */
static int step(int takes_space, int *half) {
    if (mode == OFF) return 0;
    if (mode == FULL && !takes_space) return 0;
    long now = atomic_fetch_add(&steps, 1) + 1;
    if (mode == FULL && now >= fatal) { errno = ENOSPC; return 1; }
    if (mode == GONE && now >= fatal) { errno = EIO; return 1; }
    if ((mode == KILL || mode == TERM) && now == fatal) {
        if (!half) end();
        *half = 1;
    }
    return 0;
}

/* Return 1 where nothing below the folder answers any more. */
static int gone(void) {
    if (mode != GONE || steps < fatal) return 0;
    errno = EIO;
    return 1;
}

static long jump(void) {
    if ((mode != BEHIND && mode != AHEAD) || steps < fatal) return 0;
    return mode == AHEAD ? JUMP : -JUMP;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__) = 0; \
    if (!real) real = dlsym(RTLD_NEXT, #name)

#define WRITER(name, arguments, size, call_half, call) \
    ssize_t name arguments { \
        REAL_##name; \
        if (!below_fd(file)) return call; \
        int half = 0; \
        if (step(1, &half)) return -1; \
        if (half) { size_t n = (size) / 2; if (n) call_half; end(); } \
        return call; \
    }

#define REAL_write REAL(ssize_t, write, int, const void *, size_t)
WRITER(write, (int file, const void *data, size_t size), size, (void)!real(file, data, n), real(file, data, size))
#define REAL_pwrite REAL(ssize_t, pwrite, int, const void *, size_t, off_t)
WRITER(pwrite, (int file, const void *data, size_t size, off_t at), size, (void)!real(file, data, n, at), real(file, data, size, at))
#define REAL_pwrite64 REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
WRITER(pwrite64, (int file, const void *data, size_t size, off64_t at), size, (void)!real(file, data, n, at), real(file, data, size, at))
#define REAL_writev REAL(ssize_t, writev, int, const struct iovec *, int)
WRITER(writev, (int file, const struct iovec *parts, int count), (size_t)count, (void)!real(file, parts, (int)n), real(file, parts, count))
#define REAL_pwritev REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t)
WRITER(pwritev, (int file, const struct iovec *parts, int count, off_t at), (size_t)count, (void)!real(file, parts, (int)n, at), real(file, parts, count, at))
#define REAL_sendfile REAL(ssize_t, sendfile, int, int, off_t *, size_t)
WRITER(sendfile, (int file, int from, off_t *at, size_t size), size, (void)!real(file, from, at, n), real(file, from, at, size))
#define REAL_sendfile64 REAL(ssize_t, sendfile64, int, int, off64_t *, size_t)
WRITER(sendfile64, (int file, int from, off64_t *at, size_t size), size, (void)!real(file, from, at, n), real(file, from, at, size))

ssize_t copy_file_range(int from, off64_t *start, int file, off64_t *at, size_t size, unsigned flags) {
    REAL(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned);
    if (!below_fd(file)) return real(from, start, file, at, size, flags);
    int half = 0;
    if (step(1, &half)) return -1;
    if (half) { if (size > 1) (void)!real(from, start, file, at, size / 2, flags); end(); }
    return real(from, start, file, at, size, flags);
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *stream) {
    REAL(size_t, fwrite, const void *, size_t, size_t, FILE *);
    if (!stream || !below_fd(fileno(stream))) return real(data, size, count, stream);
    int half = 0;
    if (step(1, &half)) return 0;
    if (half) { if (count > 1) real(data, size, count / 2, stream); fflush(stream); end(); }
    return real(data, size, count, stream);
}

static int creates(int is_below, int is_there, int flags) {
    if (!is_below || !(flags & (O_CREAT | O_TRUNC))) return 0;
    return step(!is_there, 0);
}

#define OPENER(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, name, const char *, int, ...); \
        va_list list; va_start(list, flags); mode_t bits = va_arg(list, mode_t); va_end(list); \
        if (gone() && below(path)) return errno = EIO, -1; \
        if (mode != OFF && creates(below(path), access(path, F_OK) == 0, flags)) return -1; \
        return real(path, flags, bits); \
    }
OPENER(open)
OPENER(open64)

#define OPENER_AT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        REAL(int, name, int, const char *, int, ...); \
        va_list list; va_start(list, flags); mode_t bits = va_arg(list, mode_t); va_end(list); \
        if (gone() && below_at(folder, path)) return errno = EIO, -1; \
        if (mode != OFF && creates(below_at(folder, path), faccessat(folder, path, F_OK, 0) == 0, flags)) return -1; \
        return real(folder, path, flags, bits); \
    }
OPENER_AT(openat)
OPENER_AT(openat64)

#define OPENS_STREAM(name) \
    FILE *name(const char *path, const char *how) { \
        REAL(FILE *, name, const char *, const char *); \
        if (gone() && below(path)) return errno = EIO, NULL; \
        if (mode != OFF && how[0] != 'r' && creates(below(path), access(path, F_OK) == 0, O_CREAT)) return 0; \
        return real(path, how); \
    }
OPENS_STREAM(fopen)
OPENS_STREAM(fopen64)

#define CHANGE(type, name, arguments, is_below, takes_space, ...) \
    int name arguments { \
        REAL(int, name, type); \
        if (mode != OFF && (is_below) && step(takes_space, 0)) return -1; \
        return real(__VA_ARGS__); \
    }
#define T(...) __VA_ARGS__
CHANGE(T(const char *, mode_t), mkdir, (const char *path, mode_t bits), below(path), 1, path, bits)
CHANGE(T(int, const char *, mode_t), mkdirat, (int folder, const char *path, mode_t bits), below_at(folder, path), 1, folder, path, bits)
CHANGE(T(const char *, const char *), rename, (const char *from, const char *to), below(to), 0, from, to)
CHANGE(T(int, const char *, int, const char *), renameat, (int a, const char *from, int b, const char *to), below_at(b, to), 0, a, from, b, to)
CHANGE(T(int, const char *, int, const char *, unsigned), renameat2, (int a, const char *from, int b, const char *to, unsigned flags), below_at(b, to), 0, a, from, b, to, flags)
CHANGE(T(const char *, const char *), link, (const char *from, const char *to), below(to), 1, from, to)
CHANGE(T(int, const char *, int, const char *, int), linkat, (int a, const char *from, int b, const char *to, int flags), below_at(b, to), 1, a, from, b, to, flags)
CHANGE(T(const char *), unlink, (const char *path), below(path), 0, path)
CHANGE(T(int, const char *, int), unlinkat, (int folder, const char *path, int flags), below_at(folder, path), 0, folder, path, flags)
CHANGE(T(const char *), rmdir, (const char *path), below(path), 0, path)
CHANGE(T(int, off_t), ftruncate, (int file, off_t size), below_fd(file), 0, file, size)
CHANGE(T(int, off64_t), ftruncate64, (int file, off64_t size), below_fd(file), 0, file, size)
CHANGE(T(int), fsync, (int file), below_fd(file), 0, file)
CHANGE(T(int), fdatasync, (int file), below_fd(file), 0, file)

#define READS(type, result, name, arguments, is_below, ...) \
    result name arguments { \
        REAL(result, name, type); \
        if (gone() && (is_below)) return errno = EIO, (result)-1; \
        return real(__VA_ARGS__); \
    }
READS(T(int, void *, size_t), ssize_t, read, (int file, void *data, size_t size), below_fd(file), file, data, size)
READS(T(int, void *, size_t, off_t), ssize_t, pread, (int file, void *data, size_t size, off_t at), below_fd(file), file, data, size, at)
READS(T(int, void *, size_t, off64_t), ssize_t, pread64, (int file, void *data, size_t size, off64_t at), below_fd(file), file, data, size, at)
READS(T(const char *, struct stat *), int, stat, (const char *path, struct stat *at), below(path), path, at)
READS(T(const char *, struct stat64 *), int, stat64, (const char *path, struct stat64 *at), below(path), path, at)
READS(T(const char *, struct stat *), int, lstat, (const char *path, struct stat *at), below(path), path, at)
READS(T(const char *, struct stat64 *), int, lstat64, (const char *path, struct stat64 *at), below(path), path, at)
READS(T(int, struct stat *), int, fstat, (int file, struct stat *at), below_fd(file), file, at)
READS(T(int, struct stat64 *), int, fstat64, (int file, struct stat64 *at), below_fd(file), file, at)
READS(T(int, const char *, struct stat *, int), int, fstatat, (int folder, const char *path, struct stat *at, int flags), below_at(folder, path), folder, path, at, flags)
READS(T(int, const char *, struct stat64 *, int), int, fstatat64, (int folder, const char *path, struct stat64 *at, int flags), below_at(folder, path), folder, path, at, flags)
READS(T(int, const char *, int, unsigned, struct statx *), int, statx, (int folder, const char *path, int flags, unsigned mask, struct statx *at), below_at(folder, path), folder, path, flags, mask, at)

DIR *opendir(const char *path) {
    REAL(DIR *, opendir, const char *);
    if (gone() && below(path)) return errno = EIO, NULL;
    return real(path);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(int, clock_gettime, clockid_t, struct timespec *);
    int ended = real(clock, now);
    if (!ended && clock == CLOCK_REALTIME) now->tv_sec += jump();
    return ended;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    REAL(int, gettimeofday, struct timeval *, void *);
    int ended = real(now, zone);
    if (!ended && now) now->tv_sec += jump();
    return ended;
}

time_t time(time_t *at) {
    REAL(time_t, time, time_t *);
    time_t now = real(NULL) + jump();
    if (at) *at = now;
    return now;
}
