"""Take the picture of docs/reports.md: `python docs/pictures/report.py`.

Needs Playwright, Pillow and the system's Chromium.
"""

import runpy
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parent
EXAMPLE = FOLDER.parent.parent / "examples" / "report.py"
WIDTH = 1280
COLOURS = 128  # for a small file


def take_picture(page_file: Path, picture: Path) -> None:
    """Save a picture of the first two sections of a report."""
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(page_file.as_uri())
        end = page.locator("section").nth(1).bounding_box()
        height = round(end["y"] + end["height"]) + 16
        page.screenshot(path=picture, full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
        browser.close()
    Image.open(picture).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(picture, optimize=True)


if __name__ == "__main__":
    report = runpy.run_path(str(EXAMPLE))["loans_report"]()
    with tempfile.TemporaryDirectory() as folder:
        take_picture(report.save(Path(folder) / "report.html"), FOLDER / "report.png")
