#!/bin/sh
# A second machine that takes over from the first (docs/standby.md). Runs on the second machine, as the user of
# the service there.
#
#   standby.sh copy                    copy a new backup from the first machine, and verify it; for a timer
#   standby.sh promote                 fence the first machine, copy a last time, restore the newest copy here
#   standby.sh promote --unreachable   the same without the first machine: switch it off before
set -eu
umask 077

# Those of the service too: `restore` checks with its time zone.
set -a
for settings in /etc/cooperative-registry.env "${STANDBY_SETTINGS:-/etc/cooperative-registry-standby.env}"; do
  # shellcheck source=/dev/null
  if [ -f "$settings" ]; then . "$settings"; fi
done
set +a

# USER@HOST of the first machine, for ssh. Empty: its folders are on this machine, or mounted.
PRIMARY=${PRIMARY-}
# The registry there, and a folder there for the backup that is copied.
PRIMARY_DB=${PRIMARY_DB:-/var/lib/cooperative-registry/registry.db}
PRIMARY_OUT=${PRIMARY_OUT:-/var/backups/registry-out}
# Where the registry will be here, a folder here for the copies, and how many of them stay.
REGISTRY_DB=${REGISTRY_DB:-/var/lib/cooperative-registry/registry.db}
COPIES=${COPIES:-/var/backups/registry-standby}
KEEP=${KEEP:-12}
# The program, on both machines.
BASE=/usr/local/lib/cooperative-registry
REGISTRY=${REGISTRY:-$BASE/node_modules/.bin/node $BASE/src/main.ts}
SSH_OPTIONS='-o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15'

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# shellcheck disable=SC2086 # options and programs are several words
there() { if [ -n "$PRIMARY" ]; then ssh $SSH_OPTIONS "$PRIMARY" "$1"; else sh -c "$1"; fi; }
# shellcheck disable=SC2086
fetch() { if [ -n "$PRIMARY" ]; then scp -rpqC $SSH_OPTIONS "$PRIMARY:$1" "$2"; else cp -Rp "$1" "$2"; fi; }

# Status 3: done, but not with all of the access ledger (docs/ledger.md#damage). What was said of it is not lost.
damaged=
but_ledger() { [ "$1" -eq 3 ] && damaged=yes; }

fence() { there "$REGISTRY fence --db '$PRIMARY_DB'"; }
# By what they hold: a clock that was wrong changes nothing.
copies() { $REGISTRY backup list "$COPIES" --db "$REGISTRY_DB" | sed 's/ .*//'; }
# The newest copy of which every byte can be restored.
newest() {
  copies | while read -r name; do
    if $REGISTRY backup verify "$COPIES/$name" --db "$REGISTRY_DB" >/dev/null || [ $? -eq 3 ]; then echo "$name" && break; fi
  done
}
# A name in the folder of the copies that nothing has.
free_name() { name=$1; n=2; while [ -e "$COPIES/$name" ]; do name=$1-$n; n=$((n + 1)); done; echo "$name"; }
# Neither of a fenced registry, nor of one whose restore was interrupted.
serves_here() { [ -e "$REGISTRY_DB" ] && [ ! -e "${REGISTRY_DB%.db}.fenced" ] && [ ! -e "$REGISTRY_DB.restoring" ]; }

# Each step only after the one before: a caller that asks for the result switches `set -e` off.
copy() {
  rm -rf "$COPIES"/*.incoming &&
    { there "$REGISTRY backup '$PRIMARY_OUT' --keep 1 --verify --db '$PRIMARY_DB'" >/dev/null || but_ledger $?; } &&
    made=$(there "$REGISTRY backup list '$PRIMARY_OUT' --db '$PRIMARY_DB'" | sed -n '1s/ .*//p') && [ -n "$made" ] &&
    name=$(free_name "$made") &&
    fetch "$PRIMARY_OUT/$made" "$COPIES/$name.incoming" &&
    { $REGISTRY backup verify "$COPIES/$name.incoming" --db "$REGISTRY_DB" >/dev/null || but_ledger $?; } &&
    mv "$COPIES/$name.incoming" "$COPIES/$name" && say "Copied and verified: $COPIES/$name" || return 1
  $REGISTRY backup prune "$COPIES" --keep "$KEEP" --db "$REGISTRY_DB" >/dev/null
}

run_copy() {
  if serves_here; then
    [ -e "$COPIES/unfenced" ] || die "$REGISTRY_DB is in use here: this is not a second machine any more. Stop its timer."
    fence || die 'The first machine is still not fenced: it could not be reached.'
    rm "$COPIES/unfenced"
    die 'The first machine is fenced now. Stop this timer.'
  fi
  copy || die 'No copy was made.'
}

run_promote() {
  if serves_here; then die "$REGISTRY_DB is in use here already. Nothing was done."; fi
  # Both machines would be down without a copy that can be restored.
  if [ "${1-}" = --unreachable ]; then
    [ -n "$(newest)" ] || die "There is no copy in $COPIES. Nothing was promoted."
    : >"$COPIES/unfenced"
  else
    [ -n "$(newest)" ] || copy || die 'There is no copy, and none could be made. Nothing was fenced or promoted.'
    fence || die 'The first machine could not be fenced. Nothing was promoted.' \
      'If it cannot be reached, switch it off, and run: standby.sh promote --unreachable'
    copy || say 'The last copy could not be made. What was written since the one before is lost.'
  fi
  from=$(newest)
  $REGISTRY restore "$COPIES/$from" --replace --db "$REGISTRY_DB" || but_ledger $?
  say 'Start the service, and send clients here.'
}

# The status says it to the timer, which reports the unit as failed.
finish() { if [ -n "$damaged" ]; then say 'The access ledger is damaged: see docs/ledger.md#damage.'; exit 3; fi; }

mkdir -p "$COPIES"
exec 9>"$COPIES/.lock"
flock -w 600 9 || die 'Another run has not ended for ten minutes.'
case "${1-} ${2-}" in
  'copy ') run_copy ;;
  'promote ' | 'promote --unreachable') run_promote "${2-}" ;;
  *) die 'Usage: standby.sh copy | promote [--unreachable]' ;;
esac
finish
