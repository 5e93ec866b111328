"""The folder of a run: one that the user named, or a temporary one that goes when nobody needs it."""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import weakref
from pathlib import Path


def _remove(path: str, owner: int) -> None:
    # A forked process has a copy of this object, but not the right to delete its folder.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


class Folder:
    """A folder with a run."""

    def __init__(self, path: str | os.PathLike | None = None):
        self.temporary = path is None
        if path is None:
            self.path = Path(tempfile.mkdtemp(prefix="armix-"))
            weakref.finalize(self, _remove, str(self.path), os.getpid())
        else:
            self.path = Path(path).expanduser()

    def files(self) -> list[Path]:
        """All that belongs to the run."""
        inside = (path for path in self.path.rglob("*") if path.is_file())
        return sorted(path for path in inside if path.name != "lock" and not path.name.endswith(".tmp"))

    def copy_to(self, target: str | os.PathLike) -> "Folder":
        """A copy of the run in a folder that holds none yet."""
        target = Path(target).expanduser()
        if (target / "run.json").exists():
            raise FileExistsError(f"{target} holds a run already: choose another folder")
        manifest = None
        for path in self.files():
            to = target / path.relative_to(self.path)
            to.parent.mkdir(parents=True, exist_ok=True)
            if path.name == "run.json":
                manifest = (path, to)
            else:
                shutil.copy2(path, to)
        if manifest is not None:  # last: from now on it is a run
            shutil.copy2(*manifest)
        copy = Folder(target)
        copy.place_data()
        return copy

    def place_data(self) -> None:
        """Data that are kept in the folder are found where it is now."""
        for name in ("data.graphml", "data.csv"):
            if (self.path / name).exists():
                file = self.path / "run.json"
                manifest = json.loads(file.read_text(encoding="utf-8"))
                manifest["data"]["path"] = str((self.path / name).absolute())
                file.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def pack(self) -> bytes:
        """The run as bytes."""
        import zipfile

        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
            for path in self.files():
                archive.write(path, path.relative_to(self.path).as_posix())
        return packed.getvalue()

    @classmethod
    def unpack(cls, packed: bytes) -> "Folder":
        """A temporary folder with a run that was packed."""
        import zipfile

        folder = cls()
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            archive.extractall(folder.path)
        folder.place_data()
        return folder
