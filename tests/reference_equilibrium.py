"""What momentum and decay do by themselves, in numpy, from the definitions: correlations of updates on white noise come
from what updates hold of each gradient, by Fourier transforms, and not from closed forms."""
import functools
import math

import numpy as np

from reference import flat, norm
from reference_optimisers import OPTIMISERS
from reference_training import decay_at, decays, is_hidden_matrix, rate_factor

LONGEST = 1 << 16  # gradients that an update holds, at most


@functools.cache
def correlations(noise, beta1, beta2):
    """Of an update with those 1, 2, .. steps before it; None if they are not known. noise: none: it holds the last
    gradient alone; mean: a running mean of gradients by beta1; mixture: the sign of lion's mixture of two."""
    before = np.arange(LONGEST)
    if noise == "none":
        return np.zeros(LONGEST - 1)
    if noise == "unknown":
        return None
    held = beta1**before  # what the update has of the gradients, the last one first
    if noise == "mixture":
        held = np.where(before > 0, beta1 * (1 - beta2) * beta2 ** np.maximum(before - 1, 0), 1 - beta1)
    products = np.fft.irfft(np.abs(np.fft.rfft(held, 2 * LONGEST)) ** 2)[:LONGEST]
    shares = np.minimum(products / products[0], 1)
    return (2 / math.pi * np.arcsin(shares) if noise == "mixture" else shares)[1:]


def kind_of(config, key, tensor):
    muon = config["optimiser"] == "muon"
    return "adamw" if muon and not is_hidden_matrix(key, tensor) else config["optimiser"]


def memory(config, kind, decayed, steps):
    """The sum of the correlations with that many updates, as far as decay has left them."""
    first = config["momentum"] if kind == "sgd" else config["beta1"]
    return sum_of_correlations(OPTIMISERS[kind].noise, first, config["beta2"], decayed, steps)


@functools.cache
def sum_of_correlations(noise, beta1, beta2, decayed, steps):
    of_update = correlations(noise, beta1, beta2)
    if of_update is None:
        return math.nan
    held = of_update[:steps]
    return float(np.sum(held * (1 - decayed) ** np.arange(len(held))))


def rates_of(config, key, tensor, rate):
    """(learning rate, lambda) of one tensor, at a rate of the schedule; cautious decay is the whole one here."""
    own = config | ({"decay_rule": "scaled"} if config.get("decay_rule") == "cautious" else {})
    factor = rate_factor(config, key, tensor)
    return factor * rate, decay_at(own, rate, factor) if decays(config, key, tensor) else 0.0


def by_chance(config, key, theta, u, rate, steps):
    """What -theta.u of a tensor is on average, after so many steps. u is its step over the schedule's rate, not over
    its own, and so is the product."""
    kind = kind_of(config, key, theta)
    own, decay = rates_of(config, key, theta, rate)
    remembered = memory(config, kind, 0 if kind == "sgd" else own * decay, steps)
    cautious = config.get("decay_rule") == "cautious" and remembered != 0
    lost = config.get("weights") == "bfloat16" and remembered != 0  # theta need not hold past updates
    if lost or decay > 0 and (cautious or kind == "adam"):
        return math.nan
    coupled = decay * norm(flat([theta])) ** 2 if kind == "sgd" else 0
    return remembered * (rate * norm(flat([u])) ** 2 - coupled)


def forces(config, key, theta, direction, rate, steps):
    """(decay, injection, chance, pull) of the step of one tensor, after so many steps, as what they add to the square
    of its norm."""
    if key not in theta:
        return [math.nan] * 4
    here, u, rounded = flat([theta[key]]), flat([direction[key]]), config.get("weights", "float") != "float"
    own, decay = rates_of(config, key, theta[key], rate)
    coupled = kind_of(config, key, theta[key]) == "adam" and decay > 0
    if rounded or coupled or config.get("norm_rule", "free") != "free" and is_hidden_matrix(key, theta[key]):
        return [math.nan] * 4
    lost = own * decay * here
    if config.get("decay_rule") == "cautious":
        lost = np.where(u * here >= 0, lost, 0)
    aligned = -2 * rate * np.dot(here - lost, u)
    chance = 2 * (1 - own * decay) * rate * by_chance(config, key, theta[key], direction[key], rate, steps)
    pull = aligned if math.isnan(chance) else aligned - chance
    return [np.dot(lost, lost) - 2 * np.dot(here, lost), rate**2 * np.dot(u, u), chance, pull]


def alignment_null(config, theta, direction, rate, steps):
    layers = [key for key in theta if key[1] >= 0]
    scale = norm(flat(theta[key] for key in layers)) * norm(flat(direction[key] for key in layers))
    chance = sum(by_chance(config, key, theta[key], direction[key], rate, steps) for key in layers)
    return (chance / scale if scale > 0 else 0.0) if not math.isnan(chance) else math.nan


def balance(config, key, tensor, rate):
    """(rotation, root mean square) of a tensor in equilibrium."""
    kind = kind_of(config, key, tensor)
    rate, decay = rates_of(config, key, tensor, rate)
    fixed = config.get("norm_rule", "free") != "free" and is_hidden_matrix(key, tensor)
    rounded = config.get("weights", "float") != "float"
    if rate * decay == 0 or fixed or rounded or config.get("decay_rule") == "cautious":
        return math.nan, math.nan
    decayed = rate * decay
    if decayed >= (2 * (1 + config["momentum"]) if kind == "sgd" else 2):  # every step swings farther beyond 0
        return math.nan, math.nan
    if kind == "sgd":
        return math.sqrt(2 * decayed / (1 + config["momentum"])), math.nan
    size = OPTIMISERS[kind].size(config, tensor)
    if math.isnan(size):
        return math.nan, math.nan
    walked = 1 + 2 * (1 - decayed) * memory(config, kind, decayed, LONGEST)
    rms = rate * size * math.sqrt(walked / (2 * decayed - decayed**2))
    return rate * size / rms, rms


def angle(a, b):
    """Between two arrays, from the part of their difference across the first one: that of neighbours is exact,
    so that the angle is precise however small it is."""
    a, b = flat([a]), flat([b])
    if norm(a) == 0 or norm(b) == 0:
        return math.nan
    across = (b - a) - np.dot(a, b - a) / np.dot(a, a) * a
    return math.atan2(norm(across) * norm(a), np.dot(a, b))
