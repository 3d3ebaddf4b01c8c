"""The scikit-learn faces: scikit-learn's own checks, imbalanced-learn's pipeline, new rows."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from imblearn.pipeline import make_pipeline
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from incrowd import estimators
from incrowd.errors import HeaderError, ParameterError, RequirementError, SchemaError
from incrowd.estimators import Blend, KActus, KActusPlus
from incrowd.methods.catalog import METHODS
from incrowd.trees import C45, SklearnInducer
from incrowd.vocabulary.hierarchy import Hierarchy
from support.covering import in_turn

pytestmark = pytest.mark.filterwarnings("ignore:The release shows nothing of")  # k is large for so few rows


def faces(wanted=lambda entry: True):
    """The faces of the methods with some property."""
    return [getattr(estimators, entry.factory) for entry in METHODS.values() if wanted(entry)]


def has(parameter):
    return lambda entry: parameter in entry.parameters


FACES = faces()
TREES, GENERAL = faces(has("inducer")), faces(lambda entry: entry.generalizes)
NUMERIC = faces(has("numeric"))


def test_every_method_has_a_face_with_its_parameters():
    assert {face._method for face in FACES} == set(METHODS)
    assert {face.__name__ for face in FACES} <= set(dir(estimators))
    for face, entry in zip(FACES, METHODS.values(), strict=True):
        taken = {"k", "quasi_identifiers", "require", "class_sensitive", "hierarchies", "output", "deals"}
        taken |= {"person", "person_ids", "missing_persons"}
        taken |= {"random_state", *entry.parameters}
        taken |= {"known_together"} if entry.by_value else set()
        taken |= {"weights"} if entry.weighs else set()
        taken |= {"at_most", "apart"} if entry.limits_levels else set()
        taken |= {"lose"} if entry.loses_on_request else set()
        assert set(face().get_params()) == taken
        assert all(f"\n{name}\n" in face.__doc__ or re.search(rf"\n[\w, ]*\b{name}\b", face.__doc__) for name in taken)
        assert face().get_params() == clone(face()).get_params()
        assert face._method == pickle.loads(pickle.dumps(face()))._method
    assert not hasattr(estimators, "Nothing")


def test_a_face_takes_weights_and_limits():
    people = pd.DataFrame({"age": np.arange(80), "region": np.repeat(["n", "s", "w", "e"], 20)})
    y = (np.arange(80) > 39).astype(int)
    sampler = estimators.Mondrian(k=5, apart={"region": "n|s"}, weights={"age": 100}, output="released")
    released, _ = sampler.fit_resample(people, y)
    assert {"n", "s"} <= set(released["region"])
    assert not any("|" in cell and {"n", "s"} & set(cell.split("|")) for cell in released["region"])
    with pytest.raises(TypeError, match="apart"):
        KActusPlus(apart={"region": "n|s"})


SUBTRACT = (
    "check_estimators_pickle",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit_idempotent",
)


def checks():
    """All of scikit-learn's checks but the one of array libraries, which a table of mixed types cannot come from.

    Faces are made alike: one that releases counts and one that does not go through every check, each of the others
    through every fifth, so that the others together go through each check once more.

    Four subtract what ``transform`` gave from what it gives, which is words unless numbers are asked for: see below.
    """
    whole = [KActus, estimators.Blend]
    for turn, face in enumerate(FACES):
        numbers = {"numeric": "mean"} if face in NUMERIC else {}
        for place, (estimator, check) in enumerate(estimator_checks_generator(face(k=2, **numbers))):
            name = getattr(check, "func", check).__name__
            fits = name != "check_array_api_input" and (numbers or name not in SUBTRACT)
            if fits and (face in whole or (place + turn) % 5 == 0):
                marks = [] if face is whole[0] else [pytest.mark.slow]
                yield pytest.param(estimator, check, id=f"{face.__name__}-{name}", marks=marks)


@pytest.mark.each(3)
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("face", [KActus, estimators.Blend])
def test_what_becomes_of_new_rows_depends_on_each_row_alone(face):
    """What the four checks ask: after pickling, fitting again, of some rows, in another order, it is the same."""
    rng = np.random.default_rng(4)
    rows, classes = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    fitted = face(k=5, random_state=1).fit(rows, classes)
    told = fitted.transform(rows)
    order = rng.permutation(60)
    assert np.array_equal(fitted.transform(rows[order]), told[order])
    assert np.array_equal(np.vstack([fitted.transform(rows[i : i + 1]) for i in range(60)]), told)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).transform(rows), told)
    assert np.array_equal(fitted.fit(rows, classes).transform(rows), told)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    rows = 600
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "height": rng.normal(170, 10, rows),
            "job": rng.choice(["nurse", "clerk", "smith", "cook"], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "note": rng.integers(0, 1000, rows),
        }
    )
    ill = np.where((frame["age"] > 50) ^ (frame["job"] == "nurse"), "yes", "no")
    return frame, np.where(rng.random(rows) < 0.1, "no", ill)


CONTAINERS = ["pandas", "polars", "pyarrow", "object array"]


@pytest.mark.each(5)
@pytest.mark.parametrize(
    ("face", "container"), [*in_turn(FACES, CONTAINERS), *in_turn(reversed(FACES), reversed(CONTAINERS))]
)
def test_the_container_that_came_in_comes_out(people, face, container):
    frame, y = people
    X = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
        "object array": frame.to_numpy(dtype=object),
    }[container]
    released, classes = face(k=20).fit_resample(X, y)
    assert type(released) is type(X)
    assert len(classes) == released.shape[0]
    assert released.shape[1] == 4
    assert set(classes) == {"yes", "no"}


@pytest.mark.each(4)
@pytest.mark.parametrize("face", FACES)
def test_every_released_tuple_is_shared_by_k_rows(people, face):
    frame, y = people
    sampler = face(k=25, quasi_identifiers=["age", "height", "job"], output="released")
    released, _ = sampler.fit_resample(frame, y)
    keys = pl.from_pandas(released).group_by("age", "height", "job").len()
    assert keys["len"].min() >= 25
    assert sampler.verdict_.passed
    assert sorted(released["note"]) == sorted(frame["note"]) or len(released) > len(frame) - 25


KINDS = {
    "age": ("integers", "float64"),
    "height": ("reals", "float64"),
    "job": ("words", "str"),
    "smoker": ("truth values", "bool"),
    "day": ("dates", "datetime64[us]"),
}


@pytest.fixture(scope="module")
def mixed(people):
    """A column of each kind."""
    frame, y = people
    rng = np.random.default_rng(5)
    days = pd.to_datetime("2020-01-01").as_unit("us") + pd.to_timedelta(rng.integers(0, 300, len(frame)), unit="D")
    return frame[["age", "height", "job"]].assign(smoker=rng.random(len(frame)) < 0.3, day=days), y


@pytest.mark.each(4)
@pytest.mark.parametrize(
    ("face", "numeric"),
    [
        (face, numeric)
        for face, entry in zip(FACES, METHODS.values(), strict=True)
        for numeric in entry.numeric or (None,)
    ],
)
def test_columns_keep_their_type_whatever_the_method_makes_of_them(mixed, face, numeric):
    """Also every value is one that the column has, or for numbers lies within reach, and no cell is missing."""
    frame, y = mixed
    quick = {"guide": "bayes"} if hasattr(face(), "guide") else {}
    ask = {"numeric": numeric} if numeric else quick
    rows, classes = face(k=20, random_state=1, **ask).fit_resample(frame, y)
    assert {name: str(kind) for name, kind in rows.dtypes.items()} == {name: kind for name, (_, kind) in KINDS.items()}
    assert len(rows) == len(classes) > len(frame) - 20
    assert not rows.isna().any(axis=None)
    assert set(rows["job"]) <= {*frame["job"], "*"}
    assert rows["age"].max() < 200


def test_deals_repeat_rows_and_classes(mixed):
    frame, y = mixed
    rows, classes = estimators.Blend(k=20, guide="bayes", deals=3).fit_resample(frame, y)
    assert len(rows) == len(classes) == 3 * len(frame)
    assert [*np.unique(classes, return_counts=True)[1]] == [3 * (y == label).sum() for label in ("no", "yes")]
    assert len(set(map(tuple, np.split(rows["age"].to_numpy(), 3)))) == 3
    with pytest.raises(ParameterError, match="output must be 'decoded' or 'released'"):
        KActus(output="decode").fit_resample(frame, y)


def test_a_column_that_is_hidden_is_constant_and_missing_cells_stay(people):
    """Boosting refuses a column without any value; an X that has missing cells may get them back."""
    frame, y = people
    frame = frame.assign(same=1.5, none=np.nan, height=frame["height"].where(frame["height"] > 160))
    with pytest.warns(UserWarning, match="shows nothing of .*'none'") as caught:
        rows, classes = KActusPlus(k=20).fit_resample(frame, y)
    assert caught[0].filename == __file__
    assert (rows["none"] == 0).all()
    assert rows["age"].notna().all()
    assert not rows.isna().all().any()
    HistGradientBoostingClassifier(max_iter=2).fit(rows.select_dtypes("number"), classes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        released, _ = KActusPlus(k=20, output="released").fit_resample(frame, y)
    assert released["none"].isna().all()


def test_counts_of_a_column_that_nobody_has_are_constant(people):
    frame, y = people
    with pytest.warns(UserWarning, match="shows nothing of .*'none'"):
        rows, classes = Blend(k=20).fit_resample(frame.assign(none=np.nan), y)
    assert (rows["none"] == 0).all()
    HistGradientBoostingClassifier(max_iter=2).fit(rows.select_dtypes("number"), classes)


def test_all_estimators_come_with_a_star():
    names: dict[str, object] = {}
    exec("from incrowd.estimators import *", names)
    assert {"AnonymousClassifier", "KAdetClassifier", "Blend", "KActusPlus", "IACk"} < set(names)


@pytest.mark.slow
def test_one_grid_over_samplers_with_any_learner(people):
    frame, _ = people
    X = frame[["age", "height"]]
    pipeline = make_pipeline(KActus(), LogisticRegression(max_iter=1000))
    grid = GridSearchCV(
        pipeline,
        {
            "kactus": [KActus(k=10), estimators.Blend(k=10, guide="bayes"), estimators.TDR(k=10)],
            "logisticregression": [LogisticRegression(max_iter=1000), HistGradientBoostingClassifier(max_iter=5)],
        },
        cv=2,
        error_score="raise",
    )
    grid.fit(X, np.where(frame["age"] > 50, "yes", "no"))
    assert grid.cv_results_["mean_test_score"].min() > 0.8


@pytest.mark.slow
@pytest.mark.parametrize(("face", "loss"), [(KActus, 0.1), (KActusPlus, 0.3)])
def test_it_works_in_a_pipeline_again_and_again(people, face, loss):
    frame, y = people
    X = frame.assign(job=frame["job"].astype("category").cat.codes.astype(float))
    pipeline = make_pipeline(face(k=10), DecisionTreeClassifier(min_samples_leaf=10))
    before = cross_val_score(pipeline[-1], X, y, cv=3).mean()
    after = cross_val_score(pipeline, X, y, cv=3).mean()
    assert after > before - loss
    pipeline.fit(X, y).fit(X, y)
    assert len(pipeline.predict(X)) == len(X)


@pytest.mark.slow
@pytest.mark.parametrize("face", GENERAL)
def test_a_learner_takes_what_generalizing_faces_give(people, face):
    """The class depends on age alone: these methods look at one attribute at a time."""
    frame, _ = people
    X, y = frame[["age", "note"]].astype(float), np.where(frame["age"] > 50, "yes", "no")
    chosen = face(k=10, quasi_identifiers=["age"])
    pipeline = make_pipeline(chosen, DecisionTreeClassifier(min_samples_leaf=10))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    pipeline.fit(X, y).fit(X, y)
    assert len(pipeline.predict(X)) == len(X)


FORMS = [(face, numeric) for face, entry in zip(FACES, METHODS.values(), strict=True) for numeric in entry.numeric]


@pytest.mark.slow
@pytest.mark.parametrize(("face", "numeric"), FORMS)
def test_new_rows(people, face, numeric):
    frame, y = people
    fitted = face(k=15, numeric=numeric).fit(frame, y)
    new = frame.head(50).copy()
    new.loc[0, "job"] = "astronaut"
    new.loc[1, "age"] = 999
    new.loc[2, "job"] = None
    new["age"] = new["age"] + 0.5
    shown = fitted.transform(new)
    spread = {name for name in frame.columns if f"{name}_low" in shown.columns}
    assert spread <= ({"age", "height", "note"} if numeric == "bounds" else set())
    columns = [[f"{name}_low", f"{name}_high"] if name in spread else [name] for name in frame.columns]
    assert list(shown.columns) == [name for pair in columns for name in pair]
    assert len(shown) == 50
    assert shown["job"].isna()[0]
    assert shown["job"].isna()[2]
    known = shown["job"].dropna()
    assert all(new.loc[i, "job"] in value.split("|") for i, value in known.items())


def test_transform_needs_fit(people):
    frame, y = people
    sampler = KActus(k=10)
    assert not hasattr(sampler, "transform")
    sampler.fit_resample(frame, y)
    assert not hasattr(sampler, "transform")
    sampler.fit(frame, y)
    assert hasattr(sampler, "transform")


@pytest.mark.each(3)
@pytest.mark.parametrize("face", TREES)
@pytest.mark.parametrize(
    "inducer",
    [C45(confidence=None), SklearnInducer(DecisionTreeClassifier(min_samples_leaf=5, random_state=0))],
    ids=["c45", "scikit-learn"],
)
def test_any_inducer_can_be_wrapped(people, face, inducer):
    frame, y = people
    sampler = clone(face(k=10, inducer=inducer, random_state=1))
    released, _ = sampler.fit_resample(frame, y)
    again, _ = clone(sampler).fit_resample(frame, y)
    assert sampler.verdict_.passed
    assert released.equals(again)


def test_labels_keep_their_type(people):
    frame, y = people
    whole = pd.Series((y == "yes").astype(int), name="ill")
    _, classes = KActus(k=10).fit_resample(frame, whole)
    assert isinstance(classes, pd.Series)
    assert classes.dtype == whole.dtype
    assert classes.name == "ill"


JOBS = Hierarchy.from_paths(
    "job", [["nurse", "care", "*"], ["clerk", "other", "*"], ["smith", "other", "*"], ["cook", "other", "*"]]
)


@pytest.mark.each(4)
@pytest.mark.parametrize("face", GENERAL)
def test_hierarchies_are_used(people, face):
    frame, y = people
    sampler = face(k=150, quasi_identifiers=["job", "age"], hierarchies={"job": JOBS}, output="released")
    released, _ = sampler.fit_resample(frame, y)
    assert set(released["job"].dropna()) <= {*JOBS.labels}
    assert sampler.plan_.schema["job"].hierarchy == JOBS
    assert clone(sampler).hierarchies == {"job": JOBS}


@pytest.mark.parametrize("face", faces(lambda entry: entry.by_value))
def test_sets_of_columns_have_their_own_k(people, face):
    frame, y = people
    sampler = face(known_together=[(["age", "job"], 8), (["job", "height"], 40)], output="released")
    released, _ = sampler.fit_resample(frame, y)
    rows = pl.from_pandas(released)
    assert rows.group_by("age", "job").len()["len"].min() >= 8
    assert rows.group_by("job", "height").len()["len"].min() >= 40
    assert [check.name for check in sampler.verdict_.checks if "anonymity" in check.name] == [
        "8-anonymity of age, job",
        "40-anonymity of job, height",
    ]


@pytest.mark.each(3)
@pytest.mark.parametrize("face", FACES)
def test_requirements_on_columns_and_on_the_class_are_kept(people, face):
    """Counted here by another road: in every group of rows that look alike, at most so much of a value."""
    frame, y = people
    sampler = face(k=15, require="alpha=0.9 on job, alpha=0.95", hierarchies={"job": JOBS}, output="released")
    released, classes = sampler.fit_resample(frame.drop(columns="note"), pd.Series(y, name="ill"))
    assert sampler.plan_.schema["job"].role == "sensitive"
    assert sampler.plan_.schema.quasi_identifiers == ("age", "height")
    promises = [check.name for check in sampler.verdict_.checks if "confidence" in check.name]
    assert len(promises) == 2
    rows = pl.from_pandas(released).with_columns(ill=pl.Series(classes.to_numpy()))
    for name, most in (("job", 0.9), ("ill", 0.95)):
        sizes = pl.len().over("age", "height", name) / pl.len().over("age", "height")
        assert rows.select(sizes.max()).item() <= most


def test_a_class_that_must_not_be_inferred_is_kept_close(people):
    frame, y = people
    for ask in ({"class_sensitive": True}, {"require": "t-equal=0.3 on ill"}, {"require": "t-equal=0.3"}):
        sampler = estimators.Mondrian(k=15, **ask).fit(frame, pd.Series(y, name="ill"))
        assert "0.3-closeness" in " ".join(check.name for check in sampler.verdict_.checks)
    assert "0.3-closeness" not in str(estimators.Mondrian(k=15).fit(frame, y).verdict_)


def test_what_a_method_cannot_do_is_refused_by_name(people):
    frame, y = people
    for face in (face for face in FACES if face not in GENERAL):
        with pytest.raises(ParameterError, match=f"{face._method} uses no hierarchy.*'job'.*choose one of tdr"):
            face(hierarchies={"job": JOBS}).fit(frame, y)
    with pytest.raises(HeaderError, match="no column 'zip'"):
        estimators.TDR(hierarchies={"zip": JOBS}).fit(frame, y)
    with pytest.raises(HeaderError, match="no column 'zip'"):
        KActus(require="t=0.1 on zip").fit(frame, y)
    with pytest.raises(SchemaError, match="'job' is quasi-identifier"):
        KActus(require="t=0.1 on job", quasi_identifiers=["job"]).fit(frame, y)


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (-1.0, 2.0), (False, True), ("", "?"), ("*", "1")])
def test_classes_are_those_of_y(people, labels):
    frame, y = people
    _, classes = KActus(k=10).fit_resample(frame[["age", "job"]], np.where(y == "yes", labels[1], labels[0]))
    assert (classes == labels[1]).sum() == pytest.approx((y == "yes").sum(), abs=9)  # up to k - 1 rows are left out
    assert set(classes) == set(labels)


def test_refusals(people):
    frame, y = people
    with pytest.raises(HeaderError, match="no column 'zip'"):
        KActus(quasi_identifiers=["zip"]).fit(frame, y)
    with pytest.raises(RequirementError, match="k=5000 is impossible"):
        KActus(k=5000).fit(frame, y)
    with pytest.raises(ParameterError, match="reading must be one of"):
        KActus(reading="wrong").fit(frame, y)
