/* The table of the kinds of corpora; what each of them does is in the files that inside.h lists. */
#include "model/corpora/inside.h"

const struct corpus_kind_row corpus_kind_table[CORPUS_KIND_COUNT] = {
#define X(KIND, name, uses) [CORPUS_##KIND] = {#name, uses},
    CORPUS_KINDS(X)
#undef X
};
