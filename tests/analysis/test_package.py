"""What pip installs: commands, versions, licence, texts; the same names and numbers wherever they stand."""

import doctest
import os
import pathlib
import re
import sys

import netCDF4
import pytest
from conftest import PROJECT, run, script
from made_up import made_up
import normsweep
from normsweep import entry

pytestmark = pytest.mark.thorough("builds and installs the package")

ANALYSIS = PROJECT / "analysis"
SETTINGS = (ANALYSIS / "pyproject.toml").read_text()
SCRIPTS = {path.name for path in ANALYSIS.iterdir() if path.is_file() and os.access(path, os.X_OK)}


def test_every_script_is_a_command():
    commands = dict(re.findall(r'^normsweep-(\w+) = "normsweep\.entry:(\w+)"$', SETTINGS, re.M))
    assert commands == {name: name for name in SCRIPTS} and {"figures", "report", "table"} <= SCRIPTS
    folder = os.path.join(os.path.dirname(normsweep.__file__), "scripts")
    assert {name[:-3] for name in os.listdir(folder) if name.endswith(".py")} - {"__init__"} == SCRIPTS
    text = (ANALYSIS / "README.md").read_text()
    assert set(re.findall(r"^\| `normsweep-(\w+) ", text, re.M)) == SCRIPTS


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_commands_are_the_scripts(name, tmp_path):
    """As pip's commands call them: sys.exit(function())."""
    call = f"import sys; from normsweep.entry import {name}; sys.argv[0] = 'bin/normsweep-{name}'; sys.exit({name}())"
    environment = {**os.environ, "PYTHONPATH": str(ANALYSIS)}
    assert run(sys.executable, "-c", call, "--help", env=environment).stdout.startswith(f"usage: normsweep-{name} ")


@pytest.mark.parametrize("name, module", [
    (name, "pandas" if name in ("join", "log", "table", "weights") else "matplotlib") for name in sorted(SCRIPTS)])
def test_a_missing_module_is_named(name, module, tmp_path):
    """Hidden behind an entry None of sys.modules, which Python takes for a module that is not there."""
    call = f"import sys; sys.modules['{module}'] = None; from normsweep.entry import {name}; sys.exit({name}())"
    done = run(sys.executable, "-c", call, "a.nc", status=1, env={**os.environ, "PYTHONPATH": str(ANALYSIS)})
    if module == "matplotlib":  # the package itself needs the others
        assert done.stderr == f"normsweep-{name}: no module {module} here: pip install {module}\n"
    else:
        assert f"No module named '{module}'" in done.stderr or f"import of {module} halted" in done.stderr


@pytest.mark.parametrize("name", ["compare", "figures", "report", "table"])
def test_what_is_no_dataset_is_refused_in_one_line(name, tmp_path):
    netCDF4.Dataset(tmp_path / "foreign.nc", "w").close()
    (tmp_path / "text.nc").write_text("no netCDF")
    for path, message in (("none.nc", "No such file or directory"), ("foreign.nc", "not a normsweep dataset"),
                          ("text.nc", "not a normsweep dataset")):
        paths = [path] * (2 if name == "compare" else 1)
        assert script(name, *paths, status=1, cwd=tmp_path).stderr == f"{name}: {path}: {message}\n"
    assert sorted(os.listdir(tmp_path)) == ["foreign.nc", "text.nc"]


def test_data_and_statistics_need_no_matplotlib(tmp_path):
    """It takes seconds to import; what draws is in normsweep.drawings."""
    made_up().to_netcdf(tmp_path / "a.nc")
    call = ("import sys; from normsweep import *; ds = open_sweep('a.nc'); ds.sweep.table(); ds.sweep.pivot(); "
            "ds.sweep.boundary(); ds.sweep.predicted_boundary(); "
            "comparison_text(compare(ds.sel(norm_placement='pre'), ds.sel(norm_placement='post'))); "
            "sys.exit('matplotlib' in sys.modules)")
    run(sys.executable, "-c", call, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ANALYSIS)})
    package = pathlib.Path(normsweep.__file__).parent
    drawing = [path for path in package.rglob("*.py")
               if re.search(r"^ *(import|from) matplotlib", path.read_text(), re.M)]
    assert {path.parent.name for path in drawing} == {"drawings"}


def test_no_other_names_are_commands():
    with pytest.raises(AttributeError):
        entry.__path__
    with pytest.raises(ModuleNotFoundError):
        entry.nonsense()


def test_package_and_project_agree():
    makefile = (PROJECT / "Makefile").read_text()
    assert re.search(r'^version = "(.*)"$', SETTINGS, re.M)[1] == re.search(r"^VERSION = (.*)$", makefile, re.M)[1]
    assert (ANALYSIS / "LICENSE").read_bytes() == (PROJECT / "LICENSE").read_bytes()
    assert os.path.exists(os.path.join(os.path.dirname(normsweep.__file__), "py.typed"))


def test_least_versions_are_said_alike():
    """pyproject.toml, extras too, the page on installing, and the least versions that are tested."""
    least = dict(re.findall(r'"([A-Za-z0-9]+)(?:\[\w+\])?>=([\d.]+)"', SETTINGS.partition("[project]")[2]))
    assert set(least) == {
        "numpy", "xarray", "netCDF4", "pandas", "scipy", "matplotlib", "pyarrow", "zarr", "dask", "tokenizers"}
    page = (PROJECT / "docs" / "installing.md").read_text()
    spack = dict(re.findall(r'depends_on\("py-(\w+)@([\d.]+):"', page))
    for name in ("numpy", "xarray", "netCDF4", "pandas", "scipy", "matplotlib"):
        assert spack[name.lower()] == least[name], name
    assert re.search(r'depends_on\("python@([\d.]+):"', page)[1] == re.search(r'python = ">=(.*)"', SETTINGS)[1]
    tested = re.findall(r"^(\w+)==([\d.]+)", (PROJECT / ".ci" / "least.txt").read_text(), re.M)
    for name, version in least.items():
        first = next(known for one, known in tested if one == name)
        assert first.split(".")[:len(version.split("."))] == version.split("."), name


def test_examples_of_the_package_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made_up().to_netcdf("first.nc")
    done = doctest.testfile(str(ANALYSIS / "README.md"), module_relative=False)
    assert done.attempted > 4 and done.failed == 0


def test_hints_of_what_is_public():
    """Every name has hints for all its arguments, also of methods."""
    import inspect
    functions = [getattr(normsweep, name) for name in normsweep.__all__]
    functions += [value.fget if isinstance(value, property) else value for name, value in vars(normsweep.Sweep).items()
                  if not name.startswith("__") and (callable(value) or isinstance(value, property))]
    functions = [one for one in functions if inspect.isfunction(one)]
    assert len(functions) > 25
    for function in functions:
        names = set(inspect.signature(function).parameters) - {"self"}
        assert names | {"return"} <= set(function.__annotations__), function.__qualname__
