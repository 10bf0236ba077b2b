/* The map of a running sweep, on a terminal whose size changes. */
#include "driver/status/inside.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

static union param_value seeds[] = {{.integer = 1}, {.integer = 2}, {.integer = 3}};
static signed char outcome[] = {OUTCOME_RUNNING, OUTCOME_PENDING, OUTCOME_PENDING};
static double growth[] = {NAN, NAN, NAN};

static int count_lines(const char *text)
{
    int lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* A map never has more lines than its room, also right after the room shrinks, even if the map was just
 * drawn or there is no room at all. */
TEST(live_map_keeps_to_a_room_that_shrinks)
{
    const struct param *seed = param_find("seed");
    struct axis axis = {
        .name = (char *)seed->name, .length = 3, .param_count = 1, .param = &seed, .value = seeds};
    const struct picture_runs runs = {.axis_count = 1, .axis = &axis, .outcome = outcome, .growth = growth};
    struct canvas canvas = {.terminal = {.columns = 60, .rows = 40}};
    struct live_map map;

    live_map_init(&map, &runs);
    live_map_draw(&map, &canvas, 30, 0);
    CHECK(map.text && strstr(map.text, "pending"));
    for (int rows = 29; rows >= 0; rows--) {
        live_map_draw(&map, &canvas, rows, 0.25);
        CHECK((map.text != NULL) == (rows >= 8));
        CHECK(!map.text || count_lines(map.text) <= rows);
    }
    live_map_draw(&map, &canvas, 30, 0.5);
    CHECK(map.text && strstr(map.text, "pending"));
    live_map_release(&map);
}
