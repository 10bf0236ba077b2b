#ifndef NORMSWEEP_DRIVER_PICTURE_LIVE_MAP_H
#define NORMSWEEP_DRIVER_PICTURE_LIVE_MAP_H

#include "driver/picture/picture.h"
#include "driver/terminal/canvas.h"

/*
 * The phase diagram of a running sweep. It is redrawn after changes, but so rarely that drawing takes less
 * than 1 % of the time, however large the grid is. When the terminal changes size it is redrawn at once,
 * because lines made for a larger terminal would push the workers' lines off a smaller one.
 */
struct live_map {
    struct picture_runs runs; /* borrowed pointers; outcome NULL: no map */
    char *text; /* the lines; NULL: none */
    int rows, columns; /* the size that the lines were made for */
    bool changed; /* since the last drawing */
    double next; /* time of the next drawing, at the earliest */
};

void live_map_init(struct live_map *map, const struct picture_runs *runs);
void live_map_release(struct live_map *map);

/* Updates `text` if due; `now` in seconds. At most `rows` lines of the canvas's width; none if rows are
 * too few for a map. */
void live_map_draw(struct live_map *map, const struct canvas *canvas, int rows, double now);

#endif
