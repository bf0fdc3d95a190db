# What the check.sh of the folders beside this one share: source it. A check proves by hand, with docker alone, what its suite takes
# for granted.

die() { echo "check: $*" >&2; exit 1; }

# build FOLDER: makes the image stopwatt-check/NAME, on the official images or on what stands in for them.
build() {
    local name log pair arguments=() started=$SECONDS
    name=$(basename "$1")
    # "debian:bookworm-slim=STAND-IN golang:…=STAND-IN", or nothing: the ARG of a Dockerfile that has this official name as its default.
    for pair in $("$(dirname "${BASH_SOURCE[0]}")/ensure.sh"); do
        arguments+=($(sed -nE "s,^ARG ([A-Z]+)=${pair%%=*}$,--build-arg \1=${pair#*=},p" "$1/Dockerfile"))
    done
    log=$(mktemp)
    docker build -t "stopwatt-check/$name" "${arguments[@]}" "$1" >"$log" 2>&1 || { cat "$log" >&2; rm "$log"; die "$name does not build"; }
    rm "$log"
    echo "built $name in $((SECONDS - started)) s, $(docker image inspect -f '{{.Size}}' "stopwatt-check/$name" | numfmt --to=iec-i --suffix=B)"
}

# closed NAME [DOCKER OPTION…] -- COMMAND…: runs it as stopwatt does, without network, writable root or capabilities.
closed() {
    local name=$1 options=()
    shift
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    docker run --rm -i --network none --read-only --tmpfs /tmp --cap-drop ALL --entrypoint "$1" "${options[@]}" "stopwatt-check/$name" "${@:2}"
}
