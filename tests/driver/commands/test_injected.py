"""A call that fails once is one clear error, after which the same command ends with the same bits. These are a few of
the calls; `make inject` lets each one fail."""

import pytest

import injected

pytestmark = pytest.mark.thorough("lets calls of whole sweeps fail one by one")

CALLS = [("new", "write", 9), ("new", "sync", 1), ("new", "rename", 1), ("new", "open", 5), ("new", "memory", 19),
         ("stopped", "write", 5), ("stopped", "read", 9), ("killed", "rename", 1), ("killed", "memory", 41),
         ("weights", "rename", 1), ("more", "write", 9), ("more", "memory", 41), ("fresh", "rename", 1),
         ("fresh", "sync", 1), ("fresh", "open", 9), ("status", "memory", 5), ("show", "memory", 7),
         ("variable", "memory", 19), ("variable", "rename", 1), ("check", "memory", 5), ("done", "memory", 9),
         ("plane", "memory", 7), ("done", "library", 19), ("variable", "library", 198), ("show", "library", 9),
         ("status", "library", 9), ("check", "library", 5), ("status", "open", 1), ("show", "read", 1),
         ("plan", "memory", 29), ("verify", "memory", 9), ("verify", "library", 101), ("verify", "read", 3),
         ("json", "memory", 5), ("json", "library", 9), ("log", "write", 3), ("log", "open", 3), ("log", "memory", 49)]
LASTING = [("new", "write", 15), ("new", "memory", 49), ("stopped", "open", 15), ("killed", "sync", 5),
           ("fresh", "rename", 3), ("variable", "write", 15), ("status", "memory", 9), ("status", "open", 1)]


@pytest.fixture(scope="session")
def injector(tmp_path_factory):
    return injected.Injector(tmp_path_factory.mktemp("injector"))


@pytest.mark.parametrize("name, family, every, lasting", [(*call, False) for call in CALLS] + [
    (*call, True) for call in LASTING])
def test_failing_calls(injector, tmp_path, name, family, every, lasting):
    """One; or all from one on, as of a disk that stays full: the end is as plain, and what is on the disk is whole."""
    tried = list(injected.Bench(injector, tmp_path, name).try_all(family, distinct=True, lasting=lasting, every=every))
    assert tried and not [one for one in tried if one[-1]]


def test_the_last_block_of_a_file_counts(injector, tmp_path):
    """nc_close writes it, and ignores that it cannot: a dataset or checkpoint without it would pass as whole."""
    bench = injected.Bench(injector, tmp_path, "new")
    said = {done.place.partition(" at ")[0]: done.status for _, done, _ in bench.try_all("write", distinct=True)
            if "written_close" in done.place or "nc_sync" in done.place}
    assert said and set(said.values()) == {3}


@pytest.mark.long(40)
def test_a_run_that_cannot_be_resumed_is_retried(injector, tmp_path):
    """A run whose start was lost with a kill, and that fails for lack of memory, is counted as started."""
    bench = injected.Bench(injector, tmp_path, "killed")
    for at in reversed(bench.numbers("memory", distinct=True)):
        done, wrong = bench.try_one("memory", at) if at > 300 else (None, [])
        if done and done.status == 1:
            assert not wrong, (at, done, wrong)
            return
    pytest.fail("no run failed")
