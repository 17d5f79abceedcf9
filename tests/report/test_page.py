"""The page in a browser: user text is escaped, and it is responsive, accessible and printable."""

import os
from pathlib import Path

import pytest

from tests.report.samples import case

HOSTILE = [
    "</script><script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "<!--<script>",
    "{{ 7 * 7 }} {% raw %} ${7*7}",
    "a\u2028b\u2029c & <b>bold</b> \\u003c",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_strings_are_shown_as_they_are(text, opened):
    """As title, currency, labels and names of policies."""
    rows = case("class")
    labels = rows._replace(
        **{name: [text if label else "other" for label in getattr(rows, name)] for name in ("y", "decided")}
    )
    report = labels.report(title=text, currency=text, pos_label=text, compare={text + "!": labels.decided})
    page = opened(report)
    assert page.title().split() == text.split()
    assert page.locator("h1").text_content() == text
    assert page.locator(".policies th bdi", has_text=text + "!").text_content() == text + "!"
    assert text in page.locator("label").first.text_content()
    assert page.get_by_role("slider").first.get_attribute("aria-valuetext").endswith(text)
    assert text in page.locator("#answer").text_content()
    assert page.locator("script").count() == 2
    assert page.locator("img, b, iframe").count() == 0


def test_hostile_feature_names_and_parameters_are_shown_as_they_are(opened):
    pd = pytest.importorskip("pandas")
    from sklearn.linear_model import LogisticRegression

    from cssvm import CostThresholdClassifier, Report

    rows = case("class")
    X = pd.DataFrame({text: rows.score + k for k, text in enumerate(HOSTILE)})

    class Named(LogisticRegression):
        def __repr__(self, N_CHAR_MAX=700):
            return HOSTILE[0]

    model = CostThresholdClassifier(Named(), calibration=None).fit(X, rows.y)
    page = opened(Report(model, X, rows.y, fn_cost=5.0, fp_cost=1.0, cv="prefit", n_resamples=20))
    assert page.locator(".names li").all_text_contents() == HOSTILE
    assert HOSTILE[0] in page.locator(".pairs").text_content()
    assert page.locator("script").count() == 2


def test_names_of_policies_have_the_width_of_a_phone(opened):
    page = opened(case("class").report(), width=375)
    name = page.locator(".policies th", has_text="act on everybody").bounding_box()
    card = page.locator(".policies tr", has_text="act on everybody").bounding_box()
    assert name["width"] > 0.9 * card["width"]


@pytest.mark.parametrize("kind", ["class", "rows"])
def test_nothing_is_wider_than_a_phone(kind, opened):
    long = "Donaudampfschifffahrtsgesellschaft" * 3
    page = opened(case(kind).report(title=long, currency="quatloos", compare={long: case(kind).decided}), width=375)
    assert page.evaluate("document.documentElement.scrollWidth") == 375


@pytest.mark.parametrize("width", [375, 1280])
def test_number_fields_and_the_table_of_support_vectors_are_not_cut_off(width, opened):
    from cssvm import CostSensitiveSVC, Report

    rows = case("class")
    page = opened(
        Report(CostSensitiveSVC(fn_cost=5.0), rows.score[:, None], rows.y, fn_cost=5.0, cv=2, n_resamples=2),
        width=width,
    )
    for name in ("fn", "fp", "share"):
        upper_bound = page.locator(f"#{name}-number")
        upper_bound.evaluate("upper_bound => { upper_bound.value = '94.78036'; }")
        assert upper_bound.evaluate("upper_bound => upper_bound.scrollWidth <= upper_bound.clientWidth")
    table = page.get_by_role("region", name="Support vectors")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert table.evaluate("table => table.clientWidth > 0 && table.scrollWidth <= table.clientWidth")


def test_no_script_runs_but_its_own(opened):
    """The content security policy holds: a script that gets in somehow is not run."""
    page = opened(case("class").report(), expected=["Content Security Policy"])
    violations = page.evaluate(
        """async () => {
          const seen = [];
          document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
          const script = document.createElement("script");
          script.textContent = "window.intruder = 1";
          document.body.append(script);
          document.body.setAttribute("onclick", "window.intruder = 2");
          document.body.click();
          await new Promise((done) => setTimeout(done, 100));
          return [seen, window.intruder ?? null];
        }"""
    )
    assert violations[1] is None
    assert {"script-src-elem", "script-src-attr"} <= set(violations[0])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_axe_finds_nothing_serious(scheme, width, opened):
    """axe-core, where AXE_CORE names its axe.min.js (npm install axe-core)."""
    axe = Path(os.environ.get("AXE_CORE", "axe.min.js"))
    if not axe.is_file():
        pytest.skip("no axe-core; set AXE_CORE to its axe.min.js, from npm install axe-core")
    page = opened(case("rows").report(currency="EUR"), width=width, color_scheme=scheme, bypass_csp=True)
    page.add_script_tag(path=str(axe))
    found = page.evaluate("axe.run()")["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []


def test_it_can_be_read_without_javascript(opened):
    page = opened(case("class").report(title="Plain"), java_script_enabled=False)
    assert page.locator(".verdict").is_visible()
    assert page.locator(".policies").is_visible()
    assert page.get_by_text("needs JavaScript").is_visible()
    assert not page.locator("#moving").is_visible()


def test_it_prints_on_a_few_pages(opened, tmp_path):
    page = opened(case("class").report())
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert printed.count(b"/Type /Page\n") <= 6
    page.emulate_media(media="print")
    assert page.locator("#best-risk").is_visible()
    assert not page.locator("#reset").is_visible()
