"""Installation: where are the drivers, their packages and the corpus, and how do they come there?

In: the repository, and a folder for everything that is fetched, built or generated.
Out: the commands that run one cycle of each runtime.
Never: installs a version that this folder does not pin; measures.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent
REPOSITORY = PEERS.parent.parent


def target() -> Path:
    """The folder of what cargo builds, as cargo itself finds it."""
    return Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target")


def about() -> list[str]:
    """What figures depend on beside the code: commit, compilers, runtimes, processor."""

    def first(*words: str) -> str:
        try:
            output = subprocess.run(words, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return f"no {words[0]}"
        return output.splitlines()[0] if output else ""

    cpu = Path("/proc/cpuinfo")
    models = [line for line in cpu.read_text().splitlines() if line.startswith("model name")] if cpu.exists() else []
    return [
        "rulebook " + first("git", "describe", "--always", "--dirty"),
        first("rustc", "--version"),
        f"Python {platform.python_version()}, Node {first('node', '--version')}",
        f"{platform.system()}, {len(models)} × {models[0].split(': ')[1]}" if models else platform.platform(),
    ]


def rust(checkout: Path | None = None, binary: str = "rulebook-peers") -> Path:
    """Builds a driver in Rust with the engine of this repository, or of another checkout, and returns a copy of it."""
    peers = target() / "peers"
    crate = PEERS if checkout is None else other(checkout)
    # The crates of both builds are the same, except for the engine: in one folder, most are compiled once.
    words = ["cargo", "build", "--release", "--bin", binary, "--target-dir", str(peers / "rust")]
    subprocess.run([*words, "--manifest-path", str(crate / "Cargo.toml")], check=True)
    copy = peers / "bin" / f"{binary}-{'this' if checkout is None else 'other'}"
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.unlink(missing_ok=True)
    shutil.copy(peers / "rust" / "release" / binary, copy)
    return copy


def other(checkout: Path) -> Path:
    """A copy of the crate of the drivers that depends on the engine of another checkout."""
    crate = target() / "peers" / "other"
    for name in ("src", "packs"):
        shutil.rmtree(crate / name, ignore_errors=True)
        shutil.copytree(PEERS / name, crate / name)
    manifest = (PEERS / "Cargo.toml").read_text()
    (crate / "Cargo.toml").write_text(manifest.replace('"../..', f'"{checkout.resolve()}'))
    if not (crate / "Cargo.lock").exists():
        shutil.copy(PEERS / "Cargo.lock", crate / "Cargo.lock")
    readers = crate / "src" / "peers.rs"
    readers.write_text(readers.read_text().replace("../../run_tags.pest", str(PEERS.parent / "run_tags.pest")))
    return crate


def command() -> str:
    """The command `rulebook`, built as it is shipped."""
    manifest = REPOSITORY / "Cargo.toml"
    subprocess.run(["cargo", "build", "--release", "-p", "rulebook-cli", "--manifest-path", str(manifest)], check=True)
    return str(target() / "release" / "rulebook")


def vocabulary() -> Path:
    """The vocabulary that the engine counts tokens with, as its crate brings it along."""
    words = ["cargo", "metadata", "--format-version", "1", "--manifest-path", str(PEERS / "Cargo.toml")]
    packages = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)["packages"]
    manifest = next(package["manifest_path"] for package in packages if package["name"] == "bpe-openai")
    return Path(manifest).parent / "data" / "o200k_base.tiktoken.gz"


def python() -> Path:
    """An interpreter with the packages of the drivers."""
    wanted = PEERS / "python" / "requirements.txt"
    folder = target() / "peers" / "python"
    marker = folder / "installed"
    if not marker.exists() or marker.read_text() != wanted.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--requirement", str(wanted)], check=True)
        marker.write_text(wanted.read_text())
    return folder / "bin" / "python"


def node() -> Path:
    """A folder with the driver for Node and its packages."""
    folder = target() / "peers" / "node"
    folder.mkdir(parents=True, exist_ok=True)
    lock = PEERS / "node" / "package-lock.json"
    fresh = (folder / "package-lock.json").exists() and (folder / "package-lock.json").read_text() == lock.read_text()
    for file in (PEERS / "node").iterdir():
        if file.is_file():
            shutil.copy(file, folder / file.name)
    if not fresh or not (folder / "node_modules").exists():
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True)
    return folder


def corpus() -> Path:
    """The answers, generated once; the generator gives the same bytes on every machine."""
    folder = target() / "peers" / "corpus"
    generator = PEERS / "corpus"
    sources = "".join(file.read_text() for file in sorted(generator.glob("*.py")))
    marker = folder / "generator"
    if not marker.exists() or marker.read_text() != sources:
        subprocess.run([sys.executable, str(generator / "generate.py"), str(REPOSITORY), str(folder)], check=True)
        marker.write_text(sources)
    return folder
