#ifndef NORMSWEEP_TESTS_PAPER_H
#define NORMSWEEP_TESTS_PAPER_H

#include <stdio.h>
#include <stdlib.h>

/* A file in memory, for what is drawn on a terminal. */
struct paper {
    char *text; /* all of it, once paper_news has been called */
    size_t size, seen;
    FILE *file;
};

static inline void paper_init(struct paper *paper)
{
    *paper = (struct paper){0};
    paper->file = open_memstream(&paper->text, &paper->size);
}

/* The output since the last call. */
static inline const char *paper_news(struct paper *paper)
{
    size_t seen = paper->seen;

    fflush(paper->file);
    paper->seen = paper->size;
    return paper->text + seen;
}

static inline void paper_release(struct paper *paper)
{
    fclose(paper->file);
    free(paper->text);
}

#endif
