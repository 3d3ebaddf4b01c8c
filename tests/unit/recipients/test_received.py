"""A release that was received: every method and form is opened, decoded, encoded and learned from."""

from __future__ import annotations

import json
import math
import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_checks

import incrowd
from incrowd.errors import FileFormatError, HeaderError, ParameterError
from incrowd.methods.catalog import METHODS
from incrowd.recipients.cells import Cells
from incrowd.recipients.dealing import Boxes, Dealing
from incrowd.recipients.encoding import LEARNERS, learner_kind
from incrowd.recipients.views import ReleasedColumn
from incrowd.releases.certified.consistency import check_consistency
from incrowd.vocabulary.counts_text import read_counts
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.schema import ColumnType

NAMES = ["age", "job", "size", "sex", "born"]
EVERY = [
    (method, form, numeric)
    for method, entry in METHODS.items()
    for form in entry.forms
    for numeric in ((entry.numeric or (None,)) if form == "strict" else (entry.numeric or (None,))[:1])
]
JOBS = Hierarchy.from_paths(
    "job",
    [(job, group, "*") for group, jobs in (("hands", ("cook", "smith")), ("care", ("nurse", "vet"))) for job in jobs],
)


@cache
def people(rows: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    age = rng.integers(18, 80, rows)
    job = rng.choice(["cook", "smith", "nurse", "vet"], rows)
    ill = np.where((age > 50) ^ (job == "cook") ^ (rng.random(rows) < 0.1), "yes", "no")
    return (
        pd.DataFrame(
            {
                "age": age,
                "job": pd.Series(job).mask(pd.Series(rng.random(rows) < 0.05)),
                "size": np.round(rng.normal(170, 10, rows), 1),
                "sex": rng.choice(["f", "m"], rows),
                "born": pd.Timestamp("2000-01-01") - pd.to_timedelta(age * 365 + rng.integers(0, 365, rows), unit="D"),
                "ward": rng.choice(["a", "b"], rows),
                "ill": ill,
            }
        )
        .astype({"born": "datetime64[s]"})
        .assign(born=lambda frame: frame["born"].dt.date)
    )


@cache
def made(method: str, form: str, numeric: str | None, grouped: bool = False):
    return incrowd.release(
        people(),
        quasi_identifiers=["job", "sex"] if grouped and method == "iack" else NAMES,
        target="ill",
        class_sensitive=False,
        k=8,
        method=method,
        form=form,
        parameters={"numeric": numeric} if numeric else {},
        hierarchies={"job": JOBS} if grouped else None,
    )


def inside(value, cell, kind: str) -> bool:
    """Whether a plain value is one that a released cell may stand for; written without the room's own reading."""
    if cell is None or cell != cell:
        return value is None or value != value
    if not isinstance(cell, str):
        return str(value)[:10] == str(cell)[:10] if kind == "date" else value == cell
    counted = read_counts(cell)
    if counted is not None and ":" in cell:
        return any(inside(value, word, kind) for word, _ in counted)
    if cell == "*" and counted == ():
        return value is None or value != value
    if "|" in cell:
        return any(inside(value, word, kind) for word in cell.split("|"))
    if cell[0] in "([" and ", " in cell and kind != "word":
        low, high = cell[1:-1].split(", ")
        if value is None or value != value:
            return False
        if kind == "date":
            low, high = low.replace("-inf", "0000"), high.replace("inf", "9999")
            return (low < str(value)) if high == "9999" else low < str(value) <= high
        return float(low) < value <= float(high)
    return str(value) == cell


@pytest.mark.each(4)
@pytest.mark.parametrize(("method", "form", "numeric"), EVERY)
def test_every_release_is_opened_decoded_and_learned_from(method, form, numeric):
    release = made(method, form, numeric)
    received = incrowd.open_release(release)
    assert list(received.X.columns)[-1] == "ward"
    assert received.y.tolist().count("yes") == int((received.classes == "yes").sum())
    words = str(received.describe())
    assert all(name in words for name in [*NAMES, "ward", "ill"])
    check_decoded(received)
    new = people().drop(columns="ill").head(40)
    for kind in LEARNERS:
        encoder = received.encoder(kind)
        fresh, shown = encoder.transform(new), encoder.transform(received.X)
        assert fresh.shape == (40, len(encoder.get_feature_names_out()))
        assert shown.shape == (received.opened.table.num_rows, fresh.shape[1])
        if kind in ("linear", "bayes"):
            assert np.isfinite(fresh).all()
            assert np.isfinite(shown).all()
    model = received.classifier(DecisionTreeClassifier(min_samples_leaf=5, random_state=0))
    assert set(model.predict(new)) <= {"yes", "no"}
    assert model.predict_proba(new).shape == (40, 2)


def check_decoded(received) -> None:
    """The property of a decoded table: every value lies inside what the release shows of its row."""
    plain = received.frame("decoded", deals=2, seed=1)
    rows = received.opened.table.num_rows
    times = len(plain) // rows
    assert times in (1, 2)
    assert plain["weight"].sum() == pytest.approx(rows)
    shown = received.opened.table.to_pandas()
    for name in NAMES:
        if name not in plain:
            continue
        if name + "_low" in shown:
            ends = zip(shown[name + "_low"], shown[name + "_high"], strict=True)
            cells = [_bounds(*pair) for pair in ends] * times
        else:
            cells = shown[name].tolist() * times
        kind = {"age": "number", "size": "number", "born": "date"}.get(name, "word")
        values = [None if value is None or value is pd.NaT else value for value in plain[name].tolist()]
        wrong = [pair for pair in zip(values, cells, strict=True) if not inside(*pair, kind)]
        assert not wrong, (name, wrong[:3])


def _bounds(low, high):
    low, high = (None if end is None or end != end else end for end in (low, high))
    if low is None and high is None:
        return None
    texts = ("-inf" if low is None else str(low), "inf" if high is None else str(high))
    return f"({texts[0]}, {texts[1]}" + ("]" if high is not None else ")")


NEW = people().drop(columns="ill").tail(60)


@pytest.mark.each(5)
@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "csv.zst", "parquet", "jsonl", "arrow", "xlsx", "arff"])
@pytest.mark.parametrize(("method", "form"), [("kactus-plus", "strict"), ("blend", "pair")])
def test_files_are_found_with_their_certificates(tmp_path, ending, method, form):
    options = {
        "quasi_identifiers": NAMES,
        "target": "ill",
        "class_sensitive": False,
        "k": 8,
        "method": method,
        "form": form,
    }
    incrowd.release(people(), to=tmp_path / f"out.{ending}", **options)
    received = incrowd.open_release(tmp_path / f"out.{ending}")
    assert received.opened.table.num_rows == len(people())
    assert isinstance(received.X, pd.DataFrame)
    assert sorted(received.y) == sorted(people()["ill"])
    assert len(received.classifier(LogisticRegression()).predict(NEW)) == len(NEW)
    check_decoded(received)


@pytest.fixture
def stored(tmp_path):
    incrowd.release(
        people(), quasi_identifiers=NAMES, target="ill", class_sensitive=False, k=8, to=tmp_path / "out.csv"
    )
    return tmp_path / "out.csv"


def test_what_does_not_belong_together_is_refused(stored, tmp_path):
    text = stored.read_text(encoding="utf-8")
    certificate = json.loads(Path(f"{stored}.certificate.json").read_text(encoding="utf-8"))
    cut = tmp_path / "cut.csv"
    cut.write_text("".join(text.splitlines(keepends=True)[:-1]), encoding="utf-8")
    with pytest.raises(FileFormatError, match="its bytes are others"):
        incrowd.open_release(cut, certificate=certificate)
    with pytest.raises(ParameterError, match=r"no cut\.csv\.certificate\.json beside it"):
        incrowd.open_release(cut)
    frame = pd.read_csv(stored)
    assert len(incrowd.open_release(frame, certificate=certificate).X) == len(frame)
    with pytest.raises(FileFormatError, match="before rows are chosen"):
        incrowd.open_release(frame.head(30), certificate=certificate)
    with pytest.raises(HeaderError, match="not those that its certificate states"):
        incrowd.open_release(frame.rename(columns={"sex": "gender"}), certificate=certificate)
    with pytest.raises(ParameterError, match="A table has no file beside it"):
        incrowd.open_release(frame)
    with pytest.raises(FileFormatError, match="no certificate of a release"):
        incrowd.open_release(frame, certificate={"k": 5})
    with pytest.raises(FileFormatError, match="no file gone"):
        incrowd.open_release(tmp_path / "gone.csv", certificate=certificate)
    with pytest.raises(HeaderError, match="of which a hierarchy"):
        incrowd.open_release(frame, certificate=certificate, hierarchies={"town": JOBS})


def test_no_message_tells_a_cell(stored):
    frame = pd.read_csv(stored)
    frame.loc[0, "job"] = "canary-4711"
    changed = stored.with_name("changed.csv")
    frame.to_csv(changed, index=False)
    with pytest.raises(FileFormatError) as refused:
        incrowd.open_release(changed, certificate=f"{stored}.certificate.json")
    assert "4711" not in str(refused.value)


def test_counts_of_some_rows_are_refused():
    release = made("kactus", "counts", "bins")
    rows = release.table.drop(columns="ill").assign(ill="no")
    certificate = release.certificate | {"rows": release.certificate["rows"] | {"released": len(rows) - 1}}
    with pytest.raises(FileFormatError, match="not as many rows as their counts say"):
        incrowd.open_release(rows.head(len(rows) - 1), certificate=certificate)


def test_frames_come_back_in_their_kind():
    release = made("kactus-plus", "strict", "bins")
    for kind in (pl.DataFrame, pd.DataFrame):
        frame = pl.from_pandas(release.table) if kind is pl.DataFrame else release.table
        received = incrowd.open_release(frame, certificate=release.certificate)
        assert isinstance(received.X, kind)
        assert isinstance(received.frame("decoded"), kind)
        assert "ward" in received._repr_html_()
    with pytest.raises(ParameterError, match="kind must be"):
        received.frame("raw")


@pytest.mark.parametrize(("method", "numeric"), [("iack", "interval"), ("mondrian", "interval")])
def test_groups_of_a_hierarchy_are_seen_with_it_and_stay_words_without(method, numeric):
    release = made(method, "strict", numeric, grouped=True)
    assert release.certificate["reading"]["columns"]["job"] == "groups"
    known = incrowd.open_release(release, hierarchies={"job": JOBS})
    unknown = incrowd.open_release(release)
    seen = known.encoder("plain").transform(NEW)
    shown = set(release.table["job"].dropna())
    assert set(seen["job"].dropna()) <= shown
    leaves = known.frame("decoded", seed=1)["job"].dropna()
    assert set(leaves) <= {"cook", "smith", "nurse", "vet"}
    assert set(unknown.frame("decoded", seed=1)["job"].dropna()) == shown
    assert "cook" not in json.dumps(release.certificate)


def test_hierarchies_that_are_public_travel_in_the_certificate_and_must_be_those_it_names():
    release = incrowd.release(
        people(),
        outputs=incrowd.Outputs(share_hierarchies=True),
        quasi_identifiers=NAMES,
        target="ill",
        class_sensitive=False,
        k=8,
        method="mondrian",
        hierarchies={"job": JOBS},
    )
    public = incrowd.open_release(release).frame("decoded", seed=1)["job"].dropna()
    assert set(public) <= {"cook", "smith", "nurse", "vet"}
    other = json.loads(json.dumps(release.certificate))
    other["reading"]["hierarchies"]["job"]["labels"][-1] = "judge"
    for certificate, standing in ((release.certificate, True), (other, False)):
        statements = {each.name: each.standing for each in check_consistency(certificate)}
        assert (statements["reading"] == "holds") is standing


def test_rows_of_a_release_by_values_are_seen_as_the_release_shows_them():
    release = made("tdr", "strict", "interval")
    encoder = incrowd.open_release(release).encoder("trees")
    plan = incrowd.transform(release.plan, people())
    assert np.array_equal(encoder.transform(people()), encoder.transform(plan), equal_nan=True)


@pytest.mark.parametrize("numeric", ["interval", "bounds", "midpoint", "mean"])
@pytest.mark.parametrize("method", ["mondrian", "infogain-mondrian"])
def test_a_new_row_lies_in_the_box_that_the_plan_has_for_it(method, numeric):
    release = made(method, "strict", numeric)
    received = incrowd.open_release(release)
    boxes = received.dealing.boxes
    for mine, seen in zip(received.dealing.cells, boxes.seen(received.opened.table), strict=False):
        assert np.array_equal(mine.codes, seen.codes)  # released rows are in their own box
    whole = people().dropna()
    truth = boxes.seen(pa.Table.from_pandas(incrowd.transform(release.plan, whole)))
    right = np.ones(len(whole), bool)
    for expected, seen in zip(truth, boxes.seen(pa.Table.from_pandas(whole)), strict=True):
        right &= expected.codes == seen.codes
    assert right.mean() >= (1.0 if numeric in ("interval", "bounds") else 0.3), right.mean()


def test_boxes_are_parted_between_their_means_and_a_group_nobody_explained_is_its_own_word():
    column = ReleasedColumn("age", ColumnType.INTEGER, "mean", None, "by box")
    job = ReleasedColumn("job", ColumnType.CATEGORICAL, "groups", None, "by box")
    table = pa.table({"age": [20.0, 30.0, 60.0, None], "job": ["care", "care", "care", "smith"]})
    cells = [Cells.of(table.column(name)) for name in ("age", "job")]
    boxes = Boxes.of((column, job), cells)
    ages, jobs = boxes.seen(pa.table({"age": [24, 26, 44, 46, 80, 20], "job": ["vet"] * 5 + ["smith"]}))
    shown = [None if code < 0 else ages.values[code] for code in ages.codes]
    assert shown == [20.0, 30.0, 30.0, 60.0, 60.0, None]
    assert [jobs.values[code] for code in jobs.codes] == ["care"] * 5 + ["smith"]


def test_learners_get_shares_without_the_rows_of_others_that_counts_were_drawn_from():
    shares = [("f", 0.9), ("m", 0.1)], [("f", 0.2), ("m", 0.8)]  # of the rows of two groups of ten
    whole = {"f": 0.55, "m": 0.45}
    rng = np.random.default_rng(5)
    told = []
    for _ in range(400):
        draws = [rng.binomial(10, (10 * dict(each)["f"] + 2 * whole["f"]) / 12) for each in shares]
        texts = ["|".join(f"{word}:{rows}" for word, rows in (("f", f), ("m", 10 - f)) if rows) for f in draws]
        table = pa.table({"sex": np.repeat(texts, 10)})
        columns = [ReleasedColumn("sex", ColumnType.CATEGORICAL, "counts", redraw=redraw) for redraw in (2, 0)]
        told.append([(dealt(column, table) == 0).reshape(-1, 2, 10).mean(axis=(0, 2)) for column in columns])
    means = np.mean(told, axis=0)
    assert np.abs(means[0] - [0.9, 0.2]).max() < 0.02  # no value is less often than never: a little is left
    assert np.abs(means[1] - [0.9, 0.2]).min() > 0.04


def dealt(column: ReleasedColumn, table: pa.Table):
    return Dealing((column,), table).dealt(np.random.default_rng(1), 5).attributes[0].values


def test_what_counts_were_drawn_from_is_read_from_the_certificate():
    received = incrowd.open_release(made("blend", "counts", None))
    assert {column.redraw for column in received.attributes} == {2}
    exact = incrowd.release(
        people(), quasi_identifiers=NAMES, target="ill", class_sensitive=False, k=8, method="blend", redraw=0
    )
    assert {column.redraw for column in incrowd.open_release(exact).attributes} == {0}


def test_new_numbers_are_seen_no_farther_than_the_means_reach():
    release = made("kactus", "strict", "mean")
    received = incrowd.open_release(release)
    means = received.X["age"].dropna()
    seen = received.encoder("trees").transform(NEW.assign(age=[-999] * (len(NEW) - 1) + [999]))
    at = list(received.encoder("trees").get_feature_names_out()).index("age")
    assert seen[:, at].tolist() == [means.min()] * (len(NEW) - 1) + [means.max()]


def test_neighbours_are_rows_however_often_those_are_dealt():
    received = incrowd.open_release(made("kactus-plus", "counts", "bins"))
    model = received.classifier(KNeighborsClassifier(n_neighbors=3), deals=4)
    assert model.estimator_.n_neighbors == 12
    assert model.estimator_.n_samples_fit_ == 4 * len(received.X)


@pytest.mark.parametrize(
    ("learner", "before", "after"),
    [
        (DecisionTreeClassifier(), (1, 2), (4, 8)),
        (DecisionTreeClassifier(min_samples_leaf=0.1, min_samples_split=5), (0.1, 5), (0.1, 20)),
        (HistGradientBoostingClassifier(max_iter=2), (20,), (80,)),
    ],
)
def test_a_leaf_holds_as_many_rows_however_often_those_are_dealt(learner, before, after):
    received = incrowd.open_release(made("kactus-plus", "counts", "bins"))
    names = ("min_samples_leaf", "min_samples_split")[: len(after)]
    for deals, wanted in ((4, after), (1, before)):
        fitted = received.classifier(learner, deals=deals).estimator_
        assert tuple(getattr(fitted, name) for name in names) == wanted
    assert tuple(getattr(learner, name) for name in names) == before


def test_rows_without_a_class_are_a_class_of_their_own():
    people = pd.DataFrame({"age": [30, 41, 56, 63] * 25, "ill": ["no", "no", "yes", None] * 25})
    release = incrowd.release(people, quasi_identifiers=["age"], target="ill", class_sensitive=False, k=10)
    model = incrowd.open_release(release).classifier(LogisticRegression())
    assert model.classes_.tolist() == ["no", "yes", None]
    assert model.predict(pd.DataFrame({"age": [33, 56, 70]})).tolist() == ["no", "yes", None]


@pytest.mark.parametrize("numeric", ["bins", "mean", "interval"])
@pytest.mark.parametrize("learner", [GaussianNB(), CategoricalNB(), MultinomialNB(), BernoulliNB()], ids=type)
def test_naive_bayes_gets_what_it_counts(learner, numeric):
    received = incrowd.open_release(made("kactus-plus", "strict", numeric))
    encoder = received.encoder(learner)
    strange = pd.concat([NEW, NEW.assign(age=None, job="judge", sex=None)])
    encoded = encoder.transform(strange)
    assert encoded.shape == (len(strange), len(encoder.get_feature_names_out()))
    assert not np.isnan(encoded).any()
    if not isinstance(learner, GaussianNB):
        assert (encoded >= 0).all()
    if isinstance(learner, CategoricalNB):
        assert np.array_equal(encoded, encoded.astype(int))
    right = received.classifier(learner).predict(people()) == people()["ill"]
    assert right.mean() > 0.5
    assert set(received.classifier(learner).predict(strange)) <= {"no", "yes"}


def test_sets_are_shared_out_for_linear_learners_and_missing_for_trees():
    release = made("kactus-plus", "strict", "bins")
    frame = release.table.assign(job=release.table["job"].mask(release.table["job"] == "cook", "cook|nurse"))
    received = incrowd.open_release(frame, certificate=release.certificate)
    sets = received.X["job"].str.contains("|", regex=False, na=False).to_numpy()
    assert sets.any()
    linear, trees = received.encoder("linear"), received.encoder("trees")
    at = [place for place, name in enumerate(linear.get_feature_names_out()) if name.startswith("job=")]
    assert linear.transform(received.X)[sets][:, at].sum(axis=1) == pytest.approx(1)
    assert (linear.transform(received.X)[sets][:, at].max(axis=1) < 1).all()
    assert np.isnan(trees.transform(received.X)[sets, list(trees.get_feature_names_out()).index("job")]).all()


@pytest.mark.parametrize(
    ("learner", "kind"),
    [
        (HistGradientBoostingClassifier(max_iter=5), "trees"),
        (LogisticRegression(), "linear"),
        (KNeighborsClassifier(n_neighbors=999), "linear"),
        (MultinomialNB(), "bayes"),
        (LinearSVC(), "linear"),
    ],
)
def test_learners_of_every_kind_take_it(learner, kind):
    assert learner_kind(learner) == kind
    received = incrowd.open_release(made("kactus-plus", "counts", "bins"))
    model = received.classifier(learner)
    assert model.predict(NEW).shape == (len(NEW),)
    assert model.predict(NEW.to_dict("records")).tolist() == model.predict(NEW).tolist()
    assert model.predict(pl.from_pandas(NEW)).tolist() == model.predict(NEW).tolist()
    assert hasattr(model, "predict_proba") is hasattr(learner, "predict_proba")
    again = clone(model).fit()
    assert again.predict(NEW).tolist() == model.predict(NEW).tolist()
    with pytest.raises(HeaderError, match="no column"):
        model.predict(NEW.drop(columns="age"))


def test_a_release_that_shows_nothing_teaches_the_shares_of_classes():
    frame = people().assign(ward="a")[[*NAMES, "ill"]]
    release = incrowd.release(
        frame, quasi_identifiers=NAMES, target="ill", class_sensitive=False, k=120, method="kactus"
    )
    received = incrowd.open_release(release)
    for learner in (HistGradientBoostingClassifier(max_iter=5), LogisticRegression()):
        assert set(received.classifier(learner).predict(frame)) <= {"no", "yes"}


def test_bad_requests_are_refused():
    received = incrowd.open_release(made("kactus-plus", "strict", "bins"))
    with pytest.raises(ParameterError, match="for_ must be one of"):
        received.encoder("forest")
    with pytest.raises(ParameterError, match="deals"):
        received.classifier(LogisticRegression(), deals=0)
    for other in (LinearRegression(), LogisticRegression, "tree"):
        with pytest.raises(ParameterError, match="must be a classifier of scikit-learn"):
            received.classifier(other)
    with pytest.raises(FileFormatError, match=r"no file not_here\.csv"):
        incrowd.open_release("not_here.csv")
    bare = incrowd.release(people()[NAMES], quasi_identifiers=NAMES, k=8, method="mondrian")
    with pytest.raises(ParameterError, match="no class"):
        incrowd.open_release(bare).classifier(LogisticRegression())


CHECKS = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_dont_overwrite_parameters",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_fit_returns_self",
    "check_estimators_overwrite_params",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("check", CHECKS)
def test_scikit_learn_checks_what_applies(check):
    """Those that ask arrays of numbers of their own do not apply: both are fitted on the release, and take its columns.

    That they say the same after pickling, of some rows and in another order is checked beside them.
    """
    received = incrowd.open_release(made("kactus-plus", "strict", "bins"))
    for estimator in (received.encoder("linear"), received.classifier(LogisticRegression())):
        getattr(estimator_checks, check)(type(estimator).__name__, estimator)


def test_what_is_said_of_a_row_depends_on_that_row_alone():
    """After pickling, of some rows, in another order."""
    received = incrowd.open_release(made("kactus-plus", "strict", "bins"))
    for estimator, say in (
        (received.encoder("linear"), "transform"),
        (received.classifier(LogisticRegression()), "predict"),
    ):
        whole = np.asarray(getattr(estimator, say)(NEW))
        again = getattr(pickle.loads(pickle.dumps(estimator)), say)
        assert np.array_equal(again(NEW), whole)
        assert np.array_equal(again(NEW[:1]), whole[:1])
        assert np.array_equal(again(NEW[::-1]), whole[::-1])


def test_columns_are_named_for_pandas():
    received = incrowd.open_release(made("kactus-plus", "strict", "bins"))
    frame = received.encoder("linear").set_output(transform="pandas").transform(NEW)
    assert list(frame.columns) == list(received.encoder("linear").get_feature_names_out())
    assert math.isfinite(frame.to_numpy().sum())


def test_an_apostrophe_is_taken_away_where_a_writer_put_it(tmp_path):
    texts = ["=sum", "'-5", "-5x", "'", "'x"] * 20
    frame = pd.DataFrame({"note": texts, "ill": ["no", "yes"] * 50})
    release = {"quasi_identifiers": ["note"], "target": "ill", "class_sensitive": False, "k": 10}
    incrowd.release(frame, **release, method="mondrian", to=tmp_path / "release.csv")
    shown = incrowd.open_release(tmp_path / "release.csv").frame("decoded", seed=1)["note"]
    assert set(shown) == set(texts)
