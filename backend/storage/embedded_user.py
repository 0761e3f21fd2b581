"""Who runs the embedded server when this process is root, which PostgreSQL refuses to be."""

import os
import pwd
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ServerUser:
    """A user of this system."""

    name: str
    uid: int
    gid: int


def server_user(data: Path) -> ServerUser | None:
    """Whom the server has to run as; None when it can run as this process does."""
    if os.geteuid() != 0:
        return None
    if data.exists() and (owner := data.stat()).st_uid != 0:
        return ServerUser(name=f"uid {owner.st_uid}", uid=owner.st_uid, gid=owner.st_gid)
    nobody = pwd.getpwnam("nobody")
    return ServerUser(name=nobody.pw_name, uid=nobody.pw_uid, gid=nobody.pw_gid)


def let_through(paths: Iterable[Path]) -> list[Path]:
    """Let other users pass through every folder above the paths, as chmod o+x does; those that had to be opened."""
    opened: list[Path] = []
    for folder in dict.fromkeys(folder for path in paths for folder in path.resolve().parents):
        mode = stat.S_IMODE(folder.stat().st_mode)
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)
            opened.append(folder)
    return opened


def let_read(folder: Path) -> None:
    """Let other users read a folder and all in it, as chmod -R o+rX does: a package installed with umask 077."""
    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        wanted = mode | stat.S_IROTH | (stat.S_IXOTH if path.is_dir() or mode & stat.S_IXUSR else 0)
        if mode != wanted:
            path.chmod(wanted)
