/*
 * Checks that a file is a complete CDF-5 file. The netCDF library trusts the header: it allocates whatever
 * counts the header names, and reads zeros if a file ends before its variables do. So the header is parsed
 * here first, and every count and extent is compared with the file's length. The grammar is in "The CDF-5
 * file format" of netCDF's documentation: numbers are big-endian; a list is a tag, a count and its elements;
 * names and values are padded to 4 bytes.
 */
#include "driver/dataset/form/inside.h"
#include "model/corpora/corpora.h"

#include <netcdf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAGIC_CDF5 0x43444605 /* "CDF" and the version */
#define MAGIC_HDF5 0x89484446 /* "\x89HDF", the first half of the signature of a netCDF-4 file */
#define MAGIC_HDF5_REST 0x0d0a1a0a /* the second half */

enum { TAG_ABSENT = 0, TAG_DIMENSIONS = 10, TAG_VARIABLES = 11, TAG_ATTRIBUTES = 12 };

struct header {
    FILE *file;
    int64_t bytes, left; /* of the file; after the current position */
    int cause; /* errno of a read that failed, or ENOMEM; else 0 */
    bool sound; /* false: not a valid header; parsing has stopped */
    bool whole; /* false: header or variables extend beyond the end of the file */
    bool netcdf4; /* a netCDF-4 file: there is no header to parse */
    int64_t dimension_count;
    int64_t *dimension; /* [dimension_count] lengths */
    int64_t variable_count; /* so far */
    struct extent *variable;
};

/* `count` is from 0. */
static void skip(struct header *header, int64_t count)
{
    if (count > header->left) {
        header->whole = header->sound = false;
        return;
    }
    header->left -= count;
    if (count && fseeko(header->file, (off_t)count, SEEK_CUR) != 0) {
        header->cause = errno;
        header->sound = false;
    }
}

/* A number of `size` bytes; -1 if it is above INT64_MAX or missing. */
static int64_t read_number(struct header *header, int size)
{
    unsigned char byte[8];
    uint64_t value = 0;

    if (!header->sound)
        return -1;
    if (header->left < size || fread(byte, 1, (size_t)size, header->file) != (size_t)size) {
        header->whole = header->sound = false;
        header->cause = ferror(header->file) ? errno : 0;
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

    if (!header->sound)
        return 0;
    if ((found != tag && !(found == TAG_ABSENT && count == 0)) || count < 0)
        header->sound = false;
    else if (count > header->left / least)
        header->whole = header->sound = false;
    return header->sound ? count : 0;
}

/* Bytes of a value of an external type; 0: not a type of CDF-5. */
static int64_t type_size(int64_t type)
{
    switch (type) {
    case NC_BYTE:
    case NC_CHAR:
    case NC_UBYTE:
        return 1;
    case NC_SHORT:
    case NC_USHORT:
        return 2;
    case NC_INT:
    case NC_UINT:
    case NC_FLOAT:
        return 4;
    case NC_DOUBLE:
    case NC_INT64:
    case NC_UINT64:
        return 8;
    default:
        return 0;
    }
}

/* Skips `count` values of `size` bytes and the padding after them. */
static void skip_values(struct header *header, int64_t count, int64_t size)
{
    if (!header->sound)
        return;
    if (count < 0 || size == 0)
        header->sound = false;
    else if (count > header->left / size)
        header->whole = header->sound = false;
    else
        skip(header, (count * size + 3) / 4 * 4);
}

static void skip_name(struct header *header)
{
    int64_t length = read_number(header, 8);

    if (header->sound && (length < 1 || length > NC_MAX_NAME))
        header->sound = false;
    skip_values(header, length, 1);
}

static void walk_dimensions(struct header *header)
{
    int64_t count = read_list(header, TAG_DIMENSIONS, 16);

    header->dimension = calloc((size_t)count + 1, sizeof(*header->dimension));
    if (!header->dimension)
        header->cause = ENOMEM;
    if (!header->dimension || count > NC_MAX_DIMS)
        header->sound = false;
    for (int64_t i = 0; header->sound && i < count; i++) {
        skip_name(header);
        header->dimension[i] = read_number(header, 8);
        if (header->dimension[i] < 1) /* 0 is an unlimited dimension, which this program never writes */
            header->sound = false;
    }
    header->dimension_count = count;
}

static void walk_attributes(struct header *header)
{
    int64_t count = read_list(header, TAG_ATTRIBUTES, 20);

    for (int64_t i = 0; header->sound && i < count; i++) {
        skip_name(header);
        int64_t type = read_number(header, 4), values = read_number(header, 8);
        skip_values(header, values, type_size(type));
    }
}

/* The number of values of a variable; the file's length + 1 if the file cannot hold so many. */
static int64_t walk_shape(struct header *header)
{
    int64_t count = read_number(header, 8), values = 1;

    if (count < 0 || count > NC_MAX_VAR_DIMS)
        header->sound = false;
    for (int64_t i = 0; header->sound && i < count; i++) {
        int64_t dimension = read_number(header, 8);
        if (dimension < 0 || dimension >= header->dimension_count) {
            header->sound = false;
            break;
        }
        int64_t length = header->dimension[dimension];
        values = values > header->bytes / length ? header->bytes + 1 : values * length;
    }
    return values;
}

static void walk_variables(struct header *header)
{
    int64_t count = read_list(header, TAG_VARIABLES, 48);

    header->variable = calloc((size_t)count + 1, sizeof(*header->variable));
    if (!header->variable) {
        header->cause = ENOMEM;
        header->sound = false;
    }
    for (int64_t i = 0; header->sound && i < count; i++) {
        skip_name(header);
        int64_t values = walk_shape(header);
        walk_attributes(header);
        int64_t size = type_size(read_number(header, 4));
        read_number(header, 8); /* the padded size, which follows from the shape */
        int64_t begin = read_number(header, 8);
        if (!header->sound)
            break;
        if (size == 0 || begin < 0)
            header->sound = false;
        else if (begin > header->bytes || values > (header->bytes - begin) / size)
            header->whole = false;
        else
            header->variable[header->variable_count++] = (struct extent){begin, values * size};
    }
}

static void walk_header(struct header *header)
{
    int64_t magic = read_number(header, 4);

    if (magic == MAGIC_HDF5 && read_number(header, 4) == MAGIC_HDF5_REST) {
        header->netcdf4 = true;
        return;
    }
    if (magic != MAGIC_CDF5) {
        header->sound = false;
        header->whole = true;
        return;
    }
    read_number(header, 8); /* the number of records, which is unused */
    walk_dimensions(header);
    walk_attributes(header);
    walk_variables(header);
}

/* Parses a file's header. On failure -1 with the error set. The caller frees the header's lists in any case.
 */
static int examine(struct header *header, const char *path, struct error *error)
{
    *header = (struct header){.sound = true, .whole = true};
    int cause, descriptor = regular_open(path, &header->bytes, &cause);
    if (descriptor < 0 && cause == EISDIR)
        return error_set(error, ERROR_INPUT,
            "%s: is a folder; if it has parts of a sweep, status counts their runs, analysis/figures "
            "draws them, and analysis/join makes one dataset of them",
            path);
    if (descriptor < 0)
        return cause == REGULAR_NONE ? layout_refuse(error, path) : layout_error(error, path, cause);
    header->file = fdopen(descriptor, "rb");
    if (!header->file) {
        close(descriptor);
        return layout_error(error, path, ENOMEM);
    }
    header->left = header->bytes;
    walk_header(header);
    fclose(header->file);
    if (header->cause)
        return layout_error(error, path, header->cause);
    if (!header->whole)
        return error_set(error, ERROR_INPUT,
            "%s: is cut short at %lld bytes; copy it again, or remove it and begin anew with run", path,
            (long long)header->bytes);
    return header->sound ? 0 : layout_refuse(error, path);
}

int layout_check_file(const char *path, int64_t *bytes, bool *netcdf4, struct error *error)
{
    struct header header;
    int result = examine(&header, path, error);

    free(header.dimension);
    free(header.variable);
    if (result == 0) {
        *bytes = header.bytes;
        *netcdf4 = header.netcdf4;
    }
    return result;
}

struct extent *layout_extents(const char *path, struct error *error)
{
    struct header header;
    int result = examine(&header, path, error);

    free(header.dimension);
    if (result == 0 && !header.netcdf4)
        return header.variable;
    if (result == 0)
        layout_refuse(error, path);
    free(header.variable);
    return NULL;
}
