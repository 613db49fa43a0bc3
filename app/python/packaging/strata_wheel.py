# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the Python package with CMake and packs it as a wheel (PEP 517, PEP 660), for the Python that runs this.

Nothing is downloaded: compiler, CMake, Ninja, pybind11 and the libraries are the system's.
Settings (`pip wheel . --config-settings NAME=VALUE`):

    bundle=true     put the shared libraries beside the module, and LLVM into it: the wheel then needs none of them where it runs
    build-dir=DIR   CMake's folder (default: build/python-TAG); kept, so that the next build is short
    package=DIR     take the package that CMake has built at DIR (such as build/python/strata) as it is
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
NAME = "strata"
VERSION = re.search(r"project\(strata VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
DIST_INFO = f"{NAME}-{VERSION}.dist-info"

# Found on every Linux that runs PyTorch, and not to be had twice in a process.
SYSTEM_LIBRARIES = re.compile(r"(ld-linux.*|lib(c|m|mvec|dl|rt|pthread|util|gcc_s|stdc\+\+))\.so\..*")

METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: Compiles PyTorch programs, and shows how
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: torch
Requires-Dist: torch>=2.4; extra == "torch"
Description-Content-Type: text/markdown

"""

# PyTorch finds the backend by this, without `import strata`.
ENTRY_POINTS = "[torch_dynamo_backends]\nstrata = strata._register:_backend\n"


def _tag():
    """Such as cp311-cp311-linux_x86_64."""
    soabi = sysconfig.get_config_var("SOABI")  # cpython-311-x86_64-linux-gnu
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"{python}-cp{soabi.split('-')[1]}-{platform}"


def _is_set(settings, name):
    return str((settings or {}).get(name, "")).lower() in ("1", "true", "yes", "on")


def _run(*command):
    result = subprocess.run([str(part) for part in command])
    if result.returncode:
        raise SystemExit(f"strata: '{command[0]} {command[1]} ...' failed, see above; docs/bridge.md lists what a build needs")


def _built(settings):
    """The folder of the package, built now unless the settings name one."""
    settings = settings or {}
    if "package" in settings:
        package = Path(settings["package"])
        if not list(package.glob(f"_strata.{sysconfig.get_config_var('SOABI')}.so")):
            raise SystemExit(f"strata: there is no module for Python {sys.version.split()[0]} in {package}")
        return package
    bundle = _is_set(settings, "bundle")
    folder = Path(settings.get("build-dir", ROOT / "build" / f"python-{_tag().split('-')[1]}{'-bundle' * bundle}"))
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DSTRATA_STUDIO=OFF", "-DSTRATA_TESTS=OFF", "-DSTRATA_PYTHON_REQUIRED=ON"]
    options += [f"-DSTRATA_STATIC_LLVM={'ON' if bundle else 'OFF'}", f"-DPython3_EXECUTABLE={sys.executable}"]
    _run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *options)
    jobs = os.environ.get("STRATA_JOBS", str(os.cpu_count() or 1))
    _run("cmake", "--build", folder, "--target", "strata_python", "-j", jobs)
    return folder / "python" / NAME


def _libraries(module):
    """What the module loads that another system may lack: name in the module, file."""
    listing = subprocess.run(["ldd", str(module)], check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (\S+)", listing, re.MULTILINE))
    missing = [name for name, path in found.items() if not path.startswith("/")]
    if missing:
        raise SystemExit(f"strata: {module} needs {', '.join(missing)}, which is not on this system")
    return {name: Path(path) for name, path in found.items() if not SYSTEM_LIBRARIES.fullmatch(name)}


def _licence(path):
    """The licence of a library, where the system says which package it is of; else nothing."""
    if not shutil.which("dpkg-query"):
        return b""
    for name in (path, path.resolve(), str(path).replace("/lib/", "/usr/lib/", 1)):
        found = subprocess.run(["dpkg-query", "-S", str(name)], capture_output=True, text=True).stdout
        text = Path("/usr/share/doc") / found.split(":")[0] / "copyright"
        if found and text.is_file():
            return text.read_bytes()
    return b""


def _strip(path):
    if shutil.which("strip"):
        _run("strip", "--strip-unneeded", path)


class _Wheel:
    """A wheel being written; a list of its files with their hashes comes last."""

    def __init__(self, path):
        self.zip, self.record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), []

    def add(self, name, data, mode=0o644):
        self._write(name, data, mode)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def _write(self, name, data, mode=0o644):
        # A fixed date: the same files give the same wheel.
        info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
        self.zip.writestr(info, data)

    def add_information(self):
        for name, text in _information().items():
            self.add(f"{DIST_INFO}/{name}", text.encode())
        self.record.append(f"{DIST_INFO}/RECORD,,")
        self._write(f"{DIST_INFO}/RECORD", "\n".join(self.record) + "\n")
        self.zip.close()


def _information():
    wheel = f"Wheel-Version: 1.0\nGenerator: strata_wheel\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    readme = (ROOT / "README.md").read_text()
    return {"METADATA": METADATA + readme, "WHEEL": wheel, "entry_points.txt": ENTRY_POINTS,
            "licenses/LICENSE": (ROOT / "LICENSE").read_text()}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = _built(config_settings)
    name = f"{NAME}-{VERSION}-{_tag()}.whl"
    wheel = _Wheel(Path(wheel_directory) / name)
    module = package / f"_strata.{sysconfig.get_config_var('SOABI')}.so"
    with tempfile.TemporaryDirectory() as scratch:
        files = {f"{NAME}/{module.name}": module}
        libraries = {path.name: path for path in package.glob("lib/*.so*")}  # of an unpacked bundle
        if _is_set(config_settings, "bundle"):
            libraries = _libraries(module)
        files.update({f"{NAME}/lib/{library}": path for library, path in libraries.items()})
        for target, source in files.items():
            copy = Path(shutil.copy(source, Path(scratch) / Path(target).name))
            _strip(copy)
            wheel.add(target, copy.read_bytes(), 0o755)
    for library, path in libraries.items():
        licence = _licence(path)
        if licence:
            wheel.add(f"{DIST_INFO}/licenses/{library}.txt", licence)
    for source in sorted(package.glob("*.py")):
        wheel.add(f"{NAME}/{source.name}", source.read_bytes())
    wheel.add_information()
    return name


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A path to the build folder: after a change of C++ or Python code, build that folder again."""
    package = _built(config_settings)
    name = f"{NAME}-{VERSION}-{_tag()}.whl"
    wheel = _Wheel(Path(wheel_directory) / name)
    wheel.add(f"__editable__.{NAME}.pth", f"{package.parent.resolve()}\n".encode())
    wheel.add_information()
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = Path(metadata_directory) / DIST_INFO
    for name, text in _information().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return DIST_INFO


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_sdist(sdist_directory, config_settings=None):
    """The files that git tracks."""
    try:
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], check=True, stdout=subprocess.PIPE, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"strata: the files of a source package are those that git lists in {ROOT}: {error}") from error
    base = f"{NAME}-{VERSION}"
    with tarfile.open(Path(sdist_directory) / f"{base}.tar.gz", "w:gz") as archive:
        for name in filter(None, listed.split("\0")):
            archive.add(ROOT / name, f"{base}/{name}", recursive=False)
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "PKG-INFO").write_text(METADATA)
            archive.add(Path(scratch) / "PKG-INFO", f"{base}/PKG-INFO")
    return f"{base}.tar.gz"


if __name__ == "__main__":  # strata_wheel.py FOLDER [NAME=VALUE...]: a wheel without pip
    given = dict(setting.split("=", 1) for setting in sys.argv[2:])
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1], given)))
