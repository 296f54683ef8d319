#!/bin/sh
# Installs the service on Debian: the steps of the Dockerfile, of a machine with systemd, and of deploy/try.sh.
#
#   deploy/install.sh CHECKOUT     as root
#
# Where packages come from is pip's and apt's business: their configuration and environment are used as they are.
set -eu
source=${1:?give the folder of the checkout}
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends python3 python3-venv ca-certificates curl
id fader >/dev/null 2>&1 || useradd --system --home-dir /var/lib/fader --create-home fader
python3 -m venv /opt/fader
/opt/fader/bin/pip install --quiet --no-cache-dir "$source[serve,documents]"
# As the user of the service, so that what the first answers need is compiled before somebody waits for one.
cd /var/lib/fader
setpriv --reuid=fader --regid=fader --init-groups env HOME=/var/lib/fader /opt/fader/bin/fader demo /var/lib/fader/demo --quiet
