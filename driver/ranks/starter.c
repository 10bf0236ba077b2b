/*
 * A variable of the own MPI's starter makes this process a rank. One of another MPI's starter counts only if
 * several processes were started: it may be left over in a shell inside that starter, where a sweep can be
 * started plainly. `run` asks before MPI starts (starter_find), and again once MPI has (starter_check).
 */
#include "driver/ranks/inside.h"
#include "driver/text/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static const struct source {
    const char *rank, *size;
    const char *descriptor; /* variable with a descriptor through which ranks and starter talk; NULL: none */
    bool open_mpi, hydra; /* are these the variables of Open MPI's own starters, of MPICH's? */
} sources[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL, true, false},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", NULL, true, false}, {"PMI_RANK", "PMI_SIZE", "PMI_FD", false, true},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL, false, false}, /* srun without any MPI */
};

/* -1: not set. */
static int number_in(const char *variable)
{
    const char *text = variable ? getenv(variable) : NULL;

    return text ? (int)strtol(text, NULL, 10) : -1;
}

struct starter starter_find(void)
{
    struct starter other = {.rank = -1};
    bool open_mpi = mpirun_is_open_mpi(wire_library());

    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        const struct source *source = &sources[i];
        int rank = number_in(source->rank), size = number_in(source->size);
        int descriptor = number_in(source->descriptor);
        /* A container keeps variables, but not descriptors: nobody can be talked to there. */
        if (rank < 0 || (descriptor >= 0 && fcntl(descriptor, F_GETFD) < 0))
            continue;
        struct starter starter = {.rank = rank, .size = size > 0 ? size : 0, .variable = source->rank};
        if (open_mpi ? source->open_mpi : source->hydra)
            return starter;
        bool several = starter.size > 1 || (starter.size == 0 && source->open_mpi);
        starter.hopeless = open_mpi && !source->open_mpi && !source->hydra;
        if (other.rank < 0 && several)
            other = starter;
    }
    return other;
}

int starter_check(const struct starter *starter, int size, struct error *error)
{
    if (size > 1 || starter->size <= 1)
        return 0;
    return error_set(error, ERROR_ENVIRONMENT,
        "normsweep: %d processes were started (%s), but this program is built with %.*s, which does not "
        "connect them; start it with that library's mpiexec (srun --mpi=%s), or without any: "
        "normsweep run SWEEP.yaml",
        starter->size, starter->variable, wire_library_name(), wire_library(),
        mpirun_is_open_mpi(wire_library()) ? "pmix" : "pmi2");
}

void starter_warn_of_jobs(const char *output, int asked, int workers)
{
    struct starter starter = starter_find();

    if (asked > 0 && asked != workers && starter.variable)
        lines_print(stderr, 0, "%s: -j %d has no effect: %d process%s started before (%s is set)", output,
            asked, starter.size ? starter.size : workers + 1, starter.size == 1 ? " was" : "es were",
            starter.variable);
}

void starter_warn_of_spares(const char *output, int asked, const char *why)
{
    if (asked > 0)
        lines_print(stderr, 0, "%s: --spares %d has no effect: %s", output, asked, why);
}
