"""Atomic writes, and errors that name the requested file."""

import errno
import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from cssvm._runtime.files import atomic_write, check_writable
from cssvm._tables.output import check_output, open_output
from tests.runtime.faults import failing_at_each_step


def test_a_name_as_long_as_the_system_allows_can_be_written(tmp_path):
    path = tmp_path / ("x" * 250)
    with atomic_write(path) as file:
        file.write(b"all")
    assert path.read_bytes() == b"all"
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.parametrize("letter", ["é", "日", "😀"])
def test_a_long_name_of_letters_of_several_bytes_can_be_written(tmp_path, letter):
    path = tmp_path / (letter * (250 // len(letter.encode())))
    with atomic_write(path) as file:
        file.write(b"all")
    assert os.listdir(tmp_path) == [path.name]


def test_the_umask_of_the_process_is_never_changed(tmp_path, monkeypatch):
    """Another thread would create its files under the changed one."""
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask was changed"))
    for folder in ("first", "second"):
        with atomic_write(tmp_path / "out.csv") as file:
            file.write(b"all")
        with open_output(f"{tmp_path}/{folder}/"):
            pass


@pytest.mark.skipif(os.name != "posix", reason="needs permissions")
def test_new_files_and_folders_have_the_permissions_of_the_umask_and_replaced_files_their_own(tmp_path):
    umask = os.umask(0o027)
    try:
        path = tmp_path / "out.csv"
        with atomic_write(path), open_output(f"{tmp_path}/folder/"):
            pass
        assert [stat.S_IMODE(each.stat().st_mode) for each in (path, tmp_path / "folder")] == [0o640, 0o750]
        path.chmod(0o604)
        with atomic_write(path):
            beside = next(each for each in tmp_path.iterdir() if each.name.startswith("."))
            assert stat.S_IMODE(beside.stat().st_mode) & ~0o604 == 0
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(umask)


def test_a_link_that_leads_to_itself_is_reported_with_its_name(tmp_path):
    loop = tmp_path / "loop.csv"
    loop.symlink_to(tmp_path / "other.csv")
    (tmp_path / "other.csv").symlink_to(loop)
    for use in (
        check_writable,
        check_output,
        lambda path: check_output(f"{path}/"),
        lambda path: atomic_write(path).__enter__(),
    ):
        with pytest.raises(OSError, match=r"loop\.csv") as caught:
            use(loop)
        assert caught.value.errno == errno.ELOOP
    assert sorted(os.listdir(tmp_path)) == ["loop.csv", "other.csv"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that nobody can write to")
def test_a_folder_that_cannot_be_written_is_reported_with_the_file_that_was_asked_for():
    with pytest.raises(OSError, match=r"'/proc/out\.csv'$"), atomic_write(Path("/proc/out.csv")):
        pass


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG, errno.EIO])
def test_a_failing_disk_is_reported_with_the_file_that_was_asked_for(number, tmp_path, monkeypatch):
    path = tmp_path / "out.csv"

    def write():
        with atomic_write(path) as file:
            file.write(b"all")

    *errors, none = failing_at_each_step(monkeypatch, write, number)
    assert none is None
    assert [(error.errno, error.filename) for error in errors] == [(number, str(path))] * 3  # write, fsync, replace


def test_an_error_of_reading_is_not_blamed_on_the_output(tmp_path):
    with pytest.raises(OSError, match="disk of the input") as caught, atomic_write(tmp_path / "out.csv"):
        raise OSError(errno.EIO, "disk of the input")
    assert caught.value.filename is None
    assert os.listdir(tmp_path) == []


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "there").mkdir()
    link, place = tmp_path / "out.csv", tmp_path / "there" / "real.csv"
    link.symlink_to(place)
    for content in (b"first", b"second"):
        check_writable(link)
        with atomic_write(link) as file:
            file.write(content)
        assert (link.is_symlink(), place.read_bytes()) == (True, content)
    with pytest.raises(ZeroDivisionError), atomic_write(link):
        raise ZeroDivisionError
    assert place.read_bytes() == b"second"
    assert os.listdir(place.parent) == ["real.csv"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    check_writable(pipe)
    with atomic_write(pipe) as file:
        file.write(b"all")
    reader.join()
    assert (found, pipe.is_fifo(), os.listdir(tmp_path)) == ([b"all"], True, ["pipe"])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_device_is_written_to_and_named_in_errors():
    check_writable(Path("/dev/null"))
    with atomic_write(Path("/dev/null")) as file:
        file.write(b"all")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(OSError, match=r"'/dev/full'$"), atomic_write(Path("/dev/full")) as file:
        file.write(b"all")


def test_errors_about_other_files_are_left_alone(tmp_path):
    with pytest.raises(FileNotFoundError, match="other"), atomic_write(tmp_path / "out.csv"):
        raise FileNotFoundError(errno.ENOENT, "not there", "other")
    assert os.listdir(tmp_path) == []
