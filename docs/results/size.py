"""Where growth ends in the paper's own network, and in smaller ones on the same text."""

from study import about, count, lines, long, number

RATE = 0.01  # of the networks between, and of prices
WHOLE = 64 * 115  # steps of a column
STEP = {"float": 9.178, "bfloat16": 8.784}  # seconds, as plan measured on two cores with AVX2, which emulate bfloat16


def smaller(layers, width, *settings):
    """The paper's block with fewer layers or a smaller width: heads of 64, two thirds of the width in between."""
    return long("figure6-fast", f"layers={layers}", f"width={width}", f"heads={width // 64}",
                f"feedforward={width * 2 // 3}", *settings)


SWEEPS = {"2x64": smaller(2, 64)}
SWEEPS |= {f"12x{width}": smaller(12, width, f"learning_rate=[{RATE}]") for width in (64, 192)}
SWEEPS |= {"long": long("figure6-fast")}
NAMES = {key: "12 x 768" if key == "long" else key.replace("x", " x ") for key in SWEEPS}


def numbers(**sweeps):
    found = {}
    for key, name in NAMES.items():
        column = sweeps[key].sel(learning_rate=[RATE], method="nearest")
        trained = column.last_step > 0
        yield count(f"runs, {name}", trained.sum())
        yield about(f"steps over those of 64 whole runs, {name}", column.last_step.where(trained).sum() / WHOLE)
        boundary = column.sweep.boundary()
        decay, before, after = found[key] = [boundary[part].item() for part in ("each", "before", "after")]
        yield number(f"boundary, {name}", decay, before, after, "runs on either side")
        whole = column.where(column.last_step == 115)
        yield about(f"least loss, {name}", whole.final_valid_loss.min(), 0.02)
        for decay in before, after:
            growth = column.norm_growth.sel(weight_decay=decay, method="nearest")
            yield about(f"growth at {decay:.3g}, {name}", growth, 0.1)
        norms = column.param_norm.sel(weight_decay=after, method="nearest").squeeze()
        yield about(f"largest norm over the first one at {after:.3g}, {name}", norms.max() / norms[0])
        yield about(f"step of the largest norm at {after:.3g}, {name}", norms.step[int(norms.argmax())], 0.3)
    for key in "2x64", "long":
        trained_at_all = sweeps[key].last_step.where(sweeps[key].last_step > 0)
        yield count(f"runs at all rates, {NAMES[key]}", trained_at_all.count())
        yield about(f"steps at all rates over those of whole runs, {NAMES[key]}",
                    trained_at_all.sum() / (WHOLE * trained_at_all.learning_rate.size))
        yield about(f"slope of the boundary, {NAMES[key]}", sweeps[key].sweep.boundary().slope, 0.1)
    small, large = (sweeps[key].sweep.boundary() for key in ("2x64", "long"))
    for rate in large.learning_rate.values:
        known = [[one[part].sel(learning_rate=rate).item() for part in ("each", "before", "after")]
                 for one in (large, small)]
        for name, at in zip(("12 x 768", "2 x 64"), known):
            if at[0] == at[0]:
                yield number(f"boundary at rate {rate:.2g}, {name}", *at, "runs on either side")
        if known[0][0] / known[1][0] > 0:
            yield over(f"boundary at rate {rate:.2g}, 12 x 768 over 2 x 64", *known)
    for key in "2x64", "long":
        least = sweeps[key].final_valid_loss.where(sweeps[key].last_step == 115).min("weight_decay")
        for rate in least.learning_rate.values:
            yield about(f"least loss at rate {rate:.2g}, {NAMES[key]}", least.sel(learning_rate=rate), 0.05)
    yield about("loss of the words' frequencies", sweeps["long"].unigram_loss.max(), 0.01)
    for key, at in list(found.items())[1:]:
        yield over(f"boundary, {NAMES[key]} over 2 x 64", at, found["2x64"])
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
    series = {}
    for name in NAMES.values():
        at = {float(key.split()[3].rstrip(",")): key for key in rows if key.startswith("boundary at rate")
              and key.endswith(f", {name}")}
        series[name] = at or {RATE: f"boundary, {name}"}
    return lines(rows, series, "learning rate (–)", "weight decay at which\ngrowth stops (–)", "xy")
