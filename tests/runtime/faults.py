"""Disks that fail: every write, fsync and renaming of a call fails once, in turn."""

import errno
import io
import os


class _Disk:
    """Counts the operations on files of a folder down to the one that fails."""

    def __init__(self, n_before, number):
        self.left, self.number = n_before, number

    def use(self):
        self.left -= 1
        if self.left == -1:
            raise OSError(self.number, os.strerror(self.number))


class _Unbuffered(io.BufferedWriter):
    """Hands every write on to the disk at once."""

    def __init__(self, raw, buffer_size=1):
        super().__init__(raw, 1)


def failing_at_each_step(monkeypatch, call, number=errno.ENOSPC):
    """Call until nothing fails, the n-th operation on the disk failing the n-th time; yields errors, None at last.

    The file is that of `atomic_write`: written by os.write, synced, then put into its place by os.replace.
    """
    n_before = 0
    while True:
        disk, error = _Disk(n_before, number), None
        with monkeypatch.context() as patch:

            def failing(real, disk=disk):
                def use(*arguments, **options):
                    disk.use()
                    return real(*arguments, **options)

                return use

            patch.setattr(io, "BufferedWriter", _Unbuffered)
            patch.setattr(os, "write", failing(os.write))
            patch.setattr(os, "fsync", failing(os.fsync))
            patch.setattr(os, "replace", failing(os.replace))
            try:
                call()
            except OSError as caught:
                error = caught
        yield error
        if disk.left >= 0:
            return
        n_before += 1
