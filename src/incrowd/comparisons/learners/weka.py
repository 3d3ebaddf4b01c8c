"""Weka's classifiers as learners, where the package python-weka-wrapper3 and Java are installed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from incrowd.comparisons.learners.learner import Constant, Examples, called, class_shares, is_hopeless, weighing
from incrowd.errors import InputError, MissingPackageError, ParameterError
from incrowd.optional import optional
from incrowd.recipients.matrix import Attribute, Binning, Numbers

SPLITTING = ("weka.classifiers.trees.", "weka.classifiers.rules.")
"""Whose classifiers find by themselves where to split numbers."""
LARGEST = 1e150  # Weka squares numbers and adds them up


def arff_text(examples: Examples, *, with_classes: bool) -> str:
    """Header and rows. Without classes they are all unknown, so that nothing can look at them."""
    kinds = ["numeric" if _is_number(each) else _codes(len(each.categories or ())) for each in examples.attributes]
    header = [f"@attribute a{place} {kind}" for place, kind in enumerate(kinds)]
    columns = [_column(each).alias(f"a{place}") for place, each in enumerate(examples.attributes)]
    classes = examples.classes if with_classes else np.full(examples.height, -1)
    columns.append(_column(Attribute("class", classes, examples.labels)).alias("class"))
    if examples.weights is not None and with_classes:
        weights = pl.Series("weight", examples.weights).cast(pl.String)
        columns.append("{" + weights + "}")
    rows = pl.DataFrame(columns).write_csv(include_header=False, null_value="?", quote_style="never")
    header = ["@relation rows", *header, f"@attribute class {_codes(len(examples.labels))}", "@data"]
    return "\n".join([*header, rows.rstrip("\n")])


def _is_number(attribute: Attribute) -> bool:
    """Whether the values are numbers; public bins, which are in order, are numbered."""
    return attribute.is_numeric or attribute.ordered


def _codes(count: int) -> str:
    """The categories by number; at least one, since Weka wants one."""
    return "{" + ",".join(f"c{code}" for code in range(max(1, count))) + "}"


def _column(attribute: Attribute) -> pl.Series:
    if _is_number(attribute):
        values = np.where(attribute.is_missing, np.nan, attribute.values)
        return pl.Series(np.clip(values, -LARGEST, LARGEST), nan_to_null=True, dtype=pl.Float64)
    codes = pl.Series(attribute.values, dtype=pl.Int64)
    return pl.select(pl.when(codes >= 0).then("c" + codes.cast(pl.String))).to_series()


NEEDED = (
    "Weka's learners need the package 'python-weka-wrapper3' and Java 11 or later."
    " Install them: pip install python-weka-wrapper3, and a Java runtime (for instance default-jre-headless)."
    " Without them, c45, rules, nb and logistic are the nearest of ours."
)

FLAGS = ("-Djava.awt.headless=true", "-Dweka.packageManager.loadPackages=false")


@dataclass(frozen=True, eq=False)
class WekaModel:
    """A classifier that lives in the Java machine of this process; it cannot be sent to another."""

    classifier: Any
    bins: Binning | None  # where bins are counted

    def scores(self, examples: Examples) -> Numbers:
        """The distribution that Weka gives for each row; 0 for all classes where it has none."""
        if examples.height == 0:
            return np.zeros((0, len(examples.labels)))
        examples = examples if self.bins is None else self.bins.binned(examples)
        rows = self.classifier.distributionsForInstances(instances(examples, with_classes=False))
        return np.nan_to_num(np.array([list(row) for row in rows], np.float64))


@dataclass(frozen=True)
class Weka:
    """A classifier of Weka with its usual options, or those given.

    It takes public bins as numbers where it splits them, else as a few categories.

    Rows are handed over in memory; names and categories are replaced by numbers on the way.
    """

    word: str
    scheme: str
    options: str = ""  # as on Weka's command line, for instance ``-C 0.1 -M 5``

    def __post_init__(self) -> None:
        if not isinstance(self.options, str):
            raise ParameterError("options must be text, as on Weka's command line, for instance '-M 5'.")

    @property
    def name(self) -> str:
        """What the catalog calls it."""
        return called(self.word, self)

    def fit(self, examples: Examples, seed: int) -> WekaModel | Constant:  # noqa: ARG002
        """Build the classifier; the four we offer draw nothing at random unless their options say so."""
        examples = weighing(examples)
        if is_hopeless(examples):
            return Constant(class_shares(examples))
        bins = None
        if not self.scheme.startswith(SPLITTING):
            bins = Binning.of_bins(examples)
            examples = bins.binned(examples)
        java = started_java()
        classifier = java.JClass(self.scheme)()
        try:
            classifier.setOptions(java.JClass("weka.core.Utils").splitOptions(self.options))
            classifier.buildClassifier(instances(examples, with_classes=True))
        except java.JException as failed:
            raise InputError(
                f"{self.name} failed within Weka ({type(failed).__name__}). Are its options right?"
            ) from None
        return WekaModel(classifier, bins)


def instances(examples: Examples, *, with_classes: bool) -> Any:
    """The rows as Weka's Instances, the class last."""
    java = started_java()
    reader = java.JClass("java.io.StringReader")(arff_text(examples, with_classes=with_classes))
    rows = java.JClass("weka.core.Instances")(reader)
    rows.setClassIndex(rows.numAttributes() - 1)
    return rows


def started_java() -> Any:
    """The module ``jpype``, with Java running and Weka on its path; started once in a process."""
    try:
        machine = optional("weka.core.jvm", "Weka")
        java = optional("jpype", "Weka")
        if not java.isJVMStarted():
            jars: list[str] = []
            machine.add_bundled_jars(jars)
            java.startJVM(*FLAGS, classpath=jars, convertStrings=True)
            java.JClass("java.util.logging.LogManager").getLogManager().reset()  # it misses libraries it does not need
    except (MissingPackageError, OSError, ValueError):  # no package; no Java, or one that cannot be loaded
        raise MissingPackageError(NEEDED) from None
    return java
