"""Triton's own virtual environment: can this machine have it, build it, find its parts.

Triton lives apart from the product because its python stubs are built against numpy 1.
"""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

# CPython releases for which nvidia-pytriton 0.7.0 has a stub, from the oldest that Orchid runs on.
PYTHONS = ((3, 11), (3, 13))
GLIBC = (2, 35)
STAMP = "orchid-built"


class TritonUnavailableError(Exception):
    """Triton can't run here; the message says why and what to do about it."""


@dataclass(frozen=True)
class Environment:
    """A built environment under `home`; `site` is its site-packages folder."""

    home: Path
    site: Path

    @property
    def server(self) -> Path:
        return self.site / "pytriton/tritonserver/bin/tritonserver"

    @property
    def caches(self) -> Path:
        return self.site / "pytriton/tritonserver/caches"

    @property
    def backends(self) -> Path:
        return self.home / "backends"

    def process_env(self) -> dict[str, str]:
        """Variables under which the server finds its libraries and its Python, and no GPU."""
        libraries = [self.site / "nvidia_pytriton.libs", _libpython().parent]
        return {
            "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
            "PATH": f"{self.home / 'bin'}:{os.environ.get('PATH', '')}",
            "CUDA_VISIBLE_DEVICES": "",
        }


def built(home: Path) -> Environment:
    """The environment at `home`; raises TritonUnavailableError when it isn't there or can't run."""
    probe()
    if not (home / STAMP).is_file():
        raise TritonUnavailableError(f"no Triton at {home}: run `make triton` to build it")
    return _at(home)


def build(home: Path, lock: Path) -> Environment:
    """Build the environment at `home` from the hashed `lock`, unless it is up to date."""
    probe()
    stamp = home / STAMP
    if stamp.is_file() and stamp.read_text() == lock.read_text():
        return _at(home)
    stamp.unlink(missing_ok=True)
    venv.create(home, clear=True, with_pip=True, symlinks=True)
    pip = [
        str(home / "bin/python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    done = subprocess.run([*pip, "--no-deps", "--require-hashes", "-r", str(lock)], check=False)  # noqa: S603
    if done.returncode:
        raise TritonUnavailableError("pip could not install Triton; its own message is above")
    environment = _at(home)
    _install_python_backend(environment)
    stamp.write_text(lock.read_text())
    return environment


def probe() -> None:
    """Raise TritonUnavailableError unless this machine can run the packaged server."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise TritonUnavailableError(
            f"Triton is packaged for Linux on x86-64, this is {sys.platform}/{platform.machine()}"
        )
    version = sys.version_info[:2]
    if not PYTHONS[0] <= version <= PYTHONS[1]:
        raise TritonUnavailableError(
            f"Triton is packaged for Python 3.11 to 3.13; this is {platform.python_version()}"
        )
    libc, release = platform.libc_ver()
    if libc != "glibc" or tuple(map(int, release.split("."))) < GLIBC:
        raise TritonUnavailableError(f"Triton needs glibc 2.35 or newer; this is {libc} {release}")
    _check_libpython()


def _at(home: Path) -> Environment:
    site = home / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    return Environment(home=home, site=site)


def _install_python_backend(environment: Environment) -> None:
    """Put the backend beside the stub of this Python; the wheel carries one for each release."""
    packaged = environment.site / "pytriton/tritonserver"
    target = environment.backends / "python"
    shutil.copytree(packaged / "backends/python", target, dirs_exist_ok=True)
    stub = "triton_python_backend_stub"
    shutil.copy2(packaged / "python_backend_stubs" / sysconfig.get_python_version() / stub, target)


def library_folders() -> list[Path]:
    """Where the interpreter's own shared library may lie, the likeliest first."""
    libdir = Path(sysconfig.get_config_var("LIBDIR") or "/usr/lib")
    multiarch = sysconfig.get_config_var("MULTIARCH") or "x86_64-linux-gnu"
    return [libdir, libdir / multiarch, Path("/usr/lib") / multiarch]


def _libpython() -> Path:
    """The shared library of the running interpreter; raises when there is none."""
    name = f"libpython{sysconfig.get_python_version()}.so.1.0"
    for folder in library_folders():
        if (folder / name).is_file():
            return folder / name
    raise TritonUnavailableError(
        f"Triton's python stub needs {name}, which is not on this machine. "
        f"On Debian or Ubuntu: apt-get install -y libpython{sysconfig.get_python_version()}"
    )


def _check_libpython() -> None:
    """Refuse a library of another patch release: its stub would meet a foreign standard library."""
    library = _libpython()
    ask = (
        "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).Py_GetVersion;"
        "f.restype = ctypes.c_char_p; print(f().decode().split()[0])"
    )
    with tempfile.TemporaryDirectory() as elsewhere:
        answer = subprocess.run(  # noqa: S603
            [sys.executable, "-c", ask, library],
            capture_output=True,
            text=True,
            check=False,
            cwd=elsewhere,
        )
    found = answer.stdout.strip()
    if found != platform.python_version():
        raise TritonUnavailableError(
            f"{library} is of Python {found or 'unknown'}, this is {platform.python_version()}. "
            f"Triton's python stub needs one release: use the Python the library came with"
        )
