"""Which functions a file defines, and what stands outside all functions.

Follows braces through namespaces, classes, functions and initialisers without parsing C++: what
stands before an opening brace decides what it opens. Of an #if with several branches each is read
from the same state, and the first one's state goes on. A file that makes no sense this way
(unbalanced braces, a statement outside a function) is not `sound`: the compiler will say why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from grader.source.directives import Item, Line, Macros
from grader.source.heads import Function, Opens, names_of, opened, without_angles
from grader.source.tokens import Kind, Token

# Beyond these sizes a file is no kernel and the work would grow with their square.
_LONGEST_HEAD = 1000  # tokens of one declaration
_MOST_BRACES = 32  # braced initialisers in one declaration
_DEEPEST = 256  # scopes or conditions inside one another

# The words that only a statement starts with.
_STATEMENTS = frozenset(
    {"if", "for", "while", "do", "switch", "return", "else", "case", "break", "continue", "goto"}
)
_ACCESS = frozenset({"public", "private", "protected"})


@dataclass(frozen=True)
class Launch:
    """A `<<<`; `inside` is the function that holds it."""

    kernel: str
    line: int
    inside: Function | None


@dataclass
class Survey:
    """What `survey` found; `declared` has the names of each declaration without a body.

    `statements` are the declarations of namespaces that end in a semicolon, `inside` has the tokens
    of each function's body.
    """

    functions: list[Function] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    outside: list[Token] = field(default_factory=list)  # names outside of functions
    declared: list[frozenset[str]] = field(default_factory=list)
    statements: list[list[Token]] = field(default_factory=list)
    inside: dict[Function, list[Token]] = field(default_factory=dict)
    sound: bool = True


@dataclass
class _State:
    """Where the walk is: the open braces, and the declaration read so far."""

    scopes: list[Opens] = field(default_factory=list)
    head: list[Token] = field(default_factory=list)
    parentheses: int = 0
    braces: int = 0  # braced values in this head

    def copy(self) -> _State:
        return _State(self.scopes.copy(), self.head.copy(), self.parentheses, self.braces)

    def begin(self) -> None:
        """A new declaration."""
        self.head, self.parentheses, self.braces = [], 0, 0


def survey(items: Iterable[Item], macros: Macros) -> Survey:
    """Walk over the live items of a file."""
    walk = _Walk(macros)
    for item in items:
        if isinstance(item, Line):
            walk.condition(item.name)
        else:
            walk.token(item)
        if not walk.found.sound:
            break
    if walk.state.scopes:
        walk.found.sound = False
    return walk.found


class _Walk:
    def __init__(self, macros: Macros) -> None:
        self._macros = macros
        self._saved: list[tuple[_State, _State | None]] = []  # before #if, after its first branch
        self._recent: deque[Token] = deque(maxlen=40)  # to name the kernel of a launch
        self._function: Function | None = None
        self.state = _State()
        self.found = Survey()

    def condition(self, name: str) -> None:
        if name == "if":
            self._saved.append((self.state.copy(), None))
            self.found.sound &= len(self._saved) <= _DEEPEST
        elif name in ("else", "endif") and self._saved:
            before, first = self._saved.pop()
            first = first or self.state
            if name == "else":
                self._saved.append((before, first))
                self.state = before.copy()
            else:
                self.state = first

    def token(self, token: Token) -> None:
        state = self.state
        scope = state.scopes[-1] if state.scopes else Opens.NAMESPACE
        if token.text == "<<<":
            self._launch(token, scope)
        self._recent.append(token)
        if scope is not Opens.FUNCTION and token.kind is Kind.NAME:
            self.found.outside.append(token)
        if scope is Opens.FUNCTION and self._function:
            self.found.inside.setdefault(self._function, []).append(token)
        if token.kind is Kind.MARK and token.text in "{}":
            if token.text == "{":
                self._open(scope)
            else:
                self._close(token)
        elif scope in (Opens.NAMESPACE, Opens.CLASS):
            self._declare(token, scope)

    def _declare(self, token: Token, scope: Opens) -> None:
        """One more token of a declaration."""
        state = self.state
        if token.kind is Kind.MARK and token.text in ("(", "["):
            state.parentheses += 1
        elif token.kind is Kind.MARK and token.text in (")", "]"):
            state.parentheses -= 1
        elif token.text == ";" and state.parentheses == 0:
            if any(word.text == "(" for word in state.head):
                self.found.declared.append(names_of(state.head))
            if scope is Opens.NAMESPACE:
                self.found.statements.append(state.head)
            state.begin()
            return
        elif token.text == ":" and len(state.head) == 1 and state.head[0].text in _ACCESS:
            state.begin()
            return
        state.head.append(token)
        if (
            state.parentheses < 0
            or len(state.head) > _LONGEST_HEAD
            or (token.text in _STATEMENTS and state.parentheses == 0)
        ):
            self.found.sound = False

    def _open(self, scope: Opens) -> None:
        state = self.state
        opens = scope
        if scope in (Opens.NAMESPACE, Opens.CLASS):
            opens = Opens.VALUE
            if state.parentheses == 0:
                opens, function = opened(state.head, self._macros)
                if function:
                    self.found.functions.append(function)
                self._function = function
            if opens is not Opens.VALUE:
                state.begin()
        state.scopes.append(opens)
        self.found.sound &= len(state.scopes) <= _DEEPEST

    def _close(self, brace: Token) -> None:
        state = self.state
        if not state.scopes:
            self.found.sound = False
            return
        closed = state.scopes.pop()
        scope = state.scopes[-1] if state.scopes else Opens.NAMESPACE
        if scope not in (Opens.NAMESPACE, Opens.CLASS):
            return
        if closed is Opens.VALUE:
            state.head.append(brace)
            state.braces += 1
            self.found.sound &= state.braces <= _MOST_BRACES
        else:
            state.begin()

    def _launch(self, token: Token, scope: Opens) -> None:
        if self._recent and self._recent[-1].text == "operator":
            return
        before = without_angles(list(self._recent))
        kernel = before[-1].text if before and before[-1].kind is Kind.NAME else ""
        inside = self._function if scope is Opens.FUNCTION else None
        self.found.launches.append(Launch(kernel, token.line, inside))
