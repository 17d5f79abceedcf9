"""Only files with a registered checksum are read, from the cache or the network."""

import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cssvm.datasets import ChecksumError, MissingDatasetError, cache_folder, fetch, load
from cssvm.datasets import _files as files_module
from cssvm.datasets._files import check_archive, open_unpacked
from cssvm.datasets._registry import DATASETS

from .conftest import version_of

VERSIONS = [
    version for entries in DATASETS.values() for entry in entries for file in entry.files for version in file.versions
]
ROWS = b"30,64,1,1\n30,62,3,2\n31,65,4,1\n"


@pytest.fixture
def haberman(all_data, tmp_path):
    """A cache with a copy of one real file."""
    folder = tmp_path / "haberman"
    folder.mkdir()
    shutil.copy(all_data / "haberman/haberman.data", folder)
    (folder / "haberman.data").chmod(0o644)
    return folder / "haberman.data"


def test_a_file_with_one_changed_digit_is_rejected(haberman, tmp_path):
    load("survival", data_home=tmp_path, download=False)
    content = haberman.read_bytes()
    haberman.write_bytes(content.replace(b"30,64", b"30,65", 1))
    with pytest.raises(ChecksumError, match=r"haberman\.data: SHA-256 [0-9a-f]{64}, expected b4b7a325") as caught:
        load("survival", data_home=tmp_path)
    assert "Delete it" in str(caught.value)


def test_a_truncated_file_is_rejected_by_its_size(haberman, tmp_path):
    haberman.write_bytes(haberman.read_bytes()[:-10])
    with pytest.raises(ChecksumError, match="3,093 bytes, expected 3,103"):
        load("survival", data_home=tmp_path)


def test_every_checksum_is_that_of_the_folders_own_list(all_data):
    listed = dict(reversed(line.split()) for line in (all_data / "SHA256SUMS").read_text().splitlines() if line.strip())
    by_path = {}
    for version in VERSIONS:
        by_path.setdefault(version.path, {})[version.sha256] = version.size
    held = [path for path in by_path if path in listed]
    assert len(held) >= 28
    for path in held:
        assert by_path[path][listed[path]] == (all_data / path).stat().st_size


def test_files_that_were_packed_later_have_the_published_content(all_data):
    """Of a file here as .gz and published as it is, both checksums are on record and belong to the same content."""
    digests = {version.path: version.sha256 for version in VERSIONS}
    pairs = [path for path in digests if path.endswith(".gz") and path.removesuffix(".gz") in digests]
    assert len(pairs) == 5
    for path in pairs:
        content = gzip.decompress((all_data / path).read_bytes())
        assert hashlib.sha256(content).hexdigest() == digests[path.removesuffix(".gz")]


def test_a_last_newline_makes_no_other_file(all_data, tmp_path):
    """UCI's heart, sonar and echocardiogram differ from the copies here in their last byte only."""
    for name, path in (
        ("heart", "heart_statlog/heart.dat"),
        ("sonar", "sonar/sonar.all-data"),
        ("echocardiogram", "echocardiogram/echocardiogram.data"),
    ):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_bytes((all_data / path).read_bytes() + b"\n")
        found = load(name, data_home=tmp_path, download=False)
        np.testing.assert_array_equal(found.data, load(name, data_home=all_data, download=False).data)


def test_addresses_are_those_of_the_web_and_checksums_are_complete():
    for version in VERSIONS:
        assert not Path(version.path).is_absolute()
        assert ".." not in Path(version.path).parts
        assert all(url.startswith("https://") for url in version.urls)
        if version.sha256 is None:
            assert version.path.startswith("isolet/")
        else:
            assert re.fullmatch("[0-9a-f]{64}", version.sha256)


def test_a_missing_set_tells_what_is_missing_and_the_manual_way(tmp_path):
    with pytest.raises(MissingDatasetError) as caught:
        load("german_credit", data_home=tmp_path, download=False)
    message = str(caught.value)
    assert str(tmp_path / "german_credit/german.data-numeric") in message
    assert "statlog/german/german.data-numeric" in message
    assert "CSSVM_DATA" in message
    with pytest.raises(MissingDatasetError, match=r"cannot be downloaded.*leave variant out"):
        load("isolet", variant="grouped", data_home=tmp_path)
    with pytest.raises(MissingDatasetError, match=r"isolet1.*gzip -d"):
        load("isolet", data_home=tmp_path)
    assert issubclass(MissingDatasetError, FileNotFoundError)


def test_an_absent_file_is_fetched_checked_and_kept(server, register, tmp_path):
    served, address = server
    (served / "rows").write_bytes(ROWS)
    register("survival", {"table": version_of("haberman/rows.data", ROWS, address + "rows")})
    home = tmp_path / "cache"
    bunch = load("survival", data_home=home)
    assert bunch.target.tolist() == [0, 1, 0]
    assert (home / "haberman/rows.data").read_bytes() == ROWS
    (served / "rows").unlink()
    assert fetch("survival", data_home=home) == [home / "haberman/rows.data"]
    assert [path.name for path in (home / "haberman").iterdir()] == ["rows.data"]


def test_a_second_address_is_tried_where_the_first_fails(server, register, tmp_path):
    served, address = server
    (served / "rows").write_bytes(ROWS)
    (served / "other").write_bytes(ROWS[:-1] + b" ")
    register(
        "survival", {"table": version_of("rows.data", ROWS, address + "absent", address + "other", address + "rows")}
    )
    assert load("survival", data_home=tmp_path / "cache").data.shape == (3, 3)


def test_bytes_with_another_checksum_never_reach_the_cache(server, register, tmp_path):
    served, address = server
    (served / "rows").write_bytes(ROWS.replace(b"64", b"65"))
    register("survival", {"table": version_of("rows.data", ROWS, address + "rows")})
    with pytest.raises(
        MissingDatasetError, match=r"Downloading failed: http://127\.0\.0\.1.*hash.*To get it: download"
    ):
        load("survival", data_home=tmp_path / "cache")
    assert list((tmp_path / "cache").rglob("*.data")) == []


def test_a_download_stops_at_the_size_on_record(server, register, tmp_path, monkeypatch):
    served, address = server
    (served / "rows").write_bytes(ROWS * 1000)
    register("survival", {"table": version_of("rows.data", ROWS, address + "rows")})
    with pytest.raises(MissingDatasetError, match="more than the 30 bytes expected"):
        load("survival", data_home=tmp_path / "cache")
    register("survival", {"table": replace(version_of("rows.data", ROWS, address + "rows"), size=None)})
    monkeypatch.setattr(files_module, "MAX_DOWNLOAD", 1000)
    with pytest.raises(MissingDatasetError, match="more than the 1,000 bytes expected"):
        load("survival", data_home=tmp_path / "cache")


def test_without_a_network_the_message_names_address_and_place(register, tmp_path):
    register("survival", {"table": version_of("rows.data", ROWS, "http://127.0.0.1:9/rows")})
    with pytest.raises(MissingDatasetError) as caught:
        load("survival", data_home=tmp_path)
    assert "http://127.0.0.1:9/rows" in str(caught.value)
    assert str(tmp_path / "rows.data") in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="the administrator may write everywhere")
def test_a_folder_without_write_permission_is_reported(server, register, tmp_path):
    served, address = server
    (served / "rows").write_bytes(ROWS)
    register("survival", {"table": version_of("rows.data", ROWS, address + "rows")})
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(MissingDatasetError, match="data_home= or CSSVM_DATA"):
        load("survival", data_home=tmp_path / "locked")


def test_the_folder_is_the_argument_then_the_variable_then_the_systems_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CSSVM_DATA", str(tmp_path / "variable"))
    assert cache_folder(tmp_path / "argument") == tmp_path / "argument"
    assert cache_folder() == tmp_path / "variable"
    assert cache_folder("~/x") == Path.home() / "x"
    for unset in (lambda: monkeypatch.setenv("CSSVM_DATA", ""), lambda: monkeypatch.delenv("CSSVM_DATA")):
        unset()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "system"))
        assert cache_folder().name == "cssvm"
        if sys.platform == "linux":
            assert cache_folder() == tmp_path / "system/cssvm"


def test_a_part_is_read_without_the_files_of_the_other(provide):
    row = b"+1 1:0.5 22:1\n-1 2:1\n"
    folder = provide("ijcnn", {"train": ("train", row), "test": ("test", row * 2)})
    (folder / "test").unlink()
    assert load("ijcnn", subset="train", data_home=folder, download=False).target.tolist() == [1, 0]
    with pytest.raises(MissingDatasetError, match="test"):
        load("ijcnn", data_home=folder, download=False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "german_kredit"}, "no data set 'german_kredit'. Did you mean 'german_credit'"),
        ({"name": "nonsense"}, "Known are german_credit, heart"),
        ({"name": "kdd98", "variant": "all"}, "kdd98 has no variant 'all'; it has 'donors', 'categorical', 'full'"),
        ({"name": "heart", "variant": "full"}, "heart has no variant 'full'; it has no variants"),
        ({"name": "mnist", "subset": "validation"}, "subset must be 'train', 'test' or None, got 'validation'"),
        ({"name": "heart", "subset": "train"}, "heart has no official split"),
    ],
)
def test_bad_arguments_are_named_before_any_file_is_looked_for(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        load(**arguments, download=False)


def zip_of(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("member", ["../outside.txt", "/etc/outside", "a/../../outside", "C:\\outside", "..\\outside"])
def test_an_archive_with_a_member_outside_its_folder_is_rejected(tmp_path, member):
    path = zip_of(tmp_path / "evil.zip", [(member, "x")])
    with pytest.raises(ChecksumError, match="member outside its folder"):
        open_unpacked(path)
    assert list(tmp_path.iterdir()) == [path]


def test_an_archive_that_promises_too_much_is_rejected_before_it_is_unpacked(tmp_path):
    path = zip_of(tmp_path / "bomb.zip", [("zeros", bytes(1_000_000))])
    assert path.stat().st_size < 2_000
    with pytest.raises(ChecksumError, match=r"would unpack to 1,000,000 bytes, more than 10,000"):
        open_unpacked(path, limit=10_000)
    with pytest.raises(ChecksumError, match="would unpack"):
        check_archive(path, limit=10_000)


def test_an_archive_that_lies_about_its_size_is_cut_off(tmp_path):
    path = zip_of(tmp_path / "liar.zip", [("zeros", bytes(1_000_000))])
    content = path.read_bytes().replace((1_000_000).to_bytes(4, "little"), (5_000).to_bytes(4, "little"))
    path.write_bytes(content)
    # zipfile itself reads at most the size in the header.
    with pytest.raises((ChecksumError, zipfile.BadZipFile)), open_unpacked(path, limit=10_000) as stream:
        assert len(stream.read()) <= 10_000


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
def test_a_packed_file_that_goes_on_too_long_is_cut_off(tmp_path, suffix):
    import bz2

    pack = {".gz": gzip.compress, ".bz2": bz2.compress}[suffix]
    path = tmp_path / f"bomb{suffix}"
    path.write_bytes(pack(bytes(5_000_000)))
    with (
        open_unpacked(path, limit=1_000_000) as stream,
        pytest.raises(ChecksumError, match="unpacks to more than 1,000,000 bytes"),
    ):
        stream.read()
    with open_unpacked(path) as stream:
        assert len(stream.read()) == 5_000_000


def test_invalid_archives_are_rejected(tmp_path):
    with pytest.raises(ChecksumError, match="has 2 members, expected one"):
        open_unpacked(zip_of(tmp_path / "two.zip", [("a", "1"), ("b", "2")]))
    with pytest.raises(ChecksumError, match="has 0 members"):
        open_unpacked(zip_of(tmp_path / "none.zip", []))
    (tmp_path / "text.zip").write_text("no archive")
    with pytest.raises(ChecksumError, match="is not a zip archive"):
        open_unpacked(tmp_path / "text.zip")


def test_every_kind_of_file_is_unpacked_to_its_content(tmp_path):
    import bz2

    content = bytes(range(256)) * 1000
    for name, packed in (("a.gz", gzip.compress(content)), ("a.bz2", bz2.compress(content)), ("a.txt", content)):
        (tmp_path / name).write_bytes(packed)
    zip_of(tmp_path / "a.zip", [("folder/", ""), ("folder/a", content)])
    for name in ("a.gz", "a.bz2", "a.txt", "a.zip"):
        with open_unpacked(tmp_path / name) as stream:
            assert isinstance(stream, io.BufferedReader)
            assert stream.read() == content


def test_pickles_in_an_array_archive_are_not_loaded(provide):
    buffer = io.BytesIO()
    np.savez(buffer, X_times_10000=np.array([{"evil": 1}], dtype=object), y=np.ones(1), group=np.ones(1))
    folder = provide("isolet", {"letters": ("letters.npz", buffer.getvalue())}, variant="grouped")
    with pytest.raises(ValueError, match="allow_pickle"):
        load("isolet", data_home=folder, download=False)


def test_without_the_extra_numbers_load_and_errors_name_what_to_install(all_data, tmp_path):
    code = f"""
import sys
sys.modules.update(pandas=None, pooch=None)
from cssvm.datasets import list_datasets, load, where
assert len(list_datasets()) == len(where({str(tmp_path)!r}))
assert load("sonar", data_home={str(all_data)!r}).data.shape == (208, 60)
for name, home in (("kdd98", {str(all_data)!r}), ("heart", {str(tmp_path)!r})):
    try:
        load(name, data_home=home)
    except ImportError as error:
        print(error)
"""
    said = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()
    assert said == [
        "Reading kdd98 needs pandas, which is not installed. Run `pip install cssvm[data]`.",
        "Downloading a data set needs pooch, which is not installed. Run `pip install cssvm[data]`.",
    ]
