"""Where growth ends in the paper's own network, and in smaller ones on the same text."""

from study import about, count, lines, long, number

RATE = 0.01  # the largest one at which the paper's network learns; the prices are of its column
WHOLE = 64 * 115  # steps of a column
STEP = {"float": 9.178, "bfloat16": 8.784}  # seconds, as plan measured on two cores with AVX2, which emulate bfloat16


def smaller(layers, width, *settings):
    """The paper's block with fewer layers or a smaller width: heads of 64, two thirds of the width in between."""
    return long("figure6-fast", f"layers={layers}", f"width={width}", f"heads={width // 64}",
                f"feedforward={width * 2 // 3}", *settings)


SWEEPS = {"2x64": smaller(2, 64)}
SWEEPS |= {"12x64": smaller(12, 64, f"learning_rate={{log: [{RATE}, 1e-3], points: 3}}")}
SWEEPS |= {"12x192": smaller(12, 192, f"learning_rate=[{RATE}]"), "long": long("figure6-fast")}
NAMES = {key: "12 x 768" if key == "long" else key.replace("x", " x ") for key in SWEEPS}


def numbers(**sweeps):
    small = {}
    for key, name in NAMES.items():
        sweep = sweeps[key]
        trained = sweep.last_step.where(sweep.last_step > 0)
        yield count(f"runs, {name}", trained.count())
        yield about(f"steps over those of whole runs, {name}", trained.sum() / (WHOLE * sweep.learning_rate.size))
        boundary = sweep.sweep.boundary()
        for rate in sweep.learning_rate.values:
            column, words = sweep.sel(learning_rate=rate), f"at rate {rate:.2g}, {name}"
            least = column.final_valid_loss.where(column.last_step == 115).min()
            share = 0.2 if key == "long" and rate > 1.1 * RATE else 0.02  # there it is far from learning
            yield about(f"least loss of whole runs {words}", least, share)
            at = [boundary[part].sel(learning_rate=rate).item() for part in ("each", "before", "after")]
            if at[0] != at[0]:
                continue  # all norms shrink
            yield number(f"boundary {words}", *at, "runs on either side")
            beside = column.sel(weight_decay=at[1:], method="nearest")
            yield about(f"least loss beside the boundary {words}", beside.final_valid_loss.min(), share)
            for decay, growth in zip(at[1:], beside.norm_growth.values):
                yield about(f"growth at decay {decay:.3g} and {words.removeprefix('at ')}", growth, 0.1)
            if key == "2x64":
                small[f"{rate:.2g}"] = at
            elif f"{rate:.2g}" in small:
                yield over(f"boundary {words} over 2 x 64", at, small[f"{rate:.2g}"])
        if sweep.learning_rate.size > 1:
            up_to = sweep.sel(learning_rate=sweep.learning_rate[sweep.learning_rate <= RATE])
            yield about(f"slope of the boundary up to rate {RATE}, {name}", up_to.sweep.boundary().slope, 0.1)
    column = sweeps["long"].sel(learning_rate=RATE, method="nearest")
    least = column.isel(weight_decay=int(column.weight_decay.argmin()))
    yield about(f"loss at decay {least.weight_decay.item():.3g} and rate {RATE}, 12 x 768", least.final_valid_loss)
    yield about(f"steps at decay {least.weight_decay.item():.3g} and rate {RATE}, 12 x 768", least.last_step, 0.3)
    norms = column.param_norm.sel(weight_decay=0.774, method="nearest").squeeze()
    yield about(f"largest norm over the first one at decay 0.774 and rate {RATE}, 12 x 768", norms.max() / norms[0])
    yield about(f"step of the largest norm at decay 0.774 and rate {RATE}, 12 x 768",
                norms.step[int(norms.argmax())], 0.3)
    yield about("loss of the words' frequencies", sweeps["long"].unigram_loss.max(), 0.01)
    trained = column.last_step > 0
    yield count(f"runs at rate {RATE}, 12 x 768", trained.sum())
    yield about(f"steps over those of whole runs at rate {RATE}, 12 x 768",
                column.last_step.where(trained).sum() / WHOLE)
    for name, steps, precision in (("whole column", WHOLE, "float"), ("whole column", WHOLE, "bfloat16"),
                                   ("refine", trained.sum() * 115, "bfloat16"),
                                   ("refine and stop_when", column.last_step.where(trained).sum(), "bfloat16")):
        yield about(f"core-hours, 12 x 768, {name} in {precision}", steps * STEP[precision] / 3600)
    yield about("core-hours, 12 x 768, five columns, refine and stop_when in bfloat16",
                sweeps["long"].last_step.where(sweeps["long"].last_step > 0).sum() * STEP["bfloat16"] / 3600)


def over(name, one, other):
    """One boundary over another, each with the decays of the runs on either side."""
    return number(name, one[0] / other[0], one[1] / other[2], one[2] / other[1], "runs on either side")


def figure(rows):
    series = {name: {float(key.split()[3].rstrip(",")): key for key in rows
                     if key.startswith("boundary at rate") and key.endswith(f", {name}")} for name in NAMES.values()}
    return lines(rows, series, "learning rate (–)", "weight decay at which\ngrowth stops (–)", "xy")
