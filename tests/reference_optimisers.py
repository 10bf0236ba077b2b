"""A second implementation of this program's optimisers, in PyTorch: torch.optim where PyTorch has the optimiser. Each
is a row of OPTIMISERS, from which the tests of training, combinations and equilibrium follow."""
import dataclasses
import math
import typing

import torch


@dataclasses.dataclass
class Optimiser:
    make: typing.Callable  # (configuration, groups of tensors): an optimiser without decay
    rate: float  # at which the network of test_parity.py learns
    drawn: float  # a rate for networks drawn at random (combinations.py)
    noise: str = "none"  # what its update holds of white noise, see correlations() of reference_equilibrium.py
    size: typing.Callable = lambda config, tensor: math.nan  # of an element of its update of white noise, if known
    mup: bool = False  # `parametrization: mup` has rates for it


class NormalizedSGD(torch.optim.Optimizer):
    def __init__(self, params, lr, weight_decay):
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                norm = p.grad.norm()
                unit = p.grad / norm if norm > 0 else torch.zeros_like(p)
                p.add_(unit + group["weight_decay"] * p, alpha=-group["lr"])


class Adafactor(torch.optim.Optimizer):
    """T5's: Shazeer and Stern 2018, without momentum, with the relative step size of the tensor's own scale."""

    def __init__(self, params, lr, weight_decay):
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay})

    def second_moment(self, p):
        state = self.state[p]
        t = state["step"] = state.get("step", 0) + 1
        beta2 = 1 - t**-0.8
        square = p.grad**2 + 1e-30

        def average(key, new):
            state[key] = beta2 * state[key] + (1 - beta2) * new if key in state else (1 - beta2) * new
            return state[key]

        if p.dim() == 1:
            return average("v", square)
        rows, columns = average("r", square.mean(1)), average("c", square.mean(0))
        return torch.outer(rows, columns) / rows.mean()

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                u = p.grad / self.second_moment(p).sqrt()
                u /= max(1.0, (u**2).mean().sqrt().item())
                scale = max((p**2).mean().sqrt().item(), 1e-3)
                p.sub_(group["lr"] * (group["weight_decay"] * p + scale * u))


class Lion(torch.optim.Optimizer):
    """Chen et al. 2023, algorithm 2."""

    def __init__(self, params, lr, weight_decay, betas):
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "betas": betas})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("momentum", torch.zeros_like(p))
                update = torch.sign(beta1 * m + (1 - beta1) * p.grad)
                p.sub_(group["lr"] * (update + group["weight_decay"] * p))
                m.mul_(beta2).add_(p.grad, alpha=1 - beta2)


def newton_schulz(x):
    """Five iterations of the quintic polynomial of Jordan et al. 2024, on a matrix over its Frobenius norm."""
    wide = x.T if x.shape[0] > x.shape[1] else x
    wide = wide / max(wide.norm().item(), 1e-7)
    for _ in range(5):
        square = wide @ wide.T
        wide = 3.4445 * wide + (-4.7750 * square + 2.0315 * square @ square) @ wide
    return wide.T if x.shape[0] > x.shape[1] else wide


class Muon(torch.optim.Optimizer):
    """Jordan et al. 2024 with Nesterov momentum, scaled as in Liu et al. 2025."""

    def __init__(self, params, lr, weight_decay, momentum=0.95):
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                buffer = self.state[p].setdefault("momentum", torch.zeros_like(p))
                buffer.lerp_(p.grad, 1 - group["momentum"])
                update = newton_schulz(p.grad.lerp(buffer, group["momentum"]))
                scale = 0.2 * math.sqrt(max(p.shape))
                p.sub_(group["lr"] * (scale * update + group["weight_decay"] * p))


def own(kind):
    """Of a class that needs the learning rate alone."""
    return lambda config, groups: kind(groups, config["learning_rate"], 0)


def adam(kind):
    return lambda config, groups: kind(groups, lr=config["learning_rate"], weight_decay=0, foreach=False,
                                       betas=(config["beta1"], config["beta2"]), eps=config["epsilon"])


OPTIMISERS = {
    "adamw": Optimiser(adam(torch.optim.AdamW), 3e-3, 3e-3, noise="mean", mup=True,
                       size=lambda config, tensor: math.sqrt((1 - config["beta1"]) / (1 + config["beta1"]))),
    "adam": Optimiser(adam(torch.optim.Adam), 3e-3, 3e-3, noise="mean", mup=True),
    "sgd": Optimiser(lambda config, groups: torch.optim.SGD(groups, lr=config["learning_rate"], weight_decay=0,
                                                            momentum=config["momentum"]), 0.1, 1e-3, noise="mean"),
    "normalized_sgd": Optimiser(own(NormalizedSGD), 0.02, 5e-3,
                                size=lambda config, tensor: 1 / math.sqrt(tensor.numel())),
    "adafactor": Optimiser(own(Adafactor), 0.02, 0.02),
    "lion": Optimiser(lambda config, groups: Lion(groups, config["learning_rate"], 0,
                                                  (config["beta1"], config["beta2"])),
                      1e-3, 5e-4, noise="mixture", size=lambda config, tensor: 1.0, mup=True),
    "muon": Optimiser(own(Muon), 5e-3, 5e-3, noise="unknown"),
}
