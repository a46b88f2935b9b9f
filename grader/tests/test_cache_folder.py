"""What the cache keeps is whole, and what nobody needs does not stay."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader import cache_folder
from grader.simulator.device import SimulatorDevice
from grader.tests import simulated
from grader.toolchain import host_compiler

_DAY_S = 24 * 3600


def made(entry: Path, text: str = "text") -> Path:
    with cache_folder.making(entry) as folder:
        (folder / "worker").write_text(text)
    return entry


def aged(folder: Path, days: float) -> Path:
    folder.mkdir(exist_ok=True)
    then = folder.parent.stat().st_mtime - days * _DAY_S
    os.utime(folder, (then, then))
    return folder


def test_an_entry_is_whole_until_a_file_of_it_is_not(tmp_path: Path) -> None:
    entry = made(tmp_path / "kernel-1")
    assert cache_folder.is_whole(entry)
    (entry / "worker").write_text("")
    assert not cache_folder.is_whole(entry)
    assert cache_folder.is_whole(made(entry))
    (entry / "worker").unlink()
    assert not cache_folder.is_whole(entry)


def test_an_entry_that_another_process_made_first_stays(tmp_path: Path) -> None:
    entry = tmp_path / "kernel-1"
    with cache_folder.making(entry) as folder:
        (folder / "worker").write_text("second")
        made(entry, "first")
    assert (entry / "worker").read_text() == "first"
    assert os.listdir(tmp_path) == ["kernel-1"]


def test_nothing_stays_of_what_could_not_be_made(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="refused"), cache_folder.making(tmp_path / "kernel-1"):
        raise ValueError("refused")
    assert not os.listdir(tmp_path)


def test_only_what_is_old_and_of_the_cache_is_removed(tmp_path: Path) -> None:
    kept = {aged(tmp_path / "kernel-new", 29), aged(tmp_path / ".new-busy", 0.5)}
    kept.add(aged(tmp_path / "notes", 400))
    for name in (".new-killed", "kernel-old", "machine-old", "0123456789" * 4, "new-killed"):
        aged(tmp_path / name, 31)
    cache_folder.tidy(tmp_path)
    assert set(tmp_path.iterdir()) == kept


def test_an_entry_that_is_asked_for_does_not_grow_old(tmp_path: Path) -> None:
    entry = aged(made(tmp_path / "kernel-1"), 100)
    assert cache_folder.is_whole(entry)
    cache_folder.tidy(tmp_path)
    assert entry.is_dir()


def test_what_a_power_cut_emptied_is_compiled_again(tmp_path: Path) -> None:
    device = SimulatorDevice(simulated.TARGET, host_compiler(), cache=tmp_path)
    given = simulated.submission(simulated.PRELUDE + simulated.FINISH)
    for _ in range(2):
        assert not device.build(simulated.EXERCISE, given).findings
        emptied = [*tmp_path.glob("*/*.o"), *tmp_path.glob("*/worker")]
        assert all(path.stat().st_size for path in emptied)
        for path in emptied:
            path.write_bytes(b"")
