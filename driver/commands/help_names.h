#ifndef NORMSWEEP_DRIVER_COMMANDS_HELP_NAMES_H
#define NORMSWEEP_DRIVER_COMMANDS_HELP_NAMES_H

/*
 * `help --names KIND`, for shell completions: prints lines of a name, a tab and a description. KIND is
 *
 * - a command: its options, with the placeholder of a value after a second tab; its operands as 1, 2, ...;
 * - a parameter whose values are words: these words;
 * - a placeholder of usage lines (KEY, VARIABLE, AXIS, NAME, COMMAND), or several with bars between, where a
 *   word in small letters stands for itself.
 *
 * Returns an exit status.
 */
int help_names(const char *kind);

#endif
