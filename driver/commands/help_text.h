#ifndef NORMSWEEP_DRIVER_COMMANDS_HELP_TEXT_H
#define NORMSWEEP_DRIVER_COMMANDS_HELP_TEXT_H

/* Prints a text in lines of up to 100 columns, indented by four blanks. */
void help_wrapped(const char *text);

/* Prints a text in lines of up to 120 columns. */
void help_paragraph(const char *text);

/* Prints a row of a Markdown table. */
void help_row(const char *const *cells, int count);

#endif
