from benchmarks import measures


def test_the_benchmark_prints_a_verdict_for_every_metric(capsys, monkeypatch):
    monkeypatch.setattr(measures, "RESAMPLES", 3)
    measures.main(["--rows", "300", "--repeats", "1"])
    printed = capsys.readouterr().out
    compared = len(measures.ranking_calls(300)) - 1 + len(measures.bootstrap_calls(300, 3))
    assert sum(line.endswith((" ok", " miss")) for line in printed.splitlines()) == compared


def test_times_are_medians_over_the_rounds(monkeypatch):
    seconds = iter([3.0, 10.0, 1.0, 30.0, 2.0, 20.0])
    monkeypatch.setattr(measures, "elapsed", lambda call: next(seconds))
    assert measures.medians({"a": list, "b": list}, repeats=3) == {"a": 2.0, "b": 20.0}


def test_a_verdict_compares_with_the_limit():
    lines = measures.ranking_table({measures.REFERENCE: 1.0, "fast": measures.LIMIT, "slow": 1.01 * measures.LIMIT})
    assert [line.split()[-1] for line in lines.splitlines()[-2:]] == ["ok", "miss"]
