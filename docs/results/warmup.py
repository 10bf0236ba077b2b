"""Which arrangements need a warm-up, at which rates?"""

from study import about, count, number, of_spread, small

SWEEPS = {"small": small("warmup")}
FIGURE = "small", "warmup", {"title": ""}


def numbers(small):
    yield about("loss of the frequencies of bytes", small.unigram_loss.mean(), 0.01)
    collapsed, diverged = small.sweep.collapsed, small.sweep.diverged
    yield count("runs of an arrangement, with one warm-up", small.sizes["recipe"] * small.sizes["seed"])
    for recipe in small.recipe.values:
        for placement in small.norm_placement.values:
            for steps in small.warmup_steps.values:
                cell = dict(recipe=recipe, norm_placement=placement, warmup_steps=steps)
                name = f"{recipe}, {placement}, warm-up {steps}"
                yield of_spread(f"loss, {name}", small.final_valid_loss.sel(cell))
                for word, found in ("collapsed", collapsed), ("diverged", diverged):
                    runs = int(found.sel(cell).sum())  # at the edge chance decides, and another processor's rounding
                    yield number(f"runs that {word}, {name}", runs, max(runs - 2, 0), runs + 2, "± 2 of 3 runs")
