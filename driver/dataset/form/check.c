/*
 * Checks that a file is a complete CDF-5 file. The netCDF library trusts the header: it allocates whatever
 * counts the header names, and reads zeros if a file ends before its variables do. So the header is parsed
 * here first, and every count and extent is compared with the file's length. The grammar is in "The CDF-5
 * file format" of netCDF's documentation: numbers are big-endian; a list is a tag, a count and its elements;
 * names and values are padded to 4 bytes.
 */
#include "driver/dataset/form/inside.h"
#include "driver/text/text.h"
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

/* What is wrong with a file, besides an errno. */
enum {
    FAULT_FORM = -1,
    FAULT_CUT = -2
}; /* not a valid header; it or variables extend beyond the file's end */

struct header {
    FILE *file;
    int64_t bytes, left; /* of the file; after the current position */
    int fault; /* the first, at which parsing stops; 0: none */
    bool netcdf4; /* a netCDF-4 file: there is no header to parse */
    int64_t dimension_count;
    int64_t *dimension; /* [dimension_count] lengths */
    struct extent *variable;
};

static void fail(struct header *header, int fault)
{
    if (!header->fault)
        header->fault = fault;
}

/* A number of `size` bytes; -1 if it is above INT64_MAX or missing. */
static int64_t read_number(struct header *header, int size)
{
    unsigned char byte[8];
    uint64_t value = 0;

    if (header->fault)
        return -1;
    if (header->left < size || fread(byte, 1, (size_t)size, header->file) != (size_t)size) {
        fail(header, ferror(header->file) ? errno : FAULT_CUT);
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

    if ((found != tag && !(found == TAG_ABSENT && count == 0)) || count < 0)
        fail(header, FAULT_FORM);
    else if (count > header->left / least)
        fail(header, FAULT_CUT);
    return header->fault ? 0 : count;
}

/* Skips `count` values of `size` bytes and the padding after them. */
static void skip_values(struct header *header, int64_t count, int64_t size)
{
    if (count < 0 || size == 0) {
        fail(header, FAULT_FORM);
    } else if (count > header->left / size || (count * size + 3) / 4 * 4 > header->left) {
        fail(header, FAULT_CUT);
    } else if (!header->fault && count > 0) {
        int64_t bytes = (count * size + 3) / 4 * 4;
        header->left -= bytes;
        if (fseeko(header->file, (off_t)bytes, SEEK_CUR) != 0)
            fail(header, errno);
    }
}

static void skip_name(struct header *header)
{
    int64_t length = read_number(header, 8);

    if (length < 1 || length > NC_MAX_NAME)
        fail(header, FAULT_FORM);
    skip_values(header, length, 1);
}

static void walk_dimensions(struct header *header)
{
    header->dimension_count = read_list(header, TAG_DIMENSIONS, 16);
    if (header->dimension_count > NC_MAX_DIMS)
        fail(header, FAULT_FORM);
    header->dimension = memory_new(NC_MAX_DIMS, sizeof(*header->dimension));
    for (int64_t i = 0; !header->fault && i < header->dimension_count; i++) {
        skip_name(header);
        header->dimension[i] = read_number(header, 8);
        if (header->dimension[i] < 1) /* 0 is an unlimited dimension, which this program never writes */
            fail(header, FAULT_FORM);
    }
}

static void walk_attributes(struct header *header)
{
    int64_t count = read_list(header, TAG_ATTRIBUTES, 20);

    for (int64_t i = 0; !header->fault && i < count; i++) {
        skip_name(header);
        int64_t type = read_number(header, 4), values = read_number(header, 8);
        skip_values(header, values, lookup_type_bytes(type));
    }
}

/* The number of values of a variable; the file's length + 1 if the file cannot hold so many. */
static int64_t walk_shape(struct header *header)
{
    int64_t count = read_number(header, 8), values = 1;

    if (count < 0 || count > NC_MAX_VAR_DIMS)
        fail(header, FAULT_FORM);
    for (int64_t i = 0; !header->fault && i < count; i++) {
        int64_t dimension = read_number(header, 8);
        if (dimension < 0 || dimension >= header->dimension_count) {
            fail(header, FAULT_FORM);
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

    header->variable = memory_new((size_t)count, sizeof(*header->variable));
    for (int64_t i = 0; !header->fault && i < count; i++) {
        skip_name(header);
        int64_t values = walk_shape(header);
        walk_attributes(header);
        int64_t size = lookup_type_bytes(read_number(header, 4));
        read_number(header, 8); /* the padded size, which follows from the shape */
        int64_t begin = read_number(header, 8);
        if (size == 0 || begin < 0)
            fail(header, FAULT_FORM);
        else if (begin > header->bytes || values > (header->bytes - begin) / size)
            fail(header, FAULT_CUT);
        else
            header->variable[i] = (struct extent){begin, values * size};
    }
}

static void walk_header(struct header *header)
{
    int64_t magic = read_number(header, 4);

    header->netcdf4 = magic == MAGIC_HDF5 && read_number(header, 4) == MAGIC_HDF5_REST;
    if (header->netcdf4)
        return;
    if (magic != MAGIC_CDF5 && header->fault <= 0)
        header->fault = FAULT_FORM; /* also of a short file */
    read_number(header, 8); /* the number of records, which is unused */
    walk_dimensions(header);
    walk_attributes(header);
    walk_variables(header);
}

int layout_check_file(
    const char *path, int64_t *bytes, bool *netcdf4, struct extent **extent, struct error *error)
{
    struct header header = {0};
    int cause, descriptor = regular_open(path, &header.bytes, &cause);

    if (descriptor < 0 && cause == EISDIR)
        return error_set(error, ERROR_INPUT,
            "%s: is a folder; if it has parts of a sweep, status counts their runs, analysis/figures "
            "draws them, and analysis/join makes one dataset of them",
            path);
    if (descriptor < 0)
        return cause == REGULAR_NONE ? layout_refuse(error, path) : layout_error(error, path, cause);
    header.file = fdopen(descriptor, "rb");
    if (!header.file) {
        close(descriptor);
        return layout_error(error, path, ENOMEM);
    }
    header.left = header.bytes;
    walk_header(&header);
    fclose(header.file);
    free(header.dimension);
    if (header.fault || !extent) {
        free(header.variable);
        header.variable = NULL;
    }
    if (header.fault > 0)
        return layout_error(error, path, header.fault);
    if (header.fault == FAULT_CUT)
        return error_set(error, ERROR_INPUT,
            "%s: is cut short at %lld bytes; copy it again, or remove it and begin anew with run", path,
            (long long)header.bytes);
    if (header.fault)
        return layout_refuse(error, path);
    *bytes = header.bytes;
    *netcdf4 = header.netcdf4;
    if (extent)
        *extent = header.variable;
    return 0;
}
