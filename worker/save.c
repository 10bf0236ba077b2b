#include "worker/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "worker/checkpoint.h"

int save_weights(const char *folder, const struct digest *digest, const struct transformer *model,
    const scalar *weights, struct error *error)
{
    char name[DIGEST_TEXT], *path = NULL;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_set(error, ERROR_ENVIRONMENT, "%s: %s", folder, strerror(errno));
    digest_format(digest, name);
    if (asprintf(&path, "%s/%s.weights.nc", folder, name) < 0)
        return error_set(error, ERROR_ENVIRONMENT, "%s: no memory", folder);
    int failed = checkpoint_save_weights(path, &model->architecture, &model->layout, weights, error);
    free(path);
    return failed;
}

void save_failed(struct result *result, const struct error *error)
{
    result->outcome = OUTCOME_FAILED;
    snprintf(result->reason, sizeof(result->reason), "%.*s", REASON_SIZE - 1, error->text);
}
