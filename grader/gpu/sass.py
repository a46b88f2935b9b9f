"""What the machine code of a cubin says, where the toolkit has a disassembler.

A second look after the PTX: what ptxas made of the text, not how the text is spelt. Students'
machines often have neither nvdisasm nor cuobjdump; there the PTX alone tells.
"""

from __future__ import annotations

import re
from pathlib import Path

from grader.toolchain import Nvcc, asked

# HMMA, IMMA, DMMA, HGMMA, QMMA, UTCHMMA, ...: in every generation the name ends like this.
_TENSOR = re.compile(
    r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9]*MMA(?:\.\w+)*)", re.MULTILINE
)
_LINE = re.compile(r'^\s*//## File "([^"\n]*)", line (\d+)', re.MULTILINE)
# A kernel takes half a second; one that has been unrolled without end may take as long as it likes.
_LIMIT_S = 20.0


def listing(cubin: Path, compiler: Nvcc) -> str:
    """The disassembled code, with lines of the source where nvdisasm made it; "" for none."""
    for folder in (compiler.root / "bin", compiler.path.parent):
        for name, options in (("nvdisasm", ("-g", "-c")), ("cuobjdump", ("-sass",))):
            if (folder / name).is_file():
                return asked([str(folder / name), *options, str(cubin)], timeout_s=_LIMIT_S)[1]
    return ""


def tensor_instruction(text: str, file: str) -> tuple[str, int] | None:
    """The first tensor-core instruction ("HMMA.1688.F32.TF32") of a listing and the line of `file`
    it was made from (0: unknown), or None."""
    match = _TENSOR.search(text)
    if match is None:
        return None
    places = _LINE.findall(text, 0, match.start())
    of_file = [int(line) for name, line in places if name == file or name.endswith("/" + file)]
    return match[1], of_file[-1] if of_file else 0
