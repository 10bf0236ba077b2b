"""Configurations drawn at random over the keys of the sweep file that networks, objectives and optimisers have, so that
any two words that go together occur together.

A configuration is drawn in two steps: first its features, words of each of which some are words of the sweep file and
others stand for ranges of sizes; then numbers that have these features.
"""
import functools
import itertools
import random

from reference_optimisers import OPTIMISERS

# The features of a configuration. Keys of the sweep file have its words; the other features follow them.
FEATURES = {
    "network": ("decoder", "encoder", "encoder_decoder"),
    "norm_placement": ("post", "pre", "out"),
    "norm": ("layernorm", "rmsnorm"),  # the saturated networks without norms overflow
    "qk_norm": (False, True),
    "positions": ("learned", "sinusoidal", "rotary", "relative", "none"),
    "score_scale": ("sqrt", "none"),
    "activation": ("relu", "gelu", "gelu_tanh", "silu"),
    "gated": (False, True),
    "bias": (False, True),
    "output_bias": (False, True),
    "tied": (False, True),
    "init": ("torch", "xavier", "normal"),
    "parametrization": ("standard", "mup"),
    "trained_loss": ("plain", "z"),
    "attention_mask": ("causal", "multiplicative"),
    "zero_query_key": (False, True),
    "precision": ("float", "bfloat16"),
    "objective": ("next", "spans", "masked"),
    "corpus": ("markov", "dyck", "counter", "text", "bytes", "tokens", "pairs", "modular"),
    "sequences": ("stream", "lines"),
    "optimiser": tuple(OPTIMISERS),
    "decay_on": ("all", "matrices", "hidden", "attention+biases", "gains+embeddings+output", "feedforward"),
    "decay_rule": ("scaled", "independent", "corrected", "cautious"),
    "norm_rule": ("free", "fixed", "hyperball", "brake"),
    "weights": ("float", "bfloat16", "bfloat16_stochastic"),
    "schedule": ("constant", "linear", "inverse_sqrt", "cosine", "wsd"),
    "decay": ("fused", "factor"),
    "shared_keys": ("none", "some", "all"),  # heads with the keys of others
    "head_size": ("odd", "even"),
    "decoder_layers": ("default", "fewer", "more"),  # than those of the encoder
    "length": ("one", "short", "long", "beyond"),  # of the context; beyond: T5's last bucket begins at 128
}

# Words that are drawn less, or more, often than others of their features: they take most of attention away.
SHARES = {("zero_query_key", True): 0.2, ("length", "short"): 10, ("length", "long"): 5}

# Features of the network: any two words of two of these occur together.
ARCHITECTURE = ("network", "norm_placement", "norm", "qk_norm", "positions", "score_scale", "activation", "gated",
                "bias", "output_bias", "tied", "init", "parametrization", "trained_loss", "attention_mask",
                "zero_query_key", "precision", "shared_keys", "head_size", "decoder_layers", "objective", "optimiser",
                "length")

# Keys of the sweep file among the features.
KEYS = tuple(feature for feature in FEATURES
             if feature not in ("trained_loss", "shared_keys", "head_size", "decoder_layers", "length"))

FILES = ("text", "bytes", "tokens", "pairs")  # corpora that are read
WORDS = 18  # of their files


def conflicts():
    """{(feature, word): the words of other features that the program refuses beside it, or that make no sense}."""
    def against(feature, word, other, *words):
        for refused in words:
            yield (feature, word), (other, refused)

    def only(feature, word, other, *words):
        return against(feature, word, other, *(set(FEATURES[other]) - set(words)))

    pairs = itertools.chain(
        only("positions", "rotary", "head_size", "even"),
        only("network", "encoder", "attention_mask", "causal"),
        only("network", "decoder", "decoder_layers", "default"),
        only("network", "encoder", "decoder_layers", "default"),
        only("network", "decoder", "objective", "next"),
        only("network", "encoder", "objective", "next", "masked"),
        only("network", "encoder_decoder", "objective", "next", "spans"),
        only("corpus", "pairs", "network", "encoder_decoder"),
        only("corpus", "pairs", "objective", "next"),
        only("corpus", "modular", "objective", "next"),
        only("decay", "factor", "optimiser", "adamw"),
        only("parametrization", "mup", "optimiser", *(word for word, row in OPTIMISERS.items() if row.mup)),
        only("parametrization", "mup", "score_scale", "sqrt"),
        against("decay", "factor", "decay_rule", "cautious"),
        only("optimiser", "adam", "decay_rule", "scaled"),
        against("decay_rule", "cautious", "optimiser", "sgd"),
        against("norm_rule", "fixed", "zero_query_key", True),
        against("norm_rule", "hyperball", "zero_query_key", True),
        only("corpus", "tokens", "sequences", "stream"),
        only("corpus", "modular", "length", "short", "long"),
        only("objective", "spans", "length", "short", "long", "beyond"),
        only("length", "beyond", "sequences", "stream"),  # lines are shorter
        against("length", "beyond", "corpus", "pairs"),
    )
    refused = {(feature, word): set() for feature, words in FEATURES.items() for word in words}
    for one, other in pairs:
        refused[one].add(other)
        refused[other].add(one)
    return refused


CONFLICTS = conflicts()


def fits(features, feature, word):
    """Does the program take this word beside these features?"""
    if not CONFLICTS[feature, word].isdisjoint(features.items()):
        return False
    # An encoder or an encoder-decoder must not be given what it is to predict.
    there = features | {feature: word}
    if there.get("objective") != "next" or not {"network", "corpus"} <= set(there):
        return True
    needed = {"encoder": "modular", "encoder_decoder": "pairs"}.get(there["network"], there["corpus"])
    return there["corpus"] == needed


def draw_features(draw, fixed=()):
    """All features, those of `fixed` as they are; or None."""
    features = dict(fixed)
    if not all(fits(features, *item) for item in features.items()):
        return None
    # Those that decide most about others come first.
    for feature in sorted(FEATURES, key=lambda f: (f not in ("network", "objective", "corpus"), draw.random())):
        if feature in features:
            continue
        words = [word for word in FEATURES[feature] if fits(features, feature, word)]
        if not words:
            return None
        features[feature] = draw.choices(words, [SHARES.get((feature, word), 1) for word in words])[0]
    return features


WIDEST = 72  # wider ones take long and have no other shapes; products of all sizes are in test_product.c
LENGTHS = {"one": (1, 1), "short": (2, 13), "long": (18, 45), "beyond": (131, 150)}


def draw_heads(draw, features):
    """heads, kv_heads and D."""
    # A norm of so few elements is nearly a sign: its gradient is what rounding has left of a difference.
    least = (3 if features["norm"] == "layernorm" else 2) if features["qk_norm"] else 1
    odd = features["head_size"] == "odd"
    sizes = [size for size in (1, 2, 3, 4, 5, 6, 8, 17, 18) if size >= least and size % 2 == odd]
    heads = draw.choice({"none": (1, 2, 3, 4, 5), "some": (4, 6, 8), "all": (2, 3, 4, 6, 8)}[features["shared_keys"]])
    shared = {"none": (0, heads), "some": [n for n in range(2, heads) if heads % n == 0], "all": (1,)}
    size = draw.choice(sizes)
    while heads * size < 4:  # a norm of the stream has the same reason
        size += 2
    while heads * size > WIDEST:
        size -= 2
    return heads, draw.choice(shared[features["shared_keys"]]), size


def draw_config(draw, features, steps):
    """A configuration with these features."""
    heads, kv_heads, size = draw_heads(draw, features)
    layers = draw.choice((2, 3) if features["decoder_layers"] == "fewer" else (1, 1, 2, 2, 3))
    decoder_layers = {"default": 0, "fewer": layers - 1, "more": layers + draw.choice((1, 2))}
    context = draw.randint(*LENGTHS[features["length"]])
    if features["objective"] == "spans" or features["corpus"] == "modular":
        context = max(context, 3)
    config = {key: features[key] for key in KEYS}
    config |= {
        "layers": layers,
        "decoder_layers": decoder_layers[features["decoder_layers"]],
        "width": heads * size,
        "heads": heads,
        "kv_heads": kv_heads,
        "feedforward": draw.choice((7, 13, 24, 37)),
        "init_deviation": draw.choice((0.02, 0.2)),
        "init_scale": draw.choice((1.0, 1.0, 0.5, 2.0)),
        "residual_scale": draw.choice((1.0, 1.0, 0.4, 1.5)),
        "base_width": draw.choice((3, 8, 20, 64)) if features["parametrization"] == "mup" else 0,
        "z_loss": draw.choice((1e-4, 1e-2, 0.3)) if features["trained_loss"] == "z" else 0.0,
        "output_scale": draw.choice((1.0, 1.0, 0.3, 2.0)),
        "norm_target": draw.choice((1.0, 0.6)),
        "brake": draw.choice((0.0, 0.5, 1.0)),
        "context": context,
        "batch": draw.choice((1, 2, 3, 5) if features["length"] != "beyond" else (1, 1, 2, 2)),
        "learning_rate": OPTIMISERS[features["optimiser"]].drawn,
        "weight_decay": draw.choice((0.0, 1e-2, 1.0)) * (1e-2 if features["decay_rule"] == "independent" else 1),
        "beta1": draw.choice((0.9, 0.8, 0.0)),
        "beta2": draw.choice((0.999, 0.98)),
        "epsilon": draw.choice((1e-8, 1e-3)),
        "momentum": draw.choice((0.0, 0.9)) if features["optimiser"] == "sgd" else 0.0,
        "schedule_start": draw.randint(0, steps),
        "schedule_end": draw.choice((0.1, 0.0, 0.5)),
        "schedule_decay": draw.choice((0.2, 0.7)),
        "warmup_steps": draw.choice((0, 0, 3)),
        "gradient_clip": draw.choice((0.0, 0.0, 0.3)),
        "seed": draw.randrange(1000),
        "steps": steps,
    }
    return config | corpus_keys(draw, features)


def corpus_keys(draw, features):
    """Sizes of a built-in corpus."""
    corpus = features["corpus"]
    if corpus == "tokens":
        return {"vocabulary": WORDS}
    if corpus in FILES:
        return {}
    if corpus == "modular":
        return {"vocabulary": draw.choice((6, 8)), "train_share": draw.choice((0.5, 0.8))}
    tokens = {"one": 400, "short": 600, "long": 1500, "beyond": 3000}[features["length"]]
    words = {"markov": range(5, 40), "dyck": range(3, 12, 2), "counter": (4,)}[corpus]
    return {"vocabulary": draw.choice(words), "corpus_tokens": tokens, "corpus_seed": draw.randrange(100)}


# With these, most words about attention have no effect: queries and keys of 0 stay so; one key for each query.
IDLE = ("zero_query_key", True), ("length", "one")


def covers(features, words):
    """Do features try some words {(feature, word)} together?"""
    return words <= features.items() and all(idle in words for idle in IDLE if idle in features.items())


@functools.cache
def all_pairs():
    """Every pair of words of the architecture that go together: of all features with which one is drawn, all do."""
    pairs = set()
    for one, other in itertools.combinations(ARCHITECTURE, 2):
        for words in itertools.product(FEATURES[one], FEATURES[other]):
            pair = {one: words[0], other: words[1]}
            if frozenset(pair.items()) not in pairs:
                drawn = (draw_features(random.Random(attempt), pair) for attempt in range(20))
                there = next(filter(None, drawn), {})
                found = ((feature, there[feature]) for feature in ARCHITECTURE if there)
                pairs |= set(map(frozenset, itertools.combinations(found, 2)))
    return pairs


# Words that must occur together besides pairs: relative positions reach their last bucket in an encoder, and in a
# decoder that predicts all words.
LAST_BUCKET = ("positions", "relative"), ("length", "beyond"), ("attention_mask", "causal")
TOGETHER = [frozenset({*LAST_BUCKET, ("network", network)}) for network in ("decoder", "encoder")]


def combinations(count, seed, steps, candidates=8):
    """`count` times (features, configuration). As long as words are missing together, the features with most of them
    are taken of several candidates that have some of them."""
    draw, missing = random.Random(seed), sorted(all_pairs(), key=sorted)
    draw.shuffle(missing)
    missing = TOGETHER + missing
    for _ in range(count):
        fixed = dict(missing[0]) if missing else {}
        found = [features for _ in range(candidates if missing else 1) if (features := draw_features(draw, fixed))]
        found = found or [next(filter(None, (draw_features(draw, fixed) for _ in itertools.count())))]
        features = max(found, key=lambda features: sum(covers(features, words) for words in missing))
        missing = [words for words in missing if not covers(features, words)]
        yield features, draw_config(draw, features, steps)
