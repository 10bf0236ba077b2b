"""The README's own sweep and its lines of Python do what they say."""
import os
import re

from conftest import PROJECT, run

README = (PROJECT / "README.md").read_text()


def block(language):
    return re.search(rf"^```{language}\n(.*?)^```", README, re.M | re.S)[1]


def test_first_sweep_and_python(tmp_path, normsweep):
    (tmp_path / "first.yaml").write_text(block("yaml"))
    normsweep("check", "first.yaml")
    normsweep("run", "first.yaml", "-j", "0", "--set", "steps=4", "--set", "corpus_tokens=20000", timeout=300)
    assert "weight_decay" in normsweep("show", "first.nc").stdout
    script = "import matplotlib; matplotlib.use('Agg')\n" + block("python") + "\nprint(ds.outcome.values.min())\n"
    interpreter = run(PROJECT / ".ci" / "python", "xarray", "matplotlib").stdout.strip()
    done = run(interpreter, "-c", script, cwd=tmp_path, env={**os.environ, "PYTHONWARNINGS": "ignore"}, timeout=120)
    assert done.stdout.strip() == "2"
