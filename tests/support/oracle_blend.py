"""The best split of a node, by trying every one: plain loops over sides, from the definition of the sum of squares."""

from __future__ import annotations

import numpy as np


def features(places, widths, scales, score):
    """The feature vectors: the score, and a scaled 0/1 column for each value."""
    columns = [score]
    for a, width in enumerate(widths):
        columns.append(np.sqrt(scales[a]) * np.eye(width)[places[:, a]])
    return np.hstack(columns)


def within(vectors):
    """Sum of squared distances to the mean."""
    return float(((vectors - vectors.mean(axis=0)) ** 2).sum()) if len(vectors) else 0.0


def sides(places, ordered, score, cut_scores):
    """Every side that a split may part off, as flags of the rows; several may be the same."""
    pivot = int(np.argmax(score.var(axis=0)))
    for a in range(places.shape[1]):
        present = sorted(set(places[:, a].tolist()))
        if not ordered[a]:
            yield from (places[:, a] == value for value in present)
            present.sort(key=lambda value: (score[places[:, a] == value, pivot].mean(), value))
        for cut in range(1, len(present)):
            yield np.isin(places[:, a], present[:cut])
    for c in range(cut_scores):
        yield from (score[:, c] <= threshold for threshold in sorted(set(score[:, c].tolist()))[:-1])


def best_gain(places, widths, scales, ordered, score, cut_scores, k, owners=None):
    """What the best split with at least k rows on both sides takes off the sum of squares; None if there is none.

    ``owners``: the person of each row, if persons are counted on both sides.
    """
    owners = np.arange(len(places)) if owners is None else owners
    vectors, best = features(places, widths, scales, score), None
    for left in sides(places, ordered, score, cut_scores):
        if min(len(set(owners[left].tolist())), len(set(owners[~left].tolist()))) >= k:
            gain = within(vectors) - within(vectors[left]) - within(vectors[~left])
            best = gain if best is None else max(best, gain)
    return best
