"""Networks of others in and out: `import` writes a weights file that `normsweep inspect` measures, `export` writes one
for the transformers library, `tokens` writes the ids of a text.

A network is a folder with config.json and model.safetensors, several files with an index, or pytorch_model.bin; one of
these files; or its name on Hugging Face's hub, where huggingface_hub is installed.
"""

import argparse
import json
import os

from ..command import fail, open_or_fail, whole_file
from ..export import Export
from ..published import read_network
from ..saved_runs import path_of, run_at
from ..tensor_files import CONFIG, ONE, Refused
from ..weights import open_saved, write_network


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n")[1])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    imports = commands.add_parser("import", help="write a weights file of a network of others")
    imports.add_argument("network", metavar="NETWORK", help="a folder, a file of it, or a name of the hub")
    imports.add_argument("-o", "--output", required=True, metavar="NET.weights.nc")
    imports.add_argument("--heads", type=positive, default=0, metavar="N",
                         help="number of attention heads of a GPT-2 that has no config.json beside it")
    exports = commands.add_parser("export", help="write a weights file as the transformers library loads it")
    exports.add_argument("weights", metavar="NET.weights.nc", help="or a dataset, with --at")
    exports.add_argument("--at", action="append", default=[], metavar="NAME=VALUE,...",
                         help="the run of the dataset that has these values of its axes")
    exports.add_argument("-o", "--output", required=True, metavar="FOLDER",
                         help=f"without a {ONE} or {CONFIG} yet")
    tokens = commands.add_parser("tokens", help="write the ids of a text, for inspect --tokens")
    tokens.add_argument("text", metavar="TEXT")
    tokens.add_argument("--tokenizer", required=True, metavar="FOLDER", help="with the tokenizer.json of the network")
    tokens.add_argument("--lines", action="store_true",
                        help="each line is a sequence, with the tokens that begin and end one: for BERT and its kin")
    tokens.add_argument("-o", "--output", required=True, metavar="IDS")
    arguments = parser.parse_args()
    try:
        {"import": import_network, "export": export_network, "tokens": write_tokens}[arguments.command](arguments)
    except Refused as error:
        fail(error)
    except OSError as error:
        fail(f"{error.filename or arguments.output}: {error.strerror or error}")


def positive(text):
    if not text.isdecimal() or not 0 < int(text) <= 1 << 20:
        raise argparse.ArgumentTypeError(f"a number of heads and not '{text}'")
    return int(text)


def import_network(arguments):
    network = read_network(arguments.network, arguments.heads)
    with whole_file(arguments.output) as name:
        count = write_network(network, name)
    left = f"; left out: {', '.join(network.left_out)}" if network.left_out else ""
    print(f"{arguments.output}: {network.model_type}, {count} parameters{left}")


def export_network(arguments):
    folder, made = arguments.output, False
    with open_saved(weights_at(arguments.weights, arguments.at) if arguments.at else arguments.weights) as saved:
        export = Export(saved)
        try:
            os.mkdir(folder)
            made = True
        except FileExistsError:
            if not os.path.isdir(folder):
                fail(f"{folder}: Not a directory")
        paths = [os.path.join(folder, name) for name in (ONE, CONFIG)]
        for path in paths:
            if os.path.lexists(path):
                fail(f"{path}: exists; remove it or choose another -o")
        try:
            with whole_file(paths[0]) as weights, whole_file(paths[1]) as config:
                count = export.write(weights)
                with open(config, "w", encoding="utf-8") as file:
                    json.dump(export.config, file, indent=2, sort_keys=True)
                    file.write("\n")
        except BaseException:
            if made:
                os.rmdir(folder)
            raise
    kind = (export.config.get("architectures") or [export.network.family.title])[0]
    print(f"{folder}: {kind}, {count} parameters, float{8 * export.dtype.itemsize}")


def weights_at(path, texts):
    """The weights file of the run of a dataset that --at names."""
    with open_or_fail(path) as dataset:
        try:
            return path_of(run_at(dataset, texts))
        except KeyError as error:
            fail(f"{path}: {error.args[0]}")


def write_tokens(arguments):
    encode, special = tokenizer_of(arguments.tokenizer)
    try:
        with open(arguments.text, encoding="utf-8") as file:
            lines = [line for line in file if line.strip()] if arguments.lines else [file.read()]
    except UnicodeDecodeError:
        fail(f"{arguments.text}: not UTF-8")
    sequences = [encode(line.rstrip("\n") if arguments.lines else line, arguments.lines) for line in lines]
    with whole_file(arguments.output) as name, open(name, "w", encoding="ascii") as file:
        file.writelines(" ".join(map(str, ids)) + "\n" for ids in sequences)
    said = "".join(f", {option} {token}" for option, token in special.items())
    print(f"{arguments.output}: {sum(map(len, sequences))} tokens{said}")


def tokenizer_of(folder):
    """(encode(text, with special tokens), {option of inspect: id of its token})"""
    path = os.path.join(folder, "tokenizer.json")
    try:
        if os.path.exists(path):
            import tokenizers
            tokenizer = tokenizers.Tokenizer.from_file(path)
            tokenizer.no_padding()
            tokenizer.no_truncation()
            find = tokenizer.token_to_id

            def encode(text, special):
                return tokenizer.encode(text, add_special_tokens=special).ids
        else:
            import transformers
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
            find = tokenizer.get_vocab().get

            def encode(text, special):
                return tokenizer(text, add_special_tokens=special)["input_ids"]
    except ModuleNotFoundError as error:
        fail(f"no module {error.name} here, which reads {folder}: pip install {error.name}")
    except Exception as error:
        fail(f"{folder}: no tokenizer: {(str(error) or repr(error)).splitlines()[0]}")
    masks = (find("[MASK]"), find("<mask>"))
    found = {"--mask": next((token for token in masks if token is not None), None), "--sentinel": find("<extra_id_0>")}
    return encode, {option: token for option, token in found.items() if token is not None}
