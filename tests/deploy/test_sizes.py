"""Files that would take too much memory or time for their size are rejected."""

import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz
from sklearn.ensemble import RandomForestClassifier

from cssvm import CostThresholdClassifier
from cssvm.deploy import ModelCard, ModelFileError, load_card, load_model, save_model
from cssvm.deploy import _archive_checks as checks
from cssvm.deploy._model_file import BLANK_COMMENT, MESSAGE_LIMIT, add_checksum
from tests.deploy.models import fitted, rows
from tests.deploy.test_attacks import forge, in_schema, rezipped

SMALL, LARGE = 32 * 2**20, 300 * 2**20
ID = 7


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.skops"
    save_model(fitted("sparse vectors"), path)
    return path


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def node(loader, name, **content):
    module, _, kind = name.rpartition(".")
    return {"__class__": kind, "__module__": module, "__loader__": loader, "__id__": ID, **content}


NULL = node("JsonNode", "builtins.str", content="null", is_json=True, __id__=None)


def array_node(name="numpy.ndarray", **content):
    return node("NdArrayNode", name, type="numpy", file=f"{ID}.npy") | content


def with_members(path, target, added, change=lambda name, content: content, **options):
    """A forged file with more members."""
    content = rezipped(path, change, comment=BLANK_COMMENT)
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, each in added.items():
            archive.writestr(name, each, **options)
    target.write_bytes(add_checksum(buffer.getvalue()))


def attribute(name, value):
    """A change of the schema that puts a node in the place of an attribute of the model."""

    def put(found):
        found["content"][name] = value

    return in_schema(lambda found: name in found.get("content", ()) and "key_types" in found, put)


def bomb(member):
    def write(saved, target, size):
        with zipfile.ZipFile(saved) as archive:
            name = next(name for name in archive.namelist() if name.endswith(member))
        forge(saved, lambda each, content: bytes(size) if each == name else content, target)

    return write


def large_card(saved, target, size):
    def change(name, content):
        return json.dumps(json.loads(content) | {"notes": ["x" * size]}).encode() if name == "card.json" else content

    forge(saved, change, target)


def allocating_scalar(name="C"):
    def write(saved, target, size):
        change = attribute(name, array_node("numpy.void"))
        with_members(saved, target, {f"{ID}.npy": npy(np.array(size))}, change)

    return write


def forged_header(saved, target, size):
    header = npy(np.zeros(3)).replace(b"'shape': (3,), }" + b" " * 12, b"'shape': (1000000000000,), }")
    assert b"1000000000000" in header
    with_members(saved, target, {f"{ID}.npy": header}, attribute("C", array_node()))


def long_dtype(saved, target, size):
    empty = npy(np.empty(0, dtype=f"U{size // 4}"))
    with_members(
        saved,
        target,
        {f"{ID}.npy": empty},
        attribute("C", node("DTypeNode", "numpy.dtype", content=array_node(__id__=ID + 1))),
    )


def inner_bomb(saved, target, size):
    """A sparse matrix whose arrays unpack twice."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, data=np.zeros(size, dtype=np.int8))
    with zipfile.ZipFile(saved) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".npz"))
    forge(saved, lambda each, content: buffer.getvalue() if each == name else content, target)


def deep_schema(saved, target, size):
    forge(saved, lambda name, content: b"[" * (size // 64) if name == "schema.json" else content, target)


def nested_nodes(saved, target, size):
    nested = array_node()
    for i in range(checks.MAX_DEPTH):
        nested = node("ListNode", "builtins.list", content=[nested], __id__=ID + 1 + i)
    forge(saved, attribute("C", nested), target)


def wide_schema(saved, target, size):
    forge(saved, lambda name, content: b"[" + b"{}," * 2**21 + b"{}]" if name == "schema.json" else content, target)


def many_members(saved, target, size):
    with_members(saved, target, {str(i): b"" for i in range(10_000)})


def most_members(saved, target, size):
    """As many members as are allowed, with names that make the file large enough for them; two have the same name."""
    with zipfile.ZipFile(saved) as archive:
        n_more = checks.MAX_MEMBERS - len(archive.namelist()) - 1
    with pytest.warns(UserWarning, match="Duplicate name"):
        with_members(saved, target, {f"{i:040}": b"" for i in range(n_more)} | {"card.json": b"{}"})


def one_name_twice(saved, target, size):
    with pytest.warns(UserWarning, match="Duplicate name"):
        with_members(saved, target, {"card.json": b"{}"})


def another_compression(saved, target, size):
    with_members(saved, target, {"x.npy": bytes(2**20)}, compress_type=zipfile.ZIP_LZMA)


def one_file_for_many_objects(saved, target, size):
    nodes = [array_node(__id__=i + 1) for i in range(size // 2**20)]
    change = attribute("C", node("ListNode", "builtins.list", content=nodes) | {"__id__": 10**6})
    with_members(saved, target, {f"{ID}.npy": npy(np.zeros(2**17))}, change)


def doubled_lists(of_number=int):
    """Each list holds the one before it twice, by its id."""

    def write(saved, target, size):
        nested = node("ListNode", "builtins.list", content=[], __id__=of_number(1))
        for i in range(2, 40):
            again = node("ListNode", "builtins.list", content=[NULL] * len(nested["content"]), __id__=of_number(i - 1))
            nested = node("ListNode", "builtins.list", content=[nested, again], __id__=of_number(i))
        forge(saved, attribute("C", nested), target)

    return write


def bare_references(kind, **more):
    """Each list or tuple holds the one before it twice, the second time by nothing but its id."""

    def write(saved, target, size):
        loader = f"{kind.title()}Node"
        nested = node(loader, f"builtins.{kind}", content=[], __id__=1)
        for i in range(2, 40):
            nested = node(loader, f"builtins.{kind}", content=[nested, {"__id__": i - 1} | more], __id__=i)
        forge(saved, attribute("C", node("SetNode", "builtins.set", content=[nested], __id__=100)), target)

    return write


def many_objects(saved, target, size):
    function = node("FunctionNode", "numpy.add", __id__=None)
    forge(saved, attribute("C", node("ListNode", "builtins.list", content=[function] * 10_000)), target)


def json_in_escapes(saved, target, size):
    """Values whose commas and brackets show only once the schema is parsed."""
    change = attribute("C", NULL | {"content": "[" + "{}," * 130_000 + "{}]"})

    def escaped(name, content):
        content = change(name, content)
        return content.replace(b"{},", b"{}\\u002c") if name == "schema.json" else content

    forge(saved, escaped, target)


def wide_text(saved, target, size):
    """One character makes all others of the text take four bytes."""
    text = json.dumps("x" * 2**23 + "\N{GRINNING FACE}", ensure_ascii=False)
    forge(saved, attribute("C", NULL | {"content": text}), target)


def many_inner_archives(saved, target, size):
    """Each sparse matrix is small enough; all together are not."""
    buffer, names = io.BytesIO(), range(1, 41)
    save_npz(buffer, csr_matrix((checks.FLOOR // 8, 1)))
    matrices = [
        node("SparseMatrixNode", "scipy.sparse._csr.csr_matrix", type="scipy", file=f"{i}.npz", __id__=i) for i in names
    ]
    change = attribute("C", node("ListNode", "builtins.list", content=matrices, __id__=100))
    with_members(saved, target, {f"{i}.npz": buffer.getvalue() for i in names}, change)


def texts_of_no_length(saved, target, size):
    header = npy(np.zeros(3)).replace(b"'<f8'", b"'<U0'").replace(b"(3,), }" + b" " * 9, b"(1000000000,), }")
    assert b"(1000000000,)" in header
    with_members(saved, target, {f"{ID}.npy": header[:128]}, attribute("classes_", array_node()))


def other_object_of_one_id(saved, target, size):
    lists = [node("ListNode", "builtins.list", content=[NULL] * n) for n in (1, 2)]
    forge(saved, attribute("C", node("ListNode", "builtins.list", content=lists, __id__=ID + 1)), target)


def unfolding_array(saved, target, size):
    shape = node("TupleNode", "builtins.tuple", content=[NULL, NULL], __id__=ID + 1)
    array = node("NdArrayNode", "numpy.ndarray", type="json", content=[], shape=shape)
    forge(saved, attribute("C", array), target)


def unfolding_lists(saved, target, size):
    """The rows of the array are lists of trees by what is written, and of arrays by their id."""
    tree = node("ObjectNode", "sklearn.tree._classes.DecisionTreeRegressor", content=NULL, __id__=ID + 2)
    lists = [node("ListNode", "builtins.list", content=[each], __id__=ID + 3) for each in (array_node(), tree)]
    shape = node("TupleNode", "builtins.tuple", content=[NULL, NULL], __id__=ID + 1)
    array = node("NdArrayNode", "numpy.ndarray", type="json", content=lists[1:], shape=shape, __id__=ID + 4)
    both = node("ListNode", "builtins.list", content=[lists[0], array], __id__=ID + 5)
    with_members(saved, target, {f"{ID}.npy": npy(np.zeros(2**17))}, attribute("C", both))


def records_with_room(saved, target, size):
    empty = npy(np.empty(0, dtype={"names": ["a"], "formats": ["<f8"], "itemsize": size}))
    with_members(saved, target, {f"{ID}.npy": empty}, attribute("C", array_node()))


def state_of_a_generator(saved, target, size):
    state = {"bit_generator": "MT19937", "state": {"key": [0], "pos": 10**9}, "has_gauss": 0, "gauss": 0.0}
    nodes = {name: NULL | {"content": json.dumps(value)} for name, value in state.items()}
    types = node("ListNode", "builtins.list", content=[], __id__=ID + 1)
    content = node("DictNode", "builtins.dict", content=nodes, key_types=types, __id__=ID + 2)
    change = attribute("C", node("RandomStateNode", "numpy.random.mtrand.RandomState", content=content))
    forge(saved, change, target)


def understated_size(saved, target, size):
    """The directory states a byte for a member that unpacks to many: what is beyond it is not unpacked."""
    with_members(saved, target, {f"{ID}.npy": bytes(size)})
    content = target.read_bytes()
    target.write_bytes(add_checksum(content.replace(size.to_bytes(4, "little"), (1).to_bytes(4, "little"))))


ATTACKS = {
    "npy": (bomb(".npy"), "would unpack to"),
    "npz": (bomb(".npz"), "would unpack to"),
    "schema": (bomb("schema.json"), "would unpack to"),
    "zeros for a card": (bomb("card.json"), "would unpack to"),
    "a card": (large_card, "would unpack to"),
    "an inner archive": (inner_bomb, "would unpack to"),
    "a header": (forged_header, r"do not match the shape \(1000000000000,\)"),
    "a dtype": (long_dtype, "must hold numbers or short texts"),
    "brackets": (deep_schema, "would unpack to|RecursionError|more values"),
    "nested nodes": (nested_nodes, "nested more than"),
    "values": (wide_schema, "more values than"),
    "members": (many_members, r"more than [\d,]+ members"),
    "one name": (one_name_twice, "have the same name"),
    "lzma": (another_compression, "stored or deflated"),
    "doubled lists": (doubled_lists(), "more objects than are allowed"),
    "doubled lists of float ids": (doubled_lists(float), "an id .* must be an integer"),
    "doubled lists of string ids": (doubled_lists(str), "an id .* must be an integer"),
    "doubled lists of bool ids": (doubled_lists(bool), "an id .* must be an integer"),
    "bare references": (bare_references("list"), "must have a loader, a module and a class"),
    "bare references in a set": (bare_references("tuple"), "must have a loader, a module and a class"),
    "references without class": (bare_references("list", __loader__="ListNode"), "must have a loader, a module"),
    "functions": (many_objects, "more objects than are allowed"),
    "escapes": (json_in_escapes, "more objects than are allowed"),
    "wide text": (wide_text, "more values than are allowed"),
    "inner archives": (many_inner_archives, "would unpack to"),
    "texts of no length": (texts_of_no_length, r"do not match the shape \(1000000000,\)"),
    "one id": (other_object_of_one_id, "have the same id"),
    "objects": (unfolding_array, "must have one dimension"),
    "lists of objects": (unfolding_lists, "must have one dimension"),
    "records": (records_with_room, "must hold numbers or short texts"),
    "one file": (one_file_for_many_objects, "has the file of another object"),
    "a random state": (state_of_a_generator, r"not trusted: numpy\.random\.mtrand\.RandomState"),
    "a directory": (understated_size, "no model that can be read"),
    **{
        f"numpy.void for {name}": (allocating_scalar(name), r"not trusted: numpy\.void")
        for name in ("C", "classes_", "tol", "n_support_", "dual_gap_", "intercept_")
    },
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_file_that_would_take_too_much_is_rejected_with_one_short_reason(saved, tmp_path, name):
    attack, reason = ATTACKS[name]
    attack(saved, tmp_path / "forged.skops", SMALL)
    with pytest.raises(ModelFileError, match=reason) as caught:
        load_model(tmp_path / "forged.skops")
    assert len(str(caught.value)) <= MESSAGE_LIMIT + 3


def test_numpy_void_is_rejected_in_place_of_every_attribute(saved, tmp_path):
    with zipfile.ZipFile(saved) as archive:
        names = json.loads(archive.read("schema.json"))["content"]["content"]
    assert len(names) > 20
    for name in names:
        allocating_scalar(name)(saved, tmp_path / "forged.skops", SMALL)
        with pytest.raises(ModelFileError, match=r"not trusted: numpy\.void"):
            load_model(tmp_path / "forged.skops")


MEASURED = """
import re, sys, time
from cssvm.deploy import ModelFileError, load_card, load_model

def peak():  # of this process; ru_maxrss is at least that of the parent
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) / 1024

load_model(sys.argv[1])  # all imports
for path in sys.argv[2:]:
    for load in (load_model, load_card) if path.endswith("card") else (load_model,):
        memory, start = peak(), time.process_time()
        try:
            load(path)
            print("loaded", end=" ")
        except ModelFileError as error:
            print("rejected", end=" ")
        print(time.process_time() - start, peak() - memory, path)
"""


@pytest.mark.system
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_rejection_takes_less_than_a_second_and_50_megabytes(saved, tmp_path):
    attacks = {name: attack for name, (attack, _) in ATTACKS.items()} | {"most members": most_members}
    forged = [tmp_path / name.replace(" ", "_") for name in attacks]
    for attack, path in zip(attacks.values(), forged, strict=True):
        attack(saved, path, LARGE)
    measured = subprocess.check_output([sys.executable, "-c", MEASURED, saved, *forged], text=True).splitlines()
    assert len(measured) > len(forged)
    for line in measured:
        outcome, seconds, megabytes, _ = line.split()
        assert (outcome, float(seconds) < 1.0, float(megabytes) < 50.0) == ("rejected", True, True), line


def test_load_card_rejects_a_large_card(saved, tmp_path):
    large_card(saved, tmp_path / "forged.skops", SMALL)
    with pytest.raises(ModelFileError, match="would unpack to"):
        load_card(tmp_path / "forged.skops")


def test_a_card_that_could_not_be_read_is_not_written(tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(ModelFileError, match=r"card\.json would unpack to"):
        save_model(fitted("linear"), path, ModelCard(notes=["x" * (checks.CARD_LIMIT + 1)]))
    assert not path.exists()


def test_a_model_that_deflates_well_can_be_saved_and_loaded(tmp_path, monkeypatch):
    """Such as one of many columns of zeros: it is stored, not deflated."""
    monkeypatch.setattr(checks, "FLOOR", 0)
    monkeypatch.setattr(checks, "RATIO", 2)
    for name in ("VALUE_BYTES", "NODE_BYTES", "CHARACTER_BYTES"):
        monkeypatch.setattr(checks, name, 1)
    path = tmp_path / "model.skops"
    save_model(fitted("linear"), path)
    with zipfile.ZipFile(path) as archive:
        assert {member.compress_type for member in archive.infolist()} == {zipfile.ZIP_STORED}
    assert np.array_equal(load_model(path).model.coef_, fitted("linear").coef_)


def test_a_forest_of_thousands_of_trees_has_no_more_members_than_are_allowed_for_its_size(tmp_path):
    """Judged by what a tree adds to the file, as saving that many takes long."""
    X, y = rows()
    trusted = ["sklearn.tree._tree.Tree"]
    sizes, members = [], []
    for n_trees in (2, 12):
        path = tmp_path / "model.skops"
        model = CostThresholdClassifier(RandomForestClassifier(n_trees, max_depth=1), calibration="sigmoid")
        save_model(model.fit(X, y), path, trusted=trusted)
        sizes.append(path.stat().st_size)
        with zipfile.ZipFile(path) as archive:
            members.append(len(archive.namelist()))
    per_tree = (members[1] - members[0]) / 10
    assert 2_000 * per_tree > 10_000
    assert 2_000 * per_tree < checks.MAX_MEMBERS
    assert (sizes[1] - sizes[0]) / 10 > 2 * checks.MEMBER_BYTES * per_tree


def test_an_honest_number_of_any_type_can_be_an_attribute(saved, tmp_path):
    """The attacks are rejected for the value of an attribute; the unchanged file is accepted."""
    change = attribute("C", array_node("numpy.float64"))
    with_members(saved, tmp_path / "forged.skops", {f"{ID}.npy": npy(np.array(2.5))}, change)
    assert load_model(tmp_path / "forged.skops").model.C == 2.5
