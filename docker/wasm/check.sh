#!/bin/bash
# Builds the image of the wasm suite and checks by hand that every program prints the same by every engine, that this is what the
# suite expects, and that the compiler's cache is used.
#
# usage: check.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
suite=$here/../../suites/wasm/stopwatt.yml
source "$here/../base/check.bash"

programs=(snappy json yaml "fib 30" blake2b)

main() {
    build "$here"
    local program
    for program in "${programs[@]}"; do check_one $program; done
    check_cache
    check_failures
    echo "all programs print the same by every engine, and what the suite expects"
}

check_one() {
    local program=$1 native hash engine
    shift
    native=$(closed wasm -- "/programs/$program" "$@")
    for engine in interpreter compiler; do
        [ "$(closed wasm -- /host -engine $engine "/programs/$program" "$@")" = "$native" ] || die "$program prints something else by the $engine"
    done
    hash=$(echo "$native" | sha256sum | cut -d' ' -f1)
    sed -n "/^  $program:/,/output:/p" "$suite" | grep -q "$hash" || die "$program: the suite does not expect $hash"
    echo "$program: right ($native)"
}

# Two runs leave one file, written once.
check_cache() {
    closed wasm -- bash -c '
        find_all() { find /tmp/cache -type f -printf "%p %T@\n"; }
        /host -cache /tmp/cache /programs/fib && find_all >/tmp/before
        /host -cache /tmp/cache /programs/fib && find_all >/tmp/after
        [ "$(wc -l </tmp/before)" = 1 ] && cmp /tmp/before /tmp/after' >/dev/null || die "the cache is not used"
}

check_failures() {
    local status=0
    closed wasm -- /host /programs/fib 99 2>/dev/null || status=$?
    [ $status = 1 ] || die "a program that ends with 1 gives $status by the host"
    status=0
    closed wasm -- /host /programs/none 2>/dev/null || status=$?
    [ $status = 125 ] || die "a program that is missing gives $status by the host"
}

main
