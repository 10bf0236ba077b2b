"""Gradients of untrained networks over depth, beside the theorem of Xiong et al. (2020) and infinite width."""

import numpy as np
import scipy.sparse

from study import about, of_error, small

THEORY = ("together={setting: {theory: {heads: 1, zero_query_key: true, init: xavier, feedforward: 64, bias: false}}}",
          "norm_placement=[post, pre]")
SWEEPS = {
    "small": small("init-gradients"),
    "deep": small("init-gradients", *THEORY, "corpus=bytes", "sequences=stream", "layers=[6, 14, 28, 56, 112]"),
    "seeds": small("init-gradients", *THEORY, "norm_placement=post", "layers=[6, 10, 14]", "seed={range: [0, 11]}"),
}
folder = None  # of the texts; set by rerun.py
FIGURE = "small", "gradients-last", {"title": ""}


def numbers(small, deep, seeds):
    yield about("slope along the layers in theory, post", np.log(1.5) / 2, 0)
    yield about("exponent of 1/√(2 + L/2) from 6 to 14 layers",
                np.polyfit(np.log(small.layers), -np.log(2 + small.layers / 2) / 2, 1)[0], 0)
    for name, sweep in ("6 to 14 layers", small), ("6 to 112 layers", deep):
        slopes = sweep.sweep.gradient_slopes()
        for setting in sweep.setting.values:
            for placement in sweep.norm_placement.values:
                cell = dict(setting=setting, norm_placement=placement)
                yield of_error(f"exponent of the last layer, {name}, {setting}, {placement}", slopes.each.sel(cell))
    along = small.gradient_depth_slope.isel(step=0).sel(tensor="w2")
    for setting in small.setting.values:
        for placement in small.norm_placement.values:
            yield of_error(f"slope along the layers, {setting}, {placement}",
                           along.sel(setting=setting, norm_placement=placement).mean("layers"))
    more = seeds.gradient_depth_slope.isel(step=0).sel(tensor="w2").squeeze("setting")
    yield of_error("slope along the layers, 12 seeds", more.mean("layers"))
    limit, shared, cosine = infinite_width(folder / "wiki.valid.tokens", seeds.layers.values)
    for layers, value in zip(seeds.layers.values, limit):
        yield of_error(f"slope along {layers} layers, 12 seeds", more.sel(layers=layers))
        yield about(f"slope along {layers} layers at infinite width", value, 0.02)
    yield about("slope along the layers at infinite width", np.mean(limit), 0.02)
    yield about("least share of pairs of different tokens in |G|²", shared, 0.02)
    yield about("mean cosine of tokens in the first layer", cosine[0], 0.02)
    yield about("mean cosine of tokens in the last layer", cosine[-1], 0.02)


def infinite_width(path, depths, lines=80, context=64):
    """Of networks with post: the slope of w2's gradient along the layers of each depth, the least share that pairs of
    different tokens have in its square, and the mean cosine between tokens at the feed-forward layers."""
    text = [line.split()[:context] for line in open(path) if line.strip() and line.split()[0][0] != "="]
    text = [text[i] for i in np.random.default_rng(0).permutation(len(text))[:lines]]
    word, target, place = (np.concatenate(of) for of in zip(*((line[:-1], line[1:], range(len(line) - 1))
                                                               for line in text)))
    mean = scipy.sparse.block_diag([np.tril(np.ones([n, n])) / np.arange(1, n + 1)[:, None]
                                    for n in (len(line) - 1 for line in text)], "csr", np.float32)
    products = (word[:, None] == word).astype(np.float32) + (place[:, None] == place)
    blocks, cosine = [], []
    for _ in range(max(depths)):
        products += mean @ (mean @ products).T
        size = np.sqrt(np.diag(products))
        products /= size[:, None] * size
        cosine.append(products.mean())
        angle = np.arccos(np.clip(products, -1, 1))
        hidden = (np.sin(angle) + (np.pi - angle) * products) / (2 * np.pi)
        blocks.append((size, hidden, 1 + (1 - angle / np.pi) / 2))
        products = (products + hidden) / 1.5
    slopes, shared = [], 1
    for depth in depths:
        gradients = (target[:, None] == target) - np.float32(1 / len(set(word)))
        squares = []
        for size, hidden, open_both in reversed(blocks[:depth]):
            gradients = gradients / np.float32(1.5)
            squares.insert(0, np.vdot(gradients, hidden))
            shared = min(shared, 1 - np.diag(gradients) @ np.diag(hidden) / squares[0])
            gradients *= open_both / (size[:, None] * size)
            gradients += mean.T @ (mean.T @ gradients).T
        slopes.append(np.polyfit(np.arange(depth), np.log(squares) / 2, 1)[0])
    return slopes, shared, cosine
