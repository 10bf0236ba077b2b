/* A job without its dataset. */
#include "driver/job/job.h"
#include "tests/test.h"

/* After the lease is lost, the folder of checkpoints may belong to another process. */
TEST(job_that_has_failed_leaves_no_mark)
{
    const char *temporary = getenv("TMPDIR");
    char folder[96], path[192];
    struct job job = {.folder = folder, .mark = "coordinator-000001-000000000000.mark"};

    snprintf(folder, sizeof(folder), "%.60s/normsweep-job-XXXXXX", temporary ? temporary : "/tmp");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/%s", folder, job.mark);
    job_renew_mark(&job);
    CHECK(access(path, F_OK) == 0);
    CHECK(unlink(path) == 0);
    job.failed = true;
    job_renew_mark(&job);
    CHECK(access(path, F_OK) != 0);
    CHECK(rmdir(folder) == 0);
}
