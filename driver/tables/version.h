#ifndef NORMSWEEP_DRIVER_TABLES_VERSION_H
#define NORMSWEEP_DRIVER_TABLES_VERSION_H

/* What this build is: the release, the commit it was made from, the compiler and its flags. */
extern const char version_number[]; /* "0.1.0" */
extern const char version_commit[]; /* 12 digits, a + where files differed from it; "" outside a checkout */
extern const char version_compiler[]; /* with the variant's flags */
extern const char version_flags[]; /* the rest of those that bear on numbers or speed */

#endif
