import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "pictures.md").read_text()


def test_the_code_of_the_gallery_runs_from_top_to_bottom():
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "pictures.md", "exec"), names)


def test_every_display_is_in_the_gallery():
    import cssvm.displays

    shown = [name for name in cssvm.displays.__all__ if name.endswith("Display")]
    assert all(f"`{name}`" in PAGE and f"{name}.from_" in PAGE for name in shown)
