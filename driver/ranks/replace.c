#include "driver/ranks/replace.h"

enum { VAIN_MOST = 3, SPAWN_SECONDS = 100 };

void replacements_init(struct replacements *r, struct wire *wire, char **argument)
{
    *r = (struct replacements){.wire = wire, .argument = argument, .worker = -1};
}

bool replacements_ready(const struct replacements *r)
{
    return r->argument && r->worker < 0 && r->vain < VAIN_MOST;
}

/* A spawn that failed would fail again. */
static void give_up(struct replacements *r)
{
    r->argument = NULL;
    r->worker = -1;
}

void replacements_begin(struct replacements *r, const struct peers *peers, int worker, double now)
{
    r->worker = worker;
    r->begun = now;
    r->vain++; /* reset to 0 when the worker is ready */
    if (!wire_spawn(r->wire, peers->peer[worker].host, r->argument))
        give_up(r);
}

bool replacements_look(struct replacements *r, struct peers *peers, int *worker, double now)
{
    int address;

    if (r->worker < 0)
        return false;
    *worker = r->worker;
    switch (wire_spawned(r->wire, &address)) {
    case SPAWN_DONE:
        r->worker = -1;
        if (peers_replace(peers, *worker, address, now) != 0)
            wire_forget(r->wire, address);
        return true;
    case SPAWN_UNDER_WAY:
        if (now - r->begun <= SPAWN_SECONDS)
            return false;
        give_up(r);
        return true;
    case SPAWN_NONE:
    case SPAWN_FAILED:
        break;
    }
    give_up(r);
    return true;
}
