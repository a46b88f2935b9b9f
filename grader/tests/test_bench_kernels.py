"""`make bench EX=...`: wrong kernels are not measured, right ones with all that is there."""

from __future__ import annotations

import argparse
import io
import json
import re
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from grader import cli
from grader.bench import chart, cpu, kernels, listing, plot, report, subject
from grader.bench.clock import SIZES, Clock, LeftOut, ShapeTimes, usual_shapes
from grader.bench.cpu import Processor
from grader.bench.preparation import Refusal
from grader.bench.progress import silent, steps
from grader.bench.report import Machine, Report, measure
from grader.checks.plan import Entry
from grader.checks.trial import count_shape
from grader.counters import total
from grader.device import Build
from grader.exercise import PROJECT, find, load_all
from grader.finding import GraderFault
from grader.problems.matmul import Shape
from grader.tests import simulated
from grader.tests.fake_device import (
    CONFIG,
    OUTSIDE,
    SYNTAX,
    TARGET,
    FakeDevice,
    an_entry,
    ragged,
    seen_at,
    wrong_at,
)
from grader.tests.fake_stopwatch import FakeStopwatch, TimedDevice, wrong_after
from grader.timing import roofline
from grader.timing.roofline import Roof
from grader.verdict import Verdict

ROOF = Roof("Fake GPU", 67e3, 4800.0, "its clocks and its bus")
SMALL = (Shape(512, 512, 512), Shape(1024, 1024, 1024))


def found(machine: Machine, **more: Any) -> Report | Refusal:
    return measure(an_entry(), machine, silent, **more)


def on_gpu(gpu: TimedDevice, **more: Any) -> Report:
    made = found(Machine(TARGET, FakeDevice(), gpu), **{"shapes": SMALL, **more})
    assert isinstance(made, Report)
    return made


def refused(*devices: FakeDevice, **more: Any) -> Refusal:
    simulator, gpu = devices[0], devices[1] if len(devices) > 1 else None
    assert gpu is None or isinstance(gpu, TimedDevice)
    made = found(Machine(TARGET, simulator, gpu), **more)
    assert isinstance(made, Refusal)
    return made


def shown(made: Report, plain: bool = True, width: int = 100) -> str:
    screen = Console(width=width, record=True, file=io.StringIO())
    kernels.print_report(made, screen, plain)
    return screen.export_text()


def with_cublas(build: Build, shape: Shape) -> FakeStopwatch:
    baseline_s = 0.026 * shape.multiply_adds / 4096**3
    return FakeStopwatch(shape, 4.0, baseline_s=baseline_s, cublas_s=baseline_s / 8)


def test_a_kernel_that_does_not_compile_is_not_measured() -> None:
    broken = FakeDevice()
    broken.refuse = (SYNTAX,)
    refusal = refused(broken)
    assert (refusal.check, refusal.finding.verdict) == ("compiles", Verdict.COMPILE_ERROR)


def test_a_kernel_that_is_wrong_for_whole_tiles_is_not_measured_and_the_command_is_named() -> None:
    gpu = TimedDevice()
    refusal = refused(FakeDevice(wrong_at(lambda shape: not ragged(shape))), gpu)
    assert refusal.check == "whole_tiles"
    assert gpu.opened == []
    told = "\n".join(line.text for line in listing.refusal_lines(refusal, "tiled", " SUBMISSION=x"))
    assert "Not measured: the check whole tiles fails: wrong_answer" in told
    assert f"Next: make test EX=tiled SHAPE={refusal.finding.shape} SUBMISSION=x" in told


def test_a_kernel_that_writes_outside_fails_safe() -> None:
    refusal = refused(FakeDevice(seen_at(lambda shape: True, OUTSIDE)))
    assert (refusal.check, refusal.finding.verdict) == ("safe", Verdict.OUT_OF_BOUNDS)


def test_a_kernel_that_only_the_gpu_gets_wrong_is_not_measured() -> None:
    gpu = TimedDevice(behave=wrong_at(lambda shape: not ragged(shape)))
    assert refused(FakeDevice(), gpu).check == "whole_tiles"


def test_a_kernel_without_guards_is_measured_for_whole_tiles_alone() -> None:
    edgeless = FakeDevice(wrong_at(ragged))
    made = found(Machine(TARGET, edgeless, TimedDevice()))
    assert isinstance(made, Report)
    assert len(made.rows) == len(SIZES)
    for row in made.rows:
        assert not any(size % 8 for size in row.shape)
    assert "Right for whole tiles only" in shown(made)


def test_a_timed_launch_that_is_wrong_stops_the_measurement() -> None:
    def make(build: Build, shape: Shape) -> FakeStopwatch:
        return FakeStopwatch(shape, noise=wrong_after(3, wrong_rows=12, first_wrong_row=3))

    refusal = refused(FakeDevice(), TimedDevice(make=make), shapes=SMALL)
    assert (refusal.check, refusal.finding.verdict) == ("fast", Verdict.REPLAY)


def test_times_are_those_of_the_stopwatch_and_every_stopwatch_is_closed() -> None:
    gpu = TimedDevice(make=with_cublas)
    made = on_gpu(gpu)
    assert [row.shape for row in made.rows] == list(SMALL)
    for row in made.rows:
        assert isinstance(row, ShapeTimes)
        assert row.speedup == pytest.approx(4.0, rel=0.01)
        assert row.cublas_s / row.student_s == pytest.approx(0.5, rel=0.02)
        expected = 2 * row.shape.multiply_adds / row.student_s / 1e9
        assert row.gflops == pytest.approx(expected)
    assert all(watch.closed for watch in gpu.opened)
    text = shown(made)
    assert "Fake GPU: 67,000 GFLOP/s at most; 1980 MHz, 45 C, 600 W" in text
    assert "of cuBLAS 50%" in text or "of cuBLAS 51%" in text
    assert "x naive 4.0" in text or "x naive 3.9" in text


def test_without_cublas_the_other_columns_stay_and_its_absence_is_said() -> None:
    text = shown(on_gpu(TimedDevice()))
    assert "cuBLAS was not found" in text
    assert "of cuBLAS" not in text


def test_the_usual_shapes_are_squares_up_to_8192_and_ragged_neighbours() -> None:
    shapes = usual_shapes(CONFIG, ragged=True)
    assert {Shape(size, size, size) for size in SIZES} <= set(shapes)
    assert (min(SIZES), max(SIZES)) == (512, 8192)
    assert Shape(4095, 4097, 4093) in shapes
    tiles_of_24 = replace(CONFIG, tile_m=24)
    assert all(shape.m % 24 == 0 for shape in usual_shapes(tiles_of_24, ragged=False))


def test_what_does_not_fit_or_takes_too_long_is_left_out_with_the_reason() -> None:
    full = TimedDevice()
    full.room = False
    (row,) = on_gpu(full, shapes=SMALL[:1]).rows
    assert isinstance(row, LeftOut)
    slow = TimedDevice(speedup=0.001)
    first, second = on_gpu(slow, shapes=(Shape(1024, 1024, 1024), Shape(4096, 4096, 4096))).rows
    assert isinstance(first, ShapeTimes)
    assert isinstance(second, LeftOut)
    assert "one launch would take about 26" in second.reason
    assert len(slow.opened) == 1
    assert "4096x4096x4096: left out, one launch" in shown(
        on_gpu(slow, shapes=(*SMALL, second.shape))
    )


def test_numpy_is_not_waited_for_when_it_would_take_minutes() -> None:
    asked: list[Shape] = []

    def multiply(shape: Shape) -> float:
        asked.append(shape)
        return roofline.operations(shape) / 1e9  # 1 GFLOP/s

    processor = Processor(multiply)
    taken_s, known = processor.seconds(Shape(512, 512, 512))
    assert (round(taken_s, 3), known) == (0.268, True)
    expected_s, known = processor.seconds(Shape(4096, 4096, 4096))
    assert (round(expected_s), known) == (137, False)
    assert asked == [Shape(512, 512, 512)]
    assert cpu.multiply_s(Shape(8, 8, 8)) > 0


def test_an_estimate_of_numpy_is_marked() -> None:
    made = on_gpu(TimedDevice(), processor=Processor(lambda shape: 1.9))
    first, second = (row for row in shown(made).splitlines() if ": time" in row)
    assert re.search(r"x NumPy \d", first)
    assert re.search(r"x NumPy ~\d", second)


def test_the_roof_has_a_slope_a_ridge_and_a_flat_part() -> None:
    assert ROOF.attainable_gflops(1.0) == 4800
    assert ROOF.attainable_gflops(ROOF.ridge) == pytest.approx(67e3)
    assert ROOF.attainable_gflops(1000.0) == 67e3
    assert roofline.best_intensity(Shape(512, 512, 512)) == pytest.approx(2 * 512**3 / 12 / 512**2)
    assert roofline.of_model("no such GPU") is None
    known = TimedDevice().describe()
    assert roofline.of_device(known) == ROOF


def test_a_ceiling_that_the_gpu_does_not_tell_bounds_nothing() -> None:
    known, shape = TimedDevice().describe(), Shape(512, 512, 512)
    half = roofline.of_device({**known, "memory_gb_per_s": 0.0})
    assert not half.known
    assert half.bound_s(shape) == pytest.approx(2 * 512**3 / 67e12)
    assert roofline.of_device({"name": "mute"}).bound_s(shape) == 0.0


def test_the_naive_kernels_bytes_are_what_the_simulator_counts() -> None:
    naive = find(load_all(PROJECT), "naive")
    text = (naive.folder / "solution.cu").read_text(encoding="utf-8")
    text = text.replace("BLOCK_X = 32", "BLOCK_X = 16").replace("BLOCK_Y = 8", "BLOCK_Y = 16")
    shape = Shape(64, 32, 48)
    device = simulated.device("g++")
    built = device.build(naive, simulated.submission(text))
    counters = count_shape(device, built, shape, seed=1)
    assert 32 * total(counters.select("global"), "sectors") == roofline.naive_bytes(shape)


def test_without_a_gpu_there_are_counters_and_it_is_said() -> None:
    made = found(Machine(TARGET, FakeDevice()))
    assert isinstance(made, Report)
    assert made.rows == ()
    assert made.counted is not None
    text = shown(made)
    assert "There is no GPU here to time it on: counters instead of times." in text
    assert "sectors per request     4.00" in text
    assert "bank conflicts          0 (0% of the wavefronts)" in text
    assert "Roofline of H200" in text
    assert "memory is the limit unless caches help" in text
    assert "x naive" not in text


def test_a_feature_that_the_simulator_lacks_needs_a_gpu() -> None:
    entry = an_entry()
    assert entry.submission is not None
    text = entry.submission.text + '__device__ void f() { asm volatile("membar.gl;"); }\n'
    ptx = replace(entry, submission=replace(entry.submission, text=text))
    with pytest.raises(GraderFault, match="inline PTX.* It needs a GPU, and there is none here"):
        measure(ptx, Machine(TARGET, FakeDevice()), silent)
    made = measure(ptx, Machine(TARGET, FakeDevice(), TimedDevice()), silent, SMALL)
    assert isinstance(made, Report)
    assert made.counted is None
    assert len(made.rows) == 2
    assert "No counters: the file uses inline PTX" in shown(made)


@pytest.mark.parametrize("plain", [True, False])
def test_every_shape_has_its_row(plain: bool) -> None:
    text = shown(on_gpu(TimedDevice(make=with_cublas)), plain)
    for shape in SMALL:
        assert len(re.findall(rf"^ *{shape}\b", text, re.MULTILINE)) == 1
    assert "of the roof" in text


def test_a_narrow_terminal_gets_lines_instead_of_a_table_with_cut_cells() -> None:
    text = shown(on_gpu(TimedDevice(make=with_cublas)), plain=False, width=40)
    assert "512x512x512: time" in text
    assert "…" not in text


def test_the_picture_is_svg_with_every_measured_point() -> None:
    made = on_gpu(TimedDevice(make=with_cublas), processor=Processor(lambda shape: 0.1))
    text = plot.draw(plot.Picture("a <title>", made.counted, made.roof, made.rows))
    assert text is not None
    root = ElementTree.fromstring(text)
    circles = root.findall(".//{http://www.w3.org/2000/svg}circle")
    # Two kernels under the roof; two sizes of this kernel, naive, cuBLAS and NumPy.
    assert len(circles) == 2 + 2 * 4
    for circle in circles:
        assert 0 < float(circle.attrib["cx"]) < float(root.attrib["width"])
        assert 0 < float(circle.attrib["cy"]) < float(root.attrib["height"])


def test_without_times_the_picture_is_the_roofline_alone() -> None:
    made = found(Machine(TARGET, FakeDevice()))
    assert isinstance(made, Report)
    text = plot.draw(plot.Picture("title", made.counted, made.roof))
    assert text is not None
    assert "Throughput" not in text
    assert "No GPU here" in text
    root = ElementTree.fromstring(text)
    notes = [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "as the simulator counts them at" in " ".join(notes)
    assert max(20 + 7 * len(note) for note in notes) <= float(root.attrib["width"])
    assert plot.draw(plot.Picture("title", made.counted, None)) is None


@pytest.mark.parametrize("speed", [0.9, 1.0, 1.4])
def test_the_names_of_two_kernels_that_lie_near_each_other_do_not_touch(speed: float) -> None:
    made = found(Machine(TARGET, FakeDevice()))
    assert isinstance(made, Report)
    assert made.roof is not None
    panel = chart.Panel(0, 0, 400, 290, chart.decades("x", [0.2, 40]), chart.decades("y", [1, 900]))
    marks = [
        plot._Mark(name, (1.0, at), "blue", True) for name, at in (("one", 1.0), ("two", speed))
    ]
    names: list[float] = []
    told = "".join(part for mark in marks for part in plot._dot(panel, mark, made.roof, names))
    first, second = (float(y) for y in re.findall(r'<text [^>]*\by="([\d.]+)"', told))
    assert abs(first - second) >= 14  # pixels, more than a line of text of 12


def test_a_logarithmic_axis_keeps_ratios_and_labels_powers() -> None:
    axis = chart.decades("speed", [30.0, 4000.0])
    assert axis.ticks == (10.0, 100.0, 1000.0)
    assert axis.share(100.0) - axis.share(10.0) == pytest.approx(
        axis.share(1000.0) - axis.share(100.0)
    )
    sizes = chart.doublings("size", [512.0, 4096.0])
    assert sizes.ticks == (512.0, 1024.0, 2048.0, 4096.0)
    assert 0 < sizes.share(512.0) < sizes.share(4096.0) < 1


def test_json_holds_times_in_seconds_and_counters() -> None:
    data = json.loads(json.dumps(report.compose(on_gpu(TimedDevice(make=with_cublas)))))
    assert data["gpu"] == "Fake GPU"
    assert [row["shape"] for row in data["shapes"]] == list(map(str, SMALL))
    assert data["shapes"][0]["cublas_seconds"] < data["shapes"][0]["baseline_seconds"]
    assert data["counters"]["bytes_moved"] > 0


def options(**changes: Any) -> argparse.Namespace:
    given = {"folder": None, "solutions": False, "exercise": "tiled", "shape": None, "seed": None}
    more = {"device": "simulator", "json": False, "plain": True, "svg": None, "simulator": False}
    return argparse.Namespace(**{**given, **more, **changes})


def test_an_untouched_or_missing_file_is_said_and_not_measured(tmp_path: Path) -> None:
    with pytest.raises(GraderFault, match="as it was handed out.*Next: make test EX=tiled"):
        kernels.one(options(folder=PROJECT / "starter"))
    with pytest.raises(GraderFault, match="is missing"):
        kernels.one(options(folder=tmp_path))
    with pytest.raises(GraderFault, match="not both"):
        kernels.one(options(folder=tmp_path, solutions=True))


def test_a_solution_is_measured_from_end_to_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "new folder" / "tiled.svg"
    words = ["bench", "--exercise", "02", "--solutions", "--device", "simulator"]
    assert cli.main([*words, "--svg", str(picture)]) == cli.OK
    told = capsys.readouterr().out
    assert "02_tiled" in told
    assert "counters instead of times" in told
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    assert cli.main([*words, "--json", "--svg", str(picture)]) == cli.OK
    data = json.loads(capsys.readouterr().out)
    assert (data["exercise"], data["shapes"], data["gpu"]) == ("02_tiled", [], "")


def test_a_wrong_submission_fails_with_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = (PROJECT / "exercises" / "02_tiled" / "solution.cu").read_text(encoding="utf-8")
    wrong = right.replace("__syncthreads();  // nobody", "// nobody")
    assert wrong != right
    (tmp_path / "02_tiled.cu").write_text(wrong, encoding="utf-8")
    words = ["bench", str(tmp_path), "--exercise", "tiled", "--device", "simulator"]
    assert cli.main(words) == cli.FAILED
    told = capsys.readouterr().out
    assert "Not measured: the check safe fails: race" in told
    assert f"SUBMISSION={tmp_path}" in told
    assert cli.main([*words, "--json"]) == cli.FAILED
    data = json.loads(capsys.readouterr().out)
    assert (data["exercise"], data["refused"]["verdict"]) == ("02_tiled", "race")


def test_all_kernels_are_a_line_each_and_untouched_ones_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = [an_entry(find(load_all(PROJECT), name)) for name in ("tiled", "padded")]
    third = replace(an_entry(find(load_all(PROJECT), "naive")), state="not_started")
    gpu = TimedDevice()

    def machine(word: str, stack: ExitStack, screen: object) -> Machine:
        return Machine(TARGET, FakeDevice(), gpu)

    def entries(*_: object) -> tuple[Entry, ...]:
        return (*started, third)

    monkeypatch.setattr(kernels, "open_machine", machine)
    monkeypatch.setattr(kernels, "entries", entries)
    screen = Console(width=100, record=True, file=io.StringIO())
    assert kernels.all_of_them(options(exercise=None), screen, True) == cli.OK
    text = screen.export_text()
    assert "Fake GPU, 4096x4096x4096" in text
    assert re.search(r"02_tiled +time .* x naive 1\.[56]", text)
    assert re.search(r"01_naive +not started", text)
    assert len(gpu.opened) == 2


def test_a_bar_moves_in_a_terminal_and_is_one_line_elsewhere() -> None:
    screen = Console(width=80, record=True, file=io.StringIO(), force_terminal=True)
    with steps(screen, False, "Measuring", 2) as step:
        step("one")
        step("two")
    plain = Console(width=80, record=True, file=io.StringIO())
    with steps(plain, True, "Measuring", 2) as step:
        step("one")
    assert plain.export_text() == "Measuring ...\n"
    with steps(None, False, "Measuring", 2) as step:
        step("one")


def test_a_gpu_that_is_asked_for_and_missing_is_a_fault_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grader.gpu.hardware.available", lambda: "no GPU. This is not about you.")
    with ExitStack() as stack, pytest.raises(GraderFault, match="The GPU cannot be used"):
        subject.open_machine("gpu", stack, None)


def test_a_clock_draws_from_its_own_seed() -> None:
    gpu = TimedDevice()
    build = gpu.build(an_entry().exercise, an_entry().submission)  # type: ignore[arg-type]
    list(Clock(gpu, build, seed=7).rows(SMALL, silent))
    assert set(gpu.keys) == {7}
