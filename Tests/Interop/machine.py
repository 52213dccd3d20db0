"""A machine with Debian of its own: a clean root, which systemd boots with the network of the test."""

import os
import pathlib
import re
import shutil
import subprocess

from urd_process import PATIENCE, eventually

ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}


def toolchain(binary):
    """The folder with libraries of the toolchain, which a debug build links; None for a release build."""
    linked = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
    found = re.search(r"=> (/\S+)/libswiftCore\S+", linked)
    return found and found[1]


class Machine:
    def __init__(self, root, binary):
        self.root = pathlib.Path(root)
        self.libraries = toolchain(binary)
        self.process = None

    def debootstrap(self, *packages):
        subprocess.run(
            ["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", "bookworm", self.root,
             "http://deb.debian.org/debian"], check=True, stdout=subprocess.DEVNULL, timeout=900)
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")

    def chroot(self, script):
        """Runs a script before the machine boots, with the network of the world."""
        mounts = f"mount -t proc proc {self.root}/proc; mount --rbind /dev {self.root}/dev; "
        if self.libraries:
            mounts += (f"mkdir -p {self.root}{self.libraries}; "
                       f"mount --bind {self.libraries} {self.root}{self.libraries}; ")
        self.checked(["unshare", "--mount", "--pid", "--fork", "sh", "-ec",
                      f"{mounts} exec chroot {self.root} sh -euxc '{script}'"])

    def boot(self):
        bound = [f"--bind-ro={self.libraries}"] * bool(self.libraries)
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--console=pipe", "--resolv-conf=off",
             *bound, f"--directory={self.root}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        eventually(lambda: self.run("systemctl is-system-running").stdout.strip() in ("running", "degraded"),
                   "the machine is up")

    def leader(self):
        """Its systemd. Before that there is a process for a moment which prepares the root."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return children[0] if children else "0"

    def shut_down(self):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)

    def run(self, script):
        """Runs a script as root in the machine."""
        return subprocess.run(
            ["nsenter", f"--target={self.leader()}", "--mount", "--uts", "--ipc", "--pid", "--root", "--wd", "sh", "-euxc",
             script], env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)

    def do(self, script):
        """The output of a script that has to end well."""
        done = self.run(script)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    def checked(self, words):
        done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
