#ifndef NORMSWEEP_DRIVER_COMMANDS_HELP_MARKDOWN_H
#define NORMSWEEP_DRIVER_COMMANDS_HELP_MARKDOWN_H

/* Prints one table of the reference as Markdown, or the whole reference if the name is NULL. Returns the
 * exit status; 2 with a message on stderr for an unknown name. */
int help_markdown(const char *name);

#endif
