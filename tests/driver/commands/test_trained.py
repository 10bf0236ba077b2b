"""`normsweep inspect` against the library that defines the networks, transformers from PyPI: models of all families,
small and with random weights. Skipped without that library; nothing else needs it."""
import missing
import pytest

transformers = missing.transformers("inspect against the library that defines these networks", allow_module_level=True)

import torch  # noqa: E402
import trained  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402

import parity_trained  # noqa: E402

pytestmark = pytest.mark.thorough("measures networks of every family in transformers as well")

# The worst differences that are taken. In float, two scores may tie in one row of fifty that differ in double.
TAKEN = {"double": {"states": 1e-10, "loss": 1e-10, "saturation": 1e-10, "heads": 1e-12, "norms": 1e-12},
         "float": {"states": 2e-5, "loss": 1e-5, "saturation": 1e-4, "heads": 2e-2, "norms": 1e-6}}


def check(found, scalar, unchecked=()):
    for quantity, (difference, where) in found.items():
        assert quantity in unchecked or difference <= TAKEN[scalar][quantity], (quantity, difference, where)


@pytest.mark.parametrize("scalar", parity_trained.PROGRAMS)
@pytest.mark.parametrize("family", trained.FAMILIES)
def test_families(tmp_path, family, scalar):
    model = parity_trained.save(trained.make(family), tmp_path)
    found = parity_trained.worst(parity_trained.compare(family, model, scalar, tmp_path))
    tied = scalar == "float" and family in trained.TIED_IN_FLOAT
    check(found, scalar, unchecked=["heads"] if tied else [])
    losses = {"loss"} if trained.objective(family) else set()
    assert found.keys() == {"states", "saturation", "heads", "norms"} | losses


@pytest.mark.parametrize("family", ["gpt2", "llama shared keys", "bert", "roberta", "t5 v1.1", "xlnet"])
def test_lines(tmp_path, family):
    """Lines of all lengths, from empty ones to one that is cut."""
    ids, lengths = trained.text(family, windows=12), [2, 3, 9, 1, 0, 16, 17, 18, 30, 4, 5]
    lines = [[ids.pop() for _ in range(length)] for length in lengths]
    model = parity_trained.save(trained.make(family), tmp_path)
    check(parity_trained.worst(parity_trained.compare(family, model, "double", tmp_path, lines)), "double")


def test_gpt2_without_its_output_layer(tmp_path):
    """As GPT-2 was published: names without a prefix, and an output layer that is the embedding."""
    model = trained.make("gpt2")
    parity_trained.save(model.transformer, tmp_path)
    check(parity_trained.worst(parity_trained.compare("gpt2", model, "double", tmp_path)), "double")


def test_bert_with_the_names_of_its_first_files(tmp_path):
    """Norms with gamma and beta, which the library renames, too."""
    parity_trained.save(trained.make("bert"), tmp_path)
    path = tmp_path / "model.safetensors"
    older = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
             for name, tensor in load_file(path).items()}
    save_file(older, path, metadata={"format": "pt"})
    model = reread(tmp_path, "bert")
    check(parity_trained.worst(parity_trained.compare("bert", model, "double", tmp_path)), "double")


def reread(folder, family):
    kind = getattr(transformers, trained.FAMILIES[family][0])
    model = kind.from_pretrained(folder, attn_implementation="eager", torch_dtype=torch.float32)
    with trained.double():
        exact = kind(model.config).double()
    exact.load_state_dict({name: tensor.double() if tensor.is_floating_point() else tensor
                           for name, tensor in model.state_dict().items()})
    return exact.eval()


@pytest.mark.parametrize("family", ["gpt2", "llama shared keys", "bert", "t5 v1.0", "xlnet"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(tmp_path, family, dtype):
    parity_trained.save(trained.make(family), tmp_path, dtype=dtype)
    model = reread(tmp_path, family)
    assert any((tensor != tensor.half()).any() or dtype == torch.float16 for tensor in model.parameters())
    check(parity_trained.worst(parity_trained.compare(family, model, "double", tmp_path)), "double")


@pytest.mark.parametrize("family", ["gpt2", "llama", "bert", "roberta", "t5 v1.1", "xlnet"])
def test_shards(tmp_path, family):
    """Several files with an index, and the index itself as the operand."""
    model = parity_trained.save(trained.make(family), tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    check(parity_trained.worst(parity_trained.compare(family, model, "double", tmp_path)), "double")
