"""Damaged, foreign and forged files are rejected with the reason, before any code of theirs runs."""

import io
import json
import shutil
import zipfile

import numpy as np
import pytest
import skops.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import StandardScaler

from cssvm.deploy import ModelFileError, load_card, load_model, save_model
from cssvm.deploy._model_file import BLANK_COMMENT, add_checksum
from tests.deploy.models import fitted


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model file whose model is "cost-sensitive"."""
    path = tmp_path_factory.mktemp("saved") / "model.skops"
    save_model(fitted("cost-sensitive"), path)
    return path


@pytest.fixture
def copy(saved, tmp_path):
    return shutil.copy(saved, tmp_path / "copy.skops")


def assert_rejected(path, match):
    for load in (load_model, load_card):
        with pytest.raises(ModelFileError, match=match) as caught:
            load(path)
        assert str(path) in str(caught.value)


def rezipped(path, change, *, comment=None):
    """The members of a model file, changed by name, zipped again with this comment, or with that of the file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
        new.comment = old.comment if comment is None else comment
    return buffer.getvalue()


def forge(path, change, target):
    """A file whose content is changed and whose checksum is right: what an attacker would write."""
    target.write_bytes(add_checksum(rezipped(path, change, comment=BLANK_COMMENT)))


def in_schema(find, replace):
    """A change of the schema: `replace` is applied to every dictionary for which `find` holds."""

    def walk(node):
        if isinstance(node, dict):
            if find(node):
                replace(node)
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    def change(name, content):
        if name != "schema.json":
            return content
        schema = json.loads(content)
        walk(schema)
        return json.dumps(schema).encode()

    return change


def members(node, attribute):
    """Names of the members that hold the arrays called so, anywhere in the schema."""
    if isinstance(node, list):
        return [name for each in node for name in members(each, attribute)]
    if not isinstance(node, dict):
        return []
    here = node.get(attribute)
    own = [here["file"]] if isinstance(here, dict) and "file" in here else []
    return own + [name for each in node.values() for name in members(each, attribute)]


def member_of(path, attribute):
    """Name of the member that holds an array of the model."""
    with zipfile.ZipFile(path) as archive:
        schema = json.loads(archive.read("schema.json"))
    return schema["content"]["content"][attribute]["file"]


def with_array(member, alter):
    """A change of one array."""

    def change(name, content):
        if name != member:
            return content
        buffer = io.BytesIO()
        np.save(buffer, alter(np.load(io.BytesIO(content))))
        return buffer.getvalue()

    return change


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 0.999])
def test_a_truncated_file(copy, share):
    content = copy.read_bytes()
    copy.write_bytes(content[: int(share * len(content))])
    assert_rejected(copy, "is empty" if share == 0 else "lost its end")


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_anywhere(saved, tmp_path, where, bit):
    content = bytearray(saved.read_bytes())
    content[int(where * len(content))] ^= 1 << bit
    flipped = tmp_path / "flipped.skops"
    flipped.write_bytes(content)
    assert_rejected(flipped, "damaged or altered|lost its end")


def test_bytes_added_to_the_end(copy):
    copy.write_bytes(copy.read_bytes() + b"\0")
    assert_rejected(copy, "lost its end|damaged")


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x05\x06" + b"\0" * 18, b"\x80\x04N."])
def test_what_is_not_a_model_file(tmp_path, content):
    path = tmp_path / "other.skops"
    path.write_bytes(content)
    assert_rejected(path, "is empty|is not a model file of cssvm")


def test_a_foreign_zip_and_a_bare_skops_file(tmp_path):
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert_rejected(path, "is not a model file of cssvm")
    skops.io.dump(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), path)
    assert_rejected(path, "is not a model file of cssvm")


def test_a_file_that_is_not_there_and_a_folder(tmp_path):
    assert_rejected(tmp_path / "nothing.skops", "cannot be read: No such file")
    assert_rejected(tmp_path, "cannot be read: Is a directory")


def test_altered_arrays_that_were_zipped_again(saved, tmp_path):
    altered = tmp_path / "altered.skops"
    altered.write_bytes(rezipped(saved, with_array(member_of(saved, "dual_coef_"), lambda coef: coef * 1e307)))
    assert_rejected(altered, "damaged or altered")


def test_newer_and_older_formats(saved, tmp_path):
    path = tmp_path / "other.skops"
    for number, age, advice in (
        (3, "a newer", "Install a newer version of cssvm, or train and save the model again"),
        (1, "an older", "Train and save the model again"),
        (0, "an older", "Train and save the model again"),
    ):
        comment = BLANK_COMMENT.replace(b"format=2", f"format={number}".encode())
        path.write_bytes(add_checksum(rezipped(saved, lambda name, content: content, comment=comment)))
        message = f"was written by {age} version of cssvm in format {number}; this version reads format 2. {advice}"
        assert_rejected(path, message)


def test_a_file_of_format_1_asks_for_a_new_training(tmp_path):
    """Whatever is in it: a tiny archive with the comment that version 0.1.0 wrote is enough."""
    path, buffer = tmp_path / "old.skops", io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("card.json", "{}")
        archive.comment = b"cssvm-model format=1 sha256=" + b"0" * 64
    path.write_bytes(add_checksum(buffer.getvalue()))
    assert_rejected(path, r"older version of cssvm in format 1; this version reads format 2\. Train and save the model")


def test_a_forged_file_is_otherwise_one_that_loads(saved, tmp_path):
    """The forgeries below are rejected for what they change, not for how they are made."""
    path = tmp_path / "forged.skops"
    forge(saved, lambda name, content: content, path)
    load_model(path)


@pytest.mark.parametrize(
    ("attribute", "alter", "reason"),
    [
        ("dual_coef_", lambda coef: coef[:, :-1], r"dual_coef_ must have shape"),
        ("dual_coef_", lambda coef: coef * np.inf, "dual_coef_ must hold finite numbers"),
        ("dual_coef_", lambda coef: coef.astype(str), "dual_coef_ must hold numbers"),
        ("intercept_", lambda b: b * np.nan, "intercept_ must hold finite numbers"),
        ("intercept_", lambda b: np.zeros(2), r"intercept_ must have shape \(1,\)"),
        ("support_vectors_", lambda v: v[:, :-1], "support_vectors_ must have shape"),
        ("support_vectors_", lambda v: v[:-1], "support_vectors_ must have shape"),
        ("support_vectors_", lambda v: np.full_like(v, np.nan), "support_vectors_ must hold finite numbers"),
        ("support_", lambda rows: rows.astype(float), "support_ must hold indices of samples"),
        ("classes_", lambda classes: np.arange(3), "classes_ must hold two labels"),
    ],
)
def test_forged_arrays(saved, tmp_path, attribute, alter, reason):
    path = tmp_path / "forged.skops"
    forge(saved, with_array(member_of(saved, attribute), alter), path)
    with pytest.raises(ModelFileError, match=f"broken model: CostSensitiveSVC in the model is unusable: .*{reason}"):
        load_model(path)


@pytest.mark.parametrize(
    "attribute", ["intercept_", "dual_coef_", "support_vectors_", "_kernel", "_positive_class", "classes_"]
)
def test_missing_attributes(saved, tmp_path, attribute):
    path = tmp_path / "forged.skops"

    def remove(node):
        keys = list(node["content"])
        del node["content"][attribute]
        del node["key_types"]["content"][keys.index(attribute)]

    forge(saved, in_schema(lambda node: attribute in node.get("content", ()) and "key_types" in node, remove), path)
    with pytest.raises(ModelFileError, match="broken model"):
        load_model(path)


def test_sparse_vectors_whose_indices_point_outside(tmp_path):
    path = tmp_path / "sparse.skops"
    save_model(fitted("sparse vectors"), path)

    def change(name, content):
        if not name.endswith(".npz"):
            return content
        with np.load(io.BytesIO(content)) as parts:
            arrays = dict(parts)
        arrays["indices"] = arrays["indices"] + 10**6
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        return buffer.getvalue()

    forge(path, change, path)
    with pytest.raises(ModelFileError, match=r"index|indices"):
        load_model(path)


@pytest.mark.parametrize(
    ("module", "name"),
    [("os", "system"), ("builtins", "eval"), ("subprocess", "Popen"), ("cssvm._kernels.functions", "CallableKernel")],
)
def test_types_beyond_the_trust_list(saved, tmp_path, module, name):
    path = tmp_path / "forged.skops"

    def point_elsewhere(node):
        node["__module__"], node["__class__"] = module, name

    forge(saved, in_schema(lambda node: node.get("__class__") == "Rbf", point_elsewhere), path)
    with pytest.raises(ModelFileError, match=rf"types that are not trusted: {module}\.{name}"):
        load_model(path)


def test_a_trusted_type_in_the_wrong_place(saved, tmp_path):
    path = tmp_path / "forged.skops"

    def point_elsewhere(node):
        node["__module__"], node["__class__"] = "cssvm._search.final_decision", "ThresholdRule"

    forge(saved, in_schema(lambda node: node.get("__class__") == "Rbf", point_elsewhere), path)
    with pytest.raises(ModelFileError, match="its kernel is ThresholdRule"):
        load_model(path)


@pytest.mark.parametrize(
    "schema", [b"", b"{}", b"[]", b"null", b'{"__loader__": "ListNode"}', b'{"protocol": 10000}', b"\xff"]
)
def test_inconsistent_schemas_are_rejected(saved, tmp_path, schema):
    path = tmp_path / "forged.skops"
    forge(saved, lambda name, content: schema if name == "schema.json" else content, path)
    with pytest.raises(ModelFileError, match="no model that can be read"):
        load_model(path)


def test_a_newer_protocol_of_skops(saved, tmp_path):
    path = tmp_path / "forged.skops"

    def later(node):
        node["protocol"] = 10_000

    forge(saved, in_schema(lambda node: "protocol" in node, later), path)
    with pytest.raises(ModelFileError, match="no model that can be read"):
        load_model(path)


@pytest.mark.parametrize("card", [None, b"", b"{}}", b"\xff", b'{"colour": "red"}'])
def test_a_card_that_cannot_be_read(saved, tmp_path, card):
    path = tmp_path / "forged.skops"
    forge(saved, lambda name, content: card if name == "card.json" else content, path)
    assert_rejected(path, "no card that can be read")


COLUMN = {"name": "x", "kind": "number", "dtype": "float64", "categories": None}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *((name, None) for name in ("certificate", "parameters", "notes", "versions", "measures", "columns", "task")),
        ("measures", {"a": 3}),
        ("measures", {"a": {"value": "1", "low": None, "high": None}}),
        ("certificate", {"gap": "small"}),
        ("columns", [COLUMN | {"name": None}]),
        ("columns", [COLUMN | {"categories": 5}]),
        ("columns", [COLUMN | {"categories": [5]}]),
        ("columns", [COLUMN | {"kind": ["number"]}]),
        ("columns", [3]),
        ("classes", []),
        ("classes", [[1], [2]]),
        ("classes", [1, 2, 3]),
        ("pos_label", "neither"),
        ("fn_cost", [1.0]),
        ("n_rows", "many"),
        ("n_positives", -1),
        ("currency", 5),
    ],
)
def test_a_card_whose_fields_hold_something_else_is_rejected(saved, tmp_path, field, value):
    def alter(name, content):
        if name != "card.json":
            return content
        return json.dumps(json.loads(content) | {"pos_label": 1, field: value}).encode()

    path = tmp_path / "forged.skops"
    forge(saved, alter, path)
    assert_rejected(path, "no card that can be read")


def test_a_card_that_is_nested_too_deep_is_rejected(saved, tmp_path):
    path = tmp_path / "forged.skops"
    forge(saved, lambda name, content: b"[" * 100_000 if name == "card.json" else content, path)
    assert_rejected(path, "no card that can be read")


def test_the_classes_of_a_card_are_those_of_its_model(saved, tmp_path):
    def alter(name, content):
        other = {"classes": [5, 6], "pos_label": 5}
        return json.dumps(json.loads(content) | other).encode() if name == "card.json" else content

    forge(saved, alter, tmp_path / "forged.skops")
    with pytest.raises(ModelFileError, match=r"a card for the classes \[5, 6\], and a model for"):
        load_model(tmp_path / "forged.skops")


@pytest.mark.parametrize(
    ("name", "attribute", "value", "reason"),
    [
        ("search, bayes", "a_", "NaN", "its slope and shift must hold finite numbers"),
        ("search, threshold", "threshold", "Infinity", "threshold_ must hold finite numbers"),
        ("tuned", "threshold_", "NaN", "threshold_ must hold finite numbers"),
        ("tuned", "_response", '"__class__"', "it scores by '__class__'"),
    ],
)
def test_forged_decisions(tmp_path, name, attribute, value, reason):
    path = tmp_path / "forged.skops"
    save_model(fitted(name), path)

    def change(node):
        node["content"][attribute] = {
            "__class__": "str",
            "__module__": "builtins",
            "__loader__": "JsonNode",
            "content": value,
            "is_json": True,
            "__id__": 1,
        }

    forge(path, in_schema(lambda node: attribute in node.get("content", ()) and "key_types" in node, change), path)
    with pytest.raises(ModelFileError, match=reason):
        load_model(path)


def foreign(model, path):
    """A file with a model that save_model would not write."""
    buffer = io.BytesIO()
    skops.io.dump(model, buffer)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("card.json", "{}")
        archive.comment = BLANK_COMMENT
    path.write_bytes(add_checksum(buffer.getvalue()))
    return path


def logistic(**attributes):
    model = LogisticRegression().fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    vars(model).update(attributes)
    return model


SCALER = StandardScaler().fit([[0.0], [1.0]])


@pytest.mark.parametrize(
    "model",
    [
        SCALER,
        Pipeline([("scaler", SCALER)]),
        Pipeline([("nothing", "passthrough")]),
        Pipeline([]),
        Pipeline(None),
        {"a": 1},
        logistic(classes_=[0, 1]),
        logistic(classes_=None),
        logistic(classes_=np.arange(3)),
        logistic(coef_=np.ones((2, 2))),
        logistic(coef_=np.ones((1, 3))),
        logistic(intercept_=np.ones(2)),
        Pipeline([("inner", logistic(classes_=np.arange(3), coef_=np.ones((3, 2)), intercept_=np.ones(3)))]),
    ],
    ids=str,
)
def test_a_file_without_a_classifier_of_two_classes_is_rejected(tmp_path, model):
    with pytest.raises(ModelFileError, match=r"broken model: .* in the model is unusable"):
        load_model(foreign(model, tmp_path / "forged.skops"))


def held_in(place, vectorizer):
    """A classifier of rows of text with a vectorizer in a pipeline, in a set, or in an array."""
    kept = {"steps": vectorizer, "set": {vectorizer}, "array": np.array([vectorizer, None])}[place]
    return Pipeline([("words", kept), ("model", logistic())])


@pytest.mark.parametrize("place", ["steps", "set", "array"])
@pytest.mark.parametrize("kind", [CountVectorizer, TfidfVectorizer, HashingVectorizer])
def test_a_vectorizer_that_would_open_files_is_rejected(tmp_path, kind, place):
    path = tmp_path / "forged.skops"
    assert load_model(foreign(held_in(place, kind()), path)).model.steps[1][0] == "model"
    with pytest.raises(ModelFileError, match="must read texts, input='content'; got input='filename'"):
        load_model(foreign(held_in(place, kind(input="filename")), path))


def test_no_file_can_ask_for_processes(tmp_path):
    union = FeatureUnion([("scaler", SCALER)], n_jobs=40)
    model = Pipeline([("union", union), ("model", logistic())])
    assert load_model(foreign(model, tmp_path / "forged.skops")).model["union"].n_jobs is None
