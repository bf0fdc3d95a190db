#!/bin/bash
# Builds stand-ins for the two official images that the Dockerfiles of this project start from, and for the one that the
# private database runs from where no Postgres is installed, for machines where no image registry answers:
#
#   debian:bookworm-slim    as  stopwatt/debian:bookworm-slim     debootstrap, slimmed the way the official image is
#   golang:1.26-bookworm    as  stopwatt/golang:1.26-bookworm     the same, with this machine's Go toolchain
#   postgres:17             as  stopwatt/postgres:17              the same, with Debian's Postgres, whatever its version
#
# usage: build.sh [--force] [postgres]        without "postgres" the first two only
#
# Needs root on Debian, a running Docker Engine and, for golang, Go. It changes nothing where the tags exist already and
# hold this Go version; --force builds them anew. It never touches a tag with an official name, and bakes in no proxy.
set -euo pipefail

suite=bookworm
debian=stopwatt/debian:bookworm-slim
golang=stopwatt/golang:1.26-bookworm
postgres=stopwatt/postgres:17
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

say() { echo "docker/base: $*" >&2; }
die() { say "$*"; exit 1; }

main() {
    force=no
    local argument database=no
    for argument in "$@"; do
        case "$argument" in
            --force) force=yes ;;
            postgres) database=yes ;;
            *) die "unknown argument $argument; usage: build.sh [--force] [postgres]" ;;
        esac
    done
    docker version >/dev/null 2>&1 || die "the Docker Engine does not answer; start it, or set DOCKER_HOST"
    # The lock lets two makes run at once: the second finds what the first has built.
    exec 9>"${TMPDIR:-/tmp}/stopwatt-docker-base.lock"
    flock 9

    scratch=$(mktemp -d)
    container=''
    trap tidy EXIT
    local former
    former=$(docker image inspect -f '{{.Id}}' $postgres $golang $debian 2>/dev/null || true)
    if [ $force = yes ] || ! is_standin $debian debian:bookworm-slim; then
        build_debian
    fi
    if [ $force = yes ] || ! golang_is_current; then
        build_golang
    fi
    if [ $database = yes ] && { [ $force = yes ] || ! is_standin $postgres postgres:17; }; then
        build_postgres
    fi
    remove_untagged $former
}

# remove_untagged ID…: an image that has lost its tag to a newer one goes, unless something was built on it.
remove_untagged() {
    local id
    for id in "$@"; do
        if [ "$(docker image inspect -f '{{len .RepoTags}}' "$id" 2>/dev/null)" = 0 ]; then
            docker rmi "$id" >/dev/null 2>&1 || true
        fi
    done
}

tidy() {
    if [ -n "$container" ]; then docker rm -f "$container" >/dev/null; fi
    rm -rf --one-file-system "$scratch"
}

# is_standin TAG OFFICIAL: is there an image of this tag that this script made?
is_standin() {
    [ "$(docker image inspect -f '{{index .Config.Labels "stopwatt.standin"}}' "$1" 2>/dev/null)" = "$2" ]
}

# The golang image is renewed when the machine's Go, its settings or the image below it have changed.
golang_is_current() {
    is_standin $golang golang:1.26-bookworm &&
        [ "$(docker image inspect -f '{{index .Config.Labels "stopwatt.standin.key"}}' $golang)" = "$(golang_key)" ]
}

golang_key() {
    { docker image inspect -f '{{.Id}}' $debian; go env GOVERSION; go_settings; } | sha256sum | cut -d' ' -f1
}

build_debian() {
    [ "$(id -u)" = 0 ] || die "debootstrap needs root; run as root, or load debian:bookworm-slim into this engine"
    need_debootstrap
    local root=$scratch/root mirror started=$SECONDS
    mirror=$(debian_mirror)
    say "building $debian by debootstrap, half a minute or more, once on this machine"
    if ! debootstrap --variant=minbase --keyring=$keyring $suite "$root" "$mirror" >"$scratch/log" 2>&1; then
        tail -n 30 "$scratch/log" "$root/debootstrap/debootstrap.log" >&2 2>/dev/null || true
        die "debootstrap failed; its last lines stand above"
    fi
    carry_over_apt "$root"
    carry_over_certificates "$root"
    slim "$root"
    tar -C "$root" --numeric-owner --one-file-system -c . |
        docker import --change 'CMD ["bash"]' --change 'LABEL stopwatt.standin=debian:bookworm-slim' - $debian >/dev/null
    rm -rf --one-file-system "$root"
    say "built $debian ($(size $debian)) in $((SECONDS - started)) s"
}

need_debootstrap() {
    command -v debootstrap >/dev/null && return
    say "installing debootstrap"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap; } \
        >"$scratch/log" 2>&1 || { tail -n 30 "$scratch/log" >&2; die "apt-get could not install debootstrap"; }
}

# own_sources lists the host's apt sources that are Debian's own: of this release, and signed with Debian's keyring or with
# none in particular. Those of third parties need keys and packages that a slim image has not.
own_sources() {
    local file
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
        if [ -f "$file" ] && grep -qE "^[^#]*\b$suite\b" "$file" &&
            ! grep -iE '^[^#]*signed-by' "$file" | grep -qv debian-archive-keyring; then
            echo "$file"
        fi
    done
}

# debian_mirror prints the first address in the host's own sources that serves the release itself (not its security part).
debian_mirror() {
    local found
    found=$(own_sources | xargs -r sed -nE 's/^(URIs:|deb)[^#]*[[:space:]](https?:[^[:space:]]+).*/\2/p' | grep -v security | head -n 1)
    echo "${found:-http://deb.debian.org/debian}"
}

carry_over_apt() {
    local root=$1 file
    # What debootstrap wrote knows neither updates nor security fixes.
    if [ -n "$(own_sources)" ]; then
        rm -f "$root/etc/apt/sources.list"
        for file in $(own_sources); do cp "$file" "$root$file"; done
    fi
    # A machine behind a snapshot of Debian, or with an odd clock, says so here. Proxies are not among these.
    apt-config dump | grep -E '^Acquire::Check-(Valid-Until|Date) ' >"$root/etc/apt/apt.conf.d/90stopwatt-host" || true
    # As in the official image: no package lists, archives or translations pile up in layers, and no fsync for each file.
    cat >"$root/etc/apt/apt.conf.d/docker" <<'END'
DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/archives/partial/*.deb /var/cache/apt/*.bin || true"; };
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Acquire::GzipIndexes "true";
Acquire::Languages "none";
Apt::AutoRemove::SuggestsImportant "false";
END
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/docker-apt-speedup"
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"   # No service starts when its package is installed.
    chmod 755 "$root/usr/sbin/policy-rc.d"
}

# Certificates that the machine's owner has added are kept where Debian's ca-certificates looks for them if it is installed
# later; until then the host's whole bundle is there for programs that read it (apt, Go).
carry_over_certificates() {
    local root=$1
    mkdir -p "$root/etc/ssl/certs" "$root/usr/local/share/ca-certificates"
    find /usr/local/share/ca-certificates -name '*.crt' -exec cp -L -t "$root/usr/local/share/ca-certificates" {} +
    if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
        cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    fi
    chmod -R a+rX "$root/etc/ssl" "$root/usr/local/share/ca-certificates"
}

# What makes the official image slim: no manuals, documents (licences stay) or translations, now or for later packages.
slim() {
    local root=$1
    cat >"$root/etc/dpkg/dpkg.cfg.d/docker" <<'END'
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/groff/*
path-exclude /usr/share/info/*
path-exclude /usr/share/linda/*
path-exclude /usr/share/lintian/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
END
    find "$root/usr/share/doc" -type f ! -name copyright -delete
    find "$root/usr/share/doc" -type l -delete
    find "$root"/usr/share/{info,lintian,locale,man} -mindepth 1 -delete 2>/dev/null || true
    find "$root/var/lib/apt/lists" "$root/var/cache/apt" "$root/var/log" -type f -delete
    rm -f "$root/etc/hostname" "$root/etc/resolv.conf" "$root/etc/machine-id"   # These belong to a machine.
    find "$root/dev" -mindepth 1 -delete
}

# go_settings prints NAME=value for what decides how Go fetches modules here. A proxy address that holds a password stays
# out of the image.
go_settings() {
    local name value
    for name in GOPROXY GOSUMDB GONOSUMDB GONOPROXY GOPRIVATE GOFLAGS; do
        value=$(go env "$name")
        case "$value" in
            '') ;;
            *://*@*) say "$name holds a password and is left out of $golang" ;;
            *) echo "$name=$value" ;;
        esac
    done
}

# The toolchain is copied into a container of the Debian stand-in, which becomes the image: no builder is asked, so nothing
# depends on which one the engine has.
build_golang() {
    command -v go >/dev/null || die "no Go on this machine to make $golang from; install Go 1.26"
    local setting started=$SECONDS changes=()
    case "$(go env GOVERSION)" in
        go1.26*) ;;
        *) say "warning: this machine has $(go env GOVERSION), the official image has Go 1.26" ;;
    esac
    say "building $golang from $(go env GOVERSION) in $(go env GOROOT)"
    while IFS= read -r setting; do
        changes+=(--change "ENV ${setting%%=*}=\"${setting#*=}\"")
    done < <(go_settings)
    container=$(docker create $debian true)
    # Go's tests of itself are half of its files, and every file costs time in a layer.
    tar -C "$(go env GOROOT)" --dereference --owner=0 --group=0 --numeric-owner --transform 's,^\.,usr/local/go,' \
        --exclude='./test' --exclude='./api' --exclude='./doc' --exclude='testdata' --exclude='*_test.go' -c . |
        docker cp - "$container:/"
    docker commit "${changes[@]}" \
        --change 'ENV GOTOOLCHAIN=local GOPATH=/go PATH=/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
        --change 'WORKDIR /go' --change 'CMD ["bash"]' \
        --change 'LABEL stopwatt.standin=golang:1.26-bookworm' --change "LABEL stopwatt.standin.key=$(golang_key)" \
        "$container" $golang >/dev/null
    say "built $golang ($(size $golang)) in $((SECONDS - started)) s"
}

build_postgres() {
    local started=$SECONDS
    say "building $postgres from Debian's packages, a minute or more, once on this machine"
    # The proxies of this shell are for the build alone.
    docker build --build-arg BASE=$debian --build-arg HTTP_PROXY --build-arg HTTPS_PROXY --build-arg NO_PROXY \
        --build-arg http_proxy --build-arg https_proxy --build-arg no_proxy -t $postgres "$(dirname "$0")/postgres" \
        >"$scratch/log" 2>&1 || { tail -n 30 "$scratch/log" >&2; die "docker build failed; its last lines stand above"; }
    say "built $postgres ($(size $postgres)) in $((SECONDS - started)) s"
}

size() { docker image inspect -f '{{.Size}}' "$1" | numfmt --to=iec-i --suffix=B; }

main "$@"
