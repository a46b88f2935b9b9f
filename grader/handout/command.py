"""The verbs about what is handed out: `handout`, `release-solutions`, `update`, ..."""

from __future__ import annotations

import argparse

from grader.cli import OK
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.handout import contents, making, update
from grader.messages.wording import counted
from grader.report.words import a_few

_NOT_HERE = {
    verb: f"make {verb} is for students' copies, and this is the course's repository. "
    f"Next: {instead}"
    for verb, instead in (("update", "git pull"), ("restore", "git status, then: git restore FILE"))
}


def main(options: argparse.Namespace) -> int:
    if options.verb == "handout":
        count = making.make(PROJECT, options.output)
        print(f"{options.output}: {count} files in one commit, no solution among them.")
        print("Next: push it to an empty repository, and let students clone that one.")
    elif options.verb == "release-solutions":
        names = making.release(PROJECT, options.output)
        print(f"{options.output}: {', '.join(names)}")
    elif options.verb == "gradescope":
        from grader.gradescope import bundle

        return bundle.main(options)
    elif contents.is_course(PROJECT):
        raise GraderFault(_NOT_HERE[options.verb])
    elif options.verb == "update":
        _tell(update.update(PROJECT, options.source))
    else:
        names = update.restore(PROJECT)
        print(f"Restored: {', '.join(names)}" if names else "Nothing outside starter/ was changed.")
    return OK


def _tell(done: update.Update) -> None:
    if not (done.written or done.removed or done.new_starters):
        print(f"Already at version {done.version}. starter/ was not touched.")
        return
    print(f"Now at version {done.version}: {counted(len(done.written), 'file')} written, "
          f"{len(done.removed)} removed. Your files in starter/ were not touched.")  # fmt: skip
    if done.overwritten:
        print(f"Not as handed out were {a_few(done.overwritten)}. git's history still has yours: "
              f"git log -p -- {done.overwritten[0]}")  # fmt: skip
    for name in done.new_starters:
        print(f"New: {name}")
    print('Next: git add --all && git commit -m "Update the grader"')
