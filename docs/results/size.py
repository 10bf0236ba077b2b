"""Where growth ends in the paper's own network, and in smaller ones on the same text, at a rate of 0.01."""

from study import about, count, lines, long, number

RATE = 0.01
WHOLE = 64 * 115  # steps of a column
STEP = {"float": 9.178, "bfloat16": 8.784}  # seconds, as plan measured on two cores with AVX2, which emulate bfloat16


def smaller(layers, width):
    """The paper's block with fewer layers or a smaller width: heads of 64, two thirds of the width in between."""
    return long("figure6-fast", f"layers={layers}", f"width={width}", f"heads={width // 64}",
                f"feedforward={width * 2 // 3}", f"learning_rate=[{RATE}]")


SWEEPS = {"2x64": smaller(2, 64), "12x64": smaller(12, 64), "12x192": smaller(12, 192), "long": long("figure6-fast")}
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
    small, *less = found["2x64"]
    for key, (large, *more) in list(found.items())[1:]:
        yield number(f"boundary, {NAMES[key]} over 2 x 64", large / small, more[0] / less[1], more[1] / less[0],
                     "runs on either side")
    for name, steps, precision in (("whole column", WHOLE, "float"), ("whole column", WHOLE, "bfloat16"),
                                   ("refine", trained.sum() * 115, "bfloat16"),
                                   ("refine and stop_when", column.last_step.where(trained).sum(), "bfloat16")):
        yield about(f"core-hours, 12 x 768, {name} in {precision}", steps * STEP[precision] / 3600)


def figure(rows):
    return lines(rows, {"boundary": {name: f"boundary, {name}" for name in NAMES.values()}}, "layers x width",
                 "weight decay (–)", "y")
