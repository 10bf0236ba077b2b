"""Where growth ends in networks of four sizes, up to the paper's own, on the same text in the same steps."""

from study import about, count, lines, long, number


def smaller(layers, width):
    """The paper's block with fewer layers or a smaller width: heads of 64, two thirds of the width in between."""
    return long("figure6-fast", f"layers={layers}", f"width={width}", f"heads={width // 64}",
                f"feedforward={width * 2 // 3}")


SWEEPS = {"2x64": smaller(2, 64), "12x64": smaller(12, 64), "12x192": smaller(12, 192), "long": long("figure6-fast")}
NAMES = {"2x64": "2 × 64", "12x64": "12 × 64", "12x192": "12 × 192", "long": "12 × 768, the paper's"}


def numbers(**sweeps):
    for key, name in NAMES.items():
        ds = sweeps[key]
        yield count(f"runs trained, {name}", (ds.last_step > 0).sum())
        yield about(f"steps over those of the whole grid, {name}", ds.last_step.sum() / (115 * ds.last_step.size))
        found = ds.sweep.boundary()
        for rate, decay, low, high in zip(ds.learning_rate.values,
                                          *(found[part].squeeze().values for part in ("each", "before", "after"))):
            yield number(f"boundary at rate {rate:.3g}, {name}", decay, low, high, "runs on either side")
            losses = ds.final_valid_loss.sel(learning_rate=rate)
            yield about(f"least loss at rate {rate:.3g}, {name}", losses.min(), 0.02)


def figure(rows):
    rates = sorted({float(name.split()[3].rstrip(",")) for name in rows if name.startswith("boundary")})
    return lines(rows, {name: {rate: f"boundary at rate {rate:.3g}, {name}" for rate in rates}
                        for name in NAMES.values()},
                 "learning rate (–)", "boundary: weight decay (–)", "xy")
