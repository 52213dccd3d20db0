#!/bin/sh
# Puts a release on record in a realm of Urd's own, as an app with its version and the sum of its sums in its name, and
# the proof of that beside it: SHA256SUMS.proof.json. A version is recorded once. Needs the settings of that Urd.
#
# usage: deploy/record-release.sh REALM [FOLDER [BINARY]]
set -eu
cd "$(dirname "$0")/.."
realm=$1
folder=${2:-dist/release}
urd=${3:-.build/release/urd}

version=$(sed -n 's/^trusted comment: urd //p' "$folder/SHA256SUMS.minisig")
digest=$(sha256sum "$folder/SHA256SUMS" | cut -d ' ' -f 1)
slug=$(echo "$version" | tr -c 'a-z0-9\n' '-')
"$urd" app create --realm "$realm" --slug "$slug" --name "urd $version sha256:$digest" >/dev/null
position=$("$urd" events tail --realm "$realm" --type app.created --from 1 --json |
    sed -n "/sha256:$digest/s/.*\"position\":\([0-9]*\).*/\1/p")
# A checkpoint covers it within a second or so.
tries=0
until "$urd" proof "$position" --realm "$realm" >"$folder/SHA256SUMS.proof.json" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] || { echo "No node of Urd has sealed position $position of $realm." >&2; exit 1; }
    sleep 1
done
echo "$folder/SHA256SUMS.proof.json"
