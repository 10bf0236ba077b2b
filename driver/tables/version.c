/* The Makefile rebuilds this file, and no other, whenever the commit changes. */
#include "driver/tables/tables.h"

#ifndef VERSION
#define VERSION ""
#define COMMIT ""
#define COMPILER ""
#define FLAGS ""
#endif

const char version_number[] = VERSION;
const char version_commit[] = COMMIT;
const char version_compiler[] = COMPILER;
const char version_flags[] = FLAGS;
