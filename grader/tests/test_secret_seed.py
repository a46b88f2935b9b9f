"""A secret seed is committed to before and published after; nobody can guess it in between."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from pathlib import Path

import pytest

from grader import cli, secret_seed
from grader.finding import GraderFault


def committed(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["seed", "--commit", "--output", str(path)]) == 0
    told = capsys.readouterr().out
    found = re.search(r"^Commitment: ([0-9a-f]{64})$", told, re.MULTILINE)
    assert found is not None
    secret = re.findall(r"\w{10,}", path.read_text())
    assert not any(word in told for word in secret), "the secret is on the screen"
    return found[1]


def test_a_commitment_is_the_hash_of_a_file_for_its_owner_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "seed.txt"
    commitment = committed(path, capsys)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == commitment
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_published_file_is_checked_and_gives_the_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "seed.txt"
    commitment = committed(path, capsys)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))  # as a web page may change it
    assert cli.main(["seed", "--check", str(path), commitment.upper()]) == 0
    told = capsys.readouterr().out
    seed = path.read_text().split()[1]
    assert f"Next: make grade SEED={seed}" in told
    assert 0 <= int(seed) < 2**53


def test_another_seed_or_nonce_is_not_what_was_committed_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "seed.txt"
    commitment = committed(path, capsys)
    _, seed, _, nonce = path.read_text().split()
    for other in (f"seed {int(seed) ^ 1}\nnonce {nonce}\n", f"seed {seed}\nnonce {'0' * 64}\n"):
        path.write_text(other)
        assert cli.main(["seed", "--check", str(path), commitment]) == 1
        assert "is not what was committed to" in capsys.readouterr().out


def test_the_seed_cannot_be_found_by_trying_all_seeds(tmp_path: Path) -> None:
    """The file holds 256 random bits beside the seed, which the commitment depends on."""
    texts = [tmp_path / f"{n}.txt" for n in range(2)]
    for path in texts:
        secret_seed.commit(path)
    nonces = {path.read_text().split()[3] for path in texts}
    assert len(nonces) == 2
    assert {len(bytes.fromhex(nonce)) for nonce in nonces} == {32}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--commit"], "--output FILE"),
        (["--commit", "--output", "seed.txt"], "exists, and may hold a seed"),
        (["--commit", "--output", "no/such/folder"], "cannot be written"),
        (["--check", "nowhere", "0"], "cannot be read"),
        (["--check", "seed.txt", "0"], "holds no seed and nonce"),
        ([], "--commit"),
    ],
)
def test_wrong_usage_is_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("seed.txt").write_text("an older secret")
    try:
        status = cli.main(["seed", *arguments])
    except SystemExit as left:
        status = int(left.code or 0)
    said = capsys.readouterr()
    assert (status, said.out, said.err.count("\n")) == (2, "", 1)
    assert told in said.err
    assert Path("seed.txt").read_text() == "an older secret"


def test_a_full_disk_leaves_no_file_that_holds_no_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        with pytest.raises(GraderFault, match="cannot be written"):
            secret_seed.commit(tmp_path / "seed.txt")
    assert list(tmp_path.iterdir()) == []
    assert secret_seed.commit(tmp_path / "seed.txt")
