#!/bin/sh
# Every test, in the order in which a failure is cheapest to find. The Swift test runner comes
# last, so that its closing line is the last line of all.
set -eu
cd "$(dirname "$0")/.."

swift build --build-tests

if [ -d Tests/Interop ] && ls Tests/Interop/test_*.py >/dev/null 2>&1; then
    echo "Programs that others wrote:"
    python3 -B -m unittest discover -s Tests/Interop -p 'test_*.py'
fi
if [ -d Tests/Fuzz ] && [ -x Tests/Fuzz/corpus.sh ]; then
    Tests/Fuzz/corpus.sh
fi
echo "The front door:"
python3 -B Tests/FrontDoor

# One after the other: tests that keep a thread busy or a clock in sight do not disturb each other.
exec swift test --skip-build --disable-xctest --no-parallel
