"""Integer expressions of the command line: `97*97`, `(n + 31) / 32`. Read, never executed."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType

from grader.finding import GraderFault

# Sizes and counts; what is longer was not typed by hand and may nest too deeply for the parser.
_LONGEST = 200
_LARGEST = 2**63

_OPERATORS: Mapping[type[ast.AST], Callable[[int, int], int]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.floordiv,  # as C divides positive integers
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
    }
)


def evaluate(text: str, names: Mapping[str, int] = MappingProxyType({})) -> int:
    """The value of an expression of + - * / % and parentheses over numbers and `names`.

    Raises GraderFault with one sentence for anything else.
    """
    if len(text) > _LONGEST:
        raise GraderFault(f"{text[:40]} [...] is too long for an expression.")
    try:
        return _value(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise GraderFault(
            f'"{text}" is not an expression of numbers, + - * / % and parentheses.'
        ) from None
    except ZeroDivisionError:
        raise GraderFault(f'"{text}" divides by zero.') from None
    except OverflowError:
        raise GraderFault(f'"{text}" is too large a number.') from None
    except KeyError as unknown:
        known = f" Known are {', '.join(names)}." if names else ""
        raise GraderFault(f'"{text}": there is no number named {unknown.args[0]}.{known}') from None


def _value(node: ast.AST, names: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return _checked(node.value)
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand, names)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _value(node.left, names), _value(node.right, names)
        return _checked(_OPERATORS[type(node.op)](left, right))
    raise ValueError(ast.dump(node))


def _checked(value: int) -> int:
    if abs(value) >= _LARGEST:
        raise OverflowError
    return value
