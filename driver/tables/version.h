#ifndef NORMSWEEP_DRIVER_TABLES_VERSION_H
#define NORMSWEEP_DRIVER_TABLES_VERSION_H

/* What this build was made from: release, commit, compiler and flags. */
extern const char version_number[]; /* "0.1.0" */
extern const char version_commit[]; /* 12 digits, and + if files differed from it; "" outside a checkout */
extern const char version_compiler[]; /* with the variant's flags */
extern const char version_flags[]; /* other flags that affect numbers or speed */

#endif
