/* The checkpoints that lie in a folder, by the digests of their runs, read once when a start begins. */
#include "worker/checkpoint/inside.h"

#include <errno.h>
#include <stdlib.h>

struct name_gathering {
    struct checkpoint_set *set;
    bool failed; /* no memory */
};

static void take_name(void *context, const struct checkpoint_name *name)
{
    struct name_gathering *gathering = context;
    struct checkpoint_set *set = gathering->set;

    if (name->session > set->session)
        set->session = name->session;
    if (set->count == set->size) {
        int64_t size = set->size ? 2 * set->size : 16;
        struct digest *more = realloc(set->digest, (size_t)size * sizeof(*more));
        if (!more) {
            gathering->failed = true;
            return;
        }
        set->digest = more;
        set->size = size;
    }
    set->digest[set->count++] = name->digest;
}

static int compare_digests(const void *a, const void *b)
{
    const struct digest *left = a, *right = b;

    if (left->high != right->high)
        return left->high < right->high ? -1 : 1;
    return (left->low > right->low) - (left->low < right->low);
}

static void sort_distinct(struct checkpoint_set *set)
{
    int64_t kept = 0;

    if (set->count > 0)
        qsort(set->digest, (size_t)set->count, sizeof(*set->digest), compare_digests);
    for (int64_t i = 0; i < set->count; i++)
        if (i == 0 || compare_digests(&set->digest[i], &set->digest[kept - 1]) != 0)
            set->digest[kept++] = set->digest[i];
    set->count = kept;
}

int checkpoint_set_init(struct checkpoint_set *set, const char *folder, struct error *error)
{
    *set = (struct checkpoint_set){.session = -1};
    struct name_gathering gathering = {.set = set};
    int cause = checkpoint_walk(folder, take_name, &gathering, error);

    if (cause == 0 && gathering.failed) {
        error_set(error, ERROR_ENVIRONMENT, "%s: no memory", folder);
        cause = ENOMEM;
    }
    if (cause != 0)
        checkpoint_set_release(set);
    else
        sort_distinct(set);
    return cause;
}

void checkpoint_set_release(struct checkpoint_set *set)
{
    free(set->digest);
    *set = (struct checkpoint_set){.session = -1};
}

bool checkpoint_set_has(const struct checkpoint_set *set, const struct digest *digest)
{
    return set->count > 0 &&
           bsearch(digest, set->digest, (size_t)set->count, sizeof(*set->digest), compare_digests) != NULL;
}
