"""The JSON Schema of sweep files: it accepts what `check` accepts, and rejects single values that `check` rejects."""

import functools
import random
import re
import shutil

import pytest

import missing
from conftest import NORMSWEEP, PROJECT, names_in, run, tables

yaml = missing.module("yaml", "the JSON Schema of sweep files", "apt-get install python3-yaml")
missing.module("jsonschema", "the JSON Schema of sweep files", "apt-get install python3-jsonschema")

import documents  # noqa: E402
import refused  # noqa: E402
import test_include  # noqa: E402
from editor import complaints, load, proposals, validator  # noqa: E402

pytestmark = pytest.mark.thorough("starts the program for hundreds of sweep files")

SWEEPS = sorted((PROJECT / "sweeps").glob("*.yaml"))


def test_it_is_a_schema_that_describes_every_key():
    schema = validator().schema
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    rows = {row["name"]: row for part in ("parameters", "keys") for row in tables()[part]}
    assert sorted(schema["properties"]) == sorted(rows)
    for name, key in schema["properties"].items():
        assert key["description"].split("; default: ")[0] == rows[name]["help"]
    assert schema["properties"]["learning_rate"]["default"] == 0.001
    assert schema["properties"]["save_weights"]["default"] is False
    assert schema["properties"]["bias"]["default"] is True
    assert schema["properties"]["corpus"]["default"] == "text"


def test_its_references_lead_somewhere():
    text = run(NORMSWEEP, "help", "--schema").stdout
    found = set(re.findall(r'"\$ref": "#/definitions/([^"]*)"', text))
    assert found == set(validator().schema["definitions"]) and all(re.fullmatch(r"[\w-]+", name) for name in found)


@pytest.mark.parametrize("path", SWEEPS, ids=lambda path: path.stem)
def test_shipped_sweeps(path):
    assert complaints(path.read_text()) == []


def test_sweep_files_in_the_documents():
    found = [block.text for page in documents.PAGES for block in documents.blocks(page) if block.language == "yaml"]
    found += [block.text for block in documents.manual_blocks() if block.language == "yaml"]
    assert len(found) > 12
    for text in found:
        assert complaints(text) == [], text


BASE = "corpus: markov\ncorpus_tokens: 2000\ncontext: 8\nlayers: 1\n"
# What `check` says of a value by itself. It says everything else of several keys, or of the texts.
OF_A_VALUE = re.compile(
    r"is (below|above|not above|not below|not finite|too (large|close)|a text|not a number|not an integer|not one of|"
    r"neither|not a power)|takes |no value|appears twice|an empty|empty$|unknown key|give either|needs points|"
    r"range and log are|not a name|has the name of|longer than|comma|begins or ends|more than|lacks a|together: has|"
    r"is not a metric|is not an axis of numbers|^skip: '|one value in a sweep")
# What the schema does not say: numbers that editors read otherwise, equal integers that doubles do not tell apart, the
# memory that a network of so many layers would take, that epochs and steps are both 0.
BEYOND = re.compile(r"too close to 0|'010' is not|layers: \d+ is above 131071|argument of xarray|control character|"
                    r"seed: \d+ appears twice|skip: '\w+' is neither|give either steps")


def check(folder, text):
    """None if `check` accepts it, else its message without the place."""
    done = refused.check(folder, text)
    if done.returncode == 0:
        return None
    return re.sub(r"^\S*:\d+:\d+: ", "", done.stderr.decode()).rstrip("\n")


def compare(folder, text):
    """What `check` accepts, the schema accepts; what it rejects because of a value, the schema rejects."""
    message, flagged = check(folder, text), complaints(text)
    if message is None:
        assert flagged == [], text
    elif OF_A_VALUE.search(message) and not BEYOND.search(message):
        assert flagged, f"{text}\n{message}"
    return message


@functools.cache
def params():
    """{key: (the values that it takes, as the reference says, may it be an axis?)}"""
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| .*? \| (yes|no) \|", (PROJECT / "docs" / "reference.md").read_text(),
                      re.M)
    return {name: (form.replace("\\|", "|").removesuffix(", or some joined by +"), axis == "yes")
            for name, form, axis in rows}


ODD = ["null", "~", "[]", "{}", "much", "'1'", '"true"', "true", "TRUE", "yes", "[1, [2]]", "[1, {range: [1, 2]}]",
       "-1", "0", "1", "2", "1.5", "0.5", ".5", "5.", "1e3", "1E+2", "1e-3", "1e400", "1e-400", ".inf", "-.inf", ".nan",
       "0x10", "1_000", "0o7", "010", "[1, 1]", "[1, 1.0]", "[2, 1]", "[1, null]", "['1', 2]", "9007199254740993",
       "9223372036854775807", "9223372036854775808", "-9223372036854775809", "{range: [1, 2]}", "{range: [2, 1]}",
       "{range: [1]}", "{range: [1, 2, 3]}", "{range: 3}", "{range: [1, 1.5]}", "{range: [1, 2], points: 2}",
       "{range: [0.25, 0.5], points: 2}", "{log: [1, 2], points: 2}", "{log: [1, 2]}", "{log: [0, 2], points: 2}",
       "{log: [-1, 2], points: 2}", "{log: [1, 4], points: 1}", "{log: [1, 4], points: 2.5}",
       "{log: [1, 4], points: 2, range: [1, 2]}", "{points: 3}", "{plus: [1]}", "{range: [1, 2], plus: []}",
       "{range: [1, 2], plus: [3]}", "{range: [1, 2], plus: 3}", "{range: [1, 2], plus: [-3]}",
       "{range: [1, 2], more: [3]}"]


def values(form):
    if "|" in form:
        words = form.split(" | ")
        return [*words, words[0].upper(), f"'{words[-1]}'", f"[{', '.join(words)}]", f"[{words[0]}, {words[0]}]",
                f"{{range: [{words[0]}, {words[1]}]}}"]
    bounds = re.findall(r"[<>]=? ([^\s,]+)", form)
    near = [f"{float(bound) + step:.17g}" for bound in bounds for step in (-1, 0, 1)]
    return [*near, *(f"{float(bound):.0f}" for bound in bounds), *(f"[2, {value}]" for value in near)]


def is_first(name, form):
    """Of the parameters that take these values: it is tried with all odd ones, the others with some."""
    return name == next(other for other, (values_of_other, _) in params().items() if values_of_other == form)


@pytest.mark.parametrize("name", params())
def test_values_of_a_parameter(name, tmp_path):
    form, axis = params()[name]
    steps = "" if name in ("steps", "epochs") else "steps: 4\n"
    base = "".join(line + "\n" for line in BASE.splitlines() if not line.startswith(name + ":")) + steps
    odd = ODD[::4] if "|" in form else ODD
    if "|" not in form and not is_first(name, form):
        odd = ODD[::6]
    messages = [compare(tmp_path, f"{base}{name}: {value}\n") for value in [*values(form), *odd]]
    assert len({message for message in messages if message}) > 5
    if axis and name not in ("steps", "epochs"):
        messages = [compare(tmp_path, f"{base}together: {{a: {{b: {{{name}: {value}}}}}}}\n") for value in odd[::5]]
        assert any(messages)
    fixed = "" if "|" in form else f"{name}: 1\n"
    for value in odd[::3]:
        compare(tmp_path, f"{base}{fixed}skip: [{{{name}: {value}}}]\n")


OTHERS = {
    "title": ["a", "5", "true", "null", "[a]", "{a: b}", "''"],
    "notes": ["a", "5", "null", "[a]", "''", "x" * 65536, "x" * 65537],
    "output": ["a.nc", "5", "''", "null", "[a.nc]"],
    "train_text": ["a", "[a, b]", "''", "[a, '']", "[a]", "[a, b, c]", "null", "{a: b}"],
    "include": ["''", "[]", "null", "{a: b}", "[[a]]", "['']", "none.yaml", "[none.yaml, other.yaml]"],
    "together": ["null", "{}", "[]", "a", "{a: {}}", "{a: {b: {}}}", "{a: {b: {bias: true}}}",
                 "{bias: {b: {tied: true}}}", "{1a: {b: {bias: true}}}", "{a-b: {b: {bias: true}}}",
                 "{title: {b: {bias: true}}}",
                 "{norm_growth: {b: {bias: true}}}", "{step: {b: {bias: true}}}", "{sessions: {b: {bias: true}}}",
                 "{a: {'': {bias: true}}}", "{a: {b: {bias: [true]}}}", "{a: {b: {corpus: dyck}}}",
                 "{a: {b: {bias: true, nothing: 1}}}", "{a: {1: {bias: true}, 2: {bias: false}}}",
                 f"{{{'a' * 64}: {{b: {{bias: true}}}}}}", f"{{{'a' * 65}: {{b: {{bias: true}}}}}}",
                 f"{{a: {{{'b' * 255}: {{bias: true}}}}}}", f"{{a: {{{'b' * 256}: {{bias: true}}}}}}"],
    "skip": ["null", "{}", "[]", "[{}]", "[1]", "[{measure: 1}]", "[{norm_growth: 1}]", "[{a-b: 1}]",
             "[{seed: [5, 6]}]", "[{seed: []}]"],
    "refine": ["null", "{}", "[]", "{axis: weight_decay}", "{axes: [weight_decay]}", "{axis: weight_decay, axes: []}",
               "{axes: []}", "{axes: [weight_decay, weight_decay]}", "{axes: [weight_decay, learning_rate, seed]}",
               "{axis: bias}", "{axis: corpus}", "{axis: weight_decay, variable: final_valid_loss, at: 3}",
               "{axis: weight_decay, variable: final_valid_loss}", "{axis: weight_decay, variable: param_norm, at: 1}",
               "{axis: weight_decay, at: .inf}", "{axis: weight_decay, at: low}", "{axes: [weight_decay], coarse: 4}",
               "{axes: [weight_decay], coarse: 3}", "{axes: [weight_decay], coarse: 0}",
               "{axes: [weight_decay], coarse: 2048}", "{axes: [weight_decay], coarse: 1024}",
               "{axes: [weight_decay], coarse: 2.0}", "{axis: weight_decay, none: 1}",
               "{axis: weight_decay, at_once: 2}", "{axis: weight_decay, at_once: 65}",
               "{axis: weight_decay, at_once: 0}", "{axes: [weight_decay], at_once: 2}", "{seeds: {width: 0.1}}",
               "{seeds: {}}", "{seeds: 1}", "{seeds: {width: 0}}", "{seeds: {width: 0.1, least: 1}}",
               "{seeds: {width: 0.1, least: 2, most: 2, difference: weight_decay}}", "{seeds: {width: 0.1, wide: 1}}",
               "{seeds: {width: 0.1, variable: param_norm}}", "{seeds: {width: 0.1}, at: 1}",
               "{seeds: {width: 0.1}, at_once: 2}", "{seeds: {width: 0.1}, variable: norm_growth}",
               "{axis: weight_decay, at: 2, seeds: {width: 0.1, variable: final_train_loss}}",
               "{axes: [weight_decay], at_once: 2, seeds: {width: 0.1}}"],
    "measure": ["null", "{}", "[]", "{every: 1}", "{every: 0}", "{every: 1e13}", "{every: 1e12}", "{every: [1]}",
                "{every: 2, steps: [1]}", "{steps: [0, 1]}", "{steps: 1}", "{steps: []}", "{steps: [1, 1]}",
                "{steps: [-1]}", "{steps: {range: [0, 4]}}", "{steps: {log: [1, 4], points: 3}}", "{metrics: []}",
                "{metrics: [norms]}", "{metrics: [norms, norms]}", "{metrics: [always]}", "{metrics: norms}",
                "{metrics: [none]}", "{when: 1}"],
    "validate": ["null", "{}", "[]", "{every: end}", "{every: ends}", "{every: 1}", "{every: 0}", "{every: 1e13}",
                 "{tokens: all}", "{tokens: 0}", "{tokens: 1.5}", "{tokens: '5'}", "{tokens: 1, every: end}", "end"],
    "gradient_batches": ["null", "0", "1", "1.0", "100000", "100001", "[1]", "all", "'1'"],
    "hessian": ["null", "{}", "{probes: 0}", "{probes: 10001}", "{every: ends}", "{every: start}", "{every: end}",
                "{steps: 1.5}", "{nothing: 1}", "3"],
    "spectra": ["null", "{}", "{every: auto}", "{every: ends}", "{every: start}", "{every: often}", "{every: 0}",
                "{every: 3}", "{steps: 1}", "auto"],
    "lyapunov_exponents": ["null", "0", "1", "10000", "10001", "[1]"],
    "lyapunov_sweeps": ["null", "-1", "0", "10000", "10001", "[1]"],
    "checkpoint_minutes": ["null", "0", "-1", "0.1", "1e-9", ".inf", "[1]", "'1'", "soon"],
    "valid_text": ["a", "''", "[a]", "null"],
    "trunks": ["true", "FALSE", "null", "'true'", "yes", "0", "[true]", "{}"],
}
NEEDED = {"gradient_batches": "gradients", "hessian": "hessian", "spectra": "spectra",
          "lyapunov_exponents": "lyapunov", "lyapunov_sweeps": "lyapunov"}


def test_each_other_key_has_values_here():
    assert sorted(OTHERS) == sorted(names_in("keys"))


@pytest.mark.parametrize("name", OTHERS)
def test_values_of_another_key(name, tmp_path):
    base = BASE + "steps: 4\nweight_decay: [0.1, 0.2]\nseed: [5, 6, 7]\n"
    base += f"measure: {{every: 1, metrics: [norms, {NEEDED[name]}]}}\n" if name in NEEDED else ""
    messages = [compare(tmp_path, f"{base}{name}: {value}\n") for value in OTHERS[name]]
    assert any(messages)


def test_mistakes_that_an_editor_shows():
    for text in ("learning_rte: 1e-3\n", "Learning_rate: 1\n", "measure: {evry: 1}\n", "<<: {a: 1}\n", "- a\n",
                 "hello\n", "refine: {axis: learning_rte}\n", "together: {model: {small: {widht: 8}}}\n",
                 "seed: null\n"):
        assert complaints(text), text
    assert complaints("include: a.yaml\nseed: null\nmeasure: ~\ntogether:\n") == []
    assert complaints("include: a.yaml\nseed: [null]\n") and complaints("include: a.yaml\nmeasure: {every: null}\n")


# Each is the only complaint, and names what is wrong there.
MESSAGES = {
    "learning_rate: -1": "-1 is less than or equal to the minimum of 0",
    "learning_rate: much": "'much' is not of type 'number'",
    "learning_rate: [0.1, much]": "'much' is not of type 'number'",
    "learning_rate: {log: [1e-4, 1e-1]}": "'points' is a required property",
    "learning_rate: {log: [1e-4, -1], points: 3}": "-1 is less than or equal to the minimum of 0",
    "seed: {range: [0, 1], log: [1, 2], points: 3}": "'range' is not one of ['log', 'points', 'plus']",
    "width: {points: 3}": "'range' is a required property",
    "weight_decay: {log: [0, 1], points: 3}": "0 is less than or equal to the minimum of 0",
    "norm_placement: prae": "'prae' is not one of ['post', 'pre', 'out']",
    "norm_placement: [post, prae]": "'prae' is not one of ['post', 'pre', 'out']",
    "bias: yes": "'yes' does not match '^([tT]rue|TRUE|[fF]alse|FALSE)$'",
    "save_weights: all": "'all' does not match '^([tT]rue|TRUE|[fF]alse|FALSE|state)$'",
    "title: [a]": "['a'] is not of type 'string', 'number', 'boolean', 'null'",
    "train_text: [a]": "['a'] is too short",
    "include: [[a]]": "['a'] is not of type 'string', 'number', 'boolean'",
    "measure: {evry: 10}": "Additional properties are not allowed ('evry' was unexpected)",
    "measure: {every: 10, steps: [1]}": "'steps' is not one of ['every', 'metrics']",
    "validate: {every: sometimes}": "'sometimes' is not one of ['end']",
    "refine: {}": "'axis' is a required property",
    "refine: {axis: weight_decay, coarse: 4}": "'coarse' is not one of ['axis', 'variable', 'at', 'at_once']",
    "together: {model: {small: {width: wide}}}": "'wide' is not of type 'integer'",
    "skip: [{width: wide}]": "'wide' is not of type 'integer'",
    "gradient_batches: 0": "0 is less than the minimum of 1",
}


@pytest.mark.parametrize("text", MESSAGES)
def test_messages_of_validators(text):
    assert complaints(text) == [MESSAGES[text]]


def test_proposals_of_editors():
    """The words of each parameter, its default, and null nowhere but at the end."""
    schema, words = validator().schema, 0
    for name, (form, _) in params().items():
        found = proposals(schema["properties"][name])
        words_of_form = [word for word in form.split(" | ") if word != "path"]
        expected = [word == "true" if word in ("true", "false") else word for word in words_of_form]
        if "|" in form:
            assert found[0] in expected and sorted(map(str, set(found))) == sorted(map(str, expected)), name
            words += 1
        else:
            assert found == [schema["properties"][name]["default"]], name
    assert words > 20
    for name, key in schema["properties"].items():
        assert None not in proposals(key)[:-1], name
    # As the members of an object that has no text yet: no type but null competes with it.
    for name in ("measure", "validate", "refine", "hessian", "spectra", "together"):
        assert schema["properties"][name]["type"] == ["object", "null"] and "anyOf" not in schema["properties"][name]


def test_command_line_of_the_guide(tmp_path):
    """That of docs/sweeping.md for continuous integration."""
    if not shutil.which("check-jsonschema"):
        missing.skip("check-jsonschema is not installed", "that it accepts sweep files and shows a mistake",
                     "pip install check-jsonschema")
    (tmp_path / "sweep.schema.json").write_text(run(NORMSWEEP, "help", "--schema").stdout)
    command = ["check-jsonschema", "--schemafile", tmp_path / "sweep.schema.json"]
    run(*command, *SWEEPS)
    (tmp_path / "a.yaml").write_text("learning_rate: [1e-3, -1]\n")
    assert "a.yaml::$.learning_rate[1]: -1 is less than or equal to the minimum of 0" in run(
        *command, tmp_path / "a.yaml", status=1).stdout


def test_sweep_files_of_the_fuzzer(tmp_path):
    accepted = 0
    for path in (PROJECT / "tests" / "fuzz").iterdir():
        try:
            text = path.read_text()
            load(text)
        except (UnicodeDecodeError, yaml.YAMLError, RecursionError):
            continue
        if len(text) < 100000 and check(tmp_path, text) is None:
            accepted += 1
            assert complaints(text) == [], path.name
    assert accepted >= 3


def test_meanings_of_include(tmp_path):
    for text, files, _ in test_include.MEANINGS.values():
        assert complaints(text) == [] and all(complaints(other) == [] for other in files.values())


USUAL = ["1", "2", "1.0", "[2, 1]", "[2]", "{range: [1, 2]}", "{range: [1, 3], points: 3, plus: [5]}",
         "{log: [1, 4], points: 3}"]


@pytest.mark.parametrize("seed", range(2))
def test_files_drawn_at_random(seed, tmp_path):
    draw = random.Random(seed)
    forms, accepted = params(), 0
    for _ in range(150):
        keys = {"corpus": "markov", "steps": "4", "context": "8", "layers": "1", "corpus_tokens": "2000"}
        for name in draw.sample(sorted(forms), draw.randrange(1, 4)):
            form = forms[name][0]
            usual = [*form.split(" | "), f"[{', '.join(form.split(' | '))}]"] if "|" in form else USUAL
            keys[name] = draw.choice(usual if draw.random() < 0.9 else [*values(form), *ODD])
        for name in draw.sample(sorted(OTHERS), draw.randrange(0, 2)):
            keys[name] = draw.choice(OTHERS[name])
        text = "".join(f"{name}: {value}\n" for name, value in keys.items() if name != "include")
        if check(tmp_path, text) is None:
            accepted += 1
            assert complaints(text) == [], text
    assert accepted > 15
