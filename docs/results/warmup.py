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
                at_edge = recipe == "sgd_high" and placement != "pre"  # where another processor's rounding decides
                for word, found in ("collapsed", collapsed), ("diverged", diverged):
                    runs, words = int(found.sel(cell).sum()), f"runs that {word}, {name}"
                    yield (number(words, runs, max(runs - 2, 0), min(runs + 2, 3), "± 2 of 3 runs") if at_edge
                           else count(words, runs))
