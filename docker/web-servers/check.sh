#!/bin/bash
# Builds the four implementations of the web-servers suite and checks by hand what the suite takes for granted: that they answer
# every request with the same bytes, heads included; that these are the bytes the suite expects; and that no connection is
# kept or closed where it should not be. Each server runs as the suite runs it: without network, writable root or
# capabilities. The client, this script again, joins the server's network namespace.
#
# usage: check.sh [--speed SECONDS]    as root; with --speed also a look at each program with wrk, 4 connections at once
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
suite=$here/../../suites/web-servers
jemalloc=LD_PRELOAD=/usr/local/lib/libjemalloc.so.2

main() {
    [ "${1-}" != --client ] || { client "$2"; return; }
    speed=0
    [ "${1-}" != --speed ] || speed=$2
    scratch=$(mktemp -d)
    containers=()
    trap tidy EXIT
    check_copies
    build_all
    local name
    for name in go rust-tokio rust-tokio-alloc rust-arena; do check_one $name; done
    for name in rust-tokio rust-tokio-alloc rust-arena; do
        diff -r "$scratch/go" "$scratch/$name" >&2 || die "$name answers otherwise than go"
    done
    check_hashes
    check_spin
    echo "all four answer $(find "$scratch/go" -type f | wc -l) requests with the same bytes, those that the suite expects"
}

tidy() {
    [ ${#containers[@]} = 0 ] || docker rm -f "${containers[@]}" >/dev/null
    rm -rf "$scratch"
}

die() { echo "check: $*" >&2; exit 1; }

# What is meant to be one text in several folders must be one text.
check_copies() {
    cmp "$here"/rust-{tokio,arena}/src/http.rs
    cmp "$here"/{go,rust-tokio}/page.html
    cmp "$here"/{go,rust-arena}/page.html
}

build_all() {
    local bases debian golang
    bases=$("$here/../base/ensure.sh")
    debian=debian:bookworm-slim golang=golang:1.26-bookworm
    [ -z "$bases" ] || debian=stopwatt/$debian golang=stopwatt/$golang
    build go --build-arg BASE=$golang --build-arg RUNTIME=$debian
    build rust-tokio --build-arg BASE=$debian
    build rust-arena --build-arg BASE=$debian
}

build() {
    local folder=$1 started=$SECONDS
    shift
    docker build -q -t "stopwatt-check/$folder" "$@" "$here/$folder" >/dev/null 2>"$scratch/log" || { cat "$scratch/log" >&2; die "$folder does not build"; }
    echo "built $folder in $((SECONDS - started)) s, $(docker image inspect -f '{{.Size}}' "stopwatt-check/$folder" | numfmt --to=iec-i --suffix=B)"
}

check_one() {
    local name=$1 container pid environment=THREADS=4
    [ "$name" != rust-tokio-alloc ] || environment=$jemalloc
    container=$(docker run -d --network none --read-only --cap-drop ALL -e "$environment" "stopwatt-check/${name%-alloc}")
    containers+=("$container")
    pid=$(docker inspect -f '{{.State.Pid}}' "$container")
    if [ "$name" = rust-tokio-alloc ]; then
        grep -q jemalloc "/proc/$pid/maps" || die "jemalloc is not loaded"
    fi
    mkdir "$scratch/$name"
    nsenter -t "$pid" -n "$here/check.sh" --client "$scratch/$name" || die "$name gives wrong answers"
    [ "$speed" = 0 ] || measure "$name" "$pid"
    docker stop -t 5 "$container" >/dev/null
    [ "$(docker inspect -f '{{.State.ExitCode}}' "$container")" = 0 ] || die "$name does not stop when asked"
    echo "$name: right"
}

# The SHA-256 values of the suite, against the bodies that all four have given.
check_hashes() {
    local name body
    for name in csv-svg-path send-static-file varying-allocations; do
        body=$(sed '1,/^\r$/d' "$scratch/go/$name" | sha256sum | cut -d' ' -f1)
        sed -n "/^  $name:/,/load:/p" "$suite/stopwatt.yml" | grep -q "$body" || die "$name: the suite does not expect $body"
    done
}

# SPIN makes each answer of go so much later, and is refused where it is no duration.
check_spin() {
    local container pid
    container=$(docker run -d --network none --read-only --cap-drop ALL -e SPIN=50ms stopwatt-check/go)
    containers+=("$container")
    pid=$(docker inspect -f '{{.State.Pid}}' "$container")
    nsenter -t "$pid" -n bash -c "$(declare -f wait_for_port die); wait_for_port"
    nsenter -t "$pid" -n curl -s -o "$scratch/spun" -w '%{time_total}' http://127.0.0.1:8080/static |
        awk '$1 < 0.05 { exit 1 }' || die "go answers sooner than SPIN says"
    ! docker run --rm --network none -e SPIN=often stopwatt-check/go 2>"$scratch/refused" || die "go takes SPIN=often"
    grep -q 'SPIN=often' "$scratch/refused" || die "go does not say what is wrong with SPIN=often"
    echo "go: spins"
}

measure() {
    local name=$1 pid=$2 url
    cat >"$scratch/post.lua" <<END
wrk.method = "POST"
wrk.body = io.open("$suite/points.csv"):read("*a")
END
    for url in csv-svg-path static 'varying-allocations?n=8'; do
        echo "$name $url $(nsenter -t "$pid" -n wrk -t1 -c4 -d"${speed}s" \
            $([ $url != csv-svg-path ] || echo "-s $scratch/post.lua") "http://127.0.0.1:8080/$url" |
            sed -nE 's/^Requests.sec: *(.*)/\1 requests\/s/p; s/Non-2xx.*/&/p' | xargs)"
    done
}

# ---- The client, within a server's network namespace ----

client() {
    answers=$1
    wait_for_port
    the_programs
    one_connection_after_another
    malformed
    refused
}

wait_for_port() {
    local try
    for try in {1..100}; do
        (exec 3<>/dev/tcp/127.0.0.1/8080) 2>/dev/null && return
        sleep 0.05
    done
    die "nothing listens on port 8080"
}

# exchange NAME PART…: sends the parts one after the other and keeps all that is answered until the server closes.
exchange() {
    local name=$1 part
    shift
    exec 3<>/dev/tcp/127.0.0.1/8080
    for part in "$@"; do
        printf %b "$part" >&3
        [ $# = 1 ] || sleep 0.02
    done
    timeout 5 cat <&3 >"$answers/$name" || die "$name: the connection is not closed"
    exec 3>&-
}

# expect NAME STATUS [STATUS…]: the statuses of all answers on that connection.
expect() {
    local name=$1 found
    shift
    found=$(grep -a -oP '^HTTP/1\.[01] \K\d+' "$answers/$name" | xargs)
    [ "$found" = "$*" ] || die "$name: expected status $*, found ${found:-none}"
}

# Requests are written with backslashes for printf %b, which sends them: $(…) would drop a newline at the end.
request() { echo "$1 $2 HTTP/1.1\r\nHost: x\r\n${3-}\r\n"; }
closing='Connection: close\r\n'

post() {
    local length
    length=$(printf %b "$1" | wc -c)
    echo "$(request POST /csv-svg-path "${closing}Content-Length: $length\r\n")$1"
}

the_programs() {
    local points
    points=$(sed 's/$/\\n/' "$suite/points.csv" | tr -d '\n')
    exchange csv-svg-path "$(post "$points")"
    expect csv-svg-path 200
    exchange send-static-file "$(request GET /static)"   # It closes unasked.
    expect send-static-file 200
    local n
    for n in 1 5 08 16; do
        exchange varying-$n "$(request GET "/varying-allocations?n=$n" "$closing")"
        expect varying-$n 200
    done
    exchange varying-allocations "$(request GET "/varying-allocations?n=8" "$closing")"
    expect varying-allocations 200
}

one_connection_after_another() {
    local kept
    kept=$(curl -s -o /dev/null -o /dev/null -o /dev/null -w '%{num_connects}' \
        'http://127.0.0.1:8080/varying-allocations?n=2' http://127.0.0.1:8080/none 'http://127.0.0.1:8080/varying-allocations?n=3')
    [ "$kept" = 100 ] || die "keep-alive: connections opened by three requests in turn: $kept, not 100"
    kept=$(curl -s -o /dev/null -o /dev/null -w '%{num_connects}' http://127.0.0.1:8080/static http://127.0.0.1:8080/static)
    [ "$kept" = 11 ] || die "static: connections opened by two requests in turn: $kept, not 11"

    exchange pipelined "$(request GET '/varying-allocations?n=4')$(request GET /none)$(request GET /static)"
    expect pipelined 200 404 200
    exchange split 'PO' 'ST /csv-svg-path HTT' 'P/1.1\r' '\nHost: x\r\nconNECTion: foo, CLOSE\r\nContent-' 'length:  14 \r\n\r' '\n' 'x,y\n-1,' '2.5\n1,1'
    expect split 200
    exchange split-between 'GET /none HTTP/1.1\r\nHost: x\r\n\r\nGET /sta' 'tic HTTP/1.1\r\nHost: x\r\n\r\n'
    expect split-between 404 200
    exchange old 'GET /varying-allocations?n=2 HTTP/1.0\r\n\r\n'
    expect old 200
    sed -i '1s,^HTTP/1.0,HTTP/1.1,' "$answers/old"   # Go names the client's version, the others their own.
}

malformed() {
    local number=0 csv
    # Each of these is nearly a CSV of points.
    for csv in '' 'x,y' 'x,y\n' 'y,x\n1,2\n' '1,2\n' 'x,y\n\n1,2\n' 'x,y\n1,2\n\n' 'x,y\n1\n' 'x,y\n1,\n' 'x,y\n,2\n' 'x,y\n1,2,3\n' \
        'x,y\n1, 2\n' 'x,y\n+1,2\n' 'x,y\n1.,2\n' 'x,y\n.5,2\n' 'x,y\n1.2345,2\n' 'x,y\n1234567,2\n' 'x,y\n1,--2\n' 'x,y\n1,-\n' 'x,y\n1e3,2\n' \
        'x,y\n1.2.3,4\n' 'x,y\r\n1,2\r\n' 'x,y\n1,2\r\n' 'x,y\n1,\0303\0251\n' 'x,y\n1,0x1\n'; do
        number=$((number + 1))
        exchange malformed-$number "$(post "$csv")"
        expect malformed-$number 400
    done
    number=0
    for csv in 'x,y\n0,0' 'x,y\n-0,-0.000\n' 'x,y\n999999.999,-999999.999\n-999999.999,999999.999\n' 'x,y\n007,1.5\n0.05,-0.001\n'; do
        number=$((number + 1))
        exchange extreme-$number "$(post "$csv")"
        expect extreme-$number 200
    done
    local query
    for query in '' '?' '?n=' '?n=0' '?n=17' '?n=+5' '?n=-1' '?n=5x' '?n=005' '?m=5' '?n=5&n=5' '?n=99999999999999999999'; do
        exchange "query-$query" "$(request GET "/varying-allocations$query" "$closing")"
        expect "query-$query" 400
    done
}

refused() {
    local path
    for path in / /static/ /STATIC /st%61tic /csv-svg-path/x; do
        exchange "path-${path//\//_}" "$(request GET $path "$closing")"
        expect "path-${path//\//_}" 404
    done
    exchange method-static "$(request POST /static "${closing}Content-Length: 3\r\n")abc"
    exchange method-csv "$(request GET /csv-svg-path "$closing")"
    exchange method-varying "$(request DELETE '/varying-allocations?n=1' "$closing")"
    for path in static csv varying; do expect method-$path 405; done

    local rows
    rows=$(printf '0,0\\n%.0s' {1..16383})   # With the header, 65,536 bytes: the limit.
    exchange largest "$(request POST /csv-svg-path "${closing}Content-Length: 65536\r\n")x,y\n$rows"
    expect largest 200
    exchange too-large "$(request POST /csv-svg-path "Content-Length: 65540\r\n")x,y\n${rows}0,0\n"
    expect too-large 413
    exchange chunked "$(request POST /csv-svg-path "Transfer-Encoding: chunked\r\n")7\r\nx,y\n1,2\r\n0\r\n\r\n"
    expect chunked 411
}

main "$@"
