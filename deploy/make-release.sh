#!/bin/sh
# Packs a release: the Debian package, lists of what the program is made of, and the sums of all three, signed where
# URD_RELEASE_KEY names a secret key of minisign, and on record where URD_RELEASE_REALM names a realm of Urd's own.
#
# usage: deploy/make-release.sh [BINARY [FOLDER]]
set -eu
cd "$(dirname "$0")/.."
binary=$(readlink -f "${1:-.build/release/urd}")
folder=${2:-dist/release}

rm -rf "$folder"
mkdir -p "$folder"
package=$(deploy/make-deb.sh "$binary" "$folder")
version=$(dpkg-deb -f "$package" Version)
deploy/make-sbom.py "$binary" "$folder" --version "$version" >/dev/null
cd "$folder"
sha256sum -- * >SHA256SUMS.new
mv SHA256SUMS.new SHA256SUMS
if [ -n "${URD_RELEASE_KEY:-}" ]; then
    minisign -S -s "$URD_RELEASE_KEY" -m SHA256SUMS -t "urd $version" >/dev/null
    [ -z "${URD_RELEASE_REALM:-}" ] || "$OLDPWD/deploy/record-release.sh" "$URD_RELEASE_REALM" "$PWD" "$binary" >/dev/null
else
    echo "Not signed: URD_RELEASE_KEY names no key (docs/releases.md)." >&2
fi
for file in *; do echo "$folder/$file"; done
