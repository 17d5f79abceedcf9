"""A real browser, offline: the system's Chromium, driven by Playwright."""

import shutil

import pytest


@pytest.fixture(scope="session")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium on this machine; install it, for example with apt-get install chromium")
    with playwright.sync_playwright() as running:
        # Chromium rejects to run as root with its sandbox; all it opens here are files that the tests have made.
        browser = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, tmp_path):
    """Opens reports; at the end nothing must have gone wrong in any of them, and nothing been asked of the network."""
    contexts, problems = [], []

    def open_report(report, *, width=1280, bypass_csp=False, expected=(), **options):
        context = chromium.new_context(
            offline=True, viewport={"width": width, "height": 800}, bypass_csp=bypass_csp, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: None if any(each in m.text for each in expected) else problems.append(m.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: problems.append(request.url) if request.url != page.url else None)
        page.goto(report.save(tmp_path / f"report{len(contexts)}.html").as_uri())
        return page

    yield open_report
    for context in contexts:
        context.close()
    assert [problem for problem in problems if not problem.startswith(tmp_path.as_uri())] == []
