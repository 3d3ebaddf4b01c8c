"""e-DECP-G and e-DROPP-G a second way: on rows of text, from the definitions, every score counted anew.

The next best guess is always the best value that scores less than the true one, and coins say go on. After every
change all confidential cells are looked at again, as the definition of e-DECP-G says; e-DROPP-G is read likewise.
"""

from support.oracle_cell_hiding import HIDDEN, ancestors, bayes_says, bayes_scores, shared_out


class Hiding:
    """Several cells of a table, their true values, what became of them, and every cell that was changed, in order."""

    def __init__(self, rows, cells, taxonomies, degree):
        self.rows = [dict(row) for row in rows]
        self.source, self.taxonomies, self.degree = rows, taxonomies, degree
        self.cells, self.actual = list(cells), {cell: rows[cell[0]][cell[1]] for cell in cells}
        self.guess, self.changes = {}, []
        for row, name in cells:
            self.rows[row][name] = HIDDEN

    def scores(self, cell):
        return bayes_scores(self.rows, cell[0], cell[1], list(self.rows[0]), self.taxonomies, "shared")

    def is_predicted(self, cell):
        return bayes_says(self.scores(cell)) == self.actual[cell]

    def is_live(self, cell):
        """Ahead of its guess; a cell that is predicted and has none draws one, if there is one to draw."""
        scores = self.scores(cell)
        actual = scores[self.actual[cell]]
        if cell not in self.guess and bayes_says(scores) == self.actual[cell]:
            first = sorted(scores, key=lambda value: -scores[value])[: self.degree]
            below = [value for value in first if 0 < scores[value] < actual]
            self.guess.update({cell: below[0]} if below else {})
        return cell in self.guess and actual > scores[self.guess[cell]]

    def live(self):
        return [cell for cell in self.cells if self.is_live(cell)]

    def up(self, name, label, level):
        """So many levels above a label, or the root."""
        return (ancestors(label, self.taxonomies[name]) + [HIDDEN] * level)[level]

    def raise_cells(self, cells, level):
        """Show confidential cells so many levels above their true values; they need new guesses."""
        for row, name in cells:
            self.rows[row][name] = self.up(name, self.actual[row, name], level)
            self.guess.pop((row, name), None)

    def change(self, row, name, label):
        self.rows[row][name] = label
        self.changes.append((row, name, label))

    def delete(self, row):
        self.rows[row] = dict.fromkeys(self.rows[row], HIDDEN)

    def depth(self, name, label):
        return len(ancestors(label, self.taxonomies[name])) - 1

    def levels(self):
        """Of the classes: up to the root from the deepest true value."""
        return range(1, max(self.depth(name, value) for (_, name), value in self.actual.items()) + 1)


def factor(hiding, target, actual, name, low):
    """F1 cells at a node, and what raising one of them does to the score; None where none may be raised."""
    taxonomy, high = hiding.taxonomies[name], hiding.taxonomies[name][low]
    cells = [row[name] for row in hiding.rows if row[target] == actual]
    here = cells.count(low)
    below_low = sum(cell != low and low in ancestors(cell, taxonomy) for cell in cells)
    below_high = sum(cell != high and high in ancestors(cell, taxonomy) for cell in cells)
    if here < 1 or here + below_low < 2:
        return None
    return (here + below_low - 1) / (here + below_low) * below_high / (below_high - 1)


def joint_decp_g(rows, places, target, taxonomies, degree):
    """Many rows, one attribute, one true value."""
    cells = [(place, target) for place in places]
    hiding = Hiding(rows, cells, taxonomies, degree)
    actual = rows[places[0]][target]
    names = [name for name in rows[0] if name != target]
    for class_level in hiding.levels():
        hiding.raise_cells(cells if class_level == 1 else list(filter(hiding.is_predicted, cells)), class_level)
        deepest = max(hiding.depth(name, hiding.rows[place][name]) for place in places for name in names)
        for level in range(1, deepest + 1):
            while _press(hiding, target, actual, names, level):
                pass
    for place, name in cells:
        if hiding.is_predicted((place, name)):
            hiding.delete(place)
    return hiding


def _press(hiding, target, actual, names, level):
    """Go once through what live rows show at a level: first what most share, then what counts most."""
    live = hiding.live()
    keys = {}
    for name in names:
        for place, _ in live:
            low = hiding.up(name, hiding.rows[place][name], level - 1)
            if low != HIDDEN:
                keys[name, low] = keys.get((name, low), 0) + 1
    possible = {key: found for key in keys if (found := factor(hiding, target, actual, *key)) is not None}
    for name, low in sorted(possible, key=lambda key: (-keys[key], possible[key])):
        while factor(hiding, target, actual, name, low) is not None and any(
            hiding.up(name, hiding.rows[place][name], level - 1) == low for place, _ in hiding.live()
        ):
            mine = (row for row, cells in enumerate(hiding.rows) if (cells[target], cells[name]) == (actual, low))
            hiding.change(next(mine), name, hiding.taxonomies[name][low])
    return bool(possible)


def joint_dropp_g(rows, at, targets, taxonomies, degree):
    """Many attributes of one row."""
    cells = [(at, name) for name in targets]
    hiding = Hiding(rows, cells, taxonomies, degree)
    start = {name: label for name, label in rows[at].items() if name not in targets and label != HIDDEN}
    for class_level in hiding.levels():
        hiding.raise_cells(cells if class_level == 1 else list(filter(hiding.is_predicted, cells)), class_level)
        for level in range(1, max((hiding.depth(*cell) for cell in start.items()), default=0) + 1):
            highs = {n: hiding.up(n, label, level) for n, label in start.items() if level <= hiding.depth(n, label)}
            while chosen := _most_telling(hiding, at, highs):
                hiding.change(at, chosen, highs.pop(chosen))
        if not any(map(hiding.is_predicted, cells)):
            return hiding
    hiding.rows = [dict(row) for row in rows]
    hiding.delete(at)
    return hiding


def _most_telling(hiding, at, highs):
    """The cell whose raising helps the guesses most, on average over live attributes; None if it helps none."""
    live = hiding.live()
    impact = {}
    for name, high in highs.items() if live else ():
        now = hiding.rows[at][name]
        if now == high or high not in ancestors(now, hiding.taxonomies[name]):
            continue
        ratios = [_ratio(hiding, cell, name, now, high) for cell in live]
        if any(ratio > 1 for ratio in ratios):
            impact[name] = sum(ratios) / len(ratios)
    return max(impact, key=lambda name: impact[name], default=None)


def _ratio(hiding, cell, name, now, high):
    """By how much raising a cell of the row helps the guess: of estimates before and after, among the other rows."""
    at, target = cell
    estimates = {}
    for value in (hiding.actual[cell], hiding.guess[cell]):
        seen = [row[name] for place, row in enumerate(hiding.rows) if place != at and row[target] == value]
        shared = shared_out(seen, hiding.taxonomies[name])
        estimates[value] = {label: shared[label] for label in (now, high)}
        if high == HIDDEN:  # nothing is said any more: its likelihood is 1
            shown = hiding.rows[at][target]
            under = [
                row[target]
                for place, row in enumerate(hiding.rows)
                if place != at and shown in ancestors(row[target], hiding.taxonomies[target])
            ]
            estimates[value][high] = shared_out(under, hiding.taxonomies[target], shown)[value]
    actual, guess = (estimates[value] for value in (hiding.actual[cell], hiding.guess[cell]))
    return guess[high] / guess[now] * actual[now] / actual[high]
