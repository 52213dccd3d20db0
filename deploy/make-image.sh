#!/bin/sh
# Packs the program as a container image, without a daemon: dist/image is an OCI layout.
#
# usage: deploy/make-image.sh [BINARY [FOLDER]]
#
# In the image are the program, the libraries that it links, and the certificates of public authorities: no shell, no
# package manager. It runs as user 65532 and writes to /var/lib/urd alone; `urd setup` writes to /etc/urd too.
set -eu
cd "$(dirname "$0")/.."
binary=$(readlink -f "${1:-.build/release/urd}")
folder=${2:-dist/image}
tag=$("$binary" --version | cut -d ' ' -f 2)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/usr/bin" "$root/etc/ssl/certs" "$root/etc/urd" "$root/var/lib/urd" "$root/tmp"
chmod 1777 "$root/tmp"
chmod 700 "$root/etc/urd" "$root/var/lib/urd"
strip -o "$root/usr/bin/urd" "$binary"
chmod 755 "$root/usr/bin/urd"
# A path of the loader stands alone in its line, others behind an arrow.
ldd "$binary" | sed -nE 's/^[^/]*(\/[^ ]+) \(0x.*/\1/p' | while read -r library; do
    install -D -m 644 "$library" "$root$library"
done
find "$root" -name 'ld-linux*' -exec chmod 755 {} +
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
echo 'urd:x:65532:65532::/var/lib/urd:/usr/sbin/nologin' >"$root/etc/passwd"
echo 'urd:x:65532:' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
[ "$(id -u)" -ne 0 ] || chown 65532:65532 "$root/etc/urd" "$root/var/lib/urd"

rootless=
[ "$(id -u)" -eq 0 ] || rootless=--rootless
mkdir -p "$(dirname "$folder")"
rm -rf "$folder"
umoci init --layout "$folder"
umoci new --image "$folder:$tag"
# shellcheck disable=SC2086 # the option is one word or none
umoci insert $rootless --image "$folder:$tag" "$root" /
umoci config --image "$folder:$tag" \
    --config.user 65532:65532 --config.workingdir / \
    --config.entrypoint /usr/bin/urd --config.cmd serve \
    --config.env URD_LISTEN_ADDRESS=0.0.0.0 --config.env URD_PRIVATE_ADDRESS=0.0.0.0 \
    --config.env URD_CHECKPOINT_DIRECTORY=/var/lib/urd \
    --config.env SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    --config.exposedports 8080/tcp --config.exposedports 8081/tcp \
    --config.volume /var/lib/urd --config.stopsignal SIGTERM \
    --config.label org.opencontainers.image.title=urd \
    --config.label "org.opencontainers.image.version=$tag"
umoci gc --layout "$folder"
echo "$folder:$tag"
