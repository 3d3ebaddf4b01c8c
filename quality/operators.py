"""Small changes of a program: what each does, and the program with one of them.

Comparisons are turned or moved by one, arithmetic and logic exchanged, numbers moved by one, conditions turned round,
statements and filters removed, results replaced, arguments exchanged, and fragments of SQL changed in the same spirit.
Messages, annotations and docstrings are left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Apply = Callable[[], None]


@dataclass(frozen=True)
class Mutation:
    """One change: its number in its file, the lines of the statement it is in, and what it does."""

    number: int
    line: int
    first: int
    last: int
    what: str


_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_WORDS = {"any": "all", "all": "any", "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
_SQL = re.compile(
    r"\b(SELECT|FROM|WHERE|GROUP BY|CASE WHEN|IS (NOT )?(NULL|DISTINCT)|JOIN|UNION|ORDER BY|HAVING|TRY_CAST)\b"
    r"|\b(count|sum|coalesce|regexp_matches|list_contains|starts_with|abs|floor|greatest|least)\("
)
_FRAGMENTS = [
    (re.compile(pattern), change)
    for pattern, change in (
        (r" < ", " <= "),
        (r" <= ", " < "),
        (r" > ", " >= "),
        (r" >= ", " > "),
        (r" = ", " <> "),
        (r" <> ", " = "),
        (r"IS DISTINCT FROM", "="),
        (r"IS NOT DISTINCT FROM", "="),
        (r"IS NOT NULL", "IS NULL"),
        (r"IS NULL", "IS NOT NULL"),
        (r"\bAND\b", "OR"),
        (r"\bOR\b(?! REPLACE)", "AND"),
        (r"\bNOT (?!NULL|DISTINCT)", ""),
        (r"count\(\*\)", "count(c0)"),
        (r"\bWHERE ", "WHERE true OR "),
        (r"\bHAVING ", "HAVING true OR "),
        (r"\bLEFT JOIN\b", "JOIN"),
        (r"\bUNION ALL\b", "UNION"),
        (r"\bSELECT DISTINCT\b", "SELECT"),
        (r"\bcount\(DISTINCT ", "count("),
        (r"\bmin\(", "max("),
        (r"\bmax\(", "min("),
        (r"\bsum\(", "count("),
        (r"\bgreatest\(", "least("),
        (r"\bleast\(", "greatest("),
        (r", false\)", ", true)"),
        (r", true\)", ", false)"),
        (r", 0\)", ", 1)"),
        (r"\+ ", "- "),
        (r" - ", " + "),
        (r" \* ", " / "),
        (r" / ", " * "),
        (r"\bDESC\b", "ASC"),
    )
]


def mutations(source: str) -> list[Mutation]:
    """All changes of a program, numbered.

    Examples
    --------
    >>> [each.what for each in mutations("def f(x): return x < 1")]
    ['return None', '< becomes <=', '< becomes >=', '1 becomes 2', '1 becomes 0']
    """
    return [
        Mutation(number, node.lineno, statement.lineno, statement.end_lineno or statement.lineno, what)
        for number, (node, statement, what, _) in enumerate(_changes(ast.parse(source)))
    ]


def mutated(source: str, number: int) -> ast.Module:
    """The program with one of its changes.

    Examples
    --------
    >>> ast.unparse(mutated("def f(x): return x < 1", 1)).splitlines()[1].strip()
    'return x <= 1'
    """
    tree = ast.parse(source)
    for at, (_, _, _, apply) in enumerate(_changes(tree)):
        if at == number:
            apply()
            return ast.fix_missing_locations(tree)
    raise IndexError(f"There is no change {number}.")


def _changes(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, ast.stmt, str, Apply]]:
    """What is changed, the statement around it, what the change does, and how it is done, in a fixed order."""
    for statement, holder, returns in _statements(tree, None):
        yield from ((statement, statement, what, do) for what, do in _of_statement(statement, holder, returns))
        for node, put in _expressions(statement):
            yield from ((node, statement, what, do) for what, do in _of_expression(node, put))


def _statements(
    parent: ast.AST, returns: ast.expr | None
) -> Iterator[tuple[ast.stmt, list[ast.stmt], ast.expr | None]]:
    """Every statement with the list it is in and what its function returns; docstrings and imports are left out."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        listed = getattr(parent, field, None)
        if not isinstance(listed, list):
            continue
        for each in list(listed):
            if isinstance(each, ast.stmt) and not _is_passed_over(each):
                yield each, listed, returns
            inside = each.returns if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) else returns
            if not _is_passed_over(each):
                yield from _statements(each, inside)


def _is_passed_over(node: ast.AST) -> bool:
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    typing = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    return docstring or typing or isinstance(node, ast.Import | ast.ImportFrom | ast.Assert)


def _of_statement(node: ast.stmt, holder: list[ast.stmt], returns: ast.expr | None) -> Iterator[tuple[str, Apply]]:
    def instead(new: ast.stmt) -> Apply:
        return lambda: holder.__setitem__(holder.index(node), ast.copy_location(new, node))

    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield f"{_word(node)} is removed", instead(ast.Pass())
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "assignment is removed", instead(ast.Pass())
        case ast.Continue():
            yield "continue becomes break", instead(ast.Break())
        case ast.Break():
            yield "break becomes continue", instead(ast.Continue())
        case ast.If() | ast.While():
            yield "condition is turned round", lambda: _set(node, "test", _not(node.test))
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            if isinstance(returns, ast.Name) and returns.id == "bool":
                yield "return True", instead(ast.Return(ast.Constant(True)))
                yield "return False", instead(ast.Return(ast.Constant(False)))
            else:
                yield "return None", instead(ast.Return(ast.Constant(None)))
        case ast.AugAssign(op=op) if type(op) in _ARITHMETIC:
            yield f"{_word(op)}= becomes another", lambda: _set(node, "op", _ARITHMETIC[type(op)]())


_WITHOUT = (ast.stmt, ast.ExceptHandler, ast.match_case, ast.arguments)


def _expressions(statement: ast.stmt) -> Iterator[tuple[ast.expr, Callable[[ast.expr], None]]]:
    """The expressions of a statement, not of those inside it, each with what puts another in its place."""
    if isinstance(statement, ast.Raise):  # its message is for people
        return
    for field, value in ast.iter_fields(statement):
        if field in ("annotation", "returns", "decorator_list", "target", "targets", "type_params"):
            continue
        if isinstance(value, ast.arguments):
            yield from _inside(value, ("defaults", "kw_defaults"))
        elif not isinstance(value, _WITHOUT):
            yield from _inside(statement, (field,))


def _inside(parent: ast.AST, fields: tuple[str, ...]) -> Iterator[tuple[ast.expr, Callable[[ast.expr], None]]]:
    for field in fields:
        value = getattr(parent, field, None)
        if isinstance(value, ast.expr):
            yield value, lambda new, field=field: _set(parent, field, new)  # type: ignore[misc]
            yield from _inside(value, value._fields)
        for place, each in enumerate(value if isinstance(value, list) else ()):
            if isinstance(parent, ast.JoinedStr) and isinstance(each, ast.Constant):
                continue  # is looked at together with the rest of its text
            if isinstance(each, ast.expr):
                yield each, lambda new, value=value, place=place: value.__setitem__(place, new)  # type: ignore[misc]
            if isinstance(each, ast.expr | ast.comprehension | ast.keyword | ast.withitem | ast.match_case):
                fields_inside = ("guard",) if isinstance(each, ast.match_case) else each._fields
                yield from _inside(each, fields_inside)


def _of_expression(node: ast.expr, put: Callable[[ast.expr], None]) -> Iterator[tuple[str, Apply]]:
    def instead(new: ast.expr) -> Apply:
        return lambda: put(ast.copy_location(new, node))

    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                for other in _COMPARISONS[type(op)]:
                    what = f"{_word(op)} becomes {_word(other())}"
                    yield what, lambda place=place, other=other: ops.__setitem__(place, other())  # type: ignore[misc]
        case ast.BinOp(left, op, right) if type(op) in _ARITHMETIC and not (_is_text(left) or _is_text(right)):
            turned = _ARITHMETIC[type(op)]()
            yield f"{_word(op)} becomes {_word(turned)}", lambda: _set(node, "op", turned)
        case ast.BoolOp(op, values):
            exchanged = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield f"{_word(op)} becomes {_word(exchanged)}", lambda: _set(node, "op", exchanged)
            for place in range(len(values)):
                rest = values[:place] + values[place + 1 :]
                yield (
                    f"part {place + 1} of {_word(op)} is removed",
                    instead(rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)),
                )
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert() as op, operand):
            yield f"{_word(op)} is removed", instead(operand)
        case ast.IfExp(test, body, orelse):
            yield "branches are exchanged", instead(ast.IfExp(test, orelse, body))
        case ast.Constant(bool() as value):
            yield f"{value} becomes {not value}", instead(ast.Constant(not value))
        case ast.Constant(int() | float() as value):
            yield f"{value} becomes {value + 1}", instead(ast.Constant(value + 1))
            yield f"{value} becomes {value - 1}", instead(ast.Constant(value - 1))
        case ast.Constant(str() as value):
            for what, text in _of_sql(value) if _SQL.search(value) else ():
                yield what, instead(ast.Constant(text))
        case ast.JoinedStr(parts):
            yield from _of_joined(parts)
        case ast.Call(func, args):
            name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
            if name in _WORDS:
                field = "id" if isinstance(func, ast.Name) else "attr"
                yield f"{name} becomes {_WORDS[name]}", lambda: _set(func, field, _WORDS[name])
            if len(args) > 1 and _are_alike(args[0], args[1]):
                yield "arguments are exchanged", lambda: _exchange(args)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            for loop in node.generators:
                for condition in loop.ifs:
                    yield "filter is removed", lambda loop=loop, condition=condition: loop.ifs.remove(condition)  # type: ignore[misc]


def _of_joined(parts: list[ast.expr]) -> Iterator[tuple[str, Apply]]:
    """Changes of the SQL in a formatted text; a text without any is a message."""
    texts = [part for part in parts if isinstance(part, ast.Constant)]
    if not any(_SQL.search(str(part.value)) for part in texts):
        return
    for part in texts:
        for what, text in _of_sql(str(part.value)):
            yield what, lambda part=part, text=text: _set(part, "value", text)  # type: ignore[misc]


def _of_sql(text: str) -> Iterator[tuple[str, str]]:
    for pattern, change in _FRAGMENTS:
        for match in pattern.finditer(text):
            changed = text[: match.start()] + change + text[match.end() :]
            yield f"SQL: {match[0].strip()} becomes {change.strip() or 'nothing'}", changed


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _are_alike(one: ast.expr, other: ast.expr) -> bool:
    return type(one) is type(other) and isinstance(one, ast.Name | ast.Attribute) and ast.dump(one) != ast.dump(other)


def _exchange(args: list[ast.expr]) -> None:
    args[0], args[1] = args[1], args[0]


def _set(node: ast.AST, field: str, value: object) -> None:
    setattr(node, field, value)


def _not(node: ast.expr) -> ast.expr:
    return (
        node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else ast.UnaryOp(ast.Not(), node)
    )


_SIGNS = dict(
    each.split(" ", 1)
    for each in (
        *("Lt <", "LtE <=", "Gt >", "GtE >=", "Eq ==", "NotEq !=", "Is is", "IsNot is not", "In in", "NotIn not in"),
        *("Add +", "Sub -", "Mult *", "Div /", "FloorDiv //", "Mod %", "Pow **", "BitAnd &", "BitOr |", "BitXor ^"),
        *("LShift <<", "RShift >>", "And and", "Or or", "Not not", "USub minus", "Invert ~", "Expr call"),
        "AugAssign assignment",
    )
)


def _word(node: ast.AST) -> str:
    name = type(node).__name__
    return _SIGNS.get(name, name.lower())
