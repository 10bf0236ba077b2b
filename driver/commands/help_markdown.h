#ifndef NORMSWEEP_DRIVER_COMMANDS_HELP_MARKDOWN_H
#define NORMSWEEP_DRIVER_COMMANDS_HELP_MARKDOWN_H

/* One table of the reference as Markdown, or with NULL all of them as a page. An exit status: 2 for a name
 * that none has, which is then said. */
int help_markdown(const char *name);

#endif
