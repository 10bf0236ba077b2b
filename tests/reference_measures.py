"""A second implementation of what this program measures, in PyTorch and float64, on the model of reference.py. It is
written from the definitions, as that one is."""
import itertools
import math

import numpy as np
import torch

from reference_equilibrium import alignment_null, angle, balance, forces
from reference_training import schedule_rate
from reference import (BLOCK, EMBEDDINGS, LAYER_TENSORS, NO_TARGET, Sequences, backward, batch_of, block_forward,
                       blocks, flat, forward, has, logits, loss, losses, mean_losses, norm, output_layer, stacks, table)


def cosine(a, b):
    scale = norm(a) * norm(b)
    return float(np.dot(a, b)) / scale if scale > 0 else 0.0


def of_layers(tensors, layer=None):
    """The tensors of all layers, or of one, as one array: what param_norm is taken over."""
    return flat(t for (_, at), t in tensors.items() if (at >= 0 if layer is None else at == layer))


def kinds(config):
    """The tensors that the program lists: up to the last one that the network may have, whatever it has of biases and
    gates."""
    may_have = {"bias", "shift", "gated"} | has(config) & {"qk_norm"}
    may_have |= {"cross"} if stacks(config)[-1].cross else set()
    last = max(i for i, (_, _, needs) in enumerate(table(BLOCK)) if needs <= may_have)
    return LAYER_TENSORS[: last + 1]


def together(rows):
    """Values of each stack as one array, [stacks, longest, ..], NaN behind the shorter one."""
    rows = [np.asarray(row, dtype=float) for row in rows]
    array = np.full((len(rows), max(map(len, rows)), *rows[0].shape[1:]), math.nan)
    for line, row in zip(array, rows):
        line[: len(row)] = row
    return array


def by_stack(config, values):
    """Values of all blocks, [blocks, ..], as [stacks, layers, ..]."""
    return together([values[stack.begin : stack.end] for stack in stacks(config)])


def norm_measures(config, theta, before):
    """theta at a measured step and at the measured step before it (None at the first)."""
    layers, embeddings = range(blocks(config)), [name for name, _, _ in table(EMBEDDINGS)]

    def size(*names):
        return norm(*(flat([t]) for (name, _), t in theta.items() if name in names))

    def of_stacks(tensors):
        return [np.concatenate([of_layers(tensors, i) for i in range(s.begin, s.end)]) for s in stacks(config)]

    here, there = of_stacks(theta), of_stacks(before or theta)
    return {
        "stack_norm": [norm(own) for own in here],
        "stack_direction_cosine": [cosine(a, b) if before else math.nan for a, b in zip(there, here)],
        "param_norm": norm(of_layers(theta)),
        "embedding_norm": size(*embeddings),
        "output_norm": size("output", "output_bias"),
        "total_norm": norm(flat(theta.values())),
        "direction_cosine": cosine(of_layers(before), of_layers(theta)) if before else math.nan,
        "layer_norm": by_stack(config, [norm(of_layers(theta, i)) for i in layers]),
        "layer_direction_cosine": by_stack(config, [
            cosine(of_layers(before, i), of_layers(theta, i)) if before else math.nan for i in layers
        ]),
        "tensor_norm": by_stack(config, [
            [norm(flat([theta[name, i]])) if (name, i) in theta else math.nan for name in kinds(config)] for i in layers
        ]),
    }


def layer_step_measures(config, theta, after, gradient):
    """The same of each layer."""
    here, then, g = ([of_layers(tensors, i) for i in range(blocks(config))] for tensors in (theta, after, gradient))
    delta = [y - x for x, y in zip(here, then)]
    values = [
        [norm(d) for d in delta],
        [cosine(x, d) for x, d in zip(here, delta)],
        [cosine(x, -y) for x, y in zip(here, g)],
    ]
    return {name: by_stack(config, value) for name, value in zip(LAYER_STEP_MEASURES, values)}


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
    """Norms of the gradients of some batches at these weights: of their mean, and the mean of theirs."""
    gradients, names = [], kinds(config)
    for batch in batches:
        backward(config, weights, batch)
        gradients.append({key: tensor.grad.clone() for key, tensor in weights.items()})

    def norms(name, layer):
        if (name, layer) not in weights:
            return math.nan, math.nan
        own = torch.stack([gradient[name, layer] for gradient in gradients])
        return own.mean(0).norm().item(), own.flatten(1).norm(dim=1).mean().item()

    mean, single = np.array(
        [[norms(name, i) for name in names] for i in range(blocks(config))]).transpose(2, 0, 1)
    return {"mean_gradient_norm": by_stack(config, mean), "batch_gradient_norm": by_stack(config, single)}


def slope_measures(config, mean):
    """How mean_gradient_norm changes over the layers of each stack."""
    mean = np.reshape(mean, (len(stacks(config)), -1, len(kinds(config))))
    slopes = np.full((2, len(mean), mean.shape[2]), math.nan)
    for (i, stack), kind in itertools.product(enumerate(stacks(config)), range(mean.shape[2])):
        own = mean[i, : stack.end - stack.begin, kind]
        if len(own) >= 4 and (own > 0).all():
            slopes[:, i, kind] = straight_fit(np.arange(len(own), dtype=float), np.log(own))[:2]
    return {"gradient_depth_slope": slopes[0], "gradient_depth_slope_error": slopes[1]}


def hessian(config, weights, batches):
    """The Hessian of the mean trained loss of some batches, [n, n] in the order of the weights."""
    keys, tensors = list(weights), list(weights.values())
    sizes = [tensor.numel() for tensor in tensors]

    def of(flat):
        parts = zip(keys, tensors, flat.split(sizes))
        own = {key: part.reshape(tensor.shape) for key, tensor, part in parts}
        return sum(losses(config, own, batch)[1] for batch in batches) / len(batches)

    point = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
    return torch.autograd.functional.hessian(of, point, vectorize=True).numpy()


def residual_measures(config, weights, sequences):
    """The residual stream of a batch through depth, and how the gradient of its loss grows towards the input: for each
    stack."""
    inputs, targets = batch_of(sequences)
    passes = forward(config, weights, inputs)
    for state in (state for passed in passes for state in passed.states):
        state.retain_grad()
    mean_losses(config, weights, passes[-1].final, targets)[1].backward()
    own = [stream_measures(passed.states, real) for passed, (_, real) in zip(passes, inputs)]
    return {name: together([np.atleast_1d(stack[name]) for stack in own]) for name in own[0]}


def stream_measures(states, real):
    """Of one stack, after the pass back."""
    later = real.clone()
    later[:, 0] = False
    seen = [state.detach()[later] for state in states]
    norms = torch.stack([state.norm(dim=-1) for state in seen])
    growth, error = math.nan, math.nan
    if len(seen) >= 4:
        growth, error, _ = straight_fit(np.arange(len(seen), dtype=float), norms.log().mean(1).numpy())
    cosines = [row_cosines(a, b).mean().item() for a, b in zip(seen, seen[1:])]
    ends = [states[i].grad[real].norm().item() for i in (0, -1)]
    return {"residual_norm": norms.mean(1).numpy(), "residual_cosine": [math.nan] + cosines,
            "residual_growth": growth, "residual_growth_error": error,
            "gradient_growth": math.log(ends[0] / ends[1]) / (len(states) - 1)}


def lyapunov_exponents(config, weights, sequence):
    """For each stack, all exponents of a sequence in the limit of many sweeps, largest first, and all angular ones:
    logarithms of the singular values of the Jacobian, and of that of the tokens' directions, over the number of layers.
    What a stack gets from the one before it is held fixed."""
    inputs, _ = batch_of([sequence])
    found, memory = [], None
    for stack, passed, (_, real) in zip(stacks(config), forward(config, weights, inputs), inputs):
        def after(layer, stack=stack, real=real, memory=memory):
            return lambda x: block_forward(config, weights, stack, layer, x, real, memory)[0]

        functions = [after(layer) for layer in range(stack.begin, stack.end)]
        found.append(spectra(functions, passed.states[0].detach()))
        memory = passed.final.detach(), real
    return found


def spectra(functions, x):
    """The exponents and the angular ones of a state [1, T, C] that passes through some functions."""
    size, count = x.numel(), x.numel() - x.shape[1]
    whole, angular = np.eye(size), projector(x)
    for function in functions:
        jacobian = torch.autograd.functional.jacobian(function, x).reshape(size, size).numpy()
        after = function(x).detach()
        whole = jacobian @ whole
        angular = projector(after) @ np.diag(1 / token_norms(after)) @ jacobian @ np.diag(token_norms(x)) @ angular
        x = after
    values = [np.linalg.svd(matrix, compute_uv=False) for matrix in (whole, angular)]
    return [np.log(own) / len(functions) for own in (values[0], values[1][:count])]


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


def equilibrium_measures(config, theta, after, rate):
    """Of each tensor; `after` is theta after the next step, None at the end."""
    def of_tensor(key):
        if key not in theta:
            return [math.nan] * len(EQUILIBRIUM_MEASURES)
        turn, rms = balance(config, key, theta[key], rate)
        own = norm(flat([theta[key]])) / math.sqrt(theta[key].numel())
        return [angle(theta[key], after[key]) if after else math.nan, turn, own, rms]

    values = np.array([[of_tensor((name, i)) for name in kinds(config)] for i in range(blocks(config))])
    return {name: by_stack(config, values[..., i]) for i, name in enumerate(EQUILIBRIUM_MEASURES)}


def whole_force(force):
    """Of all tensors together, [.., force] in the order of FORCES: what is by chance is in the pull where it is not
    known of all."""
    aligned = np.nansum(force[..., 2:])
    chance = force[..., 2].sum()
    return np.array([force[..., 0].sum(), force[..., 1].sum(), chance,
                     aligned - (0 if math.isnan(chance) else chance)])


class Forces:
    """What steps add to the square of the norm, from each to the next and summed between measured ones."""

    def __init__(self, config):
        self.config, self.sum = config, None

    def square_of(self, theta):
        return np.array([[norm(flat([theta[name, i]])) ** 2 if (name, i) in theta else math.nan
                          for name in kinds(self.config)] for i in range(blocks(self.config))])

    def row(self, theta):
        """At a measured step, of the steps since the last one."""
        unknown = np.full((blocks(self.config), len(kinds(self.config)), 4), math.nan)
        found, self.sum = unknown if self.sum is None else self.sum, np.zeros_like(unknown)
        return {"force_sum": by_stack(self.config, found)}

    def step(self, theta, direction, rate, steps):
        """The step from theta, after so many others."""
        if rate == 0:  # and so is the step, whatever u is
            direction = {key: torch.zeros_like(tensor) for key, tensor in theta.items()}
        found = np.array([[forces(self.config, (name, i), theta, direction, rate, steps)
                           for name in kinds(self.config)] for i in range(blocks(self.config))])
        self.sum = self.sum + found
        own = np.array([self.square_of(theta)] * 4).transpose(1, 2, 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(own > 0, found / own, math.nan)
        there = found[~np.isnan(own[..., 0])]
        whole = np.full(4, math.nan) if np.isnan(there[:, 0]).any() else whole_force(there)
        return {"forces": whole / np.nansum(own[..., 0]), "tensor_forces": by_stack(self.config, each)}


def effective(squares):
    """exp of the entropy of the shares."""
    shares = squares[squares > 0] / squares.sum()
    return math.exp(-(shares * np.log(shares)).sum())


def spectral_measures(config, theta):
    """Of all matrices of the blocks, by numpy's singular values; `dead` is equilibrium_measures'. Of each head's
    self-attention, by products of C x C."""
    width, count = config["width"], config["heads"]
    depth = width // count

    def of_tensor(key):
        matrix = theta[key].detach().numpy() if key in theta else np.zeros(0)
        if matrix.ndim < 2:
            return [math.nan] * 4, [math.nan] * width
        values = np.linalg.svd(matrix, compute_uv=False)
        square, top = (values**2).sum(), values[0]
        noise = math.sqrt(square / matrix.size) * (math.sqrt(len(matrix)) + math.sqrt(matrix.shape[1]))
        own = [top, square / top**2, top / noise, effective(values**2)] if top > 0 else [0, *[math.nan] * 3]
        return own, np.pad(values, (0, width - len(values)), constant_values=math.nan)

    def of_head(layer, head):
        q, k, v, o = (theta[name, layer].detach().numpy() for name in "qkvo")
        shared = head // (count // (len(k) // depth))
        mine, theirs = slice(head * depth, (head + 1) * depth), slice(shared * depth, (shared + 1) * depth)
        found = []
        for product, a, b in ((q[mine].T @ k[theirs], q[mine] @ q[mine].T, k[theirs] @ k[theirs].T),
                              (o[:, mine] @ v[theirs], v[theirs] @ v[theirs].T, o[:, mine].T @ o[:, mine])):
            values, sizes = np.linalg.svd(product, compute_uv=False), np.trace(a) + np.trace(b)
            found += [(values > 0.01 * values[0]).sum(), np.linalg.norm(a - b) / sizes if sizes else math.nan]
        return found

    tensors = [[of_tensor((name, i)) for name in kinds(config)] for i in range(blocks(config))]
    heads = np.array([[of_head(i, head) for head in range(count)] for i in range(blocks(config))], dtype=float)
    own = np.array([[values for values, _ in row] for row in tensors])
    return ({name: by_stack(config, own[..., i]) for i, name in enumerate(SPECTRAL_MEASURES)} |
            {name: by_stack(config, heads[..., i]) for i, name in enumerate(HEAD_MEASURES)} |
            {"singular_values": by_stack(config, np.array([[values for _, values in row] for row in tensors]))})


SPECTRAL_MEASURES = ("top_singular", "stable_rank", "top_over_noise", "spectral_entropy")
HEAD_MEASURES = ("qk_rank", "qk_imbalance", "ov_rank", "ov_imbalance")
STEP_MEASURES = ("grad_norm", "step_size", "alignment", "gradient_alignment", "update_norm", "update_alignment",
                 "update_alignment_null")
EQUILIBRIUM_MEASURES = ("rotation", "rotation_equilibrium", "tensor_rms", "rms_equilibrium")
FORCE_MEASURES = ("forces", "tensor_forces", "force_sum")
LAYER_STEP_MEASURES = ("layer_step_size", "layer_alignment", "layer_gradient_alignment")


def measure_run(run, measured):
    """{step: {metric: value}} at every measured step of a run of reference_training, whose batches include the one
    behind the last step: its loss is the last train_loss."""
    config, rows, before, moved = run.config, {}, None, Forces(run.config)
    for t in range(run.last_step):
        theta = run.theta()
        force_row = moved.row(theta) if t in measured else {}
        value, gradient, direction = run.step(t + 1, True)
        force_row |= moved.step(theta, direction, schedule_rate(config, t + 1, run.last_step), t)
        if t in measured:
            rows[t] = norm_measures(config, theta, before) | {"train_loss": value} | force_row
            rows[t] |= step_measures(theta, run.weights, gradient, direction)
            rows[t] |= layer_step_measures(config, theta, run.weights, gradient)
            rate = schedule_rate(config, t + 1, run.last_step)
            rows[t]["update_alignment_null"] = alignment_null(config, theta, direction, rate, t)
            rows[t] |= equilibrium_measures(config, theta, run.weights, rate)
            before = theta
    end = rows[run.last_step] = norm_measures(config, run.theta(), before)
    end |= moved.row(run.theta()) | {"forces": np.full(4, math.nan)}
    end["tensor_forces"] = np.full_like(end["force_sum"], math.nan)
    end["train_loss"] = loss(config, run.weights, run.batches[run.last_step]).item()
    end |= equilibrium_measures(config, run.theta(), None, schedule_rate(config, run.last_step, run.last_step))
    end |= dict.fromkeys(STEP_MEASURES, math.nan)
    end |= dict.fromkeys(LAYER_STEP_MEASURES, by_stack(config, [math.nan] * blocks(config)))
    return rows


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
def homogeneity_measures(config, weights, *tokens):
    """How homogeneous a model is in its parameters, on sequences [S, T], one array for each stack."""
    arrays, scales = [torch.from_numpy(np.array(rows)) for rows in tokens], np.linspace(1, 10, 20)
    inputs = [Sequences(rows, torch.ones(rows.shape, dtype=torch.bool)) for rows in arrays]

    def at(scale):
        scaled = {key: scale * tensor for key, tensor in weights.items()}
        state = forward(config, scaled, inputs)[-1].final
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


def head_measures(counts, visible, bins):
    """Of the positions [rows] that one head's rows attend to, of so many that the mask is to let them see."""
    n = counts.double().numpy()
    return {
        "positions_attended": n.mean(),
        "fraction_attended": (n / visible.double().numpy()).mean(),
        "share_above_one": (n > 1).mean(),
        "attended_histogram": np.bincount(bin_of(n), minlength=bins) / len(n),
    }


def heads_measures(config, passes, inputs):
    """What the heads of self-attention attend to in the passes of a saturated network."""
    bins, found = math.ceil(math.log2(config["context"])) + 1, []
    for stack, passed, (_, real) in zip(stacks(config), passes, inputs):
        every, up_to = real.sum(1, keepdim=True).expand(real.shape), real.cumsum(1)
        visible = (every if stack.mask == "none" else up_to)[real]
        for block in passed.weights:
            counts = [(block[:, h] > 1e-5).sum(-1)[real] for h in range(config["heads"])]
            found.append([head_measures(count, visible, bins) for count in counts])
    means = np.array([head["positions_attended"] for block in found for head in block])
    own = {name: by_stack(config, [[head[name] for head in block] for block in found]) for name in found[0][0]}
    return own | {"heads_histogram": np.bincount(bin_of(np.floor(means + 0.5)), minlength=bins)}


@torch.no_grad()
def saturation_measures(config, weights, sequences):
    """The cosines of the states with those of 1000 times the weights, after each block and of the output of each stack;
    and what the heads attend to."""
    inputs, _ = batch_of(sequences)
    scaled = {key: 1000 * tensor for key, tensor in weights.items()}
    here, soft = forward(config, weights, inputs), forward(config, scaled, inputs)
    hard, found = forward(config, scaled, inputs, hard=True), {}
    for name, there in ("saturation", soft), ("hard_saturation", hard):
        cosines = [[row_cosines(a[real], b[real]).mean().item() for a, b in zip(x.states[1:] + [x.final],
                                                                               y.states[1:] + [y.final])]
                   for x, y, (_, real) in zip(here, there, inputs)]
        found |= {name: together([own[:-1] for own in cosines]), name + "_final": [own[-1] for own in cosines]}
    return found | heads_measures(config, soft, inputs)


def median_ratios(states, real):
    """The largest |x| of each sequence's elements over their median; NaN where that is 0."""
    sizes = [x[own].abs().flatten().numpy() for x, own in zip(states, real)]
    return np.array([size.max() / np.median(size) if np.median(size) else math.nan for size in sizes])


@torch.no_grad()
def attention_measures(config, weights, sequences):
    """What the heads of self-attention attend to, by the definitions, and how large the residual stream is."""
    (inputs, _), heads, sinks, depths = batch_of(sequences), [], [], []
    for stack, passed, (_, real) in zip(stacks(config), forward(config, weights, inputs), inputs):
        hidden = torch.ones(real.shape[1], real.shape[1]).triu(1).bool() & (stack.mask != "none")
        there, behind = real[:, :, None] & real[:, None] & ~hidden, real.clone()
        behind[:, 0] = False
        for p, scores in zip(passed.weights, passed.scores):
            entropy = -torch.special.xlogy(p, p).sum(-1)
            heads.append([(scores[:, h][there].max().item(), entropy[:, h][behind].mean().item(),
                           p[:, h, :, 0][behind].mean().item()) for h in range(config["heads"])])
        first = np.array(heads[-len(passed.weights):])[..., 2]
        sinks.append(math.nan if np.isnan(first).any() else (first > 0.3).mean())
        depths.append([(x[real].square().mean().sqrt().item(), median_ratios(x, real).mean()) for x in passed.states])
    heads, depths = np.array(heads), [np.array(own) for own in depths]
    found = {name: by_stack(config, heads[..., i]) for i, name in enumerate(("max_logit", "attention_entropy",
                                                                             "first_attention"))}
    return found | {"sink_share": sinks, "activation_rms": together([own[:, 0] for own in depths]),
                    "activation_max": together([own[:, 1] for own in depths])}


@torch.no_grad()
def validation_measures(config, weights, sequences):
    """The loss of some sequences, and what the words predicted for them say."""
    inputs, targets = batch_of(sequences)
    counted = targets != NO_TARGET
    predicted = logits(config, weights, inputs).argmax(-1)[counted]
    share = np.bincount(predicted) / len(predicted)
    return {
        "valid_loss": loss(config, weights, sequences).item(),
        "accuracy": (predicted == targets[counted]).double().mean().item(),
        "predicted_entropy": -(share[share > 0] * np.log(share[share > 0])).sum(),
    }
