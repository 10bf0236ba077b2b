"""Where growth stops along each column of a grid, as it is found with PyTorch: by joblib processes that bisect the
columns, or by python-adaptive's learner.

    speed_boundary_torch.py bisect|adaptive|loop [--workers N] STUDY.npz RESULTS.npz

STUDY.npz is what tests/speed_boundary.py has written, and the runs are those of tests/speed_peer_torch.py, which says
what was chosen for them; here they measure the norm alone, at their first and last step. Writes `ready` when the
workers could begin, and `done 0` when the boundary is known; then RESULTS.npz.

- bisect: a column is a task of joblib's processes (loky), which are warm and stay; a column's runs follow each other in
  one process. Its ends are not trained: growth is taken to stop somewhere, if only beyond them.
- adaptive: a Learner1D over the logarithm of the decay for each column, in a BalancingLearner, which trains next where
  the widest interval is over which growth stops; as many runs at a time as workers, in loky processes that are warm.
  Its points are not those of the grid; it ends once no such interval is wider than the grid's.
- loop: bisect in this process, for tests.
"""
import argparse
import functools
import sys

import numpy as np

from speed_peer_torch import say
from speed_peer_worker import Study, bisect_column, log_growth, warm


def columns(path):
    """The rates and the decays of the grid."""
    return [list(dict.fromkeys(values)) for values in zip(*Study(path).cells)]


def packed(found):
    """Brackets [columns, 2] and the number of runs."""
    return np.array([bracket for bracket, _ in found]), sum(len(known) for _, known in found)


def find_by_bisection(path, workers):
    """Yields when ready; then brackets and the number of runs."""
    import joblib
    rates, decays = columns(path)
    with joblib.parallel_backend("loky", inner_max_num_threads=1):
        with joblib.Parallel(n_jobs=workers, pre_dispatch="all", batch_size=1) as parallel:
            seen = set()
            while len(seen) < workers:
                seen |= set(parallel(joblib.delayed(warm)(path, False) for _ in range(workers)))
            yield
            yield packed(parallel(joblib.delayed(bisect_column)(path, False, rate, decays) for rate in rates))


def crossing(places, values):
    """The width of an interval, scaled to that of all; next to nothing where both of its ends grow, or neither does."""
    return (places[1] - places[0]) * (1 if (values[0] > 0) != (values[1] > 0) else 1e-6)


def find_by_learner(path, workers):
    import adaptive
    from loky import get_reusable_executor
    rates, decays = columns(path)
    ends = np.log10(decays[0]), np.log10(decays[-1])
    executor = get_reusable_executor(max_workers=workers, timeout=600)
    seen = set()
    while len(seen) < workers:
        seen |= set(executor.map(warm, [path] * workers, [False] * workers))
    learners = [adaptive.Learner1D(functools.partial(log_growth, path=path, is_compiled=False, rate=rate), ends,
                                   loss_per_interval=adaptive.learner.learner1D.uses_nth_neighbors(0)(crossing))
                for rate in rates]
    yield
    adaptive.BlockingRunner(adaptive.BalancingLearner(learners, strategy="loss"), executor=executor, ntasks=workers,
                            loss_goal=(1 + 1e-9) / (len(decays) - 1))
    yield packed([bracket_of(learner.data) for learner in learners])


def bracket_of(data):
    """((decays beside the boundary), {place: log of growth}): the narrowest interval over which growth stops; the last
    place, if it stops nowhere."""
    places = sorted(data)
    pairs = [pair for pair in zip(places, places[1:]) if data[pair[0]] > 0 >= data[pair[1]]] or [(places[-1],) * 2]
    low, high = min(pairs, key=lambda pair: pair[1] - pair[0])
    return (10 ** low, 10 ** high), data


def find_in_this_process(path, _):
    rates, decays = columns(path)
    yield
    yield packed([bisect_column(path, False, rate, decays) for rate in rates])


WAYS = {"bisect": find_by_bisection, "adaptive": find_by_learner, "loop": find_in_this_process}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("how", choices=WAYS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("study")
    parser.add_argument("results")
    options = parser.parse_args()
    way = WAYS[options.how](options.study, options.workers)
    next(way)
    say("ready")
    brackets, runs = next(way)
    say("done", 0)
    np.savez(options.results, brackets=brackets, runs=runs)
    for _ in way:
        pass


if __name__ == "__main__":
    sys.exit(main())
