"""Answers of the completion scripts: in bash from their function and from readline, in zsh from its line editor."""

import os
import pty
import re
import select
import shutil
import subprocess
import time

import missing
import pytest
from conftest import BUILD, NORMSWEEP, names_in, run, tables

pytestmark = pytest.mark.thorough("starts shells on terminals")

COMMANDS = {"run", "plan", "verify", "check", "status", "show", "inspect", "help", "completion"}


def options_of(command):
    """The letters and words of a command's options, from the page of its help."""
    text = run(NORMSWEEP, command, "--help").stdout
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", text, re.M)) | set(re.findall(r"^ +(-\w), ", text, re.M))


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    for shell in ("bash", "zsh"):
        (folder / shell).write_text(run(NORMSWEEP, "completion", shell).stdout)
    return folder


@pytest.fixture
def files(tmp_path):
    for name in ("a.nc", "b c.nc", "a.yaml", "ids.txt"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    return tmp_path


def offered(scripts, folder, line, breaks=" \t\n\"'><=;|&(:"):
    """The lines that bash would make of a line by completing its end."""
    words = re.findall(r"=+|[^\s=]+" if "=" in breaks else r"\S+", line) + ([""] if line[-1] == " " else [])
    code = ('source "$1"; COMP_WORDBREAKS=$2; shift 2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
            '_normsweep normsweep; printf "%s\\n" "${COMPREPLY[@]}"')
    done = run("bash", "--norc", "-uc", code, "bash", scripts / "bash", breaks, *words, cwd=folder,
               env={**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"})
    assert done.stderr == ""
    kept = line[:max(line.rfind(" "), line.rfind("=") if "=" in breaks else -1) + 1]
    return {kept + reply for reply in done.stdout.splitlines() if reply}


def ends(scripts, folder, line, **options):
    """The same, without the part before the last blank."""
    return {whole[line.rfind(" ") + 1:] for whole in offered(scripts, folder, line, **options)}


def test_bash_commands_and_options(scripts, files):
    assert set(names_in("commands")) == COMMANDS
    assert ends(scripts, files, "normsweep ") == COMMANDS | {"--help", "--version"}
    assert ends(scripts, files, "normsweep st") == {"status"}
    for command in COMMANDS:
        assert ends(scripts, files, f"normsweep {command} -") == options_of(command)
    assert ends(scripts, files, "normsweep run a.yaml --re") == {"--retry-failed"}
    assert ends(scripts, files, "normsweep run -- -") == set()


def test_bash_files_by_kind(scripts, files):
    for line, found in {"run ": {"a.yaml"}, "run -o ": {"a.nc", "b c.nc"}, "run --output=": {"a.nc", "b c.nc"},
                        "status ": {"a.nc", "b c.nc"}, "inspect ": {"a.nc", "b c.nc"},
                        "run -j 2 --fresh ": {"a.yaml"}, "run -- ": {"a.yaml"}}.items():
        kept = line.split()[-1] if line.endswith("=") else ""
        assert ends(scripts, files, "normsweep " + line) == {kept + name for name in found | {"folder"}}
    every = {"a.nc", "b c.nc", "a.yaml", "ids.txt", "folder"}
    for line in ("inspect a.nc --tokens ", "run --log "):
        assert ends(scripts, files, "normsweep " + line) == every
    for line in ("run -j ", "run a.yaml ", "inspect --threads ", "status --limit "):
        assert ends(scripts, files, "normsweep " + line) == set()


@pytest.mark.parametrize("breaks", [" \t\n\"'><=;|&(:", " \t\n"], ids=["equals breaks words", "it does not"])
def test_bash_settings(scripts, files, breaks):
    keys = names_in("parameters", "keys")
    for before in ("--set ", "--set="):
        line = "normsweep run a.yaml " + before
        kept = before if before[-1] == "=" else ""
        assert ends(scripts, files, line, breaks=breaks) == {f"{kept}{key}=" for key in keys}
        assert ends(scripts, files, line + "norm_p", breaks=breaks) == {kept + "norm_placement="}
        values = {f"{kept}norm_placement={word}" for word in ("post", "pre", "out")}
        assert ends(scripts, files, line + "norm_placement=", breaks=breaks) == values
        assert ends(scripts, files, line + "norm_placement=o", breaks=breaks) == {kept + "norm_placement=out"}
        assert ends(scripts, files, line + "tied=", breaks=breaks) == {kept + "tied=true", kept + "tied=false"}
        assert ends(scripts, files, line + "width=", breaks=breaks) == set()
    assert ends(scripts, files, "normsweep run --set tied=true ", breaks=breaks) == {"a.yaml", "folder"}


def drawable():
    return {*names_in("metrics", "run_variables")} - {"host", "reason"}


def test_bash_topics_and_variables(scripts, files):
    topics = {"params", "metrics", *names_in(
        "commands", "parameters", "keys", "groups", "metrics", "dimensions", "natures", "run_variables",
        "session_variables", "attributes")}
    assert ends(scripts, files, "normsweep help ") == topics
    assert ends(scripts, files, "normsweep show a.nc ") == drawable()
    assert ends(scripts, files, "normsweep show a.nc fit_sq") == {"fit_sqrt_r2"}
    assert ends(scripts, files, "normsweep completion ") == {"bash", "zsh"}


def axes():
    return {row["name"] for row in tables()["parameters"] if row["axis"]} | {*names_in("dimensions")}


def test_bash_axes(scripts, files):
    line = "normsweep show a.nc --at "
    assert ends(scripts, files, line) == {name + "=" for name in axes()}
    assert ends(scripts, files, line + "norm_placement=p") == {"norm_placement=post", "norm_placement=pre"}
    assert ends(scripts, files, line + "seed=0,ten") == {"seed=0,tensor="}
    assert ends(scripts, files, line + "seed=0,tensor=w") >= {"seed=0,tensor=w1", "seed=0,tensor=w2"}
    assert ends(scripts, files, "normsweep show a.nc --over learning_rate,sched") == {
        "learning_rate,schedule", "learning_rate,schedule_start", "learning_rate,schedule_end",
        "learning_rate,schedule_decay"}


def test_every_placeholder_has_its_meaning():
    known = {"SWEEP.yaml", "OUT.nc", "NET.weights.nc", "VARIABLE", "N", "T", "ID", "IDS", "FILE",
             "SCRIPT", "SECONDS", "TIME", "I/N", "KEY=VALUE", "NAME=VALUE", "X[,Y]",
             "params|metrics|KEY|NAME|COMMAND", "bash|zsh"}
    found = set()
    for command in tables()["commands"]:
        found |= {option["value"] for option in command["options"] if "value" in option}
        found |= {word.strip("[]") for word in command["operands"].split()}
    assert found <= known, "docs/completion says what stands for a placeholder"


def typed(shell, preparation, line, folder):
    """The words of the line that a shell in a terminal makes of a line with a tab at its end."""
    main, terminal = pty.openpty()
    environment = {"PATH": f"{BUILD}:{os.environ['PATH']}", "TERM": "dumb", "LC_ALL": "C", "HOME": str(folder)}
    program = subprocess.Popen(shell, stdin=terminal, stdout=terminal, stderr=terminal, cwd=folder, env=environment,
                               start_new_session=True)
    os.close(terminal)
    try:
        os.write(main, f"{preparation}\nsay() {{ printf '<%s>' \"$@\" >said; }}\n{line}\t\x01say \nexit\n".encode())
        deadline = time.monotonic() + 600
        while program.poll() is None and time.monotonic() < deadline:
            if select.select([main], [], [], 0.05)[0]:
                try:
                    os.read(main, 4096)
                except OSError:  # its other end is closed
                    break
        program.wait(max(0, deadline - time.monotonic()))
    finally:
        program.kill()
        os.close(main)
    return re.findall("<(.*?)>", (folder / "said").read_text())


LINES = {
    "normsweep sta": ["normsweep", "status"],
    "normsweep run --set norm_placement=o": ["normsweep", "run", "--set", "norm_placement=out"],
    "normsweep run --set=norm_placement=o": ["normsweep", "run", "--set=norm_placement=out"],
    "normsweep run -o b": ["normsweep", "run", "-o", "b c.nc"],
    "normsweep run a": ["normsweep", "run", "a.yaml"],
    "normsweep show a.nc fit_sq": ["normsweep", "show", "a.nc", "fit_sqrt_r2"],
}


@pytest.mark.parametrize("line", LINES)
def test_bash_in_a_terminal(scripts, files, line):
    made = typed(["bash", "--norc", "-i"], f"source {scripts}/bash", line, files)
    assert made == LINES[line]


zsh = missing.program("zsh", "the completion for zsh; that for bash is", "zsh")
ZSH = "autoload -U compinit; compinit -D -u; "


@zsh
@pytest.mark.parametrize("line", LINES)
def test_zsh_in_a_terminal(scripts, files, line):
    made = typed(["zsh", "-f", "-i"], f"{ZSH} source {scripts}/zsh", line, files)
    assert made == LINES[line]


@zsh
def test_zsh_from_a_folder_of_functions(scripts, files):
    (files / "functions").mkdir()
    shutil.copy(scripts / "zsh", files / "functions" / "_normsweep")
    assert typed(["zsh", "-f", "-i"], f"fpath=($PWD/functions $fpath); {ZSH}", "normsweep sta", files) == [
        "normsweep", "status"]


CAPTURE = """
compadd() {
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\\ * ]]; then
        local -a hits; builtin compadd -A hits "$@"; print -rl -- $hits >>hits
    fi
    builtin compadd "$@"
}
"""


@zsh
def test_zsh_offers(scripts, files):
    def hits(line):
        (files / "hits").write_text("")
        (files / "capture").write_text(CAPTURE)
        typed(["zsh", "-f", "-i"], f"{ZSH} source {scripts}/zsh; source ./capture", line, files)
        return set((files / "hits").read_text().split()) - {"-J", "-default-"}  # options of an empty compadd

    assert hits("normsweep ") >= COMMANDS | {"--help", "--version"}
    assert hits("normsweep run --set ") == {*names_in("parameters", "keys")}
    assert hits("normsweep run --set schedule=") == {
        "constant", "linear", "inverse_sqrt", "cosine", "wsd"}
    assert hits("normsweep run --") >= {option for option in options_of("run") if option.startswith("--")}
    assert hits("normsweep show a.nc ") == drawable()
    assert {"params", "run", "title", "session_blas", "train_loss"} <= hits("normsweep help ")
    assert hits("normsweep completion ") == {"bash", "zsh"}
    assert hits("normsweep show a.nc --at ") == axes()
    assert hits("normsweep show a.nc --at seed=0,norm_placement=") == {"post", "pre", "out"}


def test_another_shell_is_refused():
    done = run(NORMSWEEP, "completion", "fish", status=2)
    assert done.stdout == "" and done.stderr == "normsweep completion: takes bash or zsh and not 'fish'\n"
