"""From a table of patients to a verified release, in one call. Run it: python examples/quickstart.py"""

import incrowd
from incrowd.comparisons.datasets.invented import IDENTIFIERS, QUASI_IDENTIFIERS, SENSITIVE, TARGET, make_patients

patients = make_patients()

release = incrowd.release(
    patients,
    identifiers=IDENTIFIERS,
    quasi_identifiers=QUASI_IDENTIFIERS,
    sensitive=SENSITIVE,
    target=TARGET,
    k=10,
    method="kactus-plus",
    measuring=incrowd.Measuring(accuracy=True),
)

print(release)
print()
print(incrowd.explain(release.plan, groups=5))
print()
print(release.table.head())
print(f"Smallest group, recounted: {release.verdict.sizes.smallest} rows")
