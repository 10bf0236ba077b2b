#include "driver/help.h"

#include <stdio.h>
#include <string.h>

/* A cell of a Markdown table: a bar would end it. */
static void print_cell(const char *text)
{
    printf(" ");
    for (; *text; text++)
        printf(*text == '|' ? "\\|" : "%c", *text);
    printf(" |");
}

void help_row(const char *const *cells, int count)
{
    printf("|");
    for (int i = 0; i < count; i++)
        print_cell(cells[i]);
    printf("\n");
}

void help_wrapped(const char *text)
{
    size_t column = 0;

    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > 0 && column + 1 + length > 100) {
            printf("\n");
            column = 0;
        }
        column += (size_t)printf("%s%.*s", column ? " " : "    ", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}
