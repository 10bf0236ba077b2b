"""A second implementation of this program's training, in PyTorch and float64, for the parity tests.

Written from the definitions of the model, the optimisers and the measurements, not from the C sources: plain
tensor operations and autograd, torch.optim where PyTorch has the optimiser, real padding where the C side packs
its sequences. A configuration is a dict of the sweep file's own keys.
"""
import copy
import math

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

MATRICES = ("q", "k", "v", "o", "w1", "w2")
VECTORS = ("ln1", "ln2")
LAYER_TENSORS = MATRICES + VECTORS + tuple(name + "_bias" for name in MATRICES + VECTORS) + ("w3", "w3_bias")


def layout(config, vocabulary):
    """[(name, layer, shape)] of every tensor that exists, in memory order; layer -1 outside the layers."""
    width, inner = config["width"], config["feedforward"]
    matrix = {name: (width, width) for name in MATRICES} | {"w1": (inner, width), "w2": (width, inner)}
    matrix["w3"] = (inner, width)
    bias = {name + "_bias": (rows,) for name, (rows, _) in matrix.items()}
    shape = matrix | bias | {name: (width,) for name in ("ln1", "ln2", "ln1_bias", "ln2_bias")}
    tensors = [("token", -1, (vocabulary, width)), ("position", -1, (config["context"], width))]
    for layer in range(config["layers"]):
        tensors += [(n, layer, shape[n]) for n in LAYER_TENSORS if has_tensor(config, n)]
    if config["norm_placement"] == "pre":
        tensors += [("final", -1, (width,))] + [("final_bias", -1, (width,))] * has_tensor(config, "ln1_bias")
    if not config["tied"]:
        tensors.append(("output", -1, (vocabulary, width)))
    return tensors + [("output_bias", -1, (vocabulary,))]


def has_tensor(config, name):
    """Does a layer have this tensor?"""
    if name.endswith("_bias") and not config["bias"]:
        return False
    if name.startswith("ln") and name.endswith("_bias"):
        return config.get("norm", "layernorm") == "layernorm"
    return config.get("gated", False) or not name.startswith("w3")


def weights_from(flat, config, vocabulary):
    """{(name, layer): leaf tensor} from a flat array in the order of layout()."""
    weights, offset = {}, 0
    for name, layer, shape in layout(config, vocabulary):
        size = math.prod(shape)
        part = np.array(flat[offset : offset + size], dtype=np.float64).reshape(shape)
        weights[name, layer] = torch.from_numpy(part).requires_grad_()
        offset += size
    assert offset == len(flat), f"the layout has {offset} weights, the plane {len(flat)}"
    return weights


def flat(tensors):
    """The values of some tensors, in their order, as one array."""
    return np.concatenate([tensor.detach().numpy().ravel() for tensor in tensors])


# The model


def normalise(config, x, gain, bias):
    """LayerNorm or RMSNorm."""
    if config.get("norm", "layernorm") == "rmsnorm":
        return x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + 1e-5) * gain
    y = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5) * gain
    return y if bias is None else y + bias


def linear(x, weight, bias):
    y = x @ weight.T
    return y if bias is None else y + bias


def hard_weights(scores):
    """The mean over the largest scores of each row, ties within 1e-6 relative."""
    most = scores.max(-1, keepdim=True).values
    chosen = (scores >= most - 1e-6 * most.abs()).to(scores.dtype)
    return chosen / chosen.sum(-1, keepdim=True)


def attention(config, x, real, get, hard=False):
    """What is added to x [B, T, C], and the weights [B, H, T, T].

    real [B, T]: which positions are no padding; get(name) gives a tensor of the layer or None.
    """
    batch, length, width = x.shape
    heads = config["heads"]
    q, k, v = (
        linear(x, get(name), get(name + "_bias")).view(batch, length, heads, width // heads).transpose(1, 2)
        for name in "qkv"
    )
    scores = q @ k.transpose(2, 3) / math.sqrt(width // heads)
    visible = torch.ones(length, length).tril()
    if config["attention_mask"] == "causal":
        scores = scores.masked_fill(visible == 0, -math.inf)
    else:
        scores = scores * visible
    # A padded row sees only itself, so that its softmax is not empty; its output is never used.
    padded = ~real[:, None, None, :] & ~torch.eye(length, dtype=torch.bool)
    scores = scores.masked_fill(padded, -math.inf)
    weights = hard_weights(scores) if hard else torch.softmax(scores, dim=-1)
    values = (weights @ v).transpose(1, 2).reshape(batch, length, width)
    return linear(values, get("o"), get("o_bias")), weights


def feedforward(config, x, get):
    hidden = linear(x, get("w1"), get("w1_bias"))
    if config["activation"] == "relu":
        hidden = torch.relu(hidden)
    elif config["activation"] == "gelu_tanh":
        hidden = torch.nn.functional.gelu(hidden, approximate="tanh")
    else:
        hidden = hidden * 0.5 * (1 + torch.erf(hidden / math.sqrt(2)))
    if config.get("gated", False):
        hidden = hidden * linear(x, get("w3"), get("w3_bias"))
    return linear(hidden, get("w2"), get("w2_bias"))


def layer_forward(config, x, real, get, hard=False):
    """The state after a layer and its attention weights."""
    seen = []

    def attend(y):
        out, weights = attention(config, y, real, get, hard)
        seen.append(weights)
        return out

    norms = [lambda y, n=n: normalise(config, y, get(n), get(n + "_bias")) for n in ("ln1", "ln2")]
    scale = config.get("residual_scale", 1)
    blocks = [attend, lambda y: feedforward(config, y, get)]
    for norm, block in zip(norms, blocks):
        if config["norm_placement"] == "post":
            x = norm(x + scale * block(x))
        elif config["norm_placement"] == "pre":
            x = x + scale * block(norm(x))
        else:
            x = x + scale * norm(block(x))
    return x, seen[0]


def forward(config, weights, tokens, real, hard=False):
    """tokens [B, T] -> the states [B, T, C] after each layer and before the output, and the attention weights."""
    x = weights["token", -1][tokens] + weights["position", -1][: tokens.shape[1]]
    states, seen = [], []
    for layer in range(config["layers"]):
        x, attention_weights = layer_forward(config, x, real, lambda name: weights.get((name, layer)), hard)
        states.append(x)
        seen.append(attention_weights)
    if config["norm_placement"] == "pre":
        x = normalise(config, x, weights["final", -1], weights.get(("final_bias", -1)))
    return states + [x], seen


def final_state(config, weights, tokens, real):
    """The input of the output layer: tokens [B, T] -> [B, T, C]."""
    return forward(config, weights, tokens, real)[0][-1]


def output_layer(config, weights, x):
    """[B, T, C] -> [B, T, V]."""
    head = weights["token", -1] if config["tied"] else weights["output", -1]
    return linear(x, head, weights["output_bias", -1])


def logits(config, weights, tokens, real):
    """tokens [B, T] -> [B, T, V]."""
    return output_layer(config, weights, final_state(config, weights, tokens, real))


def padded(sequences):
    """[(tokens, targets)] as tokens, targets and which of them are real, [B, T], padded to the longest one."""
    length = max(len(tokens) for tokens, _ in sequences)
    tokens, targets = torch.zeros(2, len(sequences), length, dtype=torch.long)
    real = torch.zeros(len(sequences), length, dtype=torch.bool)
    for i, (inputs, outputs) in enumerate(sequences):
        tokens[i, : len(inputs)] = torch.tensor(inputs)
        targets[i, : len(inputs)] = torch.tensor(outputs)
        real[i, : len(inputs)] = True
    return tokens, targets, real


def loss(config, weights, sequences):
    """Mean over [(tokens, targets)] of the mean over each one's predictions."""
    tokens, targets, real = padded(sequences)
    log_p = torch.log_softmax(logits(config, weights, tokens, real), dim=-1)
    row_loss = -log_p.gather(2, targets[:, :, None])[:, :, 0]
    return (torch.where(real, row_loss, torch.zeros(())).sum(1) / real.sum(1)).mean()


def backward(config, weights, sequences):
    """The loss as a float; its gradient is left in the tensors."""
    for tensor in weights.values():
        tensor.grad = None
    value = loss(config, weights, sequences)
    value.backward()
    for (name, _), tensor in weights.items():
        if tensor.grad is None:
            tensor.grad = torch.zeros_like(tensor)
        if name == "k_bias" and config["attention_mask"] == "causal":
            tensor.grad.zero_()  # exactly 0 in the mathematics; autograd leaves rounding noise
    return value.item()


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
    for group in twin["optimiser"].param_groups:
        group["weight_decay"] = 0
    twin["optimiser"].step()
    return {key: (weights[key] - twin["weights"][key]).detach() / rate for key in weights}


# A run


class Run:
    """A training run from given weights on given batches, one [(tokens, targets)] a step."""

    def __init__(self, config, vocabulary, start, batches, last_step):
        self.config, self.batches, self.last_step = config, batches, last_step
        self.weights = weights_from(start, config, vocabulary)
        self.optimiser = make_optimiser(config, list(self.weights.values()))

    def theta(self):
        return {key: tensor.detach().clone() for key, tensor in self.weights.items()}

    def step(self, t, observe=False):
        """Step t from 1: its loss, gradient and, where asked for, u as a dict."""
        value = backward(self.config, self.weights, self.batches[t - 1])
        gradient = {key: tensor.grad.clone() for key, tensor in self.weights.items()}
        if self.config["gradient_clip"]:
            torch.nn.utils.clip_grad_norm_(list(self.weights.values()), self.config["gradient_clip"])
        rate = schedule_rate(self.config, t, self.last_step)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        direction = step_without_decay(self.optimiser, self.weights, rate) if observe else None
        self.optimiser.step()
        return value, gradient, direction


# Measurements


def norm(*arrays):
    return math.sqrt(sum(float(np.dot(a, a)) for a in arrays))


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
