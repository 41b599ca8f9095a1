#!/bin/sh
# Copy a folder to a dated archive and keep the latest seven.
set -eu

source=${1:?folder}
target=${2:?archive folder}

archive_name() {
    printf '%s/backup-%s.tar.gz' "$target" "$(date +%Y-%m-%d)"
}

prune() {
    ls -1t "$target"/backup-*.tar.gz | tail -n +8 | while read -r old; do
        rm -- "$old"
    done
}

mkdir -p "$target"
tar -czf "$(archive_name)" -C "$source" .
prune
