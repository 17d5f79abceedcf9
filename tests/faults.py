"""Disks that fail: every write, flush, fsync and renaming of a call fails once, in turn."""

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


class _File(io.BufferedWriter):
    disk = None

    def write(self, content):
        self.disk.use()
        return super().write(content)

    def flush(self):
        if not self.closed:
            self.disk.use()
        super().flush()


def failing_at_each_step(monkeypatch, call, number=errno.ENOSPC):
    """Call until nothing fails, the n-th operation on the disk failing the n-th time; yields errors, None at last.

    The file is that of `whole_file`: opened by os.open and os.fdopen, synced, then put into its place by os.replace.
    """
    n_before = 0
    while True:
        disk, error = _Disk(n_before, number), None
        with monkeypatch.context() as patch:

            def opened(handle, mode, disk=disk):
                file = _File(io.FileIO(handle, mode))
                file.disk = disk
                return file

            def failing(real, disk=disk):
                def use(*arguments, **options):
                    disk.use()
                    return real(*arguments, **options)

                return use

            patch.setattr(os, "fdopen", opened)
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
