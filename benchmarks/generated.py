"""Generated data: Gaussian clusters, and sparse data like documents."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.preprocessing import normalize

from benchmarks.rows import Data, standardise, stratified_order

# Sparse data: the frequency of a feature falls like 1 / (rank + 20), so that the most frequent one is in 45 % of the
# samples; the 100 most frequent features decide the label. With noise of a fifth of the signal, between a third and a
# half of 20,000 samples are support vectors; with uniform frequencies or much more noise all of them would be.
DENSITY = 0.01
COMMON_RANK = 20
INFORMATIVE = 100
RELATIVE_NOISE = 0.2


def clusters(
    n: int, n_predict: int, d: int, seed: int, *, flip_y: float = 0.05, positives: float | None = None
) -> Data:
    """Four clusters per class, standardised; `flip_y` : share of random labels; `positives` : of the positive class."""
    # Half of the random labels are positive: share (1 - flip_y) + flip_y / 2 = positives.
    share = None if positives is None else (positives - flip_y / 2) / (1 - flip_y)
    X, y = make_classification(
        n_samples=n + n_predict,
        n_features=d,
        n_informative=d // 2,
        n_redundant=d // 10,
        n_clusters_per_class=4,
        class_sep=1.0,
        flip_y=flip_y,
        weights=None if share is None else [1 - share],
        random_state=seed,
    )
    if positives is not None:
        order = stratified_order(y, seed)
        X, y = X[order], y[order]
    return Data(standardise(X[:n], like=X[:n]), y[:n], standardise(X[n:], like=X[:n]))


def sparse_rule(n: int, n_predict: int, d: int, seed: int) -> Data:
    """CSR samples of unit length, 1 % dense, with a noisy linear rule on the frequent features."""
    rng = np.random.default_rng(seed)
    total = n + n_predict
    frequency = 1.0 / (np.arange(d) + COMMON_RANK)
    frequency *= DENSITY * d / frequency.sum()
    members = [rng.choice(total, count, replace=False) for count in rng.binomial(total, frequency)]
    starts = np.cumsum([0, *map(len, members)])
    values = 1.0 + rng.exponential(size=starts[-1])
    X = normalize(sp.csc_matrix((values, np.concatenate(members), starts), shape=(total, d)).tocsr())
    score = X[:, :INFORMATIVE] @ rng.normal(size=min(INFORMATIVE, d))
    score += RELATIVE_NOISE * score.std() * rng.normal(size=total)
    y = (score > np.median(score)).astype(int)
    return Data(X[:n], y[:n], X[n:])


SOURCES: dict[str, Callable[..., Data]] = {"clusters": clusters, "sparse": sparse_rule}
