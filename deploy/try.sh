#!/bin/bash
# Tries the installation where neither Docker nor systemd is: makes a fresh Debian root from packages, does there what
# the Dockerfile does (deploy/install.sh), and starts what the unit starts (ExecStart of deploy/fader.service), as its
# user. Asks the service whether it is well and for one answer, and removes the root.
#
#   deploy/try.sh      as root, on Debian, with mmdebstrap; takes some minutes
#
# pip in the root is configured as pip here is: its environment variables, its files, and the local folders they name.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
suite=$(sed -n 's/^FROM debian:\([a-z]*\).*/\1/p' "$here/Dockerfile")
command=$(sed -n 's/^ExecStart=//p' "$here/deploy/fader.service")
root=$(mktemp -d)
mounted=()
server=
finish() {
  [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
  for place in "${mounted[@]}"; do umount "$place" || umount --lazy "$place"; done
  rm -rf --one-file-system "$root"
}
trap finish EXIT

bind() { # a folder or file of this machine at the same place in the root, or at $2
  local place="$root${2:-$1}"
  if [ -d "$1" ]; then mkdir -p "$place"; else mkdir -p "$(dirname "$place")" && touch "$place"; fi
  mount --bind "$1" "$place"
  mounted=("$place" "${mounted[@]}")
}

echo "#### a fresh root of Debian $suite"
mmdebstrap --quiet --variant=minbase --include=ca-certificates "$suite" "$root"
for each in /proc /dev /sys; do bind "$each"; done
cp /etc/resolv.conf "$root/etc/resolv.conf"

echo "#### the checkout, and pip's configuration"
mkdir "$root/src"
tar -C "$here" -cf - --exclude=./.git --exclude=./.venv --exclude=./build --exclude='__pycache__' . | tar -C "$root/src" -xf -
[ ! -e /etc/ssl/certs/ca-certificates.crt ] || bind /etc/ssl/certs/ca-certificates.crt
settings=()
while IFS='=' read -r name value; do
  case $name in PIP_* | *_proxy | *_PROXY) settings+=("$name=$value") ;; esac
done < <(env)
for file in /etc/pip.conf ~/.pip/pip.conf ~/.config/pip/pip.conf; do [ ! -e "$file" ] || bind "$file"; done
for path in $(python3 -m pip config list 2>/dev/null | grep -oE "/[^ '\"]+" | sed 's#^/*#/#'); do
  while [ "$path" != / ] && [ ! -e "$path" ]; do path=$(dirname "$path"); done
  [ "$(basename "$path")" != simple ] || path=$(dirname "$path") # an index refers to files beside it
  case $path in / | /etc | /etc/*) ;; *) mountpoint -q "$root$path" || bind "$path" ;; esac
done

inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "${settings[@]}" chroot "$root" "$@"; }

echo "#### deploy/install.sh"
inside sh /src/deploy/install.sh /src

echo "#### $command"
rm -rf "$root/src"
chroot "$root" setpriv --reuid=fader --regid=fader --init-groups env -i HOME=/var/lib/fader PATH=/usr/bin:/bin $command &
server=$!
chroot "$root" curl -fsS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:8080/healthz
echo
chroot "$root" curl -fsS 'http://127.0.0.1:8080/v1/search?q=landed+%2Bmars&type=spacecraft&k=1' | tee /dev/stderr | grep -q '"rank":1'
echo "#### the service answered"
