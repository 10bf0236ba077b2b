#ifndef NORMSWEEP_DRIVER_PICTURE_LIVE_MAP_H
#define NORMSWEEP_DRIVER_PICTURE_LIVE_MAP_H

#include "driver/picture/diagram.h"
#include "driver/terminal/canvas.h"

/*
 * The phase diagram of a sweep that runs. It is drawn again when something has changed, and so seldom that it
 * takes less than a hundredth of the time, however large the grid is; and at once when its room has changed,
 * as lines that were made for a larger terminal would push the workers' lines out of a smaller one.
 */
struct live_map {
    struct diagram_runs runs; /* what it points to is borrowed; outcomes NULL: there is no map */
    char *text; /* its lines; NULL: none */
    int rows, columns; /* the room that it was drawn for */
    bool changed; /* since it was drawn */
    double next; /* not before */
};

void live_map_init(struct live_map *map, const struct diagram_runs *runs);
void live_map_release(struct live_map *map);

/* Makes `text` what it is to be by now, in seconds: at most `rows` lines that the canvas has room for, none
 * where they are too few. */
void live_map_draw(struct live_map *map, const struct canvas *canvas, int rows, double now);

#endif
