from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "reports.md").read_text()


def test_every_display_is_in_the_gallery():
    import cssvm.displays

    shown = [name for name in cssvm.displays.__all__ if name.endswith("Display")]
    assert all(f"`{name}`" in PAGE and f"{name}.from_" in PAGE for name in shown)
