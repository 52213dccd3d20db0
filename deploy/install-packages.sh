#!/bin/sh
# Installs what Urd needs from Debian or Ubuntu, and says what it cannot install.
#
# usage: deploy/install-packages.sh [toolchain|build|deb|release|image|run|bench|build-tests|test] [--print]
#   toolchain    nothing: only looks for Swift
#   build        the C libraries that Urd links (default)
#   deb          what packs the program for Debian on top
#   release      what lists and signs a release on top
#   image        what packs it as a container image on top
#   run          what `urd dev` needs on top: a PostgreSQL server
#   bench        what the benchmarks need on top: a load generator
#   build-tests  the C libraries that Urd and its tests link
#   test         what the tests need
#   --print only names what is missing; exit code 1 when something is
#
# When all is there it asks dpkg once and ends: cheap enough to run before every build.
set -eu

purpose=build
print_only=no
for word in "$@"; do
    case "$word" in
    toolchain | build | deb | release | image | run | bench | build-tests | test) purpose=$word ;;
    --print) print_only=yes ;;
    *)
        echo "install-packages.sh: unknown argument '$word' (toolchain, build, deb, image, run, bench, build-tests, test, --print)" >&2
        exit 2
        ;;
    esac
done

say() { printf '%s\n' "$*" >&2; }

# The toolchain -------------------------------------------------------------------------------

require_swift() {
    wanted="Urd needs the Swift toolchain 6.3 or newer"
    if ! command -v swift >/dev/null 2>&1; then
        say "$wanted; there is no 'swift' on the PATH."
        say "Install it from https://www.swift.org/install/linux/ and run this again."
        exit 1
    fi
    # `swift --version` takes longer than all the rest: its answer is kept beside the build,
    # for as long as the program is the same file.
    program=$(readlink -f "$(command -v swift)")
    stamp="$program $(stat -c '%Y %s' "$program")"
    memory=.build/swift-toolchain
    if [ -f "$memory" ] && [ "$(cat "$memory")" = "$stamp" ]; then return; fi
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p')
    major=${version%%.*}
    minor=${version#*.}
    if [ "${major:-0}" -lt 6 ] || { [ "$major" -eq 6 ] && [ "${minor:-0}" -lt 3 ]; }; then
        say "$wanted; this one ($program) is ${version:-unknown}."
        say "Install a newer one from https://www.swift.org/install/linux/ and run this again."
        exit 1
    fi
    mkdir -p .build
    printf '%s' "$stamp" >"$memory"
}

# The packages --------------------------------------------------------------------------------

build_packages="libpq-dev libssl-dev libmicrohttpd-dev libcurl4-openssl-dev libsystemd-dev"
build_packages="$build_packages libyaml-dev libqrencode-dev libcbor-dev libmimalloc-dev libphonenumber-dev"
build_packages="$build_packages libprotobuf-dev libxmlsec1-dev libxml2-dev libmaxminddb-dev"
build_packages="$build_packages zlib1g-dev libcrypt-dev libargon2-dev pkg-config"
deb_packages="debhelper lintian"
release_packages="$deb_packages minisign python3"
# An image is packed and looked at without a daemon.
image_packages="umoci skopeo ca-certificates"
run_packages="util-linux"
# A load generator, what counts instructions, what signs as fast as it can, and what the figures of the flagship app run.
bench_packages="wrk valgrind binutils openssl python3 python3-cryptography"
# Yubico's own library, to which ours is compared.
build_tests_packages="libfido2-dev"
test_packages="python3 python3-pytest python3-cryptography python3-aiosmtpd openssl curl procps"
# Three unrelated JOSE libraries and a reader of QR codes.
test_packages="$test_packages python3-jwcrypto python3-jose python3-jwt python3-zbar"
# A client of OAuth that others wrote.
test_packages="$test_packages python3-authlib python3-requests"
# Relying parties that others wrote: a library, and the certified module of a web server.
test_packages="$test_packages python3-requests-oauthlib apache2-bin libapache2-mod-auth-openidc"
# What the pinned packages below need.
test_packages="$test_packages python3-pip python3-filelock python3-httpx python3-jinja2 python3-requests"
test_packages="$test_packages python3-responses python3-yaml python3-netaddr"
# A validator of JSON Schema.
test_packages="$test_packages python3-jsonschema"
# A real browser, and Yubico's library, for passkeys.
test_packages="$test_packages chromium python3-fido2"
# Hashes of passphrases that others made.
test_packages="$test_packages python3-bcrypt python3-argon2 python3-passlib python3-scrypt"
# An authenticator app.
test_packages="$test_packages python3-pyotp"
# A pooler of PostgreSQL's connections.
test_packages="$test_packages pgbouncer"
# A proxy that buffers.
test_packages="$test_packages nginx-light"
# What a notebook for analysts is made of.
test_packages="$test_packages python3-pandas python3-sqlalchemy python3-psycopg2 python3-nbformat"
# Networks of their own, for names that lead inward and for partitions.
test_packages="$test_packages iproute2 iptables"
# An identity provider of SAML, and what signs XML.
test_packages="$test_packages python3-pysaml2 xmlsec1"
# What speaks HTTP/2 as Apple does.
test_packages="$test_packages python3-h2"
# What encrypts backups, and what watches over servers.
test_packages="$test_packages age prometheus"
test_packages="$test_packages $image_packages minisign"

has_postgresql() {
    for program in /usr/lib/postgresql/1[5-9]/bin/initdb /usr/lib/postgresql/[2-9][0-9]/bin/initdb; do
        if [ -x "$program" ] && [ -x "${program%initdb}psql" ] && [ -x "${program%initdb}pgbench" ]
        then return 0; fi
    done
    return 1
}

missing_packages() {
    wanted=$build_packages
    case "$purpose" in
    deb) wanted="$wanted $deb_packages" ;;
    release) wanted="$wanted $release_packages" ;;
    image) wanted="$wanted $image_packages" ;;
    run) wanted="$wanted $run_packages" ;;
    bench) wanted="$wanted $run_packages $bench_packages" ;;
    build-tests) wanted="$wanted $build_tests_packages" ;;
    test) wanted="$wanted $build_tests_packages $run_packages $test_packages" ;;
    esac
    # `pkgconf` provides `pkg-config` on newer releases: the program is what counts.
    if command -v pkg-config >/dev/null 2>&1; then
        wanted=$(printf '%s' "$wanted" | sed 's/ pkg-config//')
    fi
    # shellcheck disable=SC2086 # the list is words
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null || true)
    missing=
    for package in $wanted; do
        case "
$installed
" in
        *"
$package installed
"*) ;;
        *) missing="$missing $package" ;;
        esac
    done
    case "$purpose" in
    run | bench | test)
        has_postgresql || missing="$missing postgresql postgresql-client postgresql-contrib"
        ;;
    esac
    printf '%s' "${missing# }"
}

# A server package would create and start a cluster of its own. Urd does not use it, so while we
# install, the packaging's own switch is off; a cluster that exists already is left alone.
install_packages() {
    script='
        set -eu
        switch=/etc/postgresql-common/createcluster.d/urd-install.conf
        mkdir -p /etc/postgresql-common/createcluster.d
        echo "create_main_cluster = false" >"$switch"
        trap "rm -f $switch" EXIT
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -q || echo "apt-get update failed: trying with the lists that are there" >&2
        apt-get install -q -y --no-install-recommends "$@" </dev/null
    '
    # shellcheck disable=SC2086
    if [ "$(id -u)" -eq 0 ]; then
        sh -c "$script" install $1 >&2
    else
        sudo -n sh -c "$script" install $1 >&2
    fi
}

# What distributions do not hold: pinned, with hashes, into a folder of the build's own.
pinned_list=Tests/Interop/requirements.txt
pinned_folder=.build/interop

has_pinned() { cmp -s "$pinned_list" "$pinned_folder/requirements.txt"; }

install_pinned() {
    rm -rf "$pinned_folder"
    /usr/bin/python3 -m pip install --quiet --no-deps --require-hashes --no-input \
        --disable-pip-version-check --root-user-action ignore \
        --target "$pinned_folder" -r "$pinned_list" </dev/null >&2 &&
        cp "$pinned_list" "$pinned_folder/requirements.txt"
}

may_install() {
    command -v apt-get >/dev/null 2>&1 || return 1
    [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null
}

if [ "$purpose" = toolchain ]; then
    require_swift
    exit 0
fi

if ! command -v dpkg-query >/dev/null 2>&1; then
    say "This is not Debian or Ubuntu: install the equivalents of these packages yourself:"
    say "  $build_packages $build_tests_packages $run_packages $test_packages"
    say "  postgresql (15 or newer)"
    require_swift
    exit 0
fi

missing=$(missing_packages)
if [ "$print_only" = yes ]; then
    [ -z "$missing" ] && exit 0
    printf '%s\n' "$missing"
    exit 1
fi
if [ -n "$missing" ]; then
    command_line="apt-get install --no-install-recommends $missing"
    if ! may_install; then
        say "Missing packages: $missing"
        say "They cannot be installed from here (not root, and sudo asks for a password). Run:"
        say "  sudo $command_line"
        exit 1
    fi
    say "Installing: $missing"
    if ! install_packages "$missing"; then
        say "apt could not install: $missing"
        say "Mend the package sources and run:  $command_line"
        exit 1
    fi
    missing=$(missing_packages)
    if [ -n "$missing" ]; then
        say "Still missing after the installation: $missing"
        exit 1
    fi
fi
if [ "$purpose" = test ] && ! has_pinned; then
    say "Installing what $pinned_list names into $pinned_folder"
    if ! install_pinned; then
        say "pip could not install it: tests that need it will say so."
        exit 1
    fi
fi
require_swift
