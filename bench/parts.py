"""The benchmarks: where each lives, the heading of its section, and which of them run together."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

from bench.setting import Setting
from experiments.pages import Section


class Part(NamedTuple):
    """One benchmark: its module, and the heading under which its results stand on the page."""

    module: str
    title: str

    def measure(self, setting: Setting) -> Section:
        """Run it."""
        run: Callable[[Setting], Section] = import_module(self.module).measure
        return run(setting)


PARTS = {
    "startup": Part("bench.startup", "Start-up"),
    "sizes": Part("bench.sizes", "More and more rows"),
    "largest": Part("bench.largest", "A hundred million rows"),
    "requirements": Part("bench.requirements", "Requirements beyond k"),
    "blend": Part("bench.blend", "Blend, small and large"),
    "width": Part("bench.width", "Thousands of columns"),
    "breadth": Part("bench.breadth", "More quasi-identifiers, larger k"),
    "peers": Part("bench.peers.section", "Next to other tools"),
    "cluster": Part("bench.cluster", "On Spark"),
    "profile": Part("bench.profile", "Where the time goes"),
    "tree": Part("bench.tree", "Growing the tree"),
    "command": Part("bench.command", "The whole command"),
    "adult": Part("bench.adult", "What a release keeps"),
    "methods": Part("bench.methods", "The methods side by side"),
    "growth": Part("bench.growth", "How the methods grow"),
    "persons": Part("bench.persons", "Persons with several rows"),
    "kadet": Part("bench.kadet", "Trees that are k-anonymous themselves"),
}
GROUPS = {
    "speed": ("startup", "sizes", "requirements", "blend", "width", "breadth", "peers", "cluster", "profile"),
    "all": tuple(name for name in PARTS if name != "largest"),
}
TITLES = tuple(part.title for part in PARTS.values())


def chosen(name: str) -> tuple[str, ...]:
    """The parts of a group, or the one part of that name."""
    return GROUPS.get(name, (name,))
