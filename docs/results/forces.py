"""What feeds the norm along the boundary of growth, for three places of the norm and three beta1."""

from study import of_range, small

SWEEPS = {"small": small("forces", "learning_rate={log: [3e-4, 3e-2], points: 4}")}
FIGURE = "small", "forces-boundary", {"title": "", "width": 4.5}


def numbers(small):
    shares, each = small.sweep.forces_at_boundary(), small.sweep.boundary().each
    for placement in small.norm_placement.values:
        for rate in small.learning_rate.values:
            for beta in small.beta1.values:
                at = dict(norm_placement=placement, learning_rate=rate, beta1=beta)
                name = f"at rate {rate:.2g}, {placement}, beta1 {beta:g}"
                share = shares.sel(at)
                for force in "pull", "chance", "injection":
                    yield of_range(f"{force} {name}", share.sel(force=force).values)
                walk = share.sel(force="chance") + share.sel(force="injection")
                yield of_range(f"chance and injection {name}", walk.values)
                if beta != 0.9:
                    yield of_range(f"boundary over that of beta1 0.9 {name}",
                                   (each.sel(at) / each.sel(at | {"beta1": 0.9})).values)
