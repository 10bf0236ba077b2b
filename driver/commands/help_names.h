#ifndef NORMSWEEP_DRIVER_COMMANDS_HELP_NAMES_H
#define NORMSWEEP_DRIVER_COMMANDS_HELP_NAMES_H

/*
 * `help --names KIND`, which completions of shells ask: one name a line, a tab, and what it is. KIND is a
 * command (its options, and behind a second tab what they take; its operands as 1, 2, ...), a parameter whose
 * values are words (the values), or a placeholder of usage lines: KEY, VARIABLE, AXIS, NAME, COMMAND, or
 * several with bars between, where a word in small letters is itself. Returns an exit status.
 */
int help_names(const char *kind);

#endif
