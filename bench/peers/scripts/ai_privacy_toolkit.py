"""ai-privacy-toolkit: the leaves of a decision tree on a model's predictions, one representative row for each leaf."""

from __future__ import annotations

import numpy as np
from apt.anonymization import Anonymize  # type: ignore[import-not-found,unused-ignore]
from apt.utils.datasets import ArrayDataset  # type: ignore[import-not-found,unused-ignore]
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from bench.peers.scripts.handed import NUMBERS, TARGET, attributes, categories, handed


def main() -> None:
    """Learn a model, anonymize by its predictions."""
    task = handed()
    frame = task.read()
    names = attributes(frame)
    inputs = np.hstack([frame[list(NUMBERS)], OrdinalEncoder().fit_transform(frame[categories(frame)])])
    model = DecisionTreeClassifier(min_samples_leaf=task.k, random_state=0).fit(inputs, frame[TARGET])
    anonymizer = Anonymize(task.k, names, categorical_features=categories(frame), train_only_QI=True)
    released = anonymizer.anonymize(ArrayDataset(frame[names], model.predict(inputs)))
    task.write(released.assign(**{TARGET: frame[TARGET].to_numpy()}))


if __name__ == "__main__":
    main()
