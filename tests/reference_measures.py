"""A second implementation of what this program measures, in PyTorch and float64, on the model of reference.py. It is
written from the definitions, as that one is."""
import math

import numpy as np
import torch

from reference import (LAYER_TENSORS, backward, final_state, flat, forward, layer_forward, loss, norm, normalise,
                       output_layer, padded, Run)


def cosine(a, b):
    scale = norm(a) * norm(b)
    return float(np.dot(a, b)) / scale if scale > 0 else 0.0


def of_layers(tensors, layer=None):
    """The tensors of all layers, or of one, as one array: what param_norm is taken over."""
    return flat(t for (_, at), t in tensors.items() if (at >= 0 if layer is None else at == layer))


def norm_measures(config, theta, before):
    """theta at a measured step and at the measured step before it (None at the first)."""
    layers = range(config["layers"])

    def size(*names):
        return norm(*(flat([t]) for (name, _), t in theta.items() if name in names))

    return {
        "param_norm": norm(of_layers(theta)),
        "embedding_norm": size("token", "position"),
        "output_norm": size("output", "output_bias"),
        "total_norm": norm(flat(theta.values())),
        "direction_cosine": cosine(of_layers(before), of_layers(theta)) if before else math.nan,
        "layer_norm": [norm(of_layers(theta, i)) for i in layers],
        "layer_direction_cosine": [
            cosine(of_layers(before, i), of_layers(theta, i)) if before else math.nan for i in layers
        ],
        "tensor_norm": [
            norm(flat([theta[name, i]])) if (name, i) in theta else math.nan for i in layers for name in LAYER_TENSORS
        ],
    }


def layer_step_measures(theta, after, gradient, layers):
    """The same of each layer."""
    here, g = ([of_layers(tensors, i) for i in layers] for tensors in (theta, gradient))
    delta = [of_layers(after, i) - here[i] for i in layers]
    return {
        "layer_step_size": [norm(d) for d in delta],
        "layer_alignment": [cosine(x, d) for x, d in zip(here, delta)],
        "layer_gradient_alignment": [cosine(x, -y) for x, y in zip(here, g)],
    }


def step_measures(theta, after, gradient, direction):
    """The metrics of the single step from theta to after."""
    here, g, u = of_layers(theta), of_layers(gradient), of_layers(direction)
    delta = of_layers(after) - here
    return {
        "grad_norm": norm(g),
        "step_size": norm(delta),
        "alignment": cosine(here, delta),
        "gradient_alignment": cosine(here, -g),
        "update_norm": norm(u),
        "update_alignment": cosine(here, -u),
    }


def gradient_measures(config, weights, batches):
    """Norms of the gradients of some batches at these weights: of their mean, the mean of theirs, and the slopes."""
    gradients, layers = [], range(config["layers"])
    for batch in batches:
        backward(config, weights, batch)
        gradients.append({key: tensor.grad.clone() for key, tensor in weights.items()})

    def norms(name, layer):
        if (name, layer) not in weights:
            return math.nan, math.nan
        own = torch.stack([gradient[name, layer] for gradient in gradients])
        return own.mean(0).norm().item(), own.flatten(1).norm(dim=1).mean().item()

    mean, single = np.array([[norms(name, i) for name in LAYER_TENSORS] for i in layers]).transpose(2, 0, 1)
    slopes = np.full((2, len(LAYER_TENSORS)), math.nan)
    for kind in range(len(LAYER_TENSORS)):
        if len(layers) >= 4 and (mean[:, kind] > 0).all():
            slopes[:, kind] = straight_fit(np.arange(len(layers), dtype=float), np.log(mean[:, kind]))[:2]
    return {"mean_gradient_norm": mean, "batch_gradient_norm": single, "gradient_depth_slope": slopes[0],
            "gradient_depth_slope_error": slopes[1]}


def hessian(config, weights, batches):
    """The Hessian of the mean loss of some batches, [n, n] in the order of the weights."""
    keys, tensors = list(weights), list(weights.values())
    sizes = [tensor.numel() for tensor in tensors]

    def of(flat):
        parts = zip(keys, tensors, flat.split(sizes))
        own = {key: part.reshape(tensor.shape) for key, tensor, part in parts}
        return sum(loss(config, own, batch) for batch in batches) / len(batches)

    point = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
    return torch.autograd.functional.hessian(of, point, vectorize=True).numpy()
def blocks(config, weights, tokens, real):
    """The embedded tokens [B, T, C], and a function for each layer from the state before it to the one after it."""
    def block(layer):
        return lambda x: layer_forward(config, x, real, lambda name: weights.get((name, layer)))[0]

    x = weights["token", -1][tokens] + weights["position", -1][: tokens.shape[1]]
    return x, [block(layer) for layer in range(config["layers"])]


def residual_measures(config, weights, sequences):
    """The residual stream of a batch through depth, and how the gradient of its loss grows towards the input."""
    tokens, targets, real = padded(sequences)
    x, functions = blocks(config, weights, tokens, real)
    states = [x]
    for function in functions:
        states.append(function(states[-1]))
    for state in states:
        state.retain_grad()
    last = states[-1]
    if config["norm_placement"] == "pre":
        last = normalise(config, last, weights["final", -1], weights.get(("final_bias", -1)))
    log_p = torch.log_softmax(output_layer(config, weights, last), dim=-1)
    row_loss = -log_p.gather(2, targets[:, :, None])[:, :, 0]
    (torch.where(real, row_loss, torch.zeros(())).sum(1) / real.sum(1)).mean().backward()
    later = real.clone()
    later[:, 0] = False
    seen = [state.detach()[later] for state in states]
    norms = torch.stack([state.norm(dim=-1) for state in seen])
    growth, error, _ = straight_fit(np.arange(len(seen), dtype=float), norms.log().mean(1).numpy())
    cosines = [row_cosines(a, b).mean().item() for a, b in zip(seen, seen[1:])]
    ends = [states[i].grad[real].norm().item() for i in (0, -1)]
    return {"residual_norm": norms.mean(1).numpy(), "residual_cosine": [math.nan] + cosines,
            "residual_growth": growth, "residual_growth_error": error,
            "gradient_growth": math.log(ends[0] / ends[1]) / config["layers"]}


def lyapunov_exponents(config, weights, sequence):
    """All exponents of a sequence in the limit of many sweeps, largest first, and all angular ones: logarithms of
    the singular values of the Jacobian, and of that of the tokens' directions, over the number of layers."""
    tokens, _, real = padded([sequence])
    x, functions = blocks(config, weights, tokens, real)
    size, x = x.numel(), x.detach()
    whole, angular = np.eye(size), projector(x)
    for function in functions:
        jacobian = torch.autograd.functional.jacobian(function, x).reshape(size, size).numpy()
        after = function(x).detach()
        whole = jacobian @ whole
        angular = projector(after) @ np.diag(1 / token_norms(after)) @ jacobian @ np.diag(token_norms(x)) @ angular
        x = after
    spectra = [np.linalg.svd(matrix, compute_uv=False) for matrix in (whole, angular)]
    counts = size, size - x.shape[1]
    return [np.log(spectrum[:count]) / config["layers"] for spectrum, count in zip(spectra, counts)]


def token_norms(x):
    """The norm of each element's token: [1, T, C] -> [T C]."""
    return x.norm(dim=-1, keepdim=True).expand(x.shape).flatten().numpy()


def projector(x):
    """The matrix [T C, T C] that takes from each token's part what points along the token."""
    unit = (x[0] / x[0].norm(dim=-1, keepdim=True)).numpy()
    matrix, width = np.eye(x.numel()), x.shape[-1]
    for t, direction in enumerate(unit):
        part = slice(t * width, (t + 1) * width)
        matrix[part, part] -= np.outer(direction, direction)
    return matrix


STEP_MEASURES = ("grad_norm", "step_size", "alignment", "gradient_alignment", "update_norm", "update_alignment")
LAYER_STEP_MEASURES = ("layer_step_size", "layer_alignment", "layer_gradient_alignment")


def measure_run(config, vocabulary, start, batches, last_step, measured):
    """({step: {metric: value}} at every measured step, the final weights) of a run.

    batches: of all steps, and the one that would come next, whose loss is the last train_loss.
    """
    run, rows, before = Run(config, vocabulary, start, batches, last_step), {}, None
    for t in range(last_step):
        theta, observe = run.theta(), t in measured
        value, gradient, direction = run.step(t + 1, observe)
        if observe:
            rows[t] = norm_measures(config, theta, before) | {"train_loss": value}
            rows[t] |= step_measures(theta, run.weights, gradient, direction)
            rows[t] |= layer_step_measures(theta, run.weights, gradient, range(config["layers"]))
            before = theta
    rows[last_step] = norm_measures(config, run.theta(), before)
    rows[last_step]["train_loss"] = loss(config, run.weights, batches[last_step]).item()
    rows[last_step] |= dict.fromkeys(STEP_MEASURES, math.nan)
    rows[last_step] |= dict.fromkeys(LAYER_STEP_MEASURES, [math.nan] * config["layers"])
    return rows, run.weights


def straight_fit(x, y):
    """Slope, its standard error, R^2 of y = a + slope x."""
    design = np.stack([np.ones_like(x), x], axis=1)
    (_, slope), *_ = np.linalg.lstsq(design, y, rcond=None)
    rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    variance = rest @ rest / (len(x) - 2)
    error = math.sqrt(variance * np.linalg.inv(design.T @ design)[1, 1])
    return slope, error, 1 - rest @ rest / np.sum((y - y.mean()) ** 2)


def growth_measures(steps, norms, last_step):
    """The per-run values from |theta_t| at the measured steps."""
    t, n = np.array(steps, float), np.array(norms, float)
    rise = n**2 - n[0] ** 2
    grown = (t > 0) & (rise > 0)
    slope, error, r2 = math.nan, math.nan, math.nan
    if np.count_nonzero(grown) >= 4:
        slope, error, r2 = straight_fit(np.log(t[grown]), np.log(rise[grown]))
    return {
        "norm_growth": n[-1] / n[0],
        "growth_exponent": slope / 2,
        "growth_exponent_error": error / 2,
        "growth_exponent_r2": r2,
        "fit_sqrt_r2": straight_fit(np.sqrt(t), n)[2],
        "fit_linear_r2": straight_fit(t, n)[2],
        "fit_fourth_root_r2": straight_fit(t**0.25, n)[2],
        "fit_exponential_r2": straight_fit(np.exp(-t / last_step), n)[2],
    }


HOMOGENEITY_LIMIT = 1000


@torch.no_grad()
def homogeneity_measures(config, weights, tokens):
    """How homogeneous a model is in its parameters, on sequences [S, T]."""
    tokens, scales = torch.from_numpy(np.array(tokens)), np.linspace(1, 10, 20)
    real = torch.ones(tokens.shape, dtype=torch.bool)

    def at(scale):
        scaled = {key: scale * tensor for key, tensor in weights.items()}
        state = final_state(config, scaled, tokens, real)
        return flat([state]), flat([output_layer(config, scaled, state)])

    limit, _ = at(HOMOGENEITY_LIMIT)
    states, outputs = zip(*(at(scale) for scale in scales))
    degree, _, degree_r2 = straight_fit(np.log(scales), np.log([norm(x) for x in states]))
    output_degree, _, output_degree_r2 = straight_fit(np.log(scales), np.log([norm(x) for x in outputs]))
    return {
        "homogeneity": [cosine(state, limit) for state in states],
        "degree": degree,
        "degree_r2": degree_r2,
        "output_degree": output_degree,
        "output_degree_r2": output_degree_r2,
    }


# The saturated network


def row_cosines(a, b):
    """Of the rows of two arrays; 0 where either is 0."""
    scale = a.norm(dim=-1) * b.norm(dim=-1)
    return torch.where(scale > 0, (a * b).sum(-1) / scale, torch.zeros(()))


def bin_of(positions):
    return np.ceil(np.log2(np.maximum(positions, 1))).astype(int)


def head_measures(counts, at, bins):
    """Of the positions [rows] that one head's rows attend to, rows at the positions `at` of their sequences."""
    n = counts.double().numpy()
    return {
        "attended": n.mean(),
        "fraction": (n / (at.double().numpy() + 1)).mean(),
        "above_one": (n > 1).mean(),
        "histogram": np.bincount(bin_of(n), minlength=bins) / len(n),
    }


@torch.no_grad()
def saturation_measures(config, weights, sequences):
    """The cosines of the states with those of 1000 times the weights, and what its heads attend to."""
    tokens, _, real = padded(sequences)
    at = torch.arange(tokens.shape[1]).expand(real.shape)[real]
    bins = math.ceil(math.log2(config["context"])) + 1
    scaled = {key: 1000 * tensor for key, tensor in weights.items()}
    here, _ = forward(config, weights, tokens, real)
    soft, seen = forward(config, scaled, tokens, real)
    hard, _ = forward(config, scaled, tokens, real, hard=True)
    counts = [(layer > 1e-5).sum(-1)[:, h][real] for layer in seen for h in range(config["heads"])]
    heads = [head_measures(count, at, bins) for count in counts]
    means = np.array([head["attended"] for head in heads])
    return {
        "saturation_soft": [row_cosines(a[real], b[real]).mean().item() for a, b in zip(here, soft)],
        "saturation_hard": [row_cosines(a[real], b[real]).mean().item() for a, b in zip(here, hard)],
        "heads_histogram": np.bincount([bin_of(np.floor(mean + 0.5)) for mean in means], minlength=bins),
    } | {name: np.hstack([head[name] for head in heads]) for name in heads[0]}
