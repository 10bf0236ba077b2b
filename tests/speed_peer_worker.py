"""One run of a sweep after the other in PyTorch, in a process of tests/speed_peer_torch.py, which says what was chosen.

A module of its own, so that joblib and Ray import it in their processes instead of sending its code with each task.
"""
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import torch  # noqa: E402

import reference  # noqa: E402  # which makes float64 the default
import speed_torch  # noqa: E402

torch.set_default_dtype(torch.float32)

TRIAL_SECONDS = 0.3  # of each way, before a worker is ready
NETWORK = ("vocabulary", "width", "heads", "feedforward", "layers", "context")


class Study:
    """What all runs share, as tensors."""

    def __init__(self, path):
        with np.load(path) as file:
            arrays = dict(file)
        self.network = {name: int(arrays[name]) for name in NETWORK}
        self.every, self.cells = int(arrays["every"]), arrays["cells"].tolist()
        weights = reference.weights_from(arrays["initial"], self.network | speed_torch.WORDS,
                                         self.network["vocabulary"])
        self.initial = {name: tensor.detach().float() for name, tensor in weights.items()}
        self.batches = self.batches_of(arrays["tokens"], arrays["target"])
        self.validation = self.batches_of(arrays["valid_tokens"], arrays["valid_target"])

    @staticmethod
    def batches_of(tokens, target):
        return [(torch.from_numpy(tokens[i]), torch.from_numpy(target[i]).flatten()) for i in range(len(tokens))]


class Worker:
    """A network that takes one run after the other."""

    def __init__(self, path, is_compiled):
        torch.set_num_threads(1)
        torch.set_flush_denormal(True)
        self.study = Study(path)
        self.model = speed_torch.Transformer(**self.study.network)
        self.model.load(self.study.initial)
        self.parameters = list(self.model.parameters())
        self.is_block = np.array([name.startswith("blocks.") for name, _ in self.model.named_parameters()])
        self.training = speed_torch.Training(self.model)
        self.mode = "float-compile" if is_compiled else "float-eager"
        chosen = self.training.choose([self.mode], lambda: self.study.batches[0], TRIAL_SECONDS)
        if chosen[self.mode].startswith("none:"):
            raise RuntimeError(chosen[self.mode].partition(":")[2].replace("_", " "))

    @torch.no_grad()
    def norms(self):
        """Of every tensor: by one call, where PyTorch has it."""
        many = getattr(torch, "_foreach_norm", None)
        return torch.stack(list(many(self.parameters)) if many else [part.norm() for part in self.parameters])

    def begin(self, learning_rate, weight_decay):
        self.model.load(self.study.initial)
        self.training.options = {"lr": learning_rate, "weight_decay": weight_decay}
        self.training.optimise_with(self.training.optimiser_name)

    def run(self, learning_rate, weight_decay):
        """What a run has measured; the time at which it began."""
        now, norms, losses = time.time(), [], []
        self.begin(learning_rate, weight_decay)
        for step, batch in enumerate(self.study.batches):
            is_measured = step % self.study.every == 0
            if is_measured:
                norms.append(self.norms())
            loss = self.training.step(self.mode, *batch)
            if is_measured:
                losses.append(loss.item())
        norms.append(self.norms())
        norms = torch.stack(norms).numpy()
        return {"begin": now, "norms": norms, "param_norm": np.linalg.norm(norms[:, self.is_block], axis=1),
                "losses": np.array(losses), "valid_loss": self.valid_loss()}

    def growth(self, learning_rate, weight_decay):
        """Of the norm of the blocks, which is measured at both ends of the run alone."""
        self.begin(learning_rate, weight_decay)
        before = self.norms()
        for batch in self.study.batches:
            self.training.step(self.mode, *batch)
        before, after = (np.linalg.norm(norms.numpy()[self.is_block]) for norms in (before, self.norms()))
        return float(after / before)

    @torch.no_grad()
    def valid_loss(self):
        """Of all rows: each batch counts as many times as it has."""
        rows = [(len(target), self.training.loss("float-eager")(tokens, target).item())
                for tokens, target in self.study.validation]
        return sum(count * loss for count, loss in rows) / sum(count for count, _ in rows)


WORKER = None  # of this process


def the_worker(path, is_compiled):
    global WORKER
    if WORKER is None:
        WORKER = Worker(path, is_compiled)
    return WORKER


def warm(path, is_compiled):
    """Begins the worker of this process. Its number."""
    the_worker(path, is_compiled)
    time.sleep(0.5)  # so that another process takes the next task
    return os.getpid()


def run_cell(path, is_compiled, cell):
    return the_worker(path, is_compiled).run(*cell)


def bisect_column(path, is_compiled, rate, decays):
    """([the decays between which growth stops], growth by decay): halves what is left of the column's values; beside
    its ends nothing is trained."""
    worker, known = the_worker(path, is_compiled), {}
    low, high = -1, len(decays)
    while high - low > 1:
        middle = (low + high) // 2
        known[decays[middle]] = worker.growth(rate, decays[middle])
        low, high = (middle, high) if known[decays[middle]] > 1 else (low, middle)
    return (decays[max(low, 0)], decays[min(high, len(decays) - 1)]), known


def log_growth(exponent, path, is_compiled, rate):
    """log of the growth at weight decay 10^exponent."""
    return np.log(the_worker(path, is_compiled).growth(rate, 10 ** exponent))
