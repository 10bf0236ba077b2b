#include "driver/commands/help_text.h"
#include "driver/commands/help.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A cell of a Markdown table. Escapes bars, which would end the cell, and outside `code` stars, which would
 * start italics, and what would be a tag, as <unk>. */
static void print_cell(const char *text)
{
    bool code = false;

    printf(" ");
    for (; *text; text++) {
        code ^= *text == '`';
        bool tag = *text == '<' && isalpha((unsigned char)text[1]);
        printf(*text == '|' || ((*text == '*' || tag) && !code) ? "\\%c" : "%c", *text);
    }
    printf(" |");
}

void help_row(const char *const *cells, int count)
{
    printf("|");
    for (int i = 0; i < count; i++)
        print_cell(cells[i]);
    printf("\n");
}

static void print_lines(const char *text, const char *indent, size_t width)
{
    size_t column = 0;

    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > 0 && column + 1 + length > width) {
            printf("\n");
            column = 0;
        }
        column += (size_t)printf("%s%.*s", column ? " " : indent, (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

void help_wrapped(const char *text)
{
    print_lines(text, "    ", 100);
}

void help_paragraph(const char *text)
{
    print_lines(text, "", 120);
}
