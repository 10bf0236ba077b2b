"""A second implementation of this program's schedules and runs, in PyTorch and float64, on the networks of reference.py
and with the optimisers of reference_optimisers.py."""
import copy
import math

import torch

from reference import backward, flat, narrowing, weights_from
from reference_optimisers import OPTIMISERS, Adafactor
from reference_rounding import rounded


# Optimisers and schedules


def schedule_rate(config, step, last_step):
    """The learning rate of step 1 .. last_step."""
    rate, start = config["learning_rate"], config["schedule_start"]
    end, decay = config.get("schedule_end", 0.1), config.get("schedule_decay", 0.2)
    if config["schedule"] == "linear" and step > start:
        rate *= 1 - (1 - end) * (step - start) / (last_step - start)
    if config["schedule"] == "cosine" and step > start:
        rate *= end + (1 - end) * (1 + math.cos(math.pi * (step - start) / (last_step - start))) / 2
    if config["schedule"] == "wsd" and step > last_step * (1 - decay):
        stable = last_step * (1 - decay)
        rate *= 1 - (1 - end) * (step - stable) / (last_step - stable)  # exactly `end` at the last step
    if config["schedule"] == "inverse_sqrt" and step > max(start, 1):
        rate *= math.sqrt(max(start, 1) / step)
    if config["warmup_steps"]:
        rate *= min(1, step / config["warmup_steps"])
    return rate


class Several:
    """Optimisers that share the tensors out among them."""

    def __init__(self, optimisers):
        self.optimisers = optimisers

    @property
    def param_groups(self):
        return [group for optimiser in self.optimisers for group in optimiser.param_groups]

    def step(self):
        for optimiser in self.optimisers:
            optimiser.step()


def is_hidden_matrix(key, tensor):
    return key[1] >= 0 and tensor.dim() == 2


def words_of(key, tensor):
    """The words of decay_on that name a tensor."""
    name, hidden = key[0], key[1] >= 0
    embedding = name in ("token", "position", "relative", "encoder_position", "encoder_relative")
    kind = ("embeddings" if embedding else "gains" if tensor.dim() == 1 and not name.endswith("bias") else
            "biases" if tensor.dim() == 1 else "output" if not hidden else
            "feedforward" if name in ("w1", "w2", "w3") else "attention")
    return {"all", kind, *(["matrices"] if tensor.dim() == 2 else []), *(["hidden"] if hidden else [])}


def decays(config, key, tensor):
    if config.get("norm_rule") == "hyperball" and is_hidden_matrix(key, tensor):
        return False
    return any(word in words_of(key, tensor) for word in config.get("decay_on", "all").split("+"))


def rate_factor(config, key, tensor):
    """What multiplies a tensor's learning rate."""
    return narrowing(config) if is_hidden_matrix(key, tensor) else 1


def decay_at(config, rate, factor):
    """lambda at this learning rate of the schedule, by which a tensor takes steps of `factor` times the rate; cautious
    decay is not the optimisers' own."""
    share = {"scaled": 1, "independent": 1 / (config["learning_rate"] * factor),
             "corrected": rate / config["learning_rate"], "cautious": 0}[config.get("decay_rule", "scaled")]
    return config["weight_decay"] * share


def make_optimiser(config, weights):
    """weights: {(name, layer): tensor}. Groups say whether they decay, and what multiplies their rate."""
    kinds = {}
    for key, tensor in weights.items():
        kind = config["optimiser"]
        if kind == "muon" and not is_hidden_matrix(key, tensor):
            kind = "adamw"
        groups = kinds.setdefault(kind, {})
        groups.setdefault((decays(config, key, tensor), rate_factor(config, key, tensor)), []).append(tensor)
    made = [OPTIMISERS[kind].make(config, [{"params": params, "decays": flag, "factor": factor}
                                     for (flag, factor), params in groups.items()])
            for kind, groups in kinds.items()]
    return made[0] if len(made) == 1 else Several(made)


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
        self.optimiser = make_optimiser(config, self.weights)
        self.norms = {key: tensor.norm().item() for key, tensor in self.weights.items()
                      if config.get("norm_rule", "free") != "free" and is_hidden_matrix(key, tensor)}

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
            group["lr"] = rate * group["factor"]
            group["weight_decay"] = decay_at(self.config, rate, group["factor"]) if group["decays"] else 0
        cautious = self.config.get("decay_rule") == "cautious"
        needed = observe or cautious or self.config.get("norm_rule") == "hyperball"
        direction = step_without_decay(self.optimiser, self.weights, rate) if needed else None
        before = self.theta()
        self.optimiser.step()
        self.finish_step(before, direction, rate)
        self.round_weights(t)
        return value, gradient, direction

    @torch.no_grad()
    def finish_step(self, before, direction, rate):
        """What optimisers do not do by themselves: cautious decay, and rules on norms."""
        for key, tensor in self.weights.items():
            if self.config.get("decay_rule") == "cautious" and decays(self.config, key, tensor):
                # Beside a weight, a small update is rounded away; adafactor's has the sign of its gradient.
                update = tensor.grad if isinstance(self.optimiser, Adafactor) else direction[key]
                shrinks = update * before[key] >= 0
                tensor.sub_(rate * rate_factor(self.config, key, tensor) * self.config["weight_decay"] * before[key]
                            * shrinks)
            if key in self.norms:
                self.rule_norm(key, tensor, before[key], direction and direction[key], rate)

    def rule_norm(self, key, tensor, before, direction, rate):
        rule, wanted = self.config["norm_rule"], self.norms[key]
        if rule == "hyperball":
            length = direction.norm()
            own = rate * rate_factor(self.config, key, tensor)
            tensor.copy_(before - own * wanted * direction / length if length > 0 else before)
        elif rule == "brake":
            norm = before.norm()
            if norm == 0:
                return
            outwards = ((tensor - before) * before).sum() / norm
            wanted = max(norm + outwards * (self.config["brake"] if outwards > 0 else 1), 0)
        if tensor.norm() > 0:
            tensor.mul_(wanted / tensor.norm())

    @torch.no_grad()
    def round_weights(self, t):
        """As one plane, in the order of memory."""
        tensors = list(self.weights.values())
        plane = torch.from_numpy(rounded(flat(tensors), self.config, t))
        for tensor, part in zip(tensors, plane.split([tensor.numel() for tensor in tensors])):
            tensor.copy_(part.reshape(tensor.shape))
