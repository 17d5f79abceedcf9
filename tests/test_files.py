"""Files that appear as a whole or not at all, and whose errors name the file that was asked for."""

import errno
import os
import sys
from pathlib import Path

import pytest

from cssvm.runtime.files import whole_file


def test_a_name_as_long_as_the_system_allows_can_be_written(tmp_path):
    path = tmp_path / ("x" * 250)
    with whole_file(path) as file:
        file.write(b"all")
    assert path.read_bytes() == b"all"
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that nobody can write to")
def test_a_folder_that_cannot_be_written_is_reported_with_the_file_that_was_asked_for():
    with pytest.raises(OSError, match=r"'/proc/out\.csv'$"), whole_file(Path("/proc/out.csv")):
        pass


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
def test_a_full_disk_is_reported_with_the_file_that_was_asked_for(number, tmp_path):
    path = tmp_path / "out.csv"
    with pytest.raises(OSError, match=r"out\.csv'$"), whole_file(path):
        raise OSError(number, "no room")
    assert os.listdir(tmp_path) == []


def test_errors_about_other_files_are_left_alone(tmp_path):
    with pytest.raises(FileNotFoundError, match="other"), whole_file(tmp_path / "out.csv"):
        raise FileNotFoundError(errno.ENOENT, "not there", "other")
    assert os.listdir(tmp_path) == []
