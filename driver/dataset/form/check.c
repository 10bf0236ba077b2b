/*
 * Checks that a file is a complete CDF-5 file. The netCDF library trusts the header: it allocates whatever
 * counts the header names, and reads zeros if a file ends before its variables do. So the header is parsed
 * here first, and every count and extent is compared with the file's length. The grammar is in "The CDF-5
 * file format" of netCDF's documentation: numbers are big-endian; a list is a tag, a count and its elements;
 * names and values are padded to 4 bytes.
 *
 * Names in the header of an open file are looked up here, too.
 */
#include "driver/dataset/form/inside.h"
#include "model/corpora/corpora.h"

#include <errno.h>

#define MAGIC_CDF5 0x43444605 /* "CDF" and the version */
#define MAGIC_HDF5 0x89484446 /* "\x89HDF", the first half of the signature of a netCDF-4 file */
#define MAGIC_HDF5_REST 0x0d0a1a0a /* the second half */

enum { TAG_ABSENT = 0, TAG_DIMENSIONS = 10, TAG_VARIABLES = 11, TAG_ATTRIBUTES = 12 };

struct header {
    FILE *file;
    int64_t bytes, left; /* of the file; after the current position */
    /* The first fault, at which parsing stops: an errno; NC_ENOTNC: not a valid header; NC_ETRUNC: header or
     * variables extend beyond the end of the file. */
    int status;
    int64_t dimension_count;
    int64_t *dimension; /* [dimension_count] lengths */
    struct extent *extent; /* of the variables; NULL: a netCDF-4 file, which has no header to parse */
};

/* Keeps the first fault. Has the header been valid so far? */
static bool demand(struct header *header, bool holds, int fault)
{
    if (header->status == 0 && !holds)
        header->status = fault;
    return header->status == 0;
}

/* A number of `size` bytes; -1 if it is above INT64_MAX or missing. */
static int64_t read_number(struct header *header, int size)
{
    unsigned char byte[8];
    uint64_t value = 0;

    if (header->status != 0)
        return -1;
    if (header->left < size || fread(byte, 1, (size_t)size, header->file) != (size_t)size) {
        header->status = ferror(header->file) ? errno : NC_ETRUNC;
        return -1;
    }
    header->left -= size;
    for (int i = 0; i < size; i++)
        value = value << 8 | byte[i];
    return value > INT64_MAX ? -1 : (int64_t)value;
}

/* Reads the start of a list and returns its count; each element has at least `least` bytes. */
static int64_t read_list(struct header *header, int64_t tag, int64_t least)
{
    int64_t found = read_number(header, 4), count = read_number(header, 8);
    bool valid = count >= 0 && (found == tag || (found == TAG_ABSENT && count == 0));

    return demand(header, valid, NC_ENOTNC) && demand(header, count <= header->left / least, NC_ETRUNC)
               ? count
               : 0;
}

int64_t type_size(int64_t type)
{
    static const int64_t size[] = {[NC_BYTE] = 1,
        [NC_CHAR] = 1,
        [NC_SHORT] = 2,
        [NC_INT] = 4,
        [NC_FLOAT] = 4,
        [NC_DOUBLE] = 8,
        [NC_UBYTE] = 1,
        [NC_USHORT] = 2,
        [NC_UINT] = 4,
        [NC_INT64] = 8,
        [NC_UINT64] = 8};

    return type >= 0 && type <= NC_UINT64 ? size[type] : 0;
}

/* Skips `count` values of `size` bytes and the padding after them. */
static void skip_values(struct header *header, int64_t count, int64_t size)
{
    if (!demand(header, count >= 0 && size > 0, NC_ENOTNC) ||
        !demand(header, count <= header->left / size, NC_ETRUNC))
        return;
    int64_t bytes = (count * size + 3) / 4 * 4;
    if (!demand(header, bytes <= header->left, NC_ETRUNC))
        return;
    header->left -= bytes;
    if (bytes > 0 && fseeko(header->file, (off_t)bytes, SEEK_CUR) != 0)
        header->status = errno;
}

static void skip_name(struct header *header)
{
    int64_t length = read_number(header, 8);

    demand(header, length >= 1 && length <= NC_MAX_NAME, NC_ENOTNC);
    skip_values(header, length, 1);
}

static void walk_dimensions(struct header *header)
{
    header->dimension_count = read_list(header, TAG_DIMENSIONS, 16);
    header->dimension = calloc((size_t)header->dimension_count + 1, sizeof(*header->dimension));
    demand(header, header->dimension, ENOMEM);
    demand(header, header->dimension_count <= NC_MAX_DIMS, NC_ENOTNC);
    for (int64_t i = 0; header->status == 0 && i < header->dimension_count; i++) {
        skip_name(header);
        header->dimension[i] = read_number(header, 8);
        /* 0 is an unlimited dimension, which this program never writes */
        demand(header, header->dimension[i] >= 1, NC_ENOTNC);
    }
}

static void walk_attributes(struct header *header)
{
    int64_t count = read_list(header, TAG_ATTRIBUTES, 20);

    for (int64_t i = 0; header->status == 0 && i < count; i++) {
        skip_name(header);
        int64_t type = read_number(header, 4), values = read_number(header, 8);
        skip_values(header, values, type_size(type));
    }
}

/* The number of values of a variable; the file's length + 1 if the file cannot hold so many. */
static int64_t walk_shape(struct header *header)
{
    int64_t count = read_number(header, 8), values = 1;

    demand(header, count >= 0 && count <= NC_MAX_VAR_DIMS, NC_ENOTNC);
    for (int64_t i = 0; i < count; i++) {
        int64_t dimension = read_number(header, 8);
        if (!demand(header, dimension >= 0 && dimension < header->dimension_count, NC_ENOTNC))
            break;
        int64_t length = header->dimension[dimension];
        values = values > header->bytes / length ? header->bytes + 1 : values * length;
    }
    return values;
}

static void walk_variables(struct header *header)
{
    int64_t count = read_list(header, TAG_VARIABLES, 48);

    header->extent = calloc((size_t)count + 1, sizeof(*header->extent));
    demand(header, header->extent, ENOMEM);
    for (int64_t i = 0; header->status == 0 && i < count; i++) {
        skip_name(header);
        int64_t values = walk_shape(header);
        walk_attributes(header);
        int64_t size = type_size(read_number(header, 4));
        read_number(header, 8); /* the padded size, which follows from the shape */
        int64_t begin = read_number(header, 8), room = header->bytes - begin;
        if (demand(header, size > 0 && begin >= 0, NC_ENOTNC) &&
            demand(header, room >= 0 && values <= room / size, NC_ETRUNC))
            header->extent[i] = (struct extent){begin, values * size};
    }
}

static void walk_header(struct header *header)
{
    int64_t magic = read_number(header, 4);

    if (magic == MAGIC_HDF5 && read_number(header, 4) == MAGIC_HDF5_REST)
        return;
    if (magic != MAGIC_CDF5 && header->status <= 0) /* it may be shorter than that */
        header->status = NC_ENOTNC;
    read_number(header, 8); /* the number of records, which is unused */
    walk_dimensions(header);
    walk_attributes(header);
    walk_variables(header);
}

int layout_check_file(const char *path, int64_t *bytes, struct extent **extent, struct error *error)
{
    struct header header = {0};
    int cause, descriptor = regular_open(path, &header.bytes, &cause);

    if (descriptor < 0 && cause == EISDIR)
        return error_set(error, ERROR_INPUT,
            "%s: is a folder; if it has parts of a sweep, status counts their runs, analysis/figures "
            "draws them, and analysis/join makes one dataset of them",
            path);
    if (descriptor < 0)
        return layout_error(error, path, cause == REGULAR_NONE ? NC_ENOTNC : cause);
    header.file = fdopen(descriptor, "rb");
    if (!header.file) {
        close(descriptor);
        return layout_error(error, path, ENOMEM);
    }
    header.left = header.bytes;
    walk_header(&header);
    fclose(header.file);
    free(header.dimension);
    *bytes = header.bytes;
    *extent = header.extent;
    if (header.status == 0)
        return 0;
    free(header.extent);
    *extent = NULL;
    if (header.status != NC_ETRUNC)
        return layout_error(error, path, header.status);
    return error_set(error, ERROR_INPUT,
        "%s: is cut short at %lld bytes; copy it again, or remove it and begin anew with run", path,
        (long long)header.bytes);
}

/* ---- names ---- */

/*
 * The library normalises each name before it looks it up. If it gets no memory for that, it says that the
 * name does not exist: a copied dataset would then lack the values of a variable. The names in an open file
 * can be read without memory, and are compared here. `status` is that of the library, `missing` the one that
 * says that the name does not exist.
 */
static int look_again(int file, const char *name, int status, int missing, int (*count_of)(int, int *),
    int (*name_of)(int, int, char *), int *id)
{
    char found[NC_MAX_NAME + 1];
    int count = 0;

    if (status != missing)
        return status;
    count_of(file, &count);
    for (int i = 0; i < count; i++)
        if (name_of(file, i, found) == NC_NOERR && strcmp(found, name) == 0) {
            *id = i;
            return NC_NOERR;
        }
    return missing;
}

int lookup_variable(int file, const char *name, int *variable)
{
    int status = nc_inq_varid(file, name, variable);

    return look_again(file, name, status, NC_ENOTVAR, nc_inq_nvars, nc_inq_varname, variable);
}

int lookup_dimension(int file, const char *name, int *dimension)
{
    int status = nc_inq_dimid(file, name, dimension);

    return look_again(file, name, status, NC_EBADDIM, nc_inq_ndims, nc_inq_dimname, dimension);
}

bool lookup_has_variable(int file, const char *name)
{
    int variable;

    return lookup_variable(file, name, &variable) != NC_ENOTVAR;
}

int lookup_attribute(int file, int variable, const char *name, nc_type *type, size_t *length)
{
    int count = 0, status = nc_inq_att(file, variable, name, type, length);
    char found[NC_MAX_NAME + 1];

    if (status != NC_ENOTATT)
        return status;
    nc_inq_varnatts(file, variable, &count);
    for (int i = 0; i < count; i++)
        if (nc_inq_attname(file, variable, i, found) == NC_NOERR && strcmp(found, name) == 0)
            return NC_ENOMEM;
    return status;
}
