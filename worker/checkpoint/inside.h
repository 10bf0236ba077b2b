#ifndef NORMSWEEP_WORKER_CHECKPOINT_INSIDE_H
#define NORMSWEEP_WORKER_CHECKPOINT_INSIDE_H

#include <netcdf.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "worker/checkpoint/checkpoint.h"

/*
 * Saves a run as its newest checkpoint. Makes the folder if the owner has no mark. Removes all checkpoints of
 * the run but the two newest, and the remains of unfinished saves; if the digest is shared, only those of its
 * own session. Durable when it returns 0. -1 with ERROR_ENVIRONMENT: leaves no unfinished file and does not
 * touch earlier checkpoints.
 */
int checkpoint_save(
    const struct checkpoint_owner *owner, const struct snapshot *snapshot, struct error *error);

/*
 * Fills the snapshot from the newest checkpoint of the run that is intact and was made with this BLAS kernel,
 * vector level and scalar, and returns 1. Returns 0 if there is none; the planes of the snapshot then hold
 * anything. Removes damaged checkpoints and keeps others that cannot be used; passes a line about each, with
 * the consequence, to `say` (which may be NULL). -1: ERROR_ENVIRONMENT.
 */
int checkpoint_load(const struct checkpoint_owner *owner, struct snapshot *snapshot,
    void (*say)(void *context, const char *line), void *context, struct error *error);

/* Says which checkpoint checkpoint_load would use: 1 and its step, or 0: none. Reads the same files, says
 * nothing, and leaves damaged ones where they are. -1: ERROR_ENVIRONMENT. */
int checkpoint_look(const struct checkpoint_owner *owner, int64_t *step, struct error *error);

/* Like checkpoint_save, but saves only the weights, as FOLDER/<digest>.weights.nc, and removes nothing. */
int checkpoint_save_weights(
    const struct checkpoint_owner *owner, const struct snapshot *snapshot, struct error *error);

/*
 * A 64-bit checksum of a stream of bytes, as fast as memory: FNV-1a over words instead of bytes, in many
 * independent lanes, so that numpy computes it fast, too (analysis/normsweep/weights.py). Every operation can
 * be undone (exclusive or, an odd factor, a shifted exclusive or), so a single altered word always changes
 * the result; other damage goes unnoticed with probability 2^-64. The length is included. It detects files
 * that were cut or altered, but is not secure against an adversary.
 */
enum { CHECKSUM_LANES = 1024, CHECKSUM_BLOCK = CHECKSUM_LANES * 8 };

struct checksum {
    uint64_t lane[CHECKSUM_LANES], bytes;
};

void checksum_init(struct checksum *checksum);

/* `count` must be a multiple of CHECKSUM_BLOCK, except for the last bytes of the stream. */
void checksum_add(struct checksum *checksum, const void *bytes, size_t count);

uint64_t checksum_value(const struct checksum *checksum);

/*
 * The name of a checkpoint: its run and its age. Newer ones have a larger session; in one session, a larger
 * ticket; for one ticket, a larger step.
 */
struct checkpoint_name {
    struct digest digest; /* of the run */
    int64_t session; /* row of the dataset's session table */
    uint64_t ticket; /* of the order under which a worker trains the run */
    int64_t step;
};

#define CHECKPOINT_NAME_SIZE 96

/* A checkpoint of one run in a folder, or the remains of an unfinished save. */
struct checkpoint_file {
    struct checkpoint_name name;
    bool part; /* it has PART_SUFFIX: it is being written, or the save did not finish */
};

struct checkpoint_files {
    const char *folder; /* borrowed */
    int64_t count, size;
    struct checkpoint_file *file; /* newest first; owned */
};

#define PART_SUFFIX ".part"
#define WEIGHTS_SUFFIX ".weights.nc"

/* The files of a run, or of all runs for NULL; the folder may be missing. Returns 0; or an errno, with
 * ERROR_ENVIRONMENT set and nothing to release. */
int checkpoint_files_list(
    struct checkpoint_files *files, const char *folder, const struct digest *digest, struct error *error);
void checkpoint_files_release(struct checkpoint_files *files);

/* FOLDER/NAME, which the caller frees; NULL without memory. */
char *checkpoint_files_path(const struct checkpoint_files *files, int64_t index);

/* Ignores errors: a file that cannot be removed does no harm. */
void checkpoint_files_remove(const struct checkpoint_files *files, int64_t index);

/*
 * Durably renames the complete file `part` to `path`; 0 or an errno. If `once`, an existing file at `path`
 * stays, and `part` is removed.
 */
int checkpoint_put_in_place(const char *folder, const char *part, const char *path, bool once);

/* Compares by age: < 0 if `a` is newer. */
int checkpoint_compare(const struct checkpoint_name *a, const struct checkpoint_name *b);

/* Writes the file's name without its folder. Returns text. */
char *checkpoint_format(const struct checkpoint_name *name, char text[CHECKPOINT_NAME_SIZE]);

/* False if the text is not the name of a checkpoint. */
bool checkpoint_parse(const char *text, struct checkpoint_name *name);

/*
 * The form of a checkpoint as a netCDF file. Weights, moments and what the instruments keep have one variable
 * per kind of tensor, with a leading dimension `layer` for tensors of layers; matrices are [out, in]. The
 * rows so far lie over `step`, as in the metric table. Position, times, parameters and everything that
 * numbers depend on are attributes.
 *
 * A weights file has the weights alone, and says what network they are: docs/formats.md has this form, in
 * which analysis/weights writes networks of others, too.
 */

/* The two kinds of files, as the attribute title has them. */
#define FORM_TITLE_CHECKPOINT "checkpoint of a run"
#define FORM_TITLE_WEIGHTS "weights of a network"
#define FORM_FAMILY_RUN "normsweep" /* the attribute `family` of a run's weights */

/*
 * Writes a file without its seal, only the weights if `weights_alone`. Syncs large contents piece by piece,
 * with a breath between pieces. Returns a netCDF status or an errno; on failure a file may be left.
 */
int form_write(const char *path, const struct digest *digest, const struct snapshot *snapshot,
    bool weights_alone, const struct breath *breath);

/*
 * Reads a file whose seal was checked. Returns 0, or a netCDF status or an errno, when the snapshot holds
 * anything. For a file of another run, format, BLAS kernel, vector level or scalar it returns 0, sets `unfit`
 * to the reason, and leaves the snapshot unchanged; otherwise `unfit` is "".
 */
int form_read(const char *path, const struct digest *digest, struct snapshot *snapshot,
    const struct breath *breath, char *unfit, size_t size);

/* The same checks without reading the contents: sets only the step. */
int form_look(const char *path, const struct digest *digest, int64_t *step, char *unfit, size_t size);

/* 0 if the mark exists, ENOENT if not, or another errno. */
int mark_look(const char *folder, const char *mark);

/*
 * May this process write into the folder? With a mark, as mark_look: a worker that was stopped for long may
 * have outlived its sweep, and nothing would find or remove its files. Without one (NULL) it is alone, and
 * makes the folder. 0 or an errno.
 */
int mark_admits(const char *folder, const char *mark);

/*
 * Those of the metrics come first, with their numbers there. `input` is as long as `width`: a variable cannot
 * have one dimension twice.
 */
enum dimension {
#define X(NAME, ...) NAME,
    METRIC_DIMENSIONS(X)
#undef X
        VOCABULARY,
    POSITION,
    WIDTH,
    INPUT,
    KEYS, /* of all heads, if they are fewer than those of the queries; else `width` */
    HEAD_WIDTH,
    HEADS,
    FEEDFORWARD,
    BUCKETS,
    BLOCK, /* of all stacks, if there are two; else `layer` */
    MEASURED_STEP,
    TENSOR_LETTER,
    TENSOR_KIND,
    FACTOR,
    DIMENSIONS
};

enum pass { DEFINE, PUT, GET };

struct form {
    enum pass pass;
    int file;
    int status; /* the first failure, a netCDF status or an errno; later visits do nothing */
    const char *path; /* borrowed */
    const struct breath *breath; /* or NULL; borrowed */
    size_t moved; /* bytes since the last breath */
    const struct snapshot *snapshot;
    int64_t length[DIMENSIONS]; /* 0: not in this file */
    int dimension[DIMENSIONS];
};

enum { RANK_MOST = METRIC_RANK_MOST };

/* The description of a variable. */
struct array {
    const char *name;
    nc_type type;
    int rank;
    enum dimension dimension[RANK_MOST];
    const char *long_name, *unit, *encoding; /* or NULL */
};

/*
 * Visits of dimensions, attributes and variables for the walk in form.c: each visit defines, writes or reads,
 * depending on the pass.
 */
#ifdef SCALAR_DOUBLE
#define SCALAR_NC NC_DOUBLE
#else
#define SCALAR_NC NC_FLOAT
#endif

/* DEFINE: defines the dimensions that have a length. GET: checks that the file has the same lengths. */
void visit_dimensions(struct form *form);

/* The length of a dimension in the file, 0 without such a dimension. */
int64_t find_length(const struct form *form, enum dimension dimension);

/* Visit global attributes. Texts are only written, in the pass DEFINE; numbers are also read back. */
void visit_text(struct form *form, const char *name, const char *text);
void visit_integer(struct form *form, const char *name, int64_t *value);
void visit_real(struct form *form, const char *name, double *value);

/* DEFINE: defines the variable. Other passes move its parts by move_part. */
void define_array(struct form *form, const struct array *array);

/* PUT, GET: moves a part of an array between the file and memory. */
void move_part(
    struct form *form, const struct array *array, const size_t *start, const size_t *count, void *values);

/* Visits an array of the same layout in memory and in the file; skips it if a dimension has length 0. */
void visit_array(struct form *form, const struct array *array, void *values);

/*
 * The architecture of a network in a weights file: the attributes of the variable `architecture`. Whoever
 * writes such a file, a run or analysis/weights, writes all of them; sizes and numbers have no default there.
 */

/* Defines the variable with its attributes, or writes its value, 0, depending on the pass. */
void network_visit(struct form *form, const struct architecture *architecture);

/* Reads the attributes, of which nothing is trusted. -1 with a message in error, without path. */
int network_read(int file, struct architecture *architecture, struct error *error);

/* Adds what the weights are used for, all attributes, to a digest. */
void network_digest(const struct architecture *architecture, struct digest *digest);

#define SEAL_NAME "checksum" /* the global attribute, the file's first */
#define SEAL_BLANK "----------------" /* its text before sealing, as long as the seal */

enum { SEAL_BROKEN = -1 };

/*
 * The seal of a netCDF file is the checksum of all its bytes, with the attribute's text taken as zeros. Both
 * functions return 0, SEAL_BROKEN (cut, altered or never sealed) or an errno. They read raw bytes, so that
 * the netCDF library never opens a damaged file. `breath` may be NULL.
 */
int seal_put(const char *path, const struct breath *breath);
int seal_check(const char *path, const struct breath *breath);

/* Has the file room for a seal where these functions put it, whatever stands there? Returns 0 if it has,
 * SEAL_BROKEN if not, or an errno. */
int seal_look(const char *path);

#endif
