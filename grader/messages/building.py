"""Words for a file that does not compile, lacks its kernel, or asks for an impossible launch."""

from __future__ import annotations

from collections.abc import Mapping

from grader.finding import Finding
from grader.messages.wording import Template, clipped, counted, listed, sentence

_LONGEST_SIGNATURE = 120


def _compile_error(finding: Finding) -> str:
    facts = finding.facts
    others = facts["count"] - 1
    more = f" ({counted(others, 'more error')} after it)" if others > 0 else ""
    line = f", line {finding.locations[0].line}" if finding.locations else ""
    return (
        f"{facts['compiler']} cannot compile the file{line}: {sentence(facts['message'])}{more}. "
        "Start with this error: others may come from it."
    )


def _host_variable(finding: Finding) -> str:
    name = clipped(finding.facts["name"])
    question = (
        "Can the kernel itself hold that array, or constant memory?"
        if finding.facts["array"]
        else "Does it ever change, or can it be a constant?"
    )
    return (
        f"The kernel uses {name}, a variable of the host: it lies in the memory of the CPU, where "
        f"no GPU can read it. {question}"
    )


def _host_constant(finding: Finding) -> str:
    name, taker = clipped(finding.facts["name"]), finding.facts["taker"]
    if taker:
        return (
            f"The function {taker} takes the address of {name}, a constant of the host: that lies "
            f"in the memory of the CPU, and a GPU knows no more than its value. Does "
            f"{taker.removeprefix('std::')}, which takes values, do the same?"
        )
    return (
        f"The kernel calls {name}, an object that lies in the memory of the CPU, where no GPU can "
        "read it. Can it be a function of the device?"
    )


def _config_field(finding: Finding) -> str:
    facts = finding.facts
    asked = f"Is .{facts['nearest']} meant?" if facts["nearest"] else "Which one is meant?"
    return (
        f"LAUNCH_CONFIG has no field .{clipped(facts['name'])}; its fields are "
        f"{listed(facts['order'])}, in this order. {asked}"
    )


def _missing_kernel(finding: Finding) -> str:
    facts = finding.facts
    found = facts["found"]
    other = f"; it defines {listed(found)}" if found else ""
    return f"The file has no kernel named {facts['kernel']}{other}. Is the name spelt like that?"


def _wrong_signature(finding: Finding) -> str:
    facts = finding.facts
    found, expected = (clipped(facts[key], _LONGEST_SIGNATURE) for key in ("found", "expected"))
    return (
        f"The parameters are not those of the exercise: found {found}, expected {expected}. "
        "Which type or position differs?"
    )


def _not_positive(finding: Finding) -> str:
    what, value = finding.facts["what"], finding.facts["value"]
    if value == 0:  # also what a field gets that is left out
        return (
            f"LAUNCH_CONFIG sets {what} to 0, or does not name it; it must be at least 1. "
            "Which number belongs there?"
        )
    return (
        f"LAUNCH_CONFIG sets {what} to {value}; it must be at least 1. "
        "Which expression gives that number?"
    )


TEXTS: Mapping[str, Template] = {
    "compile_error": _compile_error,
    "host_swap": (
        "A kernel cannot call std::swap, a function of the host. Can three assignments swap the "
        "two?"
    ),
    "host_constant": _host_constant,
    "host_variable": _host_variable,
    "kernel_called": lambda f: (
        f"The file calls {clipped(f.facts['name'])} like a function, but marks it as a kernel, "
        "which only the host starts. Is it meant to be a function that kernels call?"
    ),
    "marked_lambda": lambda f: (
        f"A lambda is marked {f.facts['mark']}, which nvcc takes only with --extended-lambda, an "
        "option that is not used here. A lambda in a kernel runs where the kernel does: does it "
        "need the mark?"
    ),
    "unroll_macro": lambda f: (
        f"{clipped(f.facts['name'])} is a macro, and in a line #pragma unroll no macro is replaced "
        "by what it stands for. Use a number there, or a constant that the compiler knows."
    ),
    "config_without_header": (
        'LAUNCH_CONFIG is used, but the file does not include "launch.cuh" above it, which says '
        "what that is. Which lines does the starter file begin with?"
    ),
    "config_misspelt": lambda f: (
        f"The name {clipped(f.facts['name'])} is unknown: is LAUNCH_CONFIG meant? "
        "Compare it letter by letter."
    ),
    "config_unended": (
        "The line LAUNCH_CONFIG(...) does not end with a semicolon. What stands behind its last "
        "parenthesis?"
    ),
    "config_field": _config_field,
    "config_comma": (
        "LAUNCH_CONFIG has no comma before .{name}. What separates one field from the next?"
    ),
    "define_punctuated": lambda f: (
        f"{clipped(f.facts['name'])} stands for `{clipped(f.facts['value'])}`, and all of that is "
        "put wherever the file says that name. What does a #define need behind its name?"
    ),
    "config_order": lambda f: (
        f"LAUNCH_CONFIG names {f.facts['first']} after {f.facts['second']}, but C++ wants the "
        f"order {listed(f.facts['order'])}. Which one goes first?"
    ),
    "brace_open": (
        "The brace that opens in line {opened}, or one inside it, is not closed before "
        "LAUNCH_CONFIG in line {config}. Which brace closes the kernel?"
    ),
    "compile_too_slow": (
        "{compiler} was still compiling after {limit_s:g} s, the limit. Which template, constant "
        "expression or macro makes so much work?"
    ),
    "compile_too_large": (
        "Compiling needs more memory or disk than is allowed. Which array, template or macro "
        "grows so large?"
    ),
    "compile_gave_up": (
        "{compiler} broke off at this file without naming a line. Compile it in halves: which one "
        "does it?"
    ),
    "nested_too_deep": (
        "Brackets stand more than {limit} deep inside one another, more than compilers can take. "
        "Which macro or expression does that?"
    ),
    "shared_first_value": (
        "{name} lies in shared memory and is given a first value, which CUDA does not allow: it "
        "exists once for a block, not once for a thread. Which threads can store it, and which "
        "barrier comes after?"
    ),
    "undefined_name": (
        "The file uses {name}, but neither the file nor a header it may include defines it. "
        "Is the name spelt right, and is the body there?"
    ),
    "runs_before": (
        "A variable outside the functions gets its first value from code, which a GPU does not "
        "run. Which one has a first value that is no constant?"
    ),
    "missing_kernel": _missing_kernel,
    "missing_config": (
        "The file has no LAUNCH_CONFIG, so the grader knows neither block nor tile. "
        "Does it end with a line as in the starter file?"
    ),
    "wrong_signature": _wrong_signature,
    "not_positive": _not_positive,
    "tile_too_large": (
        "LAUNCH_CONFIG sets {what} to {value}, the grader tries tiles of up to {limit}. How many "
        "elements does one block compute, and how deep is one step along K?"
    ),
    "block_too_wide": (
        "LAUNCH_CONFIG sets {what} to {value} threads, the limit is {limit}. "
        "How large is a block in the handout?"
    ),
    "too_many_threads": (
        "A block of {block_x} x {block_y} threads has {value}, the limit is {limit}. "
        "Which smaller block_x or block_y keeps to it?"
    ),
    "launch_bounds": (
        "A block of {block_x} x {block_y} threads has {value}, but the kernel's __launch_bounds__ "
        "promises at most {limit}, and a GPU then refuses to start it. Which of the two is meant?"
    ),
    "negative_shared": (
        "LAUNCH_CONFIG sets {what} to {value} bytes. Which expression gives that number?"
    ),
    "too_much_static_shared": (
        "The __shared__ arrays of a block take {value} bytes, the limit is {limit}. "
        "How many bytes does each array take?"
    ),
    "too_much_shared": (
        "A block takes {value} bytes of shared memory ({static_shared} in arrays, {dynamic_shared} "
        "by dynamic_shared), the limit is {limit}. How many bytes does each array take?"
    ),
    "too_many_block_rows": (
        "C has {rows} rows{at}, which takes {value} blocks along y; the limit is {limit}. "
        "Can tile_m, the rows that one block computes, be larger?"
    ),
    "launch_resources": (
        "The GPU cannot start one block: its threads need more registers or shared memory than "
        "there are. What happens with fewer threads in a block?"
    ),
}
