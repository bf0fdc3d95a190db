#!/bin/bash
# Decides what the Dockerfiles of this project are built on, and prints it as one line for STOPWATT_BASES. With "postgres" as
# its argument it decides also what the private database runs from where no Postgres is installed.
#
#   an empty line                                    the official images are here, or a registry gave them
#   debian:bookworm-slim=stopwatt/debian:… golang:…  they cannot be had: build on these stand-ins instead
#
# Stand-ins that are missing are built first (see build.sh). Progress goes to standard error.
#
# Stand-ins that exist are used without asking a registry again: what lies below an image should change when its owner says so,
# not with the weather on the line. Remove them (docker rmi) or load the official images to go back.
set -euo pipefail

official=(debian:bookworm-slim golang:1.26-bookworm)
answer_seconds=20    # for the registry to say what it has
layers_seconds=600   # for the layers to arrive, once it has answered
database=${1-}

say() { echo "docker/base: $*" >&2; }

main() {
    case "$database" in
        '') ;;
        postgres) official+=(postgres:17) ;;
        *) say "unknown argument $database; usage: ensure.sh [postgres]"; exit 1 ;;
    esac
    docker version >/dev/null 2>&1 || { say "the Docker Engine does not answer; start it, or set DOCKER_HOST"; exit 1; }
    if all_here "${official[@]}"; then
        echo
    elif all_here "${official[@]/#/stopwatt/}" || ! pull_all "${official[@]}"; then
        "$(dirname "$0")/build.sh" $database >&2
        for_each_standin
    else
        echo
    fi
}

all_here() { docker image inspect "$@" >/dev/null 2>&1; }

for_each_standin() {
    local line='' name
    for name in "${official[@]}"; do line+=" $name=stopwatt/$name"; done
    echo "${line# }"
}

pull_all() {
    local name
    for name in "$@"; do
        all_here "$name" && continue
        pull "$name" || { say "no registry gives $name; using stand-ins"; return 1; }
    done
}

# pull NAME: docker says "Pulling from" when the registry has answered with a manifest. Until then it has little time,
# afterwards much, so that a slow line is not taken for a missing one.
pull() {
    local log pid tick status=0
    log=$(mktemp)
    timeout "$layers_seconds" docker pull "$1" >"$log" 2>&1 &
    pid=$!
    for ((tick = 0; tick < answer_seconds * 10; tick++)); do
        if grep -q 'Pulling from' "$log" || ! kill -0 $pid 2>/dev/null; then break; fi
        sleep 0.1
    done
    if grep -q 'Pulling from' "$log"; then say "pulling $1"; else kill $pid 2>/dev/null || true; fi
    wait $pid || status=$?
    rm -f "$log"
    return $status
}

main
