/* What control groups allow, from folders that look like a system's. */
#include "tests/scratch.h"

#include <sys/stat.h>

#include "model/core/limits.h"

/* A folder in the place of the root; what is below it goes with it. */
struct root {
    char path[SCRATCH_PATH];
};

#define IN_ROOT(id) TEST_IN(id, struct root, root, scratch_folder(root->path), scratch_remove_all(root->path))

/* A file with its folders. */
static void put(const struct root *root, const char *name, const char *text)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", root->path, name);
    for (char *slash = path + strlen(root->path) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    put_text(path, text);
}

static struct limits read_limits(const struct root *root)
{
    struct limits limits;

    limits_read(&limits, root->path);
    return limits;
}

IN_ROOT(limits_without_groups)
{
    struct limits limits = read_limits(root);

    CHECK(isinf(limits.processors) && limits.memory > 1 << 20);
}

/* The least from the group to the root counts. */
IN_ROOT(limits_version_2)
{
    put(root, "proc/self/cgroup", "0::/job_7/step_0\n");
    put(root, "sys/fs/cgroup/job_7/step_0/cpu.max", "max 100000\n");
    put(root, "sys/fs/cgroup/job_7/step_0/memory.max", "max\n");
    put(root, "sys/fs/cgroup/job_7/cpu.max", "250000 100000\n");
    put(root, "sys/fs/cgroup/job_7/memory.max", "1048576\n");
    put(root, "sys/fs/cgroup/cpu.max", "900000 100000\n");
    put(root, "sys/fs/cgroup/memory.max", "2097152\n");
    struct limits limits = read_limits(root);
    CHECK_CLOSE(limits.processors, 2.5, 1e-12);
    CHECK(limits.memory == 1048576);
}

/* In a container, whose group has the host's path and is the root of what is there. */
IN_ROOT(limits_version_1)
{
    put(root, "proc/self/cgroup",
        "9:name=systemd:/docker/0123\n4:memory:/docker/0123\n2:cpu,cpuacct:/docker/0123\n1:cpuset:/\n0::/"
        "x\n");
    put(root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
    put(root, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "4194304\n");
    struct limits limits = read_limits(root);
    CHECK_CLOSE(limits.processors, 0.5, 1e-12);
    CHECK(limits.memory == 4194304);
}

IN_ROOT(limits_that_are_none)
{
    struct limits without = read_limits(root);

    put(root, "proc/self/cgroup", "nonsense\n:\n::\n4:memory:/a\n1:cpu:/a\n0::\n");
    put(root, "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
    put(root, "sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    put(root, "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    put(root, "sys/fs/cgroup/cpu.max", "\n");
    put(root, "sys/fs/cgroup/memory.max", "many\n");
    struct limits limits = read_limits(root);
    CHECK(isinf(limits.processors) && limits.memory == without.memory);
}
