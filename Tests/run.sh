#!/bin/sh
# Builds and runs every test; with --soak those that are long by nature. What the tests need beside the build
# (a browser, libraries of others) is installed while the compiler works. The last line is the closing
# line of all tests together.
set -eu
cd "$(dirname "$0")/.."

installation=$(mktemp)
deploy/install-packages.sh test >"$installation" 2>&1 &
installer=$!
trap 'wait "$installer" || true; rm -f "$installation"' EXIT

swift build --disable-index-store --build-tests

if ! wait "$installer"; then
    cat "$installation" >&2
    exit 1
fi
# Debian's own Python: it is the one that has Debian's packages.
/usr/bin/python3 -B Tests/run_all.py "$@"
