/*
 * What a valid sweep file says that is probably not meant. These are remarks and no errors: a study of
 * several optimisers may well give keys that only one of them uses.
 */
#include "driver/sweep/inside.h"

#include <inttypes.h>
#include <string.h>

/* Keys of one optimiser or another. A study of several optimisers may well give them all, so they are not
 * refused. */
static const struct {
    const char *name;
    enum optimiser_trait trait;
    bool decays; /* the key needs a weight_decay, too */
} keys[] = {
    {"momentum", HAS_MOMENTUM, false},
    {"beta1", HAS_BETAS, false},
    {"beta2", HAS_BETAS, false},
    {"epsilon", HAS_SECOND_MOMENT, false},
    {"decay", HAS_ROUNDED_DECAY, true},
};

enum { KEYS = sizeof(keys) / sizeof(*keys) };

struct remarks {
    bool set[KEYS], used[KEYS]; /* in some cell: not the default; used */
    int64_t cells, scaled,
        unscaled; /* cells; those whose decay is too large, by eta lambda and by lambda alone */
};

/* Does a step at the peak rate take the whole weight or more? The decay of adam passes through its moments.
 */
static void take_decay(struct remarks *remarks, const struct run *run)
{
    bool alone = run->decay_rule == DECAY_INDEPENDENT;
    double share = alone ? run->weight_decay : run->learning_rate * run->weight_decay;

    if (run->optimiser == OPTIMISER_ADAM || !(share >= 1))
        return;
    remarks->scaled += !alone;
    remarks->unscaled += alone;
}

static void take_run(struct remarks *remarks, const struct run *run)
{
    remarks->cells++;
    take_decay(remarks, run);
    for (int i = 0; i < KEYS; i++) {
        const struct param *param = param_find(keys[i].name);
        union param_value value = param_get(param, run);
        remarks->set[i] = remarks->set[i] || memcmp(&value, &param->initial, sizeof(value)) != 0;
        remarks->used[i] =
            remarks->used[i] || (optimiser_has((enum optimiser_kind)run->optimiser, keys[i].trait) &&
                                    (run->weight_decay > 0 || !keys[i].decays));
    }
}

void remarks_print(const struct sweep *sweep, FILE *out)
{
    struct remarks remarks = {0};
    struct walk walk;

    walk_init(&walk, sweep);
    while (walk_next(&walk))
        take_run(&remarks, &walk.run);
    walk_release(&walk);
    for (int i = 0; i < KEYS; i++)
        if (remarks.set[i] && !remarks.used[i]) {
            struct error line;
            position_error(&line, sweep->path, reader_named(sweep, keys[i].name)->position,
                "%s: has no effect: no cell has optimiser %s%s", keys[i].name,
                optimiser_list(keys[i].trait, "or").text,
                keys[i].decays ? " with a weight_decay above 0" : "");
            fprintf(out, "%s\n", line.text);
        }
    int64_t count = remarks.scaled + remarks.unscaled;
    if (count > 0)
        fprintf(out,
            "%s: in %" PRId64 " of %" PRId64 " cells %s%s%s is 1 or more: the decay of one step "
            "makes weights 0 at 1, reverses their signs above 1, and enlarges them above 2\n",
            sweep->path, count, remarks.cells, remarks.scaled ? "learning_rate * weight_decay" : "",
            remarks.scaled && remarks.unscaled ? " or " : "",
            remarks.unscaled ? "weight_decay with decay_rule independent" : "");
}
