"""The experiments that can be run again."""

from __future__ import annotations

from difflib import get_close_matches

from incrowd.errors import ParameterError
from incrowd.lab.reproduce.experiment import Experiment
from incrowd.lab.reproduce.iac import IAC
from incrowd.lab.reproduce.kactus import KACTUS
from incrowd.lab.reproduce.kadet import KADET

EXPERIMENTS = {experiment.name: experiment for experiment in (KACTUS, KADET, IAC)}


def find_experiment(name: str) -> Experiment:
    """The experiment of that name.

    Examples
    --------
    >>> find_experiment("kactus").title
    'kACTUS: Tables 2 to 5'
    """
    if name in EXPERIMENTS:
        return EXPERIMENTS[name]
    close = get_close_matches(name, EXPERIMENTS, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ParameterError(f"There is no experiment {name!r}.{hint} Experiments: {', '.join(EXPERIMENTS)}, inference.")
