"""A sweep of learning rate x weight decay as it is written with PyTorch: joblib processes, or a Ray Tune study; or, for
tests, one run after the other in this process.

    speed_peer_torch.py joblib|ray|loop [--compile] [--workers N] STUDY.npz RESULTS.npz

STUDY.npz is what tests/speed_peer.py has written: the network, its initial weights, the batches of every step, the
validation and the cells. A run here is the run of the program: the same weights, batches, optimiser and steps, so that
the losses have to agree. Writes `ready` when the workers could begin, and `done SECONDS` when the last result is here,
with the seconds of it in which no run had begun, because Ray's actors start within the study; then RESULTS.npz.

What was chosen, so that these sweeps are as fast as they can be and still what their users write:
- one thread for each worker, and as many workers as the program has: two processes are faster than two threads;
- the batches lie ready as tensors: no loader and no tokenizer runs;
- the library's fastest optimiser and attention, found by timing some steps of each before `ready`;
- with --compile, torch.compile of the loss, once for all runs of a worker, which sets the weights of the network that
  is there anew for each run;
- workers have imported, compiled and warmed up before `ready`;
- joblib: its default processes (loky), a run a task. Ray Tune: actors are reused and each run reports once, its whole
  history; no loggers, callbacks, checkpoints or dashboard;
- denormal numbers are flushed to zero.
A run computes the norm of every tensor and the loss at each measured step: less than the program, which also measures
steps and alignments.
"""
import argparse
import os
import pathlib
import sys
import time

import numpy as np

from speed_peer_worker import Study, run_cell, the_worker, warm


def sweep_joblib(path, is_compiled, workers):
    """Yields when ready; then the results."""
    import joblib
    with joblib.parallel_backend("loky", inner_max_num_threads=1):
        with joblib.Parallel(n_jobs=workers, pre_dispatch="all", batch_size=1) as parallel:
            seen = set()
            while len(seen) < workers:
                seen |= set(parallel(joblib.delayed(warm)(path, is_compiled) for _ in range(workers)))
            cells = Study(path).cells
            yield
            yield parallel(joblib.delayed(run_cell)(path, is_compiled, cell) for cell in cells)


# Ray Tune


def trainable(tune):
    class Cell(tune.Trainable):
        def setup(self, config):
            self.worker = the_worker(config["path"], config["is_compiled"])
            self.cell = config["cell"]

        def reset_config(self, config):
            self.cell = config["cell"]
            return True

        def step(self):
            return {"done": True, "found": self.worker.run(*self.cell)}

        def save_checkpoint(self, _):
            return None

        def load_checkpoint(self, _):
            pass

    return Cell


def sweep_ray(path, is_compiled, workers):
    os.environ |= {"TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1", "TUNE_DISABLE_STRICT_METRIC_CHECKING": "1",
                   "TUNE_GLOBAL_CHECKPOINT_S": "1000000", "RAY_AIR_NEW_OUTPUT": "0", "RAY_USAGE_STATS_ENABLED": "0",
                   "PYTHONPATH": os.pathsep.join(sys.path)}
    import ray
    from ray import tune
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    cells = [tuple(cell) for cell in Study(path).cells]
    space = {"path": str(path), "is_compiled": is_compiled, "cell": tune.grid_search(cells)}
    folder = str(pathlib.Path(path).resolve().parent / "ray")
    tuner = tune.Tuner(
        trainable(tune), param_space=space,
        tune_config=tune.TuneConfig(reuse_actors=True, max_concurrent_trials=workers),
        run_config=tune.RunConfig(verbose=0, storage_path=folder,
                                  checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False)))
    yield
    found = {tuple(result.config["cell"]): result.metrics["found"] for result in tuner.fit()}
    yield [found[cell] for cell in cells]
    ray.shutdown()


def sweep_loop(path, is_compiled, _):
    worker = the_worker(path, is_compiled)
    yield
    yield [worker.run(*cell) for cell in worker.study.cells]


SWEEPS = {"joblib": sweep_joblib, "ray": sweep_ray, "loop": sweep_loop}


def say(*words):
    print(*words, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("how", choices=SWEEPS)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("study")
    parser.add_argument("results")
    options = parser.parse_args()
    sweep = SWEEPS[options.how](options.study, options.compile, options.workers)
    next(sweep)
    begin = time.time()
    say("ready")
    found = next(sweep)
    # The first run begins when Ray's actors are there, which therefore count as its start.
    say("done", max(0, min(run["begin"] for run in found) - begin))
    np.savez(options.results, **{name: np.stack([run[name] for run in found])
                                 for name in ("param_norm", "losses", "valid_loss")})
    for _ in sweep:
        pass


if __name__ == "__main__":
    main()
