"""The tic-tac-toe table, played out: every board at which a game can end, in the order of the UCI file."""

from functools import cache

WINS = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def has_won(board: str, player: str) -> bool:
    return any(all(board[square] == player for square in line) for line in WINS)


@cache
def ends(board: str = "b" * 9, player: str = "x") -> set[str]:
    """The boards at which games from here end; ``b`` is a blank square."""
    if has_won(board, "x") or has_won(board, "o") or "b" not in board:
        return {board}
    following = "o" if player == "x" else "x"
    moves = [board[:square] + player + board[square + 1 :] for square in range(9) if board[square] == "b"]
    return set().union(*(ends(moved, following) for moved in moves))


def endgames() -> list[list[str]]:
    """Boards and whether x has won: first those x won, then those o won, then draws."""

    def place(board: str) -> tuple[int, list[int]]:
        outcome = 0 if has_won(board, "x") else 1 if has_won(board, "o") else 2
        return outcome, ["xob".index(square) for square in board]

    return [[*board, "positive" if has_won(board, "x") else "negative"] for board in sorted(ends(), key=place)]


def as_csv(columns: tuple[str, ...], rows: list[list[str]]) -> str:
    return "".join(",".join(cells) + "\n" for cells in [list(columns), *rows])


def as_orange_file(rows: list[list[str]]) -> str:
    """The table as the package Orange3 3.20.1 spells it."""
    names = ["tl", "tm", "tr", "ml", "mm", "mr", "bl", "bm", "br", "y"]
    head = [names, ["x o b"] * 9 + ["p n"], [""] * 9 + ["class"]]
    body = [[*row[:-1], row[-1][0]] for row in rows]
    return "".join("\t".join(cells) + "\n" for cells in [*head, *body])
