#!/bin/bash
# Builds the image of the types suite, whose tests hold the six forms against each other, and checks by hand that each form prints
# the 17 benchmarks under their published names, and that the new forms alone need no sorting.
#
# usage: check.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
source "$here/../base/check.bash"

main() {
    build "$here"
    local form expected
    expected=$(printf '%s\n' {nested,parProc}{Add,Creation,Deserialization,Equal,Hash,Serialization,SerializedSize,Sort} manyAppends | sort)
    for form in imperative eval hash-refactoring lazy-params hash-sort-fix old-proto; do
        check_one $form
        echo "$form: right"
    done
}

check_one() {
    local form=$1 printed names free=2
    printed=$(closed types -- /types "$form" -benchtime 2x) || die "$form does not run"
    names=$(sed -nE 's,^BenchmarkPar/([A-Za-z]+)(-[0-9]+)?\t.* ns/op.*,\1,p' <<<"$printed" | sort)
    [ "$names" = "$expected" ] || die "$form prints other benchmarks: $names"
    [ "$form" != old-proto ] || free=0
    [ "$(grep -cE 'Sort.*[[:space:]]0 ns/op' <<<"$printed")" = $free ] || die "$form: not $free of the sorts take no time"
}

main
