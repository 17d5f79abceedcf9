import gzip
import hashlib
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cssvm.datasets._registry import DATASETS, FileVersion


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path):
    """A folder and the address under which a web server on this machine serves it."""
    folder = tmp_path / "served"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield folder, f"http://127.0.0.1:{http.server_port}/"
        http.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def all_data(shared_data):
    """The folder of real data if it is the complete one, with a list of checksums, and not somebody's cache."""
    if not (shared_data / "SHA256SUMS").is_file():
        pytest.skip(f"{shared_data} is not the complete folder of data sets: it has no SHA256SUMS")
    return shared_data


def version_of(path, content, *urls):
    return FileVersion(path, hashlib.sha256(content).hexdigest(), len(content), urls)


@pytest.fixture
def register(monkeypatch):
    """Replace the files of a registered data set: `register(name, {role: version}, variant=...)`."""

    def replace_files(name, versions, variant=""):
        entries = []
        for entry in DATASETS[name]:
            if entry.variant in ("", variant):
                files = [
                    replace(file, versions=(versions[file.role],)) if file.role in versions else file
                    for file in entry.files
                ]
                entry = replace(entry, files=tuple(files))
            entries.append(entry)
        monkeypatch.setitem(DATASETS, name, tuple(entries))

    return replace_files


@pytest.fixture
def provide(tmp_path, register):
    """Write files for the roles of a data set, register their checksums, and return their folder."""

    def write(name, contents, variant=""):
        """contents : by role the name of the file and its bytes; a file whose name ends in .gz is compressed."""
        folder = tmp_path / "data"
        versions = {}
        for role, (path, content) in contents.items():
            packed = gzip.compress(content) if path.endswith(".gz") else content
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(packed)
            versions[role] = version_of(path, packed)
        register(name, versions, variant)
        return folder

    return write
