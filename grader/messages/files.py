"""Words for a file that cannot be read, or holds what a submission may not hold."""

from __future__ import annotations

from collections.abc import Mapping

from grader.finding import Finding
from grader.messages.wording import Template, clipped, listed

_LONGEST_LIST = 330  # all that are allowed: a list that breaks off helps nobody
# What programs print with, where kernels have printf.
_STREAMS = ("iostream", "ostream", "sstream", "fstream", "iomanip", "format", "print")


def _file(finding: Finding) -> str:
    return clipped(finding.locations[0].file) if finding.locations else "The file"


def _binary_file(finding: Finding) -> str:
    if finding.facts["encoding"]:
        return (
            f"{_file(finding)} is saved as {finding.facts['encoding']}. "
            "Save it as UTF-8, with the editor's choice of encodings."
        )
    return (
        f"{_file(finding)} is not text: it holds zero bytes. "
        "Is it a compiled program in place of the source?"
    )


def _invalid_utf8(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"{_file(finding)} is not valid UTF-8: line {facts['line']} holds the byte "
        f"{facts['byte']} outside of comments. Save the file as UTF-8, or retype the letter."
    )


def _file_too_large(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"{_file(finding)} has {facts['bytes']} bytes, the limit is {facts['limit']}. "
        "Does it hold anything but the kernel?"
    )


def _forbidden_include(finding: Finding) -> str:
    facts = finding.facts
    name, form = clipped(facts["header"]), facts.get("form", "header")
    if form == "probe":
        return f"{name} looks for files of the grader's machine, which is not allowed. Remove it."
    if form == "condition":
        return (
            f"An #if uses {name}, which may put a name together with ##, and that is not allowed "
            "there. Write the condition out."
        )
    if form == "opened":
        return f"The compiler opened {name}, which is no file of yours. Remove what takes it in."
    if form == "incbin":
        return "An asm statement takes in another file with .incbin. Remove it."
    if form == "macro":
        return f"#include {name} hides the header's name in a macro. Write the name out."
    if form == "directive":
        return f"{name} is not allowed. Use #include, with a header that is."
    start = f"The header {name} may not be included."
    if name in _STREAMS:
        return f"{start} A kernel has no streams: use printf, from the header cstdio."
    if facts.get("nearest"):
        return f"{start} Is {facts['nearest']} meant?"
    return f"{start} Use one of {clipped(listed(facts['allowed'], 'or'), _LONGEST_LIST)}."


def _host_code(finding: Finding) -> str:
    facts = finding.facts
    name, form = clipped(facts["name"]), facts.get("form", "function")
    if form == "launch":
        return f"The file launches {name} with <<<...>>>. The grader launches: remove that line."
    if form == "main":
        return "The file has a main function, and only device code is graded. Remove it."
    if form == "call":
        return (
            f"The file calls {name}, which is for the host's program. Here the grader is that "
            "program, and A, B and C are in global memory already. Which memory can a kernel "
            "declare by itself?"
        )
    if form == "kernel":
        return (
            f"The kernel {name} is not marked with __global__, so it would run on the host. "
            "Write the mark in front of it, as in the starter file."
        )
    return (
        f"The function {name} runs on the host, and only device code is graded. "
        "Remove it, or mark it with __device__ if the kernel calls it."
    )


_KINDS_OF_EXTENSION = {
    "attribute": "The attribute {name} is not allowed in a kernel. Remove it.",
    "pragma": "The pragma {name} is not allowed in a kernel. Remove it.",
    "directive": "The directive {name} is not allowed in a kernel. Remove it.",
    "literal": "A raw string may not stand right behind another literal: {name} would belong to "
    "that one. Put a blank between them.",
    "builtin": "The compiler's own {name} is not allowed in a kernel. Use what CUDA offers.",
}


def _forbidden_extension(finding: Finding) -> str:
    name = clipped(finding.facts["name"])
    return _KINDS_OF_EXTENSION[finding.facts["form"]].format(name=name)


TEXTS: Mapping[str, Template] = {
    "missing_file": lambda f: f"{_file(f)} does not exist. Is it saved under another name?",
    "empty_file": lambda f: f"{_file(f)} is empty. Restore it, or begin with the starter file.",
    "not_a_file": lambda f: (
        f"{_file(f)} is a {f.facts['type']}, not a file. Put the kernel in a file of that name."
    ),
    "symlink_outside": lambda f: (
        f"{_file(f)} is a link to {clipped(f.facts['target'])}, outside the submission. "
        "Put the file itself there."
    ),
    "unreadable_file": lambda f: (
        f"{_file(f)} cannot be read: {f.facts['reason']}. Mend that, then run this again."
    ),
    "binary_file": _binary_file,
    "invalid_utf8": _invalid_utf8,
    "file_too_large": _file_too_large,
    "forbidden_include": _forbidden_include,
    "forbidden_line": lambda f: (
        f"A {f.facts['what']} gives the lines after it a name or number that none of this file "
        "has, which is not allowed. Remove it."
    ),
    "telling_condition": lambda f: (
        f"A condition asks for {clipped(f.facts['name'])}, which tells the simulator's compiler "
        "from nvcc. Both must compile the same kernel: which code is it to be?"
    ),
    "forbidden_extension": _forbidden_extension,
    "hidden_word": lambda f: (
        f"The macros of this file put together the word {clipped(f.facts['name'])}, which is "
        "reserved here. Write out what the line does, without it."
    ),
    "reserved_name": lambda f: (
        f"The file defines {clipped(f.facts['name'])}, a name that the machine itself needs. "
        "Which other name says what it does?"
    ),
    "strange_section": (
        "The file puts something into {name}, a part of a program that kernels do not need. "
        "Which attribute says so?"
    ),
    "asm_outside_function": (
        "There is an asm statement outside a function, which is not allowed. "
        "Move it into a kernel, or remove it."
    ),
    "host_code": _host_code,
    "tensor_cores": lambda f: (
        f"The kernel uses tensor cores ({clipped(f.facts['what'])}), which compute in less "
        "than single precision. Use ordinary multiplications and additions."
    ),
    "device_variables": (
        "The variables in GPU memory take {bytes} bytes, the limit is {limit}. "
        "Keep what a launch needs in registers and shared memory."
    ),
}
