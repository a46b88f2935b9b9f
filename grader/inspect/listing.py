"""An inspection for a terminal: the source lines that touch memory, and what each costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from grader.counters import Counters, LineCounter, total
from grader.finding import Finding
from grader.inspect.inspection import Inspection
from grader.inspect.marks import Mark, marks
from grader.messages import say
from grader.messages.wording import clipped, counted
from grader.report.architectures import table_lines
from grader.report.line import Line, line, paragraph

_SIGN = ">>"
_WIDEST_SOURCE = 88


def lines(seen: Inspection, only: int = 0) -> Iterator[Line]:
    """The whole report; with `only`, of one source line."""
    yield from _head(seen)
    if seen.counters is not None:
        yield line()
        yield from _body(seen, seen.counters, only)
        if not only:
            yield line()
            yield from _totals(seen, seen.counters)
            yield from table_lines(seen.survey)
    elif seen.arguments:
        yield line()
        yield line("No counts: the launch did not end.")
    yield from _told("Findings", seen.findings, "bold red")
    yield from _told("Notes", seen.notes, "yellow")
    if seen.output:
        yield line()
        yield line(("The kernel printed", "bold"))
        yield from paragraph(seen.output, "  ")
    yield line()
    yield _verdict(seen)


def _head(seen: Inspection) -> Iterator[Line]:
    yield line((seen.file.name, "bold"), f": {seen.kernel}" if seen.kernel else "")
    if not seen.arguments:
        return
    z = max(seen.grid[2], seen.block.threads[2])
    blocks, threads = (
        " x ".join(map(str, sizes if z > 1 else sizes[:2]))
        for sizes in (seen.grid, seen.block.threads)
    )
    shape = f"M={seen.shape.m} N={seen.shape.n} K={seen.shape.k}, " if seen.shape else ""
    dynamic = seen.block.dynamic_shared
    more = f", {dynamic} bytes of dynamic shared memory" if dynamic else ""
    yield line(f"{shape}grid {blocks}, block {threads}{more}, {', '.join(seen.arguments)}")


_Rows = dict[int, list[tuple[LineCounter, Mark | None]]]


def _body(seen: Inspection, counters: Counters, only: int) -> Iterator[Line]:
    rows: _Rows = {}
    for counter, mark in zip(counters.lines, marks(counters), strict=True):
        rows.setdefault(counter.line, []).append((counter, mark))
    atomics: dict[int, list[LineCounter]] = {}
    for atomic in counters.atomics:
        atomics.setdefault(atomic.line, []).append(atomic)
    numbers = [n for n in sorted({*rows, *atomics}) if only in (0, n)]
    if not numbers:
        yield line("No line touches memory.")
        return
    worst = _worst(rows)
    names = [c.name for c in counters.lines] + [a.name for a in counters.atomics]
    width = max(len("array"), *map(len, names))
    yield line((f"{'line':>7}  {'access':<7}{'array':<{width}}  {_HEADINGS}", "bold"))
    for number in numbers:
        yield _source(seen, number, any(mark for _, mark in rows.get(number, ())))
        for counter, mark in rows.get(number, ()):
            yield _row(counter, mark, width)
            if mark:
                lead = "worst: " if mark in worst else ""
                yield line(f"{_SIGN:<9}", (f"{lead}{mark.title}. {mark.reason}", "bold red"))
        for one in atomics.get(number, ()):
            yield line(f"{'':>9}{'atomic':<7}{one.name:<{width}}  {one.words:>11,} by lanes")
    yield from _legend(c for n in numbers for c, _ in rows.get(n, ()))


def _worst(rows: _Rows) -> list[Mark]:
    """The mark that wastes most, of global and of shared memory, where there are several."""
    worst = []
    for space in ("global", "shared"):
        found = [m for row in rows.values() for c, m in row if m and c.space == space]
        if len(found) > 1:
            worst.append(max(found, key=lambda mark: mark.waste))
    return worst


_HEADINGS = f"{'requests':>11}  {'each takes':<17} {'would do':>8}  {'bank conflicts':>14}"


def _source(seen: Inspection, number: int, marked: bool) -> Line:
    texts = seen.file.lines
    text = texts[number - 1].strip() if 0 < number <= len(texts) else "(not in this file)"
    text = clipped(text, _WIDEST_SOURCE)
    sign = _SIGN if marked else ""
    return line((f"{sign:<3}{number:>4}  {text}", "bold red" if marked else "bold"))


def _row(counter: LineCounter, mark: Mark | None, width: int) -> Line:
    about = "~" if counter.approximate else ""
    if counter.space == "global":
        cost, ideal, unit, conflicts = counter.sectors, counter.ideal_sectors, "sectors", ""
    else:
        cost, ideal, unit = counter.wavefronts, counter.ideal_wavefronts, "wavefronts"
        conflicts = f"{counter.bank_conflicts:,}{_merged(counter)}"
    each, enough = f"{cost / counter.requests:.1f}", f"{ideal / counter.requests:.1f}"
    text = (
        f"{about:>8} {counter.access:<7}{counter.name:<{width}}  {counter.requests:>11,}  "
        f"{each:>5} {unit:<11} {enough:>8}  {conflicts:>14}"
    )
    return line((text.rstrip(), "red" if mark else ""))


def _merged(counter: LineCounter) -> str:
    """What becomes of conflicts where a compiler takes neighbouring loads of a lane together."""
    if not counter.bank_conflicts or counter.merged_requests == counter.requests:
        return ""
    return f" (merged: {counter.merged_bank_conflicts:,})"


def _legend(rows: Iterable[LineCounter]) -> Iterator[Line]:
    shown = list(rows)
    if any(map(_merged, shown)):
        yield line(
            f"{'':>9}merged: neighbouring loads of a lane taken together, as nvcc does where it can"
        )
    if any(counter.approximate for counter in shown):
        yield line(f"{'':>9}~ approximate: lanes went through this line unequally often")


def _totals(seen: Inspection, counters: Counters) -> Iterator[Line]:
    yield line(("Totals", "bold"))
    memory, shared = counters.select("global"), counters.select("shared")
    if memory:
        yield _total(
            "global memory",
            f"{_sum(memory, 'requests')} requests, {_sum(memory, 'sectors')} sectors, "
            f"{_sum(memory, 'ideal_sectors')} would do; {counters.bytes_moved:,} bytes moved",
        )
        words = (
            f"{_sum(counters.select('global', access), 'words')} by {access}s"
            for access in ("load", "store")
        )
        yield _total("words by lanes", ", ".join(words))
    if shared:
        yield _total(
            "shared memory",
            f"{_sum(shared, 'requests')} requests, {_sum(shared, 'wavefronts')} wavefronts, "
            f"{_sum(shared, 'ideal_wavefronts')} would do; "
            f"{_sum(shared, 'bank_conflicts')} bank conflicts ({counters.conflict_share:.0%})",
        )
    if counters.atomics:
        operations = total(counters.atomics, "words")
        yield _total("atomics", f"{operations:,} operations by lanes; their cost is not counted")
    yield _total("barriers", f"{counters.barriers:,}, summed over the blocks")
    if seen.shape is not None:
        intensity = counters.arithmetic_intensity(seen.shape)
        yield _total("intensity", f"{intensity:.2f} operations (2*M*N*K) for each byte moved")


def _total(what: str, text: str) -> Line:
    return line(f"  {what:<15} {text}")


def _sum(rows: Iterable[LineCounter], field: str) -> str:
    return f"{total(rows, field):,}"


def _told(title: str, findings: tuple[Finding, ...], style: str) -> Iterator[Line]:
    if not findings:
        return
    yield line()
    yield line((title, style))
    for finding in findings:
        yield from paragraph(say(finding), "  ", first=f"{finding.verdict.value}: ")
        for place in finding.locations:
            role = f" ({place.role})" if place.role else ""
            yield line(f"    {place.file}:{place.line}{role}")


def _verdict(seen: Inspection) -> Line:
    if seen.findings:
        return line((counted(len(seen.findings), "fault") + " found.", "bold red"))
    watched = "no race, no access out of bounds, every barrier reached by all threads"
    marked = [m for m in marks(seen.counters) if m] if seen.counters else []
    waste = f" Lines marked {_SIGN} waste memory traffic." if marked else ""
    values = "Values are not checked"
    if seen.exercise is not None:
        values += f": make test EX={seen.exercise.short} does that"
    return line(("No faults", "green"), f": {watched}.{waste} {values}.")
