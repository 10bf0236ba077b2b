"""A second implementation of this program's training, in PyTorch and float64, for the parity tests.

Written from the definitions of the model and the optimisers, not from the C sources: plain
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


def norm(*arrays):
    return math.sqrt(sum(float(np.dot(a, a)) for a in arrays))


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
