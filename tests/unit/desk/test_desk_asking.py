"""Questions about tables: each is answered once, nobody's leftovers are in the way, and what was overtaken ends."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from incrowd.desk import asking
from incrowd.desk.asking import Asker
from incrowd.desk.project import Project
from incrowd.desk.security import RequestError

TABLE = "0/people.csv"


class Slow(Asker):
    """One whose processes answer when they are told to."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.may_answer = asyncio.Event()
        self.begun: list[Any] = []
        self.ended: list[Any] = []

    async def _asked(self, question: dict[str, Any]) -> dict[str, Any]:
        self.begun.append(question.get("known"))
        await self.may_answer.wait()
        self.ended.append(question.get("known"))
        return {"alone": len(question.get("known", ""))}


@pytest.fixture
def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(asking, "_PATIENCE", 0.01)
    project = Project(folder)
    with project.opened():
        yield project


def test_answers_that_nobody_came_back_for_are_not_in_the_way(project: Project) -> None:
    async def story() -> None:
        asker = Slow(project)
        for column in range(asking._MOST_AT_ONCE):
            assert await asker.ask("persons", TABLE, column=column) is None
        with pytest.raises(RequestError, match="Too many questions"):
            await asker.ask("persons", TABLE, column="one more")
        asker.may_answer.set()
        await asyncio.gather(*asker._tasks.values())
        assert await asker.ask("persons", TABLE, column="one more") == {"alone": 0}
        assert len(asker.begun) == asking._MOST_AT_ONCE + 1
        assert await asker.ask("persons", TABLE, column=0) == {"alone": 0}  # it was kept, though nobody waited
        assert len(asker.begun) == asking._MOST_AT_ONCE + 1

    asyncio.run(story())


def test_only_the_last_choice_is_counted(project: Project) -> None:
    async def story() -> None:
        asker = Slow(project)
        choices = [["age"], ["age", "sex"], ["sex"]]
        for known in choices:
            assert await asker.ask("alone", TABLE, known=known) is None
        assert asker.begun == choices
        asker.may_answer.set()
        assert await asker.ask("alone", TABLE, known=["sex"]) == {"alone": 1}
        assert asker.ended == [["sex"]]
        first = asyncio.create_task(asker.ask("alone", TABLE, known=["ward"]))
        again = await asyncio.gather(asker.ask("alone", TABLE, known=["ward"]), first)  # two pages with one question
        assert again == [{"alone": 1}, {"alone": 1}]
        assert asker.ended[1:] == [["ward"]]

    asyncio.run(story())
