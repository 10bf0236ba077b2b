/*
 * The phase diagram of a running sweep, redrawn after changes, but so rarely that drawing takes less than 1 %
 * of the time.
 */
#include "driver/status/inside.h"
#include "driver/text/text.h"
#include "worker/host/host.h"

#include <stdlib.h>

#define REST 100 /* pause after a drawing, in times that the drawing took */
#define REST_LEAST 1 /* seconds, the shortest pause */

void live_map_init(struct live_map *map, const struct picture_runs *runs)
{
    *map = (struct live_map){.runs = *runs, .changed = true};
}

void live_map_release(struct live_map *map)
{
    free(map->text);
    map->text = NULL;
}

/* The map's lines, which the caller frees. */
static char *draw_text(const struct live_map *map, const struct canvas *canvas, int rows)
{
    struct terminal terminal = canvas->terminal;
    char *text;
    size_t size;
    FILE *out = memory_stream(&text, &size);

    terminal.columns = canvas_columns(canvas);
    picture_map(out, &terminal, rows, &map->runs);
    memory_stream_close(out);
    return text;
}

void live_map_draw(struct live_map *map, const struct canvas *canvas, int rows, double now)
{
    double begin = clock_now(), rest;

    if (!map->runs.outcome)
        return;
    bool fits = map->rows == rows && map->columns == canvas_columns(canvas);
    if (fits && (!map->changed || now < map->next))
        return;
    live_map_release(map);
    map->rows = rows;
    map->columns = canvas_columns(canvas);
    map->text = rows < PICTURE_MAP_ROWS ? NULL : draw_text(map, canvas, rows);
    map->changed = false;
    rest = REST * (clock_now() - begin);
    map->next = now + (rest > REST_LEAST ? rest : REST_LEAST);
}
