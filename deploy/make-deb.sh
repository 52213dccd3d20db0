#!/bin/sh
# Packs the program for Debian and Ubuntu: dist/urd_VERSION_ARCH.deb
#
# usage: deploy/make-deb.sh [BINARY [FOLDER]]
set -eu
cd "$(dirname "$0")/.."
binary=$(readlink -f "${1:-.build/release/urd}")
folder=${2:-dist}

# 0.1.0~git20261130.af75a9b16b2e: below 0.1.0, and in the order of days.
number=$("$binary" --version | cut -d ' ' -f 2)
commit=$(git describe --always --dirty=+ --abbrev=12 --exclude='*' 2>/dev/null | tr -d +) || commit=
day=$(git log -1 --format=%cd --date=format:%Y%m%d%H%M%S 2>/dev/null) || day=
version=$number${commit:+~git$day.$commit}
date=$(git log -1 --format=%cD 2>/dev/null || LC_ALL=C date -R)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/urd"
cp -r deploy "$work/urd/deploy"
cp -r deploy/debian "$work/urd/debian"
cat >"$work/urd/debian/changelog" <<END
urd ($version) unstable; urgency=medium

  * Built from commit ${commit:-unknown}.

 -- The Urd authors <maintainers@urd.example>  $date
END
mkdir -p "$folder"
folder=$(readlink -f "$folder")
(cd "$work/urd" && URD_BINARY=$binary dpkg-buildpackage -b -us -uc -nc >"$work/log" 2>&1) || {
    cat "$work/log" >&2
    exit 1
}
mv "$work"/urd_*.deb "$folder/"
for package in "$folder/urd_${version}"_*.deb; do echo "$package"; done
