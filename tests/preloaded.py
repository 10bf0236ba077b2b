"""Libraries between the program and the system: a few lines of C, compiled and preloaded."""

import os
import subprocess

HEADERS = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* next: the function of this name that the library stands before */
#define NEXT(type, name, ...) \\
    static type (*next)(__VA_ARGS__); \\
    if (!next) \\
        next = dlsym(RTLD_NEXT, #name)

static int ends(const char *text, const char *with)
{
    size_t length = text ? strlen(text) : 0;
    return length >= strlen(with) && strcmp(text + length - strlen(with), with) == 0;
}
"""

# is_part(FILE): is this descriptor's file a checkpoint that is not whole yet?
CHECKPOINTS = """
static int part[4096];
int open(const char *path, int flags, ...)
{
    NEXT(int, open, const char *, int, int);
    int file = next(path, flags, 0666);
    if (file >= 0 && file < 4096)
        part[file] = ends(path, ".part");
    return file;
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
static int is_part(int file)
{
    return file >= 0 && file < 4096 && part[file];
}
"""


def preload(folder, source, compiler="gcc", flags=()):
    (folder / "between.c").write_text(HEADERS + source)
    command = [compiler, "-shared", "-fPIC", "-O2", "-fno-omit-frame-pointer", *flags]
    subprocess.run([*command, "-o", folder / "between.so", folder / "between.c", "-ldl"], check=True)
    return {**os.environ, "LD_PRELOAD": str(folder / "between.so"), "ASAN_OPTIONS": "verify_asan_link_order=0"}
