"""What `incrowd lab datasets` lists: each data set, and where it would come from on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from incrowd.lab.datasets.catalog import DATASETS
from incrowd.lab.datasets.entry import Dataset
from incrowd.lab.datasets.load import in_cache, in_folder
from incrowd.lab.datasets.places import data_folder


@dataclass(frozen=True)
class Listing:
    """A data set and where it would come from: "folder", "cache", "fetch NAME==VERSION" or "not to be had by name"."""

    dataset: Dataset
    where: str

    def __str__(self) -> str:
        known = self.dataset
        inputs = f"{len(known.attributes)} attributes, {len(known.numeric)} of them numeric"
        return f"{known.name}: {known.title}, {known.rows:,} rows, {inputs} ({self.where})"


def describe(folder: Path | None = None) -> list[Listing]:
    """Every data set of the lab, and where `load` would take it from.

    Examples
    --------
    >>> [listing.dataset.name for listing in describe()][:3]
    ['adult', 'german-credit', 'glass']
    """
    named = data_folder(folder)
    return [Listing(dataset, _where(dataset, named)) for dataset in DATASETS.values()]


def _where(dataset: Dataset, folder: Path | None) -> str:
    if in_folder(dataset, folder):
        return "folder"
    if in_cache(dataset):
        return "cache"
    return f"fetch {dataset.source}" if dataset.source else "not to be had by name"
