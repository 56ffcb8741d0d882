"""Nothing of a workspace is run, whatever its files are called: they are read."""

from __future__ import annotations

from pathlib import Path

from tests.code.workbench import Workbench

NAMES = ("json", "types", "re", "os", "weft", "msgspec", "sitecustomize", "usercustomize", "encodings", "tree_sitter")


def test_files_named_like_modules_are_read_and_not_imported(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    ran = tmp_path / "ran"
    for name in NAMES:
        bench.write(f"{name}.py", f"open({str(ran)!r}, 'a').write({name!r})\n\n\ndef own_{name}():\n    return 1\n")
    for number in range(60):  # so many that processes read and resolve them
        bench.write(f"m{number}.py", f"from m{(number + 1) % 60} import f\n\n\ndef f():\n    return {number}\n")
    bench.write("large.py", "def large():\n    return 1\n\n\n" + "# as it was\n" * 2_000)
    told = bench.weft("index")
    assert "dies of" not in told
    for name in NAMES:
        assert f"own_{name}" in bench.weft("code-explain", f"own_{name}")
    bench.write("large.py", "def larger():\n    return 1\n\n\n" + "# as it was\n" * 2_000)
    bench.weft("index")
    assert "larger" in bench.weft("code-explain", "larger")
    assert not ran.exists()
