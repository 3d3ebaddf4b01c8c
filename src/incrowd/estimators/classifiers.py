"""Two classifiers: one that learns from a release of its training rows, and one that may be published itself.

Any classifier, learning from a verified release: one object for grids and cross-validation. And kADET, which is grown
and verified in ``fit`` (see :mod:`incrowd.models.pipeline`); ``model_`` is the tree that may be given away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from incrowd.errors import ParameterError, ValuesError, guarded
from incrowd.estimators.releasing import Owner, Releasing, column_type, frame_of, persons_of, without_person
from incrowd.methods.catalog import AUTO, MethodOrName
from incrowd.models.exports import export_text, to_pmml, to_table
from incrowd.models.kadet import KAdet
from incrowd.models.pipeline import ModelJob, run_model
from incrowd.models.published_tree import PublishedTree
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.persons import owners_of
from incrowd.tables.reading.source import Origin, Source
from incrowd.tables.recipe import Recipe, with_hierarchies
from incrowd.vocabulary.encoded_table import EncodedTable, OwnedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema


class KAdetClassifier(ClassifierMixin, Owner):  # type: ignore[misc]
    """A decision tree that is itself k-anonymous (kADET), to be published instead of the table.

    Parameters
    ----------
    k
        Every span has at least this many rows, or persons, if rows have a ``person``: whoever knows the public
        attributes of a person cannot tell that person from k - 1 others by the tree.
    private
        The columns an attacker does not know; all others are public. Columns of an array are ``x0``, ``x1``, …
    class_private
        Whether an attacker does not know the class.
    criterion
        ``"gain_ratio"``: as C4.5. ``"gain"``: as ID3, which takes categories only.
    l, max_confidence
        Entropy l-diversity, and a cap on the share of a class, in every span. Both need a private class.
    hierarchies
        Hierarchies of public columns, by column: ``Hierarchy`` objects or files.
    prune
        Whether to prune; ``None``: with gain ratio only.
    fill
        ``None``: missing values are refused, in ``fit`` and in ``predict``. ``"mode"``: the most frequent value or the
        median stands for them. ``"value"``: missing is a category of its own; numbers must be complete. With either,
        a missing value in ``predict`` that nothing stands for rests at the node that asks for it.
    bins
        Numbers are counted in at most this many bins of equal size.
    person
        The column of X that says whose row it is, where a person may have several; no attribute of the tree. Where X
        has no such column, pass the persons to ``fit``.
    person_ids, missing_persons
        How persons are read, as for :func:`incrowd.release`.

    Attributes
    ----------
    model_ : PublishedTree
        The tree, verified. It may be published.
    classes_
        The classes, as in y.
    verdict_ : Verdict
        The outcome of the independent recount. It knows the sizes of all spans: keep it.

    Examples
    --------
    >>> X = np.repeat([["a"], ["b"]], 6, axis=0)
    >>> tree = KAdetClassifier(k=4).fit(X, np.repeat([0, 1], 6))
    >>> tree.predict([["b"], ["a"]]).tolist(), tree.model_.smallest_span
    ([1, 0], 6)
    """

    def __init__(
        self,
        k: int = 10,
        *,
        private: Sequence[str] = (),
        class_private: bool = True,
        criterion: str = "gain_ratio",
        l: float | None = None,  # noqa: E741
        max_confidence: float | None = None,
        hierarchies: Mapping[str, Hierarchy | str | Path] | None = None,
        prune: bool | None = None,
        fill: str | None = None,
        bins: int | None = 1024,
        person: str | None = None,
        person_ids: str | None = None,
        missing_persons: str | None = None,
    ) -> None:
        self.k = k
        self.private = private
        self.class_private = class_private
        self.criterion = criterion
        self.l = l
        self.max_confidence = max_confidence
        self.hierarchies = hierarchies
        self.prune = prune
        self.fill = fill
        self.bins = bins
        self.person = person
        self.person_ids = person_ids
        self.missing_persons = missing_persons

    def fit(self, X: Any, y: Any, person: Any = None) -> Self:
        """Grow the tree and recount it by the independent checker; raises unless everything holds.

        ``person`` has the person of each row, where rows are not persons and X has no column that says so.
        """
        frame, recipe, _ = self._asked(X, y, person)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs at least 2 classes; y has one class")
        published = guarded(run_model)(ModelJob(frame, recipe, self._method()))
        self.model_ = _with_classes(published.model, self.classes_)
        self.verdict_ = published.verdict
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row: the label of the leaf, or of the node that does not know its value."""
        table = self._encoded(X)
        return np.asarray(self.classes_[np.array(self._places())[self.model_.predict(table)]])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The class shares of each row's leaf, where the model shows its counts; else 1 for the label.

        What the model hides is not used: a probability of exactly 1 may mean that the shares are not public.
        """
        table = self._encoded(X)
        return self.model_.class_shares(table, self._places(), len(self.classes_))

    def export_text(self, *, max_depth: int | None = None) -> str:
        """The tree as text."""
        check_is_fitted(self, "model_")
        return export_text(self.model_, max_depth=max_depth)

    def plot(self, *, max_depth: int | None = None, ax: Any = None) -> Any:
        """The tree as a drawing, see :meth:`incrowd.models.published_tree.PublishedTree.plot`."""
        check_is_fitted(self, "model_")
        return self.model_.plot(max_depth=max_depth, ax=ax)

    def to_pmml(self) -> str:
        """The tree as PMML 4.4."""
        check_is_fitted(self, "model_")
        return to_pmml(self.model_)

    def to_table(self, X: Any, y: Any, person: Any = None, *, private: str = "tested") -> Any:
        """The training rows as the tree tells them apart, shuffled, with their classes.

        Every combination of public attributes is shared by k rows, or persons. See
        :mod:`incrowd.models.exports`.
        """
        table, origin = self._encoded(X, with_classes=column_or_1d(y)), self._frame(X)[1]
        persons = persons_of(self, without_person(X, self.person)[1], person, table.height)
        if persons is not None:
            source = Source(persons.alias("person").to_frame(), Origin("polars", missing=()))
            whose = owners_of(source, Persons("person", self.person_ids, self.missing_persons or "refuse"))
            table = table if whose.kept is None else table.take(whose.kept)
            table = OwnedTable(table.columns, table.height, whose.codes)
        return to_frame_like(to_table(self.model_, table, private=private), origin)

    def _words(self) -> list[str]:
        """The numbers of the classes, which the model has in their place."""
        return [str(number) for number in range(len(self.classes_))]

    def _frame(self, X: Any, *, reset: bool = False) -> tuple[pl.DataFrame, Origin]:
        """The rows as a polars frame; where missing values are not filled, there must be none."""
        X = without_person(X, self.person)[0]
        frame, origin = frame_of(self, X, reset=reset, missing=self.fill is not None)
        if not reset and self.fill is None:
            _refuse_missing(frame)
        return frame, origin

    def _method(self) -> KAdet:
        return KAdet(
            k=self.k,
            private=tuple(self.private),
            class_private=self.class_private,
            score=self.criterion,
            l=self.l,
            max_confidence=self.max_confidence,
            prune=self.prune,
            fill=self.fill,
            bins=self.bins,
        )

    def _recipe(self, frame: pl.DataFrame, person: str | None) -> Recipe:
        roles = {self._target: Role.TARGET}
        public = [name for name in frame.columns if name not in (self._target, *self.private)]
        if not public:
            raise ParameterError("All columns are private: nothing can be told about anybody. Leave one public.")
        roles |= dict.fromkeys(public, Role.QUASI_IDENTIFIER)
        columns: dict[str, dict[str, Any]] = {
            name: {"type": column_type(dtype)} | ({"role": roles[name]} if name in roles else {})
            for name, dtype in frame.schema.items()
        }
        if person is not None:
            columns[person] = {"role": Role.PERSON}
        ids, gaps = self.person_ids, self.missing_persons
        recipe = Recipe(k=self.k, columns=columns, reading={"missing": []}, person_ids=ids, missing_persons=gaps)
        return with_hierarchies(recipe, self.hierarchies or {})

    def _encoded(self, X: Any, with_classes: npt.NDArray[Any] | None = None) -> EncodedTable:
        """The rows as codes, typed as the model is; numbers may be fractions now."""
        check_is_fitted(self, "model_")
        frame, origin = self._frame(X)
        columns = [
            Column(a.name, Role.OTHER, ColumnType.REAL if a.type is ColumnType.INTEGER else a.type, _order(a))
            for a in self.model_.attributes
        ]
        names = [column.name for column in columns] if with_classes is not None else [*self.model_.tree.attributes]
        if with_classes is not None:
            frame = frame.with_columns(pl.Series(self._target, with_classes))
            columns.append(Column(self._target, Role.OTHER, column_type(frame.schema[self._target])))
            names.append(self._target)
        if not names:
            return EncodedTable({}, frame.height)
        return encode(Source(frame, origin), Schema(tuple(columns)), names)[0]

    def _places(self) -> list[int]:
        """For each class of the model its place in ``classes_``."""
        known = {_plain(value): place for place, value in enumerate(self.classes_)}
        return [known[value] for value in self.model_.classes]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.fill == "mode"
        return tags


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _with_classes(model: PublishedTree, classes: npt.NDArray[Any]) -> PublishedTree:
    """The model with the classes of y in place of their numbers."""
    named = tuple(_plain(classes[int(str(number))]) for number in model.classes)
    return replace(model, classes=named, tree=replace(model.tree, classes=named))


def _order(attribute: Any) -> tuple[str, ...]:
    return (attribute.domain or ()) if attribute.type is ColumnType.ORDERED else ()


def _refuse_missing(frame: pl.DataFrame) -> None:
    gone = {series.name: series.null_count() for series in frame if series.null_count()}
    if gone:
        missing = ", ".join(f"{name!r} ({rows} rows)" for name, rows in gone.items())
        raise ValuesError(f"Values are missing in {missing}. Fill them, or fit with fill='mode' or fill='value'.")


def _learner_has(name: str) -> Callable[[AnonymousClassifier], bool]:
    return lambda model: hasattr(getattr(model, "learner_", model.learner), name)


class AnonymousClassifier(ClassifierMixin, Releasing):  # type: ignore[misc]
    """A classifier that learns from a release of its training rows, never from the rows, and predicts plain rows.

    ``fit`` releases the rows, verified as any release is, and lets a copy of the learner learn from what a recipient
    would have: the release and its certificate. Cross-validation and grids then measure what recipients can learn.

    Parameters
    ----------
    learner
        Any classifier of scikit-learn.
    method
        The name of a method, or a method object. ``"blend"``, the default, is the one by which classifiers lose least
        on average, for it publishes counts; it uses no hierarchies and keeps no limits. ``"auto"``: what serves the
        learner best, by a short comparison on the training rows, see :class:`incrowd.methods.automatic.Auto`;
        ``parameters`` may say ``measure`` and ``seconds``. It takes as long as some dozen fits.
    k
        The smallest number of rows that may share their released quasi-identifiers; of persons, if rows have a
        ``person``.
    parameters
        Parameters of the method that is named.
    quasi_identifiers
        The columns an attacker may know; if left out, all that ``require`` does not name.
    require, class_sensitive, hierarchies, known_together, weights, at_most, apart, lose
        As for :func:`incrowd.release`.
    person
        The column of X that says whose row it is, where a person may have several. It is no feature: nothing is learned
        from it, and rows to predict need not have it. Where X has no such column, pass the persons to ``fit``.
    person_ids, missing_persons
        How persons are read, as for :func:`incrowd.release`.
    random_state
        For experiments only; chance is cryptographic if left out.

    Attributes
    ----------
    classes_
        The classes, as in y.
    learner_
        What was learned. It has seen nothing but the release, so it may go wherever the release may go.
    release_ : Release
        The release, with its certificate. The plan in it is the owner's.
    plan_, verdict_
        What was decided, and the independent recount: keep them, and with them this object.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.repeat([[1.0, 5.0], [2.0, 6.0]], 20, axis=0), np.repeat(["no", "yes"], 20)
    >>> model = AnonymousClassifier(LogisticRegression(), k=5).fit(X, y)
    >>> model.predict([[1.0, 5.0], [2.0, 6.0]]).tolist(), model.verdict_.passed
    (['no', 'yes'], True)
    """

    def __init__(
        self,
        learner: Any,
        method: Any = "blend",
        k: int = 10,
        *,
        parameters: Mapping[str, Any] | None = None,
        quasi_identifiers: Iterable[str] | None = None,
        require: Any = None,
        class_sensitive: bool | None = None,
        hierarchies: Mapping[str, Hierarchy | str | Path] | str | Path | None = None,
        known_together: Iterable[tuple[Iterable[str], int]] | None = None,
        weights: Mapping[str, float] | None = None,
        at_most: Mapping[str, int] | None = None,
        apart: Mapping[str, Any] | None = None,
        lose: str | float | None = None,
        person: str | None = None,
        person_ids: str | None = None,
        missing_persons: str | None = None,
        random_state: int | None = None,
    ) -> None:
        self.learner = learner
        self.method = method
        self.k = k
        self.parameters = parameters
        self.quasi_identifiers = quasi_identifiers
        self.require = require
        self.class_sensitive = class_sensitive
        self.hierarchies = hierarchies
        self.known_together = known_together
        self.weights = weights
        self.at_most = at_most
        self.apart = apart
        self.lose = lose
        self.person = person
        self.person_ids = person_ids
        self.missing_persons = missing_persons
        self.random_state = random_state

    def fit(self, X: Any, y: Any, person: Any = None) -> Self:
        """Release the rows and learn from the release; raises unless everything that is asked for holds.

        ``person`` has the person of each row, where rows are not persons and X has no column that says so.
        """
        self.release_, _ = self._released(X, y, person)
        self.learner_ = self._received(self.release_).classifier(self.learner)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each plain row."""
        frame = self._plain(X)
        return np.asarray(self.classes_[self._class_numbers(self.learner_.predict(frame))])

    @available_if(_learner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class for each plain row; 0 for a class that the release has lost."""
        frame = self._plain(X)
        return self._by_class(self.learner_.predict_proba(frame), lost=0.0)

    @available_if(_learner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The scores of each plain row, for each class; of two classes, for the second."""
        frame = self._plain(X)
        scores = self.learner_.decision_function(frame)
        scores = self._by_class(np.column_stack([-scores, scores]) if scores.ndim == 1 else scores, lost=-np.inf)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def _plain(self, X: Any) -> pl.DataFrame:
        """Plain rows as a frame."""
        check_is_fitted(self, "learner_")
        return self._frame(X)[0]

    def _by_class(self, scores: npt.NDArray[np.float64], lost: float) -> npt.NDArray[np.float64]:
        """The learner's scores in the order of ``classes_``, which may be another than that of their names."""
        ordered = np.full((len(scores), len(self.classes_)), lost)
        ordered[:, self._class_numbers(self.learner_.classes_)] = scores
        return ordered

    def _method_and_parameters(self) -> tuple[MethodOrName, Mapping[str, Any]]:
        if self.method == AUTO.name:
            return AUTO.name, {"learners": [self.learner], **(self.parameters or {})}
        if isinstance(self.method, str):
            return self.method, self.parameters or {}
        if self.parameters:
            raise ParameterError("A method that is passed as an object has its parameters. Set them there.")
        return self.method, {}
