#ifndef NORMSWEEP_DRIVER_WEIGHTS_JSON_H
#define NORMSWEEP_DRIVER_WEIGHTS_JSON_H

#include "driver/text/tree.h"

/*
 * Reads one JSON document as RFC 8259 has it, and NaN, Infinity and -Infinity as Python writes them. Numbers
 * and words are scalars that are not quoted. Refused, so that no input takes more time or memory than its
 * length allows, and none reads as something else: repeated keys, nesting past TREE_DEPTH levels, NUL
 * characters, half a surrogate pair, anything but UTF-8. On failure -1, nothing held, the line in error
 * without its place, which is in *fault.
 */
int json_read(struct node *root, const char *text, size_t size, struct place *fault, struct error *error);

#endif
