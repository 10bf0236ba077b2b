"""What the documents have a reader do is done: commands, lines of Python, sweep files; and their links lead somewhere.

Each document's blocks are run in their order, in a folder that looks like the checkout and holds small texts and a
small model. The program in it makes runs short; Slurm is one that only writes down what it is asked for.
"""

import array
import json
import re
import shlex
import shutil
import subprocess
import warnings

import pytest

import documents
from conftest import NORMSWEEP, PROJECT, run
from conftest import script as run_script
from normsweep import figures, open_sweep
from normsweep.verify import NotASweep
from test_slurm import Slurm

thorough = pytest.mark.thorough("does what every page says")

# Commands that are not run as they stand, and why. What no pattern matches is run.
NOT_RUN = {
    r"make\b": "builds, and runs the tests, this one among them; that its targets are there is tested below",
    r"module load ": "the software of a site",
    r"(docker|apptainer|NORMSWEEP=\S+contained) ": "containers",
    r"tests/speed_sweep ": "times sweeps; its own test is test_speed_sweep.py",
    r"python3 tests/speed_boundary.py ": "times searches beside PyTorch; its own test is test_speed_boundary.py",
    r"build/tests-double ": "is what `make check` runs",
    r"(ncks|ncwa|ncap2) ": "test_readers.py runs them where NCO is installed",
    r"(\S+/)?pip install ": "takes packages from an index",
    r"analysis/weights tokens ": "takes a tokenizer from elsewhere; what it writes is in the folder",
    r"analysis/log |(MLFLOW_ALLOW_FILE_STORE=true )?(tensorboard|mlflow|wandb) ":
        "experiment trackers; test_trackers.py writes for each and reads it back, where it is installed",
    r"check-jsonschema ": "test_schema.py runs it where it is installed",
}
if not shutil.which("nccopy"):
    NOT_RUN[r"nccopy "] = "of Debian's netcdf-bin, which is not here"
# Scripts likewise.
NOT_EXECUTED = {
    r"from transformers import AutoModelForCausalLM": "test_export.py loads such folders",
    r'"""Where growth ends in the first hundred steps': "a study, which test_results.py runs",
    r"from transformers import ": "takes a tokenizer from elsewhere; what it writes is in the folder",
}
TEXT = "= Heading =\n" + "the lobster is a large crustacean , and <unk> knows it by its claws\n" * 200
TEXTS = ["wikitext-2/wiki.train.tokens", "wikitext-2/wiki.valid.tokens", "wiki.train.tokens", "wiki.valid.tokens",
         "wiki.test.tokens", "train.de", "train.en", "val.de", "val.en"]
TOKENS = ["fineweb_train_000001.bin", "fineweb_val_000000.bin"]
MOST_POINTS = 3  # of an axis: pages say what large grids show, and tests that their commands work
# A part of a sweep file goes with these.
REST = {"corpus": "corpus: markov\n", "steps": "steps: 4\n"}

SHORT = """\
#!/bin/sh
case $1 in
run | plan | verify)
    for word; do  # an option may be given once
        shift
        case $word in *points:*) word=$(echo "$word" | sed -E 's/points: ([4-9]|[1-9][0-9])/points: 3/g') ;; esac
        [ "$word" = -j ] || [ "$last" = -j ] || set -- "$@" "$word"
        last=$word
    done
    set -- "$@" --set epochs=0 --set steps=4 -j 0 ;;
*) exec "{program}" "$@" ;;
esac
case $* in *corpus=bytes*) exec "{program}" "$@" ;; esac
if grep -qs '^corpus: bytes' "$2"; then exec "{program}" "$@"; fi
exec "{program}" "$@" --set corpus_tokens=20000
"""
# Jobs are run at once: one that plans, and the first of each sweep, but not those that it submits; all of an array.
SBATCH = r"""
number=$(grep -c ^sbatch "$CALLS")
export SLURM_JOB_ID=$number SLURM_NTASKS=4 SLURM_JOB_NODELIST=n1
output=slurm-$number.out
for word; do
    [[ $word != --output=* ]] || output=${word#*=}
    [[ $word != --array=1-* ]] || tasks=${word#*-*-*-}
done
if [ -z "$in_job" ]; then
    while [[ $1 != *.sbatch ]]; do shift; done
    for task in $(seq "${tasks:-1}"); do
        SLURM_ARRAY_TASK_ID=$task in_job=yes "$@" >"$output" || exit
    done
fi
echo "$number"
"""

each_page = pytest.mark.parametrize("path", documents.PAGES, ids=lambda path: path.name)


def fewer_points(text):
    return re.sub(r"\bpoints: (\d+)", lambda match: f"points: {min(int(match[1]), MOST_POINTS)}", text)


def script(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def model_that_others_trained(folder):
    import gpt2  # which imports torch, for thorough tests alone
    folder.mkdir()
    entries, data, _ = gpt2.entries_of(gpt2.random_weights(), "F32", "")
    (folder / "model.safetensors").write_bytes(gpt2.pack(entries, data))
    (folder / "config.json").write_text(json.dumps({"n_head": 4, "activation_function": "gelu_new"}))


class Reader:
    """Someone who does in a folder what a document says; variables that are exported stay."""

    def __init__(self, folder):
        self.folder = folder
        slurm = Slurm(folder)
        slurm.command("sbatch", SBATCH)
        interpreter = shutil.which(run(PROJECT / ".ci" / "python", "xarray", "netCDF4", "matplotlib").stdout.strip())
        for name in "normsweep", "normsweep-double":
            script(folder / "build" / name, SHORT.format(program=NORMSWEEP.with_name(name)))
        script(folder / "bin" / "python3", f'#!/bin/sh\nexec {interpreter} "$@"\n')
        (folder / "bin" / "normsweep").symlink_to(folder / "build" / "normsweep")
        self.variables = {key: value for key, value in slurm.environment.items() if not key.startswith("SLURM_")}
        self.variables |= {"NORMSWEEP": str(folder / "build" / "normsweep"), "MPLBACKEND": "Agg",
                           "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(folder / "analysis")}
        self.names = {}
        self.furnish()

    def furnish(self):
        for name in ["analysis", "docs", "slurm", "tests", ".ci"]:
            (self.folder / name).symlink_to(PROJECT / name)
        (self.folder / "sweeps").mkdir()
        for path in (PROJECT / "sweeps").glob("*.yaml"):
            (self.folder / "sweeps" / path.name).write_text(fewer_points(path.read_text()))
        for name in TEXTS:
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).write_text(TEXT)
        for name in ["train.txt", "valid.txt"]:
            (self.folder / name).write_text(TEXT)
        for name in TOKENS:
            (self.folder / name).write_bytes(array.array("H", [i % 50257 for i in range(20000)]).tobytes())
        (self.folder / "ids.txt").write_text(" ".join(str(i % 40) for i in range(200)))
        (self.folder / "sweep.yaml").write_text("corpus: markov\nsteps: 10\nlearning_rate: [0.1, 0.01]\n")
        for block in (block for page in documents.PAGES for block in documents.blocks(page) if block.name):
            (self.folder / block.name).write_text(fewer_points(block.text))  # pages go on with the sweeps of others
        model_that_others_trained(self.folder / "gpt2")

    def command(self, line):
        """A plain call of a script is run in this process, which has imported what takes a second otherwise."""
        words = shlex.split(line, comments=True)
        if words and words[0].startswith("analysis/") and not re.search(r"[|&;<>$`]", line):
            if words[0] == "analysis/figures" and not {"--only", "--list"} & set(words):
                words += self.first_figures(words[1])
            return run_script(words[0].removeprefix("analysis/"), *words[1:], cwd=self.folder).stdout
        kept = self.folder / "variables"
        text = f"{line}\nstatus=$?\nexport -p >{kept}\nexit $status\n"
        before = f"source {kept}\n" if kept.exists() else ""
        done = subprocess.run(["bash", "-o", "pipefail", "-c", before + text], cwd=self.folder, env=self.variables,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def first_figures(self, name):
        """--only for three figures of a sweep, where a page draws all: test_figures_sweep.py does."""
        try:
            with open_sweep(self.folder / name) as dataset:
                return ["--only", *figures.names(dataset, sure=True)[:3]]
        except NotASweep:
            return []

    def python(self, text):
        """Goes on from the scripts before, in this process."""
        with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            patch.chdir(self.folder)
            exec(compile(text, "script", "exec"), self.names)

    def sweep_file(self, block):
        text = block.text + "".join(line for key, line in REST.items()
                                    if not re.search(rf"^{key}:", block.text, re.M)
                                    and not (key == "steps" and re.search("^epochs:", block.text, re.M)))
        path = self.folder / (block.name or "part.yaml")
        path.write_text(fewer_points(text))
        self.command(f"normsweep check {path.name}")

    def do(self, block):
        if block.language == "sh":
            for line in documents.commands(block.text):
                if not reason(NOT_RUN, line):
                    self.command(line)
        elif block.language == "python" and not reason(NOT_EXECUTED, block.text):
            self.python(block.text)
        elif block.language == "yaml":
            self.sweep_file(block)


def reason(table, text):
    return next((why for pattern, why in table.items() if re.match(pattern, text)), None)


@pytest.fixture
def reader(tmp_path):
    return Reader(tmp_path)


@thorough
@each_page
@pytest.mark.long(20)
def test_page_does_what_it_says(path, reader):
    for block in documents.blocks(path):
        reader.do(block)


@thorough
def test_man_page_does_what_it_says(reader):
    found = documents.manual_blocks()
    assert {block.language for block in found} == {"sh", "python", "yaml"}
    for block in found:
        reader.do(block)


def all_blocks():
    return [block for path in documents.PAGES for block in documents.blocks(path)] + documents.manual_blocks()


def test_blocks_are_of_a_kind_that_is_tested():
    """Or say nothing of their kind: what a program prints, lines of code to add. test_readers.py runs R."""
    assert {block.language for block in all_blocks()} <= {"sh", "python", "yaml", "c", "text", "r", ""}


def test_nothing_is_left_out_without_need():
    lines = [line for block in all_blocks() if block.language == "sh" for line in documents.commands(block.text)]
    scripts = [block.text for block in all_blocks() if block.language == "python"]
    for table, texts in ((NOT_RUN, lines), (NOT_EXECUTED, scripts)):
        for pattern in table:
            assert any(re.match(pattern, text) for text in texts), pattern


def test_make_has_the_targets_that_are_spoken_of():
    makefile = "".join((PROJECT / name).read_text() for name in ("Makefile", ".ci/developers.mk"))
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile, re.M)) | {"build/speed"}
    for path in documents.PAGES:
        for line in re.findall(r"\bmake((?: +(?:[A-Z]+='[^']*'|[\w./=~,-]+))*)(?=\s*(?:`|#|&&|$))", path.read_text()):
            words = [word for word in re.sub(r"[A-Z]+='[^']*'", "", line).split() if "=" not in word]
            assert set(words) <= targets or not words, f"{path.name}: make{line}"


# ---- links and names ----

@each_page
def test_links_lead_somewhere(path):
    for link in documents.links(path):
        if re.match(r"https?://", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), f"{path.name}: {link}"
        assert not anchor or anchor in documents.anchors(target), f"{path.name}: {link}"


def test_what_follows_from_the_tables_is_written():
    run(PROJECT / ".ci" / "tables", "--check")


def test_every_sweep_has_its_row():
    page = (documents.DOCS / "ready-made.md").read_text()
    rows = re.findall(r"\[`([\w-]+)`\]\(\.\./sweeps/\1\.yaml\)", page)
    assert sorted(rows) == sorted(path.stem for path in (PROJECT / "sweeps").glob("*.yaml"))


def test_every_page_is_reached_from_the_readme():
    reached, left = set(), [documents.PAGES[0]]
    while left:
        path = left.pop()
        if path not in reached and path.suffix == ".md":
            reached.add(path)
            left += [(path.parent / link.partition("#")[0]).resolve() for link in documents.links(path)
                     if "://" not in link and not link.startswith("#")]
    assert reached >= set(documents.PAGES)


def test_pages_of_the_guide_are_short():
    """One task each; the first page is about sweep files and leads to the others."""
    first = documents.DOCS / "sweeping.md"
    table = "".join(line for line in first.read_text().splitlines(True) if line.startswith("|"))
    pages = {first: 350} | {documents.DOCS / name: 250 for name in re.findall(r"\]\(([a-z]+\.md)\)", table)}
    assert len(pages) > 12
    for path, most in pages.items():
        assert len(path.read_text().splitlines()) <= most, path.name


@each_page
def test_files_that_are_named_are_there(path):
    names = re.findall(r"`((?:model|worker|driver|tests|analysis|slurm|sweeps|docs|\.ci)/[\w.*/-]+)`", path.read_text())
    for name in names:
        assert list(PROJECT.glob(name)), f"{path.name}: {name}"


def test_functions_are_where_the_pages_say():
    """`name()` in `file` or of it: defined there; without a file: somewhere."""
    found, sources = 0, [path for folder in ("model", "worker", "driver")
                         for path in (PROJECT / folder).rglob("*.c")]
    for path in documents.PAGES:
        text = " ".join(path.read_text().split())
        for name, place in re.findall(r"`(\w+)\(\)`(?: (?:in|of) `([\w/.]+\.c)`)?", text):
            files = [PROJECT / place] if place else sources
            assert any(re.search(rf"^\w.*\b{name}\(", file.read_text(), re.M) for file in files), f"{name} {place}"
            found += 1
    assert found > 30


@each_page
def test_lines_are_short(path):
    """Tables aside, and what the program writes."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        assert len(line) <= 120 or line.startswith("|") or path.name == "reference.md", f"{path.name}:{number}"
