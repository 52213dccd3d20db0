"""The Debian package in a clean root: installed beside Debian's PostgreSQL, set up, served, removed, purged, installed again."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from urd_process import BINARY

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTALL = "apt-get update -q && apt-get install -y -q --no-install-recommends /urd.deb postgresql curl procps"
# A person's own account page, as a browser comes to it.
SERVED = """
pg_ctlcluster 15 main start
until pg_isready -q; do sleep 0.2; done
urd setup --host localhost --email ann@example.org
before=$(sha256sum /etc/urd/*)
urd setup --host localhost --email ann@example.org --json | grep -c '"result": "made"' && exit 1
test "$before" = "$(sha256sum /etc/urd/*)"
mkdir -m 700 /var/lib/urd
urd-admin serve 2>/tmp/log &
server=$!
tries=0; until urd health; do sleep 0.2; tries=$((tries + 1)); test $tries -lt 300; done
urd-admin doctor
urd-admin backup /var/backups/urd && urd-admin restore --check /var/backups/urd
test "$(curl -s -o /dev/null -w '%{http_code}' -L http://localhost:8080/account)" = 200
kill $server; wait $server
man=$(zcat /usr/share/man/man1/urd.1.gz | grep -c '^\\.TP'); test "$man" -gt 100
apt-get remove -y -q urd
test -e /etc/urd/master.key && test -e /etc/urd/database-url
apt-get purge -y -q urd
test -e /etc/urd/master.key && ! test -e /etc/urd/database-url
dpkg -i /urd.deb
urd setup --host localhost
urd-admin account list --realm main | grep -c true
pg_ctlcluster 15 main stop -m immediate
"""


@unittest.skipUnless(os.environ.get("URD_LONG_TESTS"), "installs a system: make soak")
class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        subprocess.run([ROOT / "deploy/install-packages.sh", "deb"], check=True)
        subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", "debootstrap"],
                       check=True, stdout=subprocess.DEVNULL)
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="urd-package-", dir="/tmp"))
        linked = subprocess.run(["ldd", BINARY], capture_output=True, text=True, check=True).stdout
        # Those of the toolchain, which a debug build links.
        cls.toolchain = next(
            (line.split()[2].rsplit("/", 1)[0] for line in linked.splitlines() if "libswiftCore" in line), None)
        more = {"URD_SHLIBDEPS": "--ignore-missing-info"} if cls.toolchain else {}
        cls.package = subprocess.run(
            [ROOT / "deploy/make-deb.sh", BINARY, cls.folder], env={**os.environ, **more}, check=True,
            capture_output=True, text=True).stdout.split()[-1]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def test_a_release_is_packed_alike_twice_and_signed(self):
        key, public = self.folder / "urd.key", self.folder / "urd.pub"
        subprocess.run(["minisign", "-G", "-W", "-p", public, "-s", key], check=True, stdout=subprocess.DEVNULL)
        more = {"URD_SHLIBDEPS": "--ignore-missing-info"} if self.toolchain else {}
        packed = []
        for name in ("first", "second"):
            place = self.folder / name
            subprocess.run([ROOT / "deploy/make-release.sh", BINARY, place], check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, **more, "URD_RELEASE_KEY": str(key)})
            subprocess.run(["minisign", "-V", "-p", public, "-m", "SHA256SUMS"], cwd=place, check=True,
                           stdout=subprocess.DEVNULL)
            subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=place, check=True)
            packed.append((place / "SHA256SUMS").read_text())
        self.assertEqual(*packed)
        self.assertEqual(len(packed[0].splitlines()), 3)

    def test_lintian_finds_no_error(self):
        found = subprocess.run(["lintian", "--fail-on", "error,warning", self.package],
                               capture_output=True, text=True).stdout.splitlines()
        self.assertEqual([line for line in found if "custom-library-search-path RUNPATH" not in line], [])

    def test_it_is_installed_set_up_served_removed_and_purged(self):
        root = self.folder / "root"
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root, "http://deb.debian.org/debian"],
                       check=True, stdout=subprocess.DEVNULL, timeout=600)
        shutil.copy(self.package, root / "urd.deb")
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        for script, own_network in ((INSTALL, False), (SERVED, True)):
            (root / "script").write_text("set -eux\n" + script)
            mounts = f"mount -t proc proc {root}/proc; mount --rbind /dev {root}/dev; "
            if self.toolchain:
                mounts += (f"mkdir -p {root}{self.toolchain}; "
                           f"mount --bind {self.toolchain} {root}{self.toolchain}; ")
            if own_network:
                mounts += "ip link set lo up; "
            done = subprocess.run(
                ["unshare", "--mount", "--pid", "--fork", *["--net"] * own_network, "sh", "-ec",
                 mounts + f"exec chroot {root} sh /script"],
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
                capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-3000:])


if __name__ == "__main__":
    unittest.main()
