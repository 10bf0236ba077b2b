"""A second implementation of this program's optimisers, schedules and runs, in PyTorch and float64, on the networks of
reference.py: torch.optim where PyTorch has the optimiser."""
import copy
import math

import torch

from reference import backward, weights_from


# Optimisers and schedules


def schedule_rate(config, step, last_step):
    """The learning rate of step 1 .. last_step."""
    rate, start = config["learning_rate"], config["schedule_start"]
    if config["schedule"] == "linear" and step > start:
        rate *= 1 - 0.9 * (step - start) / (last_step - start)
    if config["schedule"] == "inverse_sqrt" and step > max(start, 1):
        rate *= math.sqrt(max(start, 1) / step)
    if config["warmup_steps"]:
        rate *= min(1, step / config["warmup_steps"])
    return rate


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


def make_optimiser(config, params):
    rate, decay = config["learning_rate"], config["weight_decay"]
    if config["optimiser"] in ("adamw", "adam"):
        kind = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}[config["optimiser"]]
        return kind(
            params,
            lr=rate,
            weight_decay=decay,
            betas=(config["beta1"], config["beta2"]),
            eps=config["epsilon"],
            foreach=False,
        )
    if config["optimiser"] == "sgd":
        return torch.optim.SGD(params, lr=rate, weight_decay=decay, momentum=config["momentum"])
    return {"normalized_sgd": NormalizedSGD, "adafactor": Adafactor}[config["optimiser"]](params, rate, decay)


def step_without_decay(optimiser, weights, rate):
    """{key: u}: the step that `optimiser` would take now without decay, over -rate. Changes nothing."""
    twin = copy.deepcopy({"optimiser": optimiser, "weights": weights})
    for (key, tensor), new in zip(weights.items(), twin["weights"].values()):
        new.grad = tensor.grad.clone()
        if not isinstance(optimiser, Adafactor):
            new.data.zero_()  # other steps do not depend on the weights, beside which small ones are rounded away
    start = {key: tensor.detach().clone() for key, tensor in twin["weights"].items()}
    for group in twin["optimiser"].param_groups:
        group["weight_decay"] = 0
    twin["optimiser"].step()
    return {key: (start[key] - twin["weights"][key]).detach() / rate for key in weights}


# A run


class Run:
    """A training run from given weights on given batches, one [(tokens, targets)] a step."""

    def __init__(self, config, vocabulary, start, batches, last_step):
        self.config, self.batches, self.last_step = config, batches, last_step
        self.weights = weights_from(start, config, vocabulary)
        self.optimiser = make_optimiser(config, list(self.weights.values()))

    def theta(self):
        return {key: tensor.detach().clone() for key, tensor in self.weights.items()}

    def gradient(self, t):
        """The loss and gradient that step t takes, which is also left in the tensors."""
        value = backward(self.config, self.weights, self.batches[t - 1])
        return value, {key: tensor.grad.clone() for key, tensor in self.weights.items()}

    def step(self, t, observe=False):
        """Step t from 1: its loss, gradient and, where asked for, u as a dict."""
        value, gradient = self.gradient(t)
        if self.config["gradient_clip"]:
            torch.nn.utils.clip_grad_norm_(list(self.weights.values()), self.config["gradient_clip"])
        rate = schedule_rate(self.config, t, self.last_step)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        direction = step_without_decay(self.optimiser, self.weights, rate) if observe else None
        self.optimiser.step()
        return value, gradient, direction
