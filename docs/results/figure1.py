"""Does the norm grow like √t, and does the direction converge? Two optimisers with two schedules."""

from study import about, count, number, small

SWEEPS = {"small": small("figure1-norms")}
FIGURE = "small", "norms", {"title": ""}
LAWS = "fit_aligned_aic", "fit_misaligned_aic", "fit_adam_like_aic"


def numbers(small):
    best = small[list(LAWS)].to_array("law").idxmin("law")
    yield count("recipes whose norm the Adam-like recursion fits best", (best == "fit_adam_like_aic").sum())
    for recipe in small.recipe.values:
        run = small.sel(recipe=recipe)
        yield about(f"growth, {recipe}", run.norm_growth - 1)
        for name in "fit_sqrt_r2", "growth_exponent", "fit_adam_like_r2":
            yield number(f"{name}, {recipe}", run[name], run[name] - 0.05, run[name] + 0.05, "± 0.05")
        cosine = run.direction_cosine.dropna("step")
        for name, value in ("first", cosine[0]), ("last", cosine[-1]):
            yield number(f"{name} cosine of steps 20 apart, {recipe}", value, value - 0.001, value + 0.001, "± 0.001")
