"""The sliders show what `cssvm.metrics` computes, for any costs and any share of the positive class."""

import numpy as np
import pytest

from cssvm.metrics import cost_risk, min_cost_risk
from tests.report.samples import case, half_unit, read

N_SETTINGS = 100

# Types numbers into the three fields as a user would and reads everything that is shown.
TYPE_AND_READ = """(settings) => settings.map((setting) => {
  for (const [name, value] of Object.entries(setting)) {
    const field = document.getElementById(name + "-number");
    field.value = String(value);
    field.dispatchEvent(new Event("input"));
  }
  const shown = {threshold: document.getElementById("answer").dataset.threshold};
  for (const {id, value, textContent} of document.querySelectorAll("data"))
    shown[id] = {exact: Number(value), text: textContent};
  return shown;
})"""


def settings(base, rng):
    """Costs over four orders of magnitude, shares from rare to frequent."""
    return [
        {
            "fn": base[0] * 10 ** rng.uniform(-2, 2),
            "fp": base[1] * 10 ** rng.uniform(-2, 2),
            "share": rng.uniform(0.1, 99.9),
        }
        for _ in range(N_SETTINGS)
    ]


@pytest.mark.parametrize("kind", ["class", "rows", "mixed"])
def test_a_hundred_settings_equal_the_metrics(kind, opened):
    rows = case(kind)
    fn, fp = rows.of_rows["fn_cost"], rows.of_rows["fp_cost"]
    weights = rows.of_rows.get("sample_weight", np.ones(len(rows.y)))
    chosen = settings([fn if np.ndim(fn) == 0 else 1.0, fp if np.ndim(fp) == 0 else 1.0], np.random.default_rng(1))
    page = opened(rows.report())
    for setting, shown in zip(chosen, page.evaluate(TYPE_AND_READ, chosen), strict=True):
        prior = setting["share"] / 100
        costs = {
            "fn_cost": setting["fn"] * (fn if np.ndim(fn) else 1.0),
            "fp_cost": setting["fp"] * (fp if np.ndim(fp) else 1.0),
            "sample_weight": weights,
            "prior": prior,
        }
        best, cases = min_cost_risk(rows.y, rows.score, **costs), weights.sum()
        expected = {
            "best-risk": best.risk,
            "best-total": best.risk * cases,
            "own-risk": cost_risk(rows.y, rows.decided, **costs),
            "nobody-risk": cost_risk(rows.y, np.zeros_like(rows.y), **costs),
            "everybody-risk": cost_risk(rows.y, np.ones_like(rows.y), **costs),
            "best-hits": cases * prior * (1 - best.fnr),
            "best-misses": cases * prior * best.fnr,
            "best-alarms": cases * (1 - prior) * best.fpr,
            "best-quiet": cases * (1 - prior) * (1 - best.fpr),
        }
        assert float(shown["threshold"]) == best.threshold
        for name, value in expected.items():
            assert shown[name]["exact"] == pytest.approx(value, rel=1e-9, abs=1e-9 * cases), (name, setting)
            unit = half_unit(value) if "risk" in name or "total" in name else 0.5 if value >= 1000 else 0.05
            assert abs(read(shown[name]["text"]) - value) <= unit + 1e-9 * cases, (name, setting)
        costs_of_errors = read(shown["best-misses-cost"]["text"]) + read(shown["best-alarms-cost"]["text"])
        assert costs_of_errors == pytest.approx(best.risk * cases, rel=2e-3, abs=1e-6)


def test_it_opens_with_the_costs_as_they_are(opened):
    rows = case("class")
    page = opened(rows.report(currency="EUR"))
    best = min_cost_risk(rows.y, rows.score, fn_cost=130.0, fp_cost=12.5)
    assert page.get_by_role("spinbutton", name="Cost of a false alarm").input_value() == "12.5"
    assert read(page.locator("#best-risk").inner_text()) == pytest.approx(best.risk, abs=half_unit(best.risk))
    assert float(page.locator("#own-misses").inner_text()) == np.sum((rows.y == 1) & (rows.decided == 0))
    assert f"the threshold {best.threshold:.4g} is best" in page.locator("#answer").inner_text()


def test_arrow_keys_move_a_slider_and_everything_with_it(opened):
    rows = case("class")
    page = opened(rows.report())
    before = {id: page.locator(f"#{id}").inner_html() for id in ("roc", "gains", "costs", "best-risk", "answer")}
    slider = page.get_by_role("slider", name="Cost of missing a row")
    slider.focus()
    for _ in range(40):
        slider.press("ArrowRight")
    cost = float(page.locator("#fn-number").input_value())
    assert cost == pytest.approx(130.0 * 20**0.4, rel=1e-3)
    assert slider.get_attribute("aria-valuetext") == f"{cost:.4g}"
    assert all(page.locator(f"#{id}").inner_html() != text for id, text in before.items())
    best = min_cost_risk(rows.y, rows.score, fn_cost=cost, fp_cost=12.5)
    assert float(page.locator("#best-risk").get_attribute("value")) == pytest.approx(best.risk)
    page.get_by_role("button", name="Reset to the present costs").press("Enter")
    assert {id: page.locator(f"#{id}").inner_html() for id in before} == before


def test_the_whole_page_is_reached_by_the_tab_key(opened):
    page = opened(case("class").report())
    reached = []
    for _ in range(7):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
    assert reached[:7] == ["fn", "fn-number", "fp", "fp-number", "share", "share-number", "reset"]


@pytest.mark.parametrize("typed", ["", "-3"])
def test_an_invalid_number_is_marked_and_changes_nothing(typed, opened):
    page = opened(case("class").report())
    before = page.locator("#answer").inner_text()
    page.locator("#fn-number").fill(typed)
    assert page.locator("#fn-number").get_attribute("aria-invalid") == "true"
    assert page.locator("#answer").inner_text() == before


def test_marks_lie_on_the_curves(opened):
    """The point of the best cut is on the drawn ROC curve, and no drawn point is above the line of equal cost."""
    page = opened(case("rows").report())
    for fn in ("0.05", "1", "9"):
        page.get_by_role("spinbutton", name="Cost of missing a row").fill(fn)
        curve, equal = (page.locator(f"#roc .{name}").get_attribute("d") for name in ("curve", "equal"))
        points, ends = (
            np.array([[float(number) for number in pair.split()] for pair in path.replace("M", "").split("L")])
            for path in (curve, equal)
        )
        dot = np.array([float(page.locator("#roc circle").get_attribute(name)) for name in ("cx", "cy")])
        assert np.abs(points - dot).max(axis=1).min() < 0.6
        height = np.interp(points[:, 0], ends[:, 0], ends[:, 1])
        assert (points[:, 1] >= height - 0.6).all()  # y grows downwards


def test_without_scores_there_are_three_points_to_choose_from(opened):
    rows = case("class")
    page = opened(rows._replace(score=None).report())
    own = cost_risk(rows.y, rows.decided, fn_cost=130.0, fp_cost=12.5)
    assert float(page.locator("#best-risk").get_attribute("value")) == pytest.approx(own)
    page.get_by_role("spinbutton", name="Cost of a false alarm").fill("0.001")
    assert "acting on everybody is best" in page.locator("#answer").inner_text()
    assert page.get_by_text("has no scores").is_visible()
