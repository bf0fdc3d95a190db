#!/bin/bash
# Builds the image of the schedulers suite and checks by hand that the program ends well by every variant of the suite, prints what
# the suite expects, and that each variant has the schedulers that its name says.
#
# usage: check.sh
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
suite=$here/../../suites/schedulers/stopwatt.yml
source "$here/../base/check.bash"

meetings=20000

main() {
    build "$here"
    check_one smp
    check_one no-busy-wait +sbwt none
    check_one bound +sbt db
    check_one one-scheduler +S 1
    check_one one-scheduler-pinned --cpuset-cpus 0 +S 1
    check_one two-schedulers-pinned --cpuset-cpus 0 +S 2
    check_failure
}

# check_one NAME [--cpuset-cpus CORES] [FLAG…]
check_one() {
    local name=$1 pin=() printed hash
    shift
    if [ "${1-}" = --cpuset-cpus ]; then pin=("$1" "$2"); shift 2; fi
    printed=$(closed schedulers "${pin[@]}" -- erl "$@" -noinput -noshell -run chameneosredux main $meetings) || die "$name does not run"
    hash=$(echo "$printed" | sha256sum | cut -d' ' -f1)
    grep -q "$hash" "$suite" || die "$name: the suite does not expect $hash"
    echo "$name: right, $(schedulers "$@") schedulers online"
}

schedulers() {
    closed schedulers "${pin[@]}" -- erl "$@" -noinput -noshell -eval 'io:format("~w", [erlang:system_info(schedulers_online)]), halt().'
}

check_failure() {
    ! closed schedulers -- erl -noinput -noshell -run chameneosredux main x 2>/dev/null || die "nonsense is taken for a number"
}

main
