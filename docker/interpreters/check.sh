#!/bin/bash
# Builds the image of the interpreters suite and checks by hand that each benchmark runs on both interpreters and prints one number.
# That the store does right is checked by the benchmarks themselves, each time.
#
# usage: check.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source "$here/../base/check.bash"

benchmarks=("item-creation 15" inmemory-setting integer-setting "item-loading 15" "multiquery-creation 5 15" "query-creation 15" "store-opening 20 15")

main() {
    build "$here"
    local benchmark
    for benchmark in "${benchmarks[@]}"; do
        echo "$benchmark: $(measure python3 $benchmark) s/op on CPython, $(measure pypy3 $benchmark) s/op on PyPy"
    done
    check_libraries
    check_refusals
    echo "all benchmarks run on both"
}

measure() {
    local printed
    printed=$(closed interpreters -- "$1" /bench/bench.py "${@:2}") || die "${*:2} does not run on $1"
    [[ $printed =~ ^[0-9.]+(e-[0-9]+)?$ ]] || die "${*:2} prints $printed on $1"
    echo "$printed"
}

check_libraries() {
    local script='import sqlite3; print(sqlite3.sqlite_version)'
    [ "$(closed interpreters -- python3 -c "$script")" = "$(closed interpreters -- pypy3 -c "$script")" ] ||
        die "the interpreters use two versions of SQLite"
}

# The store's own rules, on which the benchmarks' checks rest.
check_refusals() {
    local interpreter
    for interpreter in python3 pypy3; do
        closed interpreters -- $interpreter - <<'END' || die "the store does not keep its rules on $interpreter"
import sys
sys.path.insert(0, "/bench")
from store import Integer, Item, Store

class Thing(Item):
    n = Integer()

store = Store(":memory:", [Thing])
thing = Thing(store, n=1)
try:
    with store:
        Thing(store, n=2)
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
assert [t.n for t, in store.query([Thing])] == [1], "a transaction that failed has written"
assert store.load(Thing, thing.key) is thing, "one row became two items"
for wrong in "1", 1.0, True, 1 << 63:
    try:
        thing.n = wrong
    except TypeError:
        continue
    sys.exit(f"{wrong!r} was taken for an integer")
END
    done
}

main
