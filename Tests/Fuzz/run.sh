#!/usr/bin/env bash
# Builds every fuzzer and runs each for so many seconds: Tests/Fuzz/run.sh 60 [target …]
# Prints one line for each and fails when one crashed; what crashed it is kept.
set -euo pipefail

duration=${1:-60}
[[ $duration =~ ^[1-9][0-9]*$ ]] || { echo "usage: $0 SECONDS [target ...]" >&2; exit 2; }
shift || true
here=$(cd "$(dirname "$0")" && pwd)
build=${URD_FUZZ_BUILD:-$here/.build}
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || mapfile -t targets < <(ls "$here/corpus")

mkdir -p "$build"
# Minutes the first time: the compiler's own progress is shown.
swift build --package-path "$here" --scratch-path "$build" -c release -j 2 \
    --sanitize=address --sanitize=fuzzer

# The backtracer would wait for a terminal; libFuzzer prints its own trace.
export SWIFT_BACKTRACE=enable=no
status=0
for target in "${targets[@]}"; do
    findings=$build/findings/$target
    grown=$build/corpus/$target
    log=$build/$target.log
    mkdir -p "$findings" "$grown"
    # New inputs go to the first corpus; the seeds in the repository are only read.
    if "$build/release/$target" -max_total_time="$duration" -timeout=10 -verbosity=1 \
        -print_final_stats=1 -artifact_prefix="$findings/" "$grown" "$here/corpus/$target" \
        </dev/null >"$log" 2>&1; then
        result=ok
    else
        result="crash, see $log and $findings"
        status=1
    fi
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
    printf '%-10s %12s executions  %s\n' "$target" "${executions:-?}" "$result"
done
exit "$status"
