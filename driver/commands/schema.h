#ifndef NORMSWEEP_DRIVER_COMMANDS_SCHEMA_H
#define NORMSWEEP_DRIVER_COMMANDS_SCHEMA_H

/* Prints a JSON Schema (draft-07) of sweep files, from the tables, for editors. Returns an exit status. */
int schema_print(void);

#endif
