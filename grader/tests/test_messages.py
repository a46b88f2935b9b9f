"""Every kind of finding has words, in the form fact, place, next step."""
# ruff: noqa: E501 - a table is read across

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from grader.finding import Finding, Location, ordered
from grader.messages import TEXTS, describe
from grader.problems.matmul import Shape
from grader.source import ALLOWED_HEADERS
from grader.source.slips import FIELDS
from grader.tests.emulated import exercise
from grader.verdict import Verdict

WHO = {"thread": [3, 0], "block": [0, 1]}
ELEMENT = {
    "row": 16,
    "col": 0,
    "block": [0, 2],
    "in_tile": [0, 0],
    "got": 0.0,
    "expected": 3.0,
    "count": 9,
    "of": 153,
    "box": [16, 16, 0, 8],
}
CUT = {"line": "row", "tile": 32, "first": 16}
TAIL = {**ELEMENT, "full_rows": 16, "full_cols": 8}
SPAN = {**ELEMENT, "step": 1, "steps": 3, "first_k": 8, "last_k": 15}
LOST = {**ELEMENT, "units": 183.5, "limit": 16.0, "wrong": 100}
GLOBAL = {"operand": "A", "row": 17, "col": 2, "rows": 17, "cols": 4, "count": 3, **WHO}

RACE = {
    "name": "As",
    "index": [0, 3],
    "access": "write",
    "other_access": "read",
    "other": [9, 2],
    "other_block": [0, 1],
    "same_warp": False,
    "asynchronous": False,
    "space": "shared",
    **WHO,
}

# One example at least for each kind: verdict, facts.
EXAMPLES: list[tuple[str, Verdict, Mapping[str, Any]]] = [
    ("compile_error", Verdict.COMPILE_ERROR, {"compiler": "g++", "message": "'x' was not declared in this scope", "count": 3}),
    ("compile_error", Verdict.COMPILE_ERROR, {"compiler": "nvcc", "message": "word " * 200, "count": 1}),
    ("compile_too_slow", Verdict.COMPILE_ERROR, {"compiler": "g++", "message": "", "count": 1, "limit_s": 20}),
    ("compile_too_large", Verdict.COMPILE_ERROR, {"compiler": "g++", "message": "", "count": 1}),
    ("compile_gave_up", Verdict.COMPILE_ERROR, {"compiler": "g++", "message": "", "count": 1}),
    ("config_without_header", Verdict.COMPILE_ERROR, {}),
    ("config_misspelt", Verdict.COMPILE_ERROR, {"name": "LAUNCH_CONFG"}),
    ("config_unended", Verdict.COMPILE_ERROR, {}),
    ("config_field", Verdict.COMPILE_ERROR, {"name": "blockx", "nearest": "block_x", "order": list(FIELDS)}),
    ("config_field", Verdict.COMPILE_ERROR, {"name": "z", "nearest": "", "order": list(FIELDS)}),
    ("config_comma", Verdict.COMPILE_ERROR, {"name": "tile_m"}),
    ("define_punctuated", Verdict.COMPILE_ERROR, {"name": "TILE", "value": "32;"}),
    ("config_order", Verdict.COMPILE_ERROR, {"first": "block_x", "second": "block_y", "order": list(FIELDS)}),
    ("brace_open", Verdict.COMPILE_ERROR, {"opened": 7, "config": 31}),
    ("nested_too_deep", Verdict.COMPILE_ERROR, {"limit": 256}),
    ("undefined_name", Verdict.COMPILE_ERROR, {"name": "scaled(float)"}),
    ("runs_before", Verdict.COMPILE_ERROR, {}),
    ("host_swap", Verdict.COMPILE_ERROR, {}),
    ("shared_first_value", Verdict.COMPILE_ERROR, {"name": "As"}),
    ("host_variable", Verdict.COMPILE_ERROR, {"name": "tile", "array": False}),
    ("host_variable", Verdict.COMPILE_ERROR, {"name": "steps", "array": True}),
    ("host_constant", Verdict.COMPILE_ERROR, {"name": "TILE", "taker": "std::min"}),
    ("host_constant", Verdict.COMPILE_ERROR, {"name": "ceil_div", "taker": ""}),
    ("kernel_called", Verdict.COMPILE_ERROR, {"name": "dot"}),
    ("marked_lambda", Verdict.COMPILE_ERROR, {"mark": "__device__"}),
    ("unroll_macro", Verdict.COMPILE_ERROR, {"name": "UF"}),
    ("missing_kernel", Verdict.MISSING_KERNEL, {"kernel": "matmul_tiled", "found": ["matmul", "mm"]}),
    ("missing_kernel", Verdict.MISSING_KERNEL, {"kernel": "matmul_tiled", "found": []}),
    ("missing_config", Verdict.MISSING_KERNEL, {}),
    ("wrong_signature", Verdict.WRONG_SIGNATURE, {"kernel": "matmul_tiled", "found": "matmul_tiled(float*, const float*, const float*, int, int, int)", "expected": "matmul_tiled(const float*, const float*, float*, int, int, int)"}),
    ("launch_resources", Verdict.BAD_LAUNCH, {}),
    ("forbidden_include", Verdict.REJECTED, {"header": "/etc/passwd", "allowed": ["cstdint", "launch.cuh"], "form": "path", "nearest": ""}),
    ("forbidden_include", Verdict.REJECTED, {"header": "vector", "allowed": [f"header_{i}.h" for i in range(90)], "form": "header", "nearest": ""}),
    ("forbidden_include", Verdict.REJECTED, {"header": "launch.h", "allowed": ["launch.cuh"], "form": "header", "nearest": "launch.cuh"}),
    ("forbidden_include", Verdict.REJECTED, {"header": "__has_include", "allowed": [], "form": "probe", "nearest": ""}),
    ("forbidden_include", Verdict.REJECTED, {"header": "#embed x", "allowed": [], "form": "directive", "nearest": ""}),
    ("forbidden_include", Verdict.REJECTED, {"header": "HEADER", "allowed": [], "form": "macro", "nearest": ""}),
    ("forbidden_include", Verdict.REJECTED, {"header": ".incbin", "allowed": [], "form": "incbin", "nearest": ""}),
    ("forbidden_include", Verdict.REJECTED, {"header": "JOIN", "allowed": [], "form": "condition", "nearest": ""}),
    ("forbidden_include", Verdict.REJECTED, {"header": "passwd", "allowed": [], "form": "opened", "nearest": ""}),
    ("forbidden_line", Verdict.REJECTED, {"what": "#line"}),
    ("telling_condition", Verdict.REJECTED, {"name": "threadIdx"}),
    ("forbidden_extension", Verdict.REJECTED, {"form": "attribute", "name": "constructor"}),
    ("forbidden_extension", Verdict.REJECTED, {"form": "pragma", "name": "GCC optimize"}),
    ("forbidden_extension", Verdict.REJECTED, {"form": "builtin", "name": "__builtin_fork"}),
    ("forbidden_extension", Verdict.REJECTED, {"form": "literal", "name": 'R"'}),
    ("hidden_word", Verdict.REJECTED, {"name": "asm"}),
    ("reserved_name", Verdict.REJECTED, {"name": "write"}),
    ("index_overflow", Verdict.INDEX_OVERFLOW, {"expression": "1999968000 * 4", **WHO}),
    ("missing_file", Verdict.REJECTED, {}),
    ("empty_file", Verdict.REJECTED, {}),
    ("not_a_file", Verdict.REJECTED, {"type": "folder"}),
    ("symlink_outside", Verdict.REJECTED, {"target": "/home/someone/a/long/way/from/here/" * 4}),
    ("unreadable_file", Verdict.REJECTED, {"reason": "permission denied"}),
    ("binary_file", Verdict.REJECTED, {"encoding": "UTF-16"}),
    ("binary_file", Verdict.REJECTED, {"encoding": ""}),
    ("invalid_utf8", Verdict.REJECTED, {"line": 3, "byte": "0xe9"}),
    ("file_too_large", Verdict.REJECTED, {"bytes": 5_000_000, "limit": 250_000}),
    ("not_positive", Verdict.BAD_LAUNCH, {"what": "block_x", "value": 0, "limit": 1}),
    ("tile_too_large", Verdict.BAD_LAUNCH, {"what": "tile_k", "value": 1_000_003, "limit": 4096}),
    ("block_too_wide", Verdict.BAD_LAUNCH, {"what": "block_x", "value": 2000, "limit": 1024}),
    ("too_many_threads", Verdict.BAD_LAUNCH, {"what": "block_x * block_y", "value": 2048, "limit": 1024, "block_x": 64, "block_y": 32}),
    ("launch_bounds", Verdict.BAD_LAUNCH, {"what": "block_x * block_y", "value": 256, "limit": 64, "block_x": 16, "block_y": 16}),
    ("forbidden_system_call", Verdict.REJECTED, {"name": "fork", **WHO}),
    ("print_format", Verdict.REJECTED, {"name": "%n", **WHO}),
    ("process_lost", Verdict.CRASH, {"name": "SIGSEGV"}),
    ("forged_answer", Verdict.REJECTED, {}),
    ("strange_section", Verdict.REJECTED, {"name": ".interp"}),
    ("negative_shared", Verdict.BAD_LAUNCH, {"what": "dynamic_shared", "value": -4, "limit": 0}),
    ("too_much_static_shared", Verdict.BAD_LAUNCH, {"what": "static shared memory", "value": 65536, "limit": 49152}),
    ("too_much_shared", Verdict.BAD_LAUNCH, {"what": "shared memory of a block", "value": 300000, "limit": 232448, "static_shared": 0, "dynamic_shared": 300000}),
    ("too_many_block_rows", Verdict.BAD_LAUNCH, {"what": "tile_m", "value": 70000, "limit": 65535, "rows": 70000}),
    ("asm_outside_function", Verdict.REJECTED, {}),
    ("host_code", Verdict.REJECTED, {"name": "main", "form": "main"}),
    ("host_code", Verdict.REJECTED, {"name": "check", "form": "function"}),
    ("host_code", Verdict.REJECTED, {"name": "cudaMalloc", "form": "call"}),
    ("host_code", Verdict.REJECTED, {"name": "matmul_tiled", "form": "kernel"}),
    ("forbidden_include", Verdict.REJECTED, {"header": "iostream", "allowed": list(ALLOWED_HEADERS), "form": "header", "nearest": ""}),
    ("forbidden_include", Verdict.REJECTED, {"header": "vector", "allowed": list(ALLOWED_HEADERS), "form": "header", "nearest": ""}),
    ("host_code", Verdict.REJECTED, {"name": "matmul_tiled", "form": "launch"}),
    ("tensor_cores", Verdict.REJECTED, {"what": "wmma"}),
    ("device_variables", Verdict.REJECTED, {"bytes": 4 << 20, "limit": 1 << 20}),
    ("global_access", Verdict.OUT_OF_BOUNDS, {**GLOBAL, "access": "read", "index": 70}),
    ("global_access", Verdict.OUT_OF_BOUNDS, {**GLOBAL, "access": "read", "index": 68, "col": 0, "k": 4}),
    ("global_access", Verdict.OUT_OF_BOUNDS, {**GLOBAL, "access": "read", "index": 66, "row": 16, "col": 2, "bytes": 16}),
    ("global_access", Verdict.OUT_OF_BOUNDS, {**GLOBAL, "access": "write", "index": -1, "row": -1, "col": -1}),
    ("shared_access", Verdict.OUT_OF_BOUNDS, {"access": "write", "variable": "As", "index": [16, 0], "bytes_past": 4, "dims": [16, 16], "threads": [32, 32], **WHO}),
    ("shared_access", Verdict.OUT_OF_BOUNDS, {"access": "read", "variable": "As", "index": [-1, 15], "bytes_past": -4, "dims": [16, 16], "threads": [32, 32], **WHO}),
    ("shared_access", Verdict.OUT_OF_BOUNDS, {"access": "read", "variable": "shared memory", "index": [], "bytes_past": 0, "dims": [], "threads": [32, 32], **WHO}),
    ("shared_access", Verdict.OUT_OF_BOUNDS, {"access": "write", "variable": "dynamic shared memory", "index": [], "bytes_past": 0, "dims": [], "dynamic_bytes": 0, **WHO}),
    ("shared_access", Verdict.OUT_OF_BOUNDS, {"access": "write", "variable": "dynamic shared memory", "index": [128], "bytes_past": 0, "dims": [128], "dynamic_bytes": 512, **WHO}),
    ("register_array", Verdict.OUT_OF_BOUNDS, {"index": 8, "type": "float [8]", "variable": "sum", "length": 8, **WHO}),
    ("register_array", Verdict.OUT_OF_BOUNDS, {"index": 8, "type": "float [8]", **WHO}),
    ("register_array", Verdict.OUT_OF_BOUNDS, {"index": 32, "type": "float [32]", "variable": "sum", "length": 32, "product": True, **WHO}),
    ("shared_access", Verdict.OUT_OF_BOUNDS, {"access": "write", "variable": "As", "index": [512], "bytes_past": 0, "dims": [512], "product": True, "threads": [16, 32], **WHO}),
    ("foreign_local", Verdict.OUT_OF_BOUNDS, {"access": "read", "other": [3, 0], **WHO}),
    ("wild_access", Verdict.OUT_OF_BOUNDS, {"access": "read", **WHO}),
    ("illegal_address", Verdict.OUT_OF_BOUNDS, {}),
    ("misaligned", Verdict.MISALIGNED, {"access": "read", "bytes": 16, "operand_or_variable": "A", "index": [1, 0], **WHO}),
    ("misaligned", Verdict.MISALIGNED, {"access": "copy", "bytes": 16, "operand_or_variable": "A", "index": [1, 0], **WHO}),
    ("misaligned", Verdict.MISALIGNED, {"access": "write", "bytes": 16, "operand_or_variable": "", "index": [], **WHO}),
    ("misaligned_gpu", Verdict.MISALIGNED, {}),
    ("guard_written", Verdict.OUT_OF_BOUNDS, {"operand": "C", "before": False, "offset": 1, "count": 7}),
    ("guard_written", Verdict.OUT_OF_BOUNDS, {"operand": "C", "before": True, "offset": 2, "count": 1}),
    ("input_modified", Verdict.INPUT_MODIFIED, {"operand": "B", "row": 0, "col": 3, "count": 1}),
    ("input_modified", Verdict.INPUT_MODIFIED, {"operand": "B", "row": 0, "col": 3, "count": 1, **WHO}),
    ("index_overflow", Verdict.INDEX_OVERFLOW, {"expression": "46341 * 46341", **WHO}),
    ("tile_missed", Verdict.INDEX_OVERFLOW, {"block": [1, 62499], "missed": [999984, 16], "stored": [16944, 16], "other_block": [1, 1059]}),
    ("tile_missed", Verdict.INDEX_OVERFLOW, {"block": [1, 62499], "missed": [999984, 16]}),
    ("wrong_when_large", Verdict.INDEX_OVERFLOW, {"block": [1, 64999], "element": [1039984, 16], "got": 812.0, "expected": -37.0, "read": {"name": "A", "index": [57, 0]}}),
    ("wrong_when_large", Verdict.INDEX_OVERFLOW, {"block": [1, 64999], "element": [1039984, 16], "got": 812.0, "expected": -37.0}),
    ("wrong_when_large_usual", Verdict.WRONG_ANSWER, {"block": [127, 127], "element": [2032, 2032], "got": 883.0, "expected": 890.0}),
    ("tile_missed_usual", Verdict.WRONG_ANSWER, {"block": [127, 127], "missed": [2032, 2032]}),
    ("global_access_when_large", Verdict.OUT_OF_BOUNDS, {"access": "read", "operand": "A", "index": -61632, "rows": 45000, "cols": 3, **WHO}),
    ("global_access_usual", Verdict.OUT_OF_BOUNDS, {"access": "read", "operand": "A", "index": 2116643, "rows": 2053, "cols": 1031, **WHO}),
    ("wild_access_when_large", Verdict.OUT_OF_BOUNDS, {"access": "write", **WHO}),
    ("wild_access_usual", Verdict.OUT_OF_BOUNDS, {"access": "write", **WHO}),
    ("wrong_with_zeros", Verdict.WRONG_ANSWER, {**TAIL}),
    ("wrong_with_positive", Verdict.WRONG_ANSWER, {**TAIL}),
    ("wrong_with_large_sizes", Verdict.WRONG_ANSWER, {**TAIL}),
    ("overflow_beyond", Verdict.INDEX_OVERFLOW, {"expression": "46496 * 46500", **WHO}),
    ("race", Verdict.RACE, RACE),
    ("repeated_store", Verdict.RACE, {**RACE, "name": "C", "index": [16, 8], "space": "global", "access": "write", "other_access": "write", "other_block": [0, 0]}),
    ("race", Verdict.RACE, {**RACE, "same_warp": True, "other": [1, 0]}),
    ("race", Verdict.RACE, {**RACE, "same_warp": True, "met": True, "other": [1, 0]}),
    ("race", Verdict.RACE, {**RACE, "asynchronous": True, "access": "read", "other_access": "write"}),
    ("race", Verdict.RACE, {**RACE, "asynchronous": True, "overwriting": True, "access": "read", "other_access": "write"}),
    ("race", Verdict.RACE, {**RACE, "access": "read", "other_access": "write"}),
    ("race_of_blocks", Verdict.RACE, {**RACE, "name": "C", "index": [16, 8], "space": "global", "other_block": [0, 0], "other_access": "write"}),
    ("race_of_blocks", Verdict.RACE, {**RACE, "name": "Bt", "index": [16], "space": "global", "other_block": [0, 0], "other_access": "write"}),
    ("one_word_for_all", Verdict.RACE, {**RACE, "name": "Sum", "index": []}),
    ("one_word_for_all", Verdict.RACE, {**RACE, "name": "Sum", "index": [], "space": "global"}),
    ("race", Verdict.RACE, {**RACE, "name": "C", "index": [16, 8], "space": "global"}),
    ("copy_uncommitted", Verdict.RACE, {**RACE, "asynchronous": True, "access": "read", "other_access": "write"}),
    ("two_writers", Verdict.RACE, {**RACE, "other_access": "write"}),
    ("two_writers", Verdict.RACE, {**RACE, "name": "C", "index": [16, 8], "space": "global", "other_block": [0, 0], "other_access": "write"}),
    ("unset_shared", Verdict.UNINITIALISED, {"name": "As", "index": [0, 3], **WHO}),
    ("unset_lane", Verdict.UNINITIALISED, {"lane": 5, "why": "unnamed", **WHO}),
    ("unset_lane", Verdict.UNINITIALISED, {"lane": 5, "why": "returned", "output": "", **WHO}),
    ("unset_lane", Verdict.UNINITIALISED, {"lane": 20, "why": "missing", **WHO}),
    ("unset_output", Verdict.UNINITIALISED, {"name": "C", "index": [16, 8], **WHO}),
    ("assertion", Verdict.CRASH, {"expression": "row < M", **WHO}),
    ("assertion", Verdict.CRASH, {"expression": "", "thread": [], "block": []}),
    ("trap", Verdict.CRASH, WHO),
    ("stack_overflow", Verdict.CRASH, WHO),
    ("signal", Verdict.CRASH, {"name": "SIGFPE", **WHO}),
    ("gpu_error", Verdict.CRASH, {"code": 719, "name": "CUDA_ERROR_LAUNCH_FAILED"}),
    ("timeout", Verdict.TIMEOUT, {"limit_s": 10.0, **WHO}),
    ("timeout_all", Verdict.TIMEOUT, {"limit_s": 60.0, "shapes": 40}),
    ("timeout_gpu", Verdict.TIMEOUT, {"limit_s": 10.0}),
    ("output_limit", Verdict.OUTPUT_LIMIT, {"limit_bytes": 1 << 20}),
    ("lanes_missed", Verdict.DIVERGENT_BARRIER, {"missing": 31, "other_at": "barrier", "other": [9, 9], **WHO}),
    ("lanes_missed", Verdict.DIVERGENT_BARRIER, {"missing": 1, "other_at": "waits", "other": [9, 9], **WHO}),
    ("lane_not_in_mask", Verdict.DIVERGENT_BARRIER, {"mask": 0xffff, "lane": 16, **WHO}),
    ("barrier_missed", Verdict.DIVERGENT_BARRIER, {"missing": 56, "other": [9, 9], **WHO}),
    ("barrier_split", Verdict.DIVERGENT_BARRIER, {"missing": 0, "other": [9, 9], **WHO}),
    ("async_copy_size", Verdict.CRASH, {"bytes": 12, "zero_filled": 0, **WHO}),
    ("not_deterministic", Verdict.NOT_DETERMINISTIC, {"row": 1, "col": 2, "first": 3.0, "second": "nan", "count": 4, "of": 153}),
    ("nothing_written", Verdict.WRONG_ANSWER, {**ELEMENT, "partial": True, "tile": [16, 16]}),
    ("nothing_written", Verdict.WRONG_ANSWER, {**ELEMENT, "partial": False, "tile": [16, 16]}),
    ("unwritten_last_rows", Verdict.WRONG_ANSWER, TAIL),
    ("unwritten_last_cols", Verdict.WRONG_ANSWER, TAIL),
    ("unwritten_last_rows_and_cols", Verdict.WRONG_ANSWER, TAIL),
    ("unwritten_last_corner", Verdict.WRONG_ANSWER, TAIL),
    ("unwritten_blocks", Verdict.WRONG_ANSWER, {**ELEMENT, "blocks": 3, "of_blocks": 4}),
    ("unwritten_zeros", Verdict.WRONG_ANSWER, ELEMENT),
    ("unwritten_places", Verdict.WRONG_ANSWER, {**ELEMENT, "places": 32, "of_places": 64}),
    ("unwritten_places", Verdict.WRONG_ANSWER, {**ELEMENT, "places": 32, "of_places": 64, "tile_is_block": True}),
    ("unwritten_places", Verdict.WRONG_ANSWER, {**ELEMENT, "places": 32, "of_places": 64, "swapped_tile": True}),
    ("unwritten_somewhere", Verdict.WRONG_ANSWER, ELEMENT),
    ("unwritten_beyond", Verdict.WRONG_ANSWER, {**ELEMENT, "corner": [64, 64], "tile": [256, 256]}),
    ("axes_swapped", Verdict.WRONG_ANSWER, {**ELEMENT, **CUT, "causes": ["bounds"]}),
    ("axes_swapped", Verdict.WRONG_ANSWER, {**ELEMENT, **CUT, "causes": ["blocks", "one_line_of_blocks"]}),
    ("axes_swapped", Verdict.WRONG_ANSWER, {**ELEMENT, **CUT, "causes": ["axes", "bounds", "part_of_tile"]}),
    ("swapped_parameters", Verdict.WRONG_ANSWER, {**ELEMENT, "order": ["M", "K", "N"]}),
    ("wrong_stride", Verdict.WRONG_ANSWER, {**ELEMENT, "operand": "A", "used": "A[row * N + k]"}),
    ("wrong_stride", Verdict.WRONG_ANSWER, {**ELEMENT, "operand": "A", "used": "A[row * M + k]", "stride_is": ["M", "tile_m"]}),
    ("wrong_stride", Verdict.WRONG_ANSWER, {**ELEMENT, "operand": "C", "used": "C[row * M + col]"}),
    ("b_other_layout", Verdict.WRONG_ANSWER, {**ELEMENT, "stored": "NxK", "read_as": "KxN"}),
    ("b_other_layout", Verdict.WRONG_ANSWER, {**ELEMENT, "stored": "KxN", "read_as": "NxK", "turned_tile": 16}),
    ("wrong_stride", Verdict.WRONG_ANSWER, {**ELEMENT, "operand": "A", "used": "A[k * M + row]", "turned_tile": 16}),
    ("transposed", Verdict.WRONG_ANSWER, ELEMENT),
    ("tile_transposed", Verdict.WRONG_ANSWER, {**ELEMENT, "operand": "B", "tile": 16}),
    ("tile_transposed", Verdict.WRONG_ANSWER, {**ELEMENT, "operand": "C", "tile": 64, "or_tiles": [4]}),
    ("shifted", Verdict.WRONG_ANSWER, {**ELEMENT, "down": 1, "right": -1}),
    ("shifted", Verdict.WRONG_ANSWER, {**ELEMENT, "down": 0, "right": 1}),
    ("all_alike", Verdict.WRONG_ANSWER, {**ELEMENT, "lines": "rows", "index": "row"}),
    ("all_zero", Verdict.WRONG_ANSWER, {**ELEMENT, "sizes": [32, 32, 3], "tile": [16, 16, 16]}),
    ("all_zero", Verdict.WRONG_ANSWER, {**ELEMENT, "sizes": [32, 1, 32], "tile": [16, 16, 16]}),
    ("all_zero", Verdict.WRONG_ANSWER, {**ELEMENT, "sizes": [1, 1, 1], "tile": [16, 16, 16]}),
    ("all_zero", Verdict.WRONG_ANSWER, {**ELEMENT, "sizes": [32, 32, 32], "tile": [16, 16, 16]}),
    ("whole_numbers", Verdict.WRONG_ANSWER, ELEMENT),
    ("k_tail_dropped", Verdict.WRONG_ANSWER, {**ELEMENT, "used": 16, "k": 17}),
    ("last_k_tile_missing", Verdict.WRONG_ANSWER, {**ELEMENT, "used": 16, "k": 32}),
    ("last_k_tile_missing", Verdict.WRONG_ANSWER, {**ELEMENT, "used": 16, "k": 32, "sizes": ["M", "N"]}),
    ("last_k_missing", Verdict.WRONG_ANSWER, {**ELEMENT, "used": 1, "k": 2}),
    ("first_k_tile_only", Verdict.WRONG_ANSWER, {**ELEMENT, "used": 16, "k": 64}),
    ("k_stops_early", Verdict.WRONG_ANSWER, {**ELEMENT, "used": 9, "k": 64}),
    ("first_k_step_missing", Verdict.WRONG_ANSWER, {**ELEMENT, "skipped": 16, "used": 48, "k": 64}),
    ("only_last_k_step", Verdict.WRONG_ANSWER, {**ELEMENT, "skipped": 48, "used": 16, "k": 64}),
    ("only_last_term", Verdict.WRONG_ANSWER, {**ELEMENT, "skipped": 63, "used": 1, "k": 64}),
    ("b_other_layout_turned", Verdict.WRONG_ANSWER, {**ELEMENT, "stored": "NxK", "tile": 16}),
    ("other_thread_index", Verdict.WRONG_ANSWER, {**ELEMENT, "used": "y", "line": "column", "operand": "B"}),
    ("tiles_alike", Verdict.WRONG_ANSWER, {**ELEMENT, "tile": [16, 16]}),
    ("even_terms_only", Verdict.WRONG_ANSWER, ELEMENT),
    ("odd_terms_only", Verdict.WRONG_ANSWER, ELEMENT),
    ("step_of_words", Verdict.WRONG_ANSWER, ELEMENT),
    ("steps_by_one", Verdict.WRONG_ANSWER, {**ELEMENT, "tile_k": 16}),
    ("k_starts_late", Verdict.WRONG_ANSWER, {**ELEMENT, "skipped": 9, "used": 55, "k": 64}),
    ("tile_stops_early", Verdict.WRONG_ANSWER, {**ELEMENT, "first_place": 0, "last_place": 14, "tile_k": 16}),
    ("tile_starts_late", Verdict.WRONG_ANSWER, {**ELEMENT, "first_place": 15, "last_place": 15, "tile_k": 16}),
    ("wrong_parts", Verdict.WRONG_ANSWER, {**ELEMENT, "parts": 12, "of_parts": 16, "part": [16, 16], "in_tile": [0, 16]}),
    ("unwritten_parts", Verdict.WRONG_ANSWER, {**ELEMENT, "parts": 1, "of_parts": 2, "part": [16, 16], "in_tile": [0, 16]}),
    ("k_step_missing", Verdict.WRONG_ANSWER, SPAN),
    ("k_step_missing", Verdict.WRONG_ANSWER, {**ELEMENT, "first_k": 8, "last_k": 8, "k": 16}),
    ("places_again", Verdict.WRONG_ANSWER, {**ELEMENT, "operand": "A", "used": 1, "tile_k": 8}),
    ("places_again", Verdict.WRONG_ANSWER, {**ELEMENT, "operand": "A and B", "used": 4, "tile_k": 8}),
    ("k_step_twice", Verdict.WRONG_ANSWER, {**SPAN, "last_k": 8}),
    ("k_step_stale", Verdict.WRONG_ANSWER, {**SPAN, "used_step": 0}),
    ("lines_moved", Verdict.WRONG_ANSWER, {**ELEMENT, "line": "column", "to": 16, "of": 1}),
    ("lines_repeated", Verdict.WRONG_ANSWER, {**ELEMENT, "line": "row", "to": 3, "of": 1}),
    ("own_place", Verdict.WRONG_ANSWER, {**ELEMENT, "operand": "A", "line": "row"}),
    ("crossed_terms", Verdict.WRONG_ANSWER, {**ELEMENT, "by": 4, "operand": "B", "here": 3, "other": 2}),
    ("sum_carried_on", Verdict.WRONG_ANSWER, {**ELEMENT, "distance": 16, "lines": "columns"}),
    ("first_step_again", Verdict.WRONG_ANSWER, {**ELEMENT, "operand": "A and B"}),
    ("k_tail_stale", Verdict.WRONG_ANSWER, {**ELEMENT, "k": 17, "full": 16, "lag": 1, "by_one": True}),
    ("k_tail_stale", Verdict.WRONG_ANSWER, {**ELEMENT, "k": 19, "full": 16, "lag": 1, "by_one": False}),
    ("k_tail_unguarded", Verdict.WRONG_ANSWER, {**ELEMENT, "operand": "A and B", "k": 17, "end": 32}),
    ("k_one_too_far", Verdict.WRONG_ANSWER, {**ELEMENT, "operand": "A and B", "k": 17, "end": 18}),
    ("k_loop_bound", Verdict.WRONG_ANSWER, {**ELEMENT, "bound": "N", "end": 40, "k": 17}),
    ("accumulates_into_c", Verdict.WRONG_ANSWER, {**ELEMENT, "got": "NaN"}),
    ("accumulates_into_c", Verdict.WRONG_ANSWER, {**ELEMENT, "got": 1027.5, "offset": 1024.5}),
    ("shared_memory_unset", Verdict.WRONG_ANSWER, {**ELEMENT, "got": "NaN"}),
    ("unset_variable", Verdict.UNINITIALISED, {**ELEMENT, "got": "NaN"}),
    ("nan_everywhere", Verdict.WRONG_ANSWER, {**ELEMENT, "got": "NaN", "k": 17, "tile_k": 16}),
    ("reads_past_end", Verdict.WRONG_ANSWER, {**ELEMENT, "got": "NaN", "operand": "A or B", "k": 16, "tile_k": 16}),
    ("nan_somewhere", Verdict.WRONG_ANSWER, {**ELEMENT, "got": "NaN"}),
    ("infinite", Verdict.WRONG_ANSWER, {**ELEMENT, "got": "infinity"}),
    ("constant_factor", Verdict.WRONG_ANSWER, {**ELEMENT, "factor": 2.0}),
    ("constant_offset", Verdict.WRONG_ANSWER, {**ELEMENT, "offset": -1.0}),
    ("reduced_factors", Verdict.REDUCED_PRECISION, {**LOST, "format": "TF32 or FP16", "bits": 10}),
    ("reduced_result", Verdict.REDUCED_PRECISION, {**LOST, "format": "BF16", "bits": 7}),
    ("blurred", Verdict.REDUCED_PRECISION, LOST),
    ("wrong_everywhere", Verdict.WRONG_ANSWER, ELEMENT),
    ("wrong_last_rows", Verdict.WRONG_ANSWER, TAIL),
    ("wrong_last_cols", Verdict.WRONG_ANSWER, TAIL),
    ("wrong_last_rows_and_cols", Verdict.WRONG_ANSWER, TAIL),
    ("wrong_last_corner", Verdict.WRONG_ANSWER, TAIL),
    ("wrong_blocks", Verdict.WRONG_ANSWER, {**ELEMENT, "blocks": 1, "of_blocks": 9}),
    ("wrong_places", Verdict.WRONG_ANSWER, {**ELEMENT, "places": 8, "of_places": 64}),
    ("wrong_somewhere", Verdict.WRONG_ANSWER, ELEMENT),
    ("uncoalesced", Verdict.UNCOALESCED, {"name": "B", "access": "load", "ratio": 8.0, "sectors_per_request": 32.0, "ideal": 4.0, "words_apart": 40}),
    ("uncoalesced", Verdict.UNCOALESCED, {"name": "C", "access": "store", "ratio": 1.6, "sectors_per_request": 6.4666, "ideal": 4.0, "words_apart": 2}),
    ("ragged_rows", Verdict.UNCOALESCED, {"name": "A", "access": "load", "ratio": 1.71, "sectors_per_request": 5.56, "ideal": 3.25, "words_per_request": 25.0, "size": "tile_k", "row_words": 10}),
    ("ragged_rows", Verdict.UNCOALESCED, {"name": "C", "access": "store", "ratio": 2.0, "sectors_per_request": 4.0, "ideal": 2.0, "words_per_request": 16.0, "size": "block_x", "row_words": 4}),
    ("too_much_traffic", Verdict.TOO_MUCH_TRAFFIC, {"name": "A", "access": "load", "words": 737280, "allowed": 46080, "ratio": 16.0, "tile_m": 16, "tile_n": 8}),
    ("too_much_traffic", Verdict.TOO_MUCH_TRAFFIC, {"name": "B", "access": "load", "words": 46081, "allowed": 46080, "ratio": 46081 / 46080, "tile_m": 16, "tile_n": 8}),
    ("few_lanes", Verdict.UNCOALESCED, {"name": "A", "access": "load", "ratio": 8.0, "sectors_per_request": 1.0, "ideal": 1.0, "words_per_request": 1.0}),
    ("few_lanes", Verdict.UNCOALESCED, {"name": "C", "access": "store", "ratio": 2.6666, "sectors_per_request": 1.0, "ideal": 1.0, "words_per_request": 3.0}),
    ("variable_traffic", Verdict.TOO_MUCH_TRAFFIC, {"name": "As", "access": "load", "words": 1720320, "allowed": 116480}),
    ("output_traffic", Verdict.TOO_MUCH_TRAFFIC, {"name": "C", "access": "store", "words": 405504, "stored": 405504, "loaded": 393216, "elements": 12288, "ratio": 33.0}),
    ("output_traffic", Verdict.TOO_MUCH_TRAFFIC, {"name": "C", "access": "store", "words": 36864, "stored": 36864, "loaded": 0, "elements": 12288, "ratio": 3.0}),
    ("one_step_more", Verdict.TOO_MUCH_TRAFFIC, {"name": "A", "access": "load", "words": 50176, "allowed": 43008, "ratio": 7 / 6, "tile_m": 16, "tile_n": 16, "tile_k": 16}),
    ("unnamed_depth", Verdict.TOO_MUCH_TRAFFIC, {"name": "A", "access": "load", "words": 12288, "allowed": 10176, "ratio": 1.2075, "tile_m": 16, "tile_n": 16}),
    ("surplus_steps", Verdict.TOO_MUCH_TRAFFIC, {"name": "As", "access": "store", "words": 2_048_000, "allowed": 128_000, "ratio": 16.0, "k": 112}),
    ("shared_wavefronts", Verdict.TOO_MUCH_TRAFFIC, {"name": "As", "access": "load", "wavefronts": 104.125, "limit": 4.0}),
    ("tile_too_small", Verdict.TOO_MUCH_TRAFFIC, {"tile_m": 16, "tile_n": 4, "least_m": 8, "least_n": 8}),
    ("uncounted", Verdict.TOO_MUCH_TRAFFIC, {"accesses": 4096}),
    ("bank_conflicts", Verdict.BANK_CONFLICTS, {"name": "Bs", "access": "load", "share": 31 / 33, "merged_share": 0.77, "wavefronts_per_request": 32.0, "ideal": 1.0}),
    ("too_slow", Verdict.TOO_SLOW, {"speedup": 1.12, "low": 1.11, "high": 1.13, "steady": True, "minimum": 1.38, "full": 1.54}),
    ("too_slow", Verdict.TOO_SLOW, {"speedup": 11.2, "low": 10.1, "high": 12.3, "steady": False, "minimum": 11.8, "full": 12.4}),
    ("timed_wrong", Verdict.WRONG_ANSWER, {"count": 1, "row": 4095, "launch": 1, "rows": 4096}),
    ("timed_inputs_changed", Verdict.INPUT_MODIFIED, {"count": 3, "launch": 1, "rows": 4096}),
    ("timed_guards_written", Verdict.OUT_OF_BOUNDS, {"count": 1, "launch": 1, "rows": 4096}),
    ("later_timed_wrong", Verdict.REPLAY, {"count": 4096, "row": 0, "launch": 12, "rows": 4096}),
    ("later_timed_inputs_changed", Verdict.REPLAY, {"count": 1, "launch": 12, "rows": 4096}),
    ("later_timed_guards_written", Verdict.REPLAY, {"count": 7, "launch": 12, "rows": 4096}),
    ("impossible_speed", Verdict.REPLAY, {"seconds": 3.1e-5, "bound_s": 2.051e-3}),
]  # fmt: skip

# The judge and the devices see these on a launch, so a shape is known.
BEFORE_LAUNCH = {
    Verdict.REJECTED,
    Verdict.COMPILE_ERROR,
    Verdict.MISSING_KERNEL,
    Verdict.WRONG_SIGNATURE,
    Verdict.BAD_LAUNCH,
}
# Seen at a shape, but true of every shape.
OF_THE_FILE = {"tile_too_small"}


def finding(kind: str, verdict: Verdict, facts: Mapping[str, Any]) -> Finding:
    shape = None if verdict in BEFORE_LAUNCH else Shape(17, 9, 4)
    return Finding(verdict, kind, MappingProxyType(dict(facts)), shape=shape)


@pytest.mark.parametrize("kind, verdict, facts", EXAMPLES)
def test_a_message_is_a_short_plain_sentence_with_its_shape(
    kind: str, verdict: Verdict, facts: Mapping[str, Any]
) -> None:
    message = describe(finding(kind, verdict, facts), exercise())
    text = message.text
    assert 20 < len(text) < 400
    assert text.endswith((".", "?"))
    assert text[0].isupper() or text.startswith(("g++", "nvcc", "#include", "#embed", "__has"))
    assert "None" not in text
    assert not re.search(r"[{}\n]|  |\.\.$|'\]|\['", text), text
    assert ("M=17 N=9 K=4" in text) is (verdict not in BEFORE_LAUNCH and kind not in OF_THE_FILE)
    assert message.hint.endswith((".", "?"))


def test_every_kind_has_an_example_here() -> None:
    assert {kind for kind, _, _ in EXAMPLES} == set(TEXTS)


def test_an_output_that_is_only_stored_is_not_asked_where_its_sum_lives() -> None:
    facts = {"stored": 36864, "elements": 12288, "ratio": 3.0}
    stored = finding("output_traffic", Verdict.TOO_MUCH_TRAFFIC, {**facts, "loaded": 0})
    message = describe(stored, exercise())
    assert message.text.endswith("Which loop does that store stand in?")
    assert "loaded" not in message.hint
    both = finding("output_traffic", Verdict.TOO_MUCH_TRAFFIC, {**facts, "loaded": 36864})
    assert "loaded and stored each time" in describe(both, exercise()).hint


@pytest.mark.parametrize("kind", ["wrong_parts", "wrong_places"])
def test_where_some_outputs_are_right_nobody_is_asked_for_strides(kind: str) -> None:
    (facts, *_) = (facts for name, _, facts in EXAMPLES if name == kind)
    hints = {"wrong_answer": "Is that the stride that you use?"}
    hint = describe(finding(kind, Verdict.WRONG_ANSWER, facts), exercise(hints=hints)).hint
    assert "one element that is right and one that is wrong" in hint


def test_where_a_tile_is_too_large_nobody_is_asked_which_thread_should_write_the_rest() -> None:
    (facts, *_) = (facts for name, _, facts in EXAMPLES if name == "unwritten_beyond")
    hint = describe(finding("unwritten_beyond", Verdict.WRONG_ANSWER, facts), exercise()).hint
    assert "tile_m x tile_n" in hint


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(KeyError):
        describe(Finding(Verdict.CRASH, "no_such_kind"), exercise())


def test_a_tail_is_told_as_fact_place_and_question() -> None:
    facts = {**TAIL, "full_rows": 16}
    found = Finding(Verdict.WRONG_ANSWER, "unwritten_last_rows", facts, shape=Shape(17, 1, 4))
    assert describe(found, exercise()).text == (
        "C[16][0] was never written (M=17 N=1 K=4). Row 16 lies past the last full tile: does any "
        "thread compute it?"
    )


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (
            {},
            "As[0][3]: read by thread (9, 2), overwritten by thread (3, 0) of block (0, 1), no "
            "barrier between (M=17 N=9 K=4). What makes thread (3, 0) wait until the others have "
            "read it?",
        ),
        (
            {"access": "read", "other_access": "write", "other": [1, 0], "same_warp": True},
            "As[0][3]: written by thread (1, 0), read by thread (3, 0) of block (0, 1), no "
            "barrier between, and being lanes of one warp orders nothing (M=17 N=9 K=4). What "
            "makes thread (3, 0) wait until it is written?",
        ),
        (
            {"space": "global", "name": "C"},
            "C[0][3]: read by thread (9, 2), written by thread (3, 0) of block (0, 1), no barrier "
            "between (M=17 N=9 K=4). Which of the two must come first, and what makes the other "
            "one wait?",
        ),
        (
            {"access": "read", "other_access": "write", "asynchronous": True},
            "As[0][3]: an asynchronous copy of thread (9, 2) was still under way when it was read "
            "by thread (3, 0) (M=17 N=9 K=4). Which wait and which barrier come before that?",
        ),
    ],
    ids=["between warps", "in one warp", "in C", "asynchronous"],
)
def test_a_race_names_both_parties_and_what_is_missing(facts: Mapping[str, Any], text: str) -> None:
    assert describe(finding("race", Verdict.RACE, {**RACE, **facts}), exercise()).text == text


@pytest.mark.parametrize(
    ("facts", "lines", "text"),
    [
        (
            {},
            (11, 11),
            "As[0][3]: written by thread (9, 2) and by thread (3, 0) of block (0, 1), with "
            "different values and in no order (M=17 N=9 K=4). Which of the two threads is to "
            "write it?",
        ),
        (
            {"name": "smem"},
            (12, 11),
            "smem[0][3]: written by thread (9, 2) and by thread (3, 0) of block (0, 1), with "
            "different values and in no order (M=17 N=9 K=4). Do both lines mean this word? If "
            "not, where do their arrays begin and end?",
        ),
        (
            {"dims": [16, 16], "index": [1, 0]},
            (11, 12),
            "As[1][0]: written by thread (9, 2) and by thread (3, 0) of block (0, 1), with "
            "different values and in no order (M=17 N=9 K=4). Do both lines mean this word? It is "
            "also As[0][16]: does one of them run past the end of a row?",
        ),
        (
            {"space": "global", "name": "C", "other_block": [1, 1]},
            (11, 12),
            "C[0][3]: written by thread (9, 2) of block (1, 1) and by thread (3, 0) of block "
            "(0, 1), with different values and in no order (M=17 N=9 K=4). Which block does this "
            "element belong to?",
        ),
    ],
    ids=["one line", "two arrays", "two rows", "two blocks"],
)
def test_two_writers_are_not_asked_for_a_barrier(
    facts: Mapping[str, Any], lines: tuple[int, int], text: str
) -> None:
    hints = {"race": "Count your barriers."}
    places = tuple(Location("starter/02_tiled.cu", line, "write") for line in lines)
    facts = {**RACE, "other_access": "write", **facts}
    found = Finding(Verdict.RACE, "two_writers", facts, places, Shape(17, 9, 4))
    message = describe(found, exercise(hints=hints))
    assert message.text == text
    assert "barrier" not in message.hint


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("C", "Which block does this element belong to?"),
        ("scratch", "Does each block need a part of its own there, or to read what others wrote?"),
    ],
)
def test_two_blocks_are_not_asked_for_a_barrier_that_would_not_order_them(
    name: str, question: str
) -> None:
    facts = {**RACE, "space": "global", "name": name, "other_block": [1, 1]}
    message = describe(
        finding("race_of_blocks", Verdict.RACE, facts), exercise(hints={"race": "Count barriers."})
    )
    assert message.text == (
        f"{name}[0][3]: read by thread (9, 2) of block (1, 1) and written by thread (3, 0) of "
        f"block (0, 1); nothing orders two blocks (M=17 N=9 K=4). {question}"
    )
    assert "of one block only" in message.hint


@pytest.mark.parametrize("kind", ["one_word_for_all", "repeated_store"])
def test_what_no_barrier_mends_is_not_told_with_the_hint_on_barriers(kind: str) -> None:
    (facts, *_) = (facts for name, _, facts in EXAMPLES if name == kind)
    hints = {"race": "Count your barriers."}
    assert "arriers" not in describe(finding(kind, Verdict.RACE, facts), exercise(hints=hints)).hint


def test_c_of_zeros_asks_for_k_only_where_k_alone_fills_no_tile() -> None:
    def said(sizes: list[int]) -> str:
        facts = {**ELEMENT, "sizes": sizes, "tile": [16, 16, 16]}
        return describe(finding("all_zero", Verdict.WRONG_ANSWER, facts), exercise()).text

    assert "K=3 is less than one step of 16: how often does the loop over K run?" in said(
        [32, 32, 3]
    )
    assert "M, N and K fill no whole tile here (16 x 16 x 16)" in said([1, 1, 1])
    assert "N fills no whole tile" in said([32, 1, 32])
    assert "fill" not in said([32, 32, 32])
    assert "Do the tiles hold what was loaded when they are read" in said([32, 32, 32])


def test_an_index_before_the_start_is_not_asked_for_a_guard_at_the_end() -> None:
    hints = {"out_of_bounds": "The last blocks reach past the edge."}
    facts = {**GLOBAL, "access": "read", "index": -1, "row": -1, "col": -1}
    message = describe(
        finding("global_access", Verdict.OUT_OF_BOUNDS, facts), exercise(hints=hints)
    )
    assert "1 element before the start of A" in message.text
    assert message.text.endswith("is below 0, and has every variable in it a first value?")
    assert "below 0" in message.hint


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ('expression must have pointer-to-object type but it has type "float"', "one index"),
        ("invalid types 'const float[int]' for array subscript", "one index"),
        ("subscripted value is not an array, pointer, or vector", "one index"),
        ("expression must have a constant value", "when the file is compiled"),
        ("storage size of 'As' isn't constant", "when the file is compiled"),
        ("variable length array declaration cannot have 'static' storage", "when the file"),
        ("expression must have arithmetic or unscoped enum type", "brackets of its own"),
        ("invalid operands of types 'float' and 'float [16]' to binary 'operator*'", "brackets"),
        ("invalid operands to binary expression ('float' and 'float[16]')", "brackets"),
        ("incompatible types in assignment of 'float' to 'float [16]'", "brackets"),
        ("array type 'float[16]' is not assignable", "brackets"),
        ("invalid operands of types 'float' and 'int' to binary 'operator%'", "semicolon"),
        ("expected ';' before '}' token", "semicolon"),
        ('no operator "*" matches these operands', "members"),
        ("no match for 'operator*' (operand types are 'float4' and 'float4')", "members"),
        ("invalid operands to binary expression ('float4' and 'float4')", "members"),
        ("expression must be a modifiable lvalue", "cannot be changed"),
        ("assignment of read-only location '*(C + [...])'", "cannot be changed"),
        ("cannot assign to variable 'C' with const-qualified type", "cannot be changed"),
        ("cannot overload functions distinguished by return type alone", "return"),
        ("ambiguating new declaration of 'float matmul(int)'", "return"),
        ("functions that differ only in their return type cannot be overloaded", "return"),
    ],
)
def test_what_a_compiler_says_decides_whether_a_semicolon_is_asked_for(
    words: str, hint: str
) -> None:
    facts = {"compiler": "g++", "message": words, "count": 1}
    said = describe(finding("compile_error", Verdict.COMPILE_ERROR, facts), exercise()).hint
    assert hint in said
    assert ("semicolon" in said) is (hint == "semicolon")


@pytest.mark.parametrize(
    ("block", "question"),
    [([0, 1], "They differ in blockIdx.y alone"), ([1, 1], "Every block has a tile of C")],
)
def test_two_blocks_that_store_one_element_are_told_by_what_they_differ_in(
    block: list[int], question: str
) -> None:
    facts = {**RACE, "name": "C", "index": [0, 0], "other_block": [0, 0], "block": block}
    assert question in describe(finding("repeated_store", Verdict.RACE, facts), exercise()).text


def test_a_word_past_a_tile_is_named_by_both_rows_that_lead_to_it() -> None:
    facts = {"access": "write", "variable": "As", "index": [16, 0], "bytes_past": 0}
    facts |= {"dims": [16, 16], "threads": [32, 32], **WHO}
    text = describe(finding("shared_access", Verdict.OUT_OF_BOUNDS, facts), exercise()).text
    assert "As[16][0] (or As[15][16]), right past the end of As, declared [16][16]" in text
    assert "also in the last of 32 x 32 threads?" in text


def test_a_variable_of_the_device_is_asked_for_where_c_shows_no_cause() -> None:
    kept = {"kept": "next_tile", "kept_line": 5}
    facts = {**ELEMENT, "partial": False, "tile": [16, 16], **kept}
    hint = describe(finding("nothing_written", Verdict.WRONG_ANSWER, facts), exercise()).hint
    assert "next_tile, declared in line 5" in hint
    known = finding("transposed", Verdict.WRONG_ANSWER, {**ELEMENT, **kept})
    assert "next_tile" not in describe(known, exercise()).hint


@pytest.mark.parametrize(("lines", "step"), [((16, 13), " in the next step"), ((16, 18), "")])
def test_a_word_that_is_overwritten_further_up_was_read_in_the_step_before(
    lines: tuple[int, int], step: str
) -> None:
    read, write = (Location("starter/02_tiled.cu", line) for line in lines)
    found = Finding(Verdict.RACE, "race", RACE, (read, write), Shape(17, 9, 4))
    text = describe(found, exercise()).text
    assert f"read by thread (9, 2), overwritten{step} by thread (3, 0)" in text


def test_a_vector_that_ends_outside_is_told_with_its_width() -> None:
    facts = {**GLOBAL, "access": "read", "index": 66, "row": 16, "col": 2, "bytes": 16}
    text = describe(finding("global_access", Verdict.OUT_OF_BOUNDS, facts), exercise()).text
    assert "reads 16 bytes at once from A[16][2]" in text
    assert "ends after 2 of these 4 elements" in text


def test_dynamic_shared_memory_is_told_with_the_bytes_that_were_asked_for() -> None:
    place = {"variable": "dynamic shared memory", "index": [128], "bytes_past": 0, "dims": [128]}
    facts = {"access": "write", **place, "dynamic_bytes": 512, **WHO}
    message = describe(finding("shared_access", Verdict.OUT_OF_BOUNDS, facts), exercise())
    assert ".dynamic_shared to 512 bytes" in message.text
    assert "a float has 4" in message.hint


def test_waste_is_told_in_numbers_and_what_they_mean() -> None:
    facts = {"name": "B", "access": "load", "sectors_per_request": 32.0, "ideal": 4.0}
    facts |= {"words_apart": 96}
    assert describe(finding("uncoalesced", Verdict.UNCOALESCED, facts), exercise()).text == (
        "Each warp-wide load of B touches 32 sectors of 32 bytes, 4 would do (M=17 N=9 K=4). Do "
        "neighbouring lanes (threadIdx.x) walk along a row of B, or down a column?"
    )


def test_lanes_a_few_words_apart_are_not_asked_whether_they_walk_down_a_column() -> None:
    facts = {"name": "B", "access": "load", "sectors_per_request": 16.0, "ideal": 4.0}
    facts |= {"words_apart": 4}
    assert describe(finding("uncoalesced", Verdict.UNCOALESCED, facts), exercise()).text == (
        "Each warp-wide load of B touches 16 sectors of 32 bytes, 4 would do (M=17 N=9 K=4). "
        "Neighbouring lanes (threadIdx.x) are 4 words apart along a row: which lane would best "
        "take the words between them?"
    )


def test_a_compile_error_names_its_line() -> None:
    facts = {"compiler": "nvcc", "message": 'expected a ";"', "count": 1}
    place = (Location("starter/02_tiled.cu", 28, "error"),)
    found = Finding(Verdict.COMPILE_ERROR, "compile_error", facts, place)
    assert 'line 28: expected a ";".' in describe(found, exercise()).text


def test_a_file_is_named_as_the_student_knows_it() -> None:
    place = (Location("starter/02_tiled.cu", 0),)
    found = Finding(Verdict.REJECTED, "empty_file", {}, place)
    assert describe(found, exercise()).text.startswith("starter/02_tiled.cu is empty. ")


def test_the_hint_for_a_kind_goes_before_that_for_its_verdict() -> None:
    both = {"unwritten_last_rows": "Of the kind.", "wrong_answer": "Of the verdict."}
    found = finding("unwritten_last_rows", Verdict.WRONG_ANSWER, TAIL)
    other = finding("wrong_everywhere", Verdict.WRONG_ANSWER, ELEMENT)
    assert describe(found, exercise(hints=both)).hint == "Of the kind."
    assert describe(other, exercise(hints=both)).hint == "Of the verdict."


def test_a_general_hint_does_not_contradict_a_diagnosis() -> None:
    hints = {"wrong_answer": "Of the verdict."}
    known = finding("transposed", Verdict.WRONG_ANSWER, ELEMENT)
    assert describe(known, exercise(hints=hints)).hint != "Of the verdict."


def test_only_the_compilers_own_words_have_the_hint_which_line_it_names() -> None:
    facts = {"compiler": "g++", "message": "expected ';'", "count": 1, "first": "block_y"}
    quoted = finding("compile_error", Verdict.COMPILE_ERROR, facts)
    assert "on that line or on the one above" in describe(quoted, exercise()).hint
    facts |= {"second": "block_x", "order": list(FIELDS)}
    explained = finding("config_order", Verdict.COMPILE_ERROR, facts)
    assert "compiler" not in describe(explained, exercise()).hint
    hints = {"compile_error": "Look above."}
    assert describe(quoted, exercise(hints=hints)).hint == "Look above."
    assert describe(explained, exercise(hints=hints)).hint != "Look above."


@pytest.mark.parametrize("kind", ["shared_access", "register_array"])
def test_an_index_past_an_array_of_the_kernel_is_not_asked_about_the_edges_of_a_matrix(
    kind: str,
) -> None:
    (facts, *_) = (facts for name, _, facts in EXAMPLES if name == kind)
    hints = {"out_of_bounds": "Is this row inside the matrix?"}
    hint = describe(finding(kind, Verdict.OUT_OF_BOUNDS, facts), exercise(hints=hints)).hint
    assert "array" in hint
    own = describe(finding(kind, Verdict.OUT_OF_BOUNDS, facts), exercise(hints={kind: "Own."}))
    assert own.hint == "Own."


def test_sizes_of_a_tile_that_are_those_of_the_block_are_not_asked_about() -> None:
    hints = {"unwritten_places": "Which of tile_m and tile_n goes with block_x?"}
    facts = {**ELEMENT, "places": 32, "of_places": 64}

    def hint(**more: bool) -> str:
        found = finding("unwritten_places", Verdict.WRONG_ANSWER, {**facts, **more})
        return describe(found, exercise(hints=hints)).hint

    assert hint() == hints["unwritten_places"]
    assert "what keeps it from that" in hint(tile_is_block=True)


def test_where_c_has_two_writers_nobody_is_asked_where_shared_arrays_begin() -> None:
    found = finding("two_writers", Verdict.RACE, {**RACE, "other_access": "write"})
    of_c = finding("two_writers", Verdict.RACE, {**found.facts, "name": "C", "space": "global"})
    assert "share one piece of memory" in describe(found, exercise()).hint
    assert "share one piece of memory" not in describe(of_c, exercise()).hint


def test_a_store_that_is_repeated_by_accident_is_told_after_different_values() -> None:
    pair = [finding(kind, Verdict.RACE, RACE) for kind in ("repeated_store", "two_writers")]
    assert [one.kind for one in ordered(pair)] == ["two_writers", "repeated_store"]


@pytest.mark.parametrize("kind", ["nothing_written", "unwritten_places", "axes_swapped"])
def test_of_an_element_that_nobody_writes_is_not_asked_which_thread_computes_it(kind: str) -> None:
    (facts, *_) = (facts for name, _, facts in EXAMPLES if name == kind)
    message = describe(finding(kind, Verdict.WRONG_ANSWER, facts), exercise())
    assert "which thread compute" not in message.hint
    assert "what keeps it from that" in message.hint


def test_without_hints_a_case_that_can_be_printed_is_offered_to_look_at() -> None:
    small = Finding(Verdict.WRONG_ANSWER, "transposed", ELEMENT, shape=Shape(3, 4, 5))
    large = Finding(Verdict.WRONG_ANSWER, "transposed", ELEMENT, shape=Shape(33, 4, 5))
    assert "make run EX=tiled SHAPE=3x4x5" in describe(small, exercise()).hint
    assert "make run" not in describe(large, exercise()).hint
    waste = {"name": "B", "access": "load", "sectors_per_request": 32.0, "ideal": 4.0}
    waste |= {"words_apart": 0}
    counted = finding("uncoalesced", Verdict.UNCOALESCED, waste)
    assert "make inspect EX=tiled" in describe(counted, exercise()).hint
