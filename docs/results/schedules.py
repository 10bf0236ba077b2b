"""Which recursion of norms fits best under three schedules, one seed."""

from study import about, count, number, small

SWEEPS = {"small": small("schedules", "warmup_steps=0")}
LAWS = {"aligned": "fit_aligned", "misaligned": "fit_misaligned", "Adam-like": "fit_adam_like"}


def numbers(small):
    yield count("steps", small.step[-1])
    for recipe in small.recipe.values:
        for schedule in small.schedule.values:
            run, name = small.sel(recipe=recipe, schedule=schedule), f"{recipe}, {schedule}"
            yield about(f"change of the norm, {name}", run.norm_growth - 1, 0.1)
            yield about(f"k of misaligned growth, {name}", run.fit_misaligned_k)
            for law, fit in LAWS.items():
                yield about(f"R² of {law} growth, {name}", run[f"{fit}_r2"], 0.1)
                if law != "aligned":
                    above = float(run[f"{fit}_aic"] - run.fit_aligned_aic)
                    room = max(0.3 * abs(above), 0.5)
                    yield number(f"AIC of {law} growth less aligned growth's, {name}", above, above - room,
                                 above + room, "± 30 %, at least 0.5")
