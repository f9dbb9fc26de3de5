#!/bin/bash
# Writes a copy of the whole database into the current folder, and then copies the files of users that are in a folder.
#
#   backup.sh KEEP [FILES]
#
# scriptorium-<time>.sql.gz     the database (docs/operations.md, "Backup and restore"); as many are kept as said
# scriptorium-<time>.files.gz   the names of the files that were there then
# files/                        each file that one of these lists names. No file is ever changed, so one that is there is not copied again
# work/                         what is not finished
set -euo pipefail
shopt -s nullglob
export LC_ALL=C TMPDIR=work
keep=$1 files=${2-} programs=${0%/*}
# Of a server whose files are elsewhere, or that has none yet.
[ -d "$files" ] || files=

# What the store has, without what is being uploaded. No file is there in part, and some may go meanwhile.
present() { find "$files" -ignore_readdir_race -type f ! -path "$files/incoming/*" -printf '%P\n' | sort; }
copied() { find files -type f -printf '%P\n' | sort; }

# Leaves so many copies of the database, the newest, and the files that they name or that are there now.
prune() {
  local copies=(scriptorium-*.sql.gz) copy
  local surplus=$((${#copies[@]} > $1 ? ${#copies[@]} - $1 : 0))
  for copy in "${copies[@]:0:surplus}"; do rm -f "$copy"; done
  # Also that of a run which was ended before it had the database.
  for copy in scriptorium-*.files.gz; do [ -e "${copy%.files.gz}.sql.gz" ] || rm -f "$copy"; done
  [ -n "$files" ] || return 0
  present > work/present
  # No file at all is rather a folder that is not mounted.
  [ -s work/present ] || return 0
  local lists=(scriptorium-*.files.gz)
  { cat work/present; [ ${#lists[@]} -eq 0 ] || gzip -dc "${lists[@]}"; } | sort -u > work/wanted
  copied | comm -23 - work/wanted > work/unwanted
  while read -r name; do rm -f "files/$name"; done < work/unwanted
}

copy_files() {
  present > work/present
  copied | comm -13 - work/present > work/absent
  while read -r name; do
    mkdir -p "$(dirname "files/$name")"
    if cp -p "$files/$name" work/copy; then
      sync work/copy
      mv work/copy "files/$name"
    elif [ -e "$files/$name" ]; then
      exit 1
    fi
  done < work/absent
  gzip < work/present > work/list.gz
}

rm -rf work
mkdir -p work files
# First, as there may be no room for one more. The last one stays until there is another.
prune $((keep > 1 ? keep - 1 : 1))
node "$programs/psql.mjs" -XqAt -v ON_ERROR_STOP=1 -f /opt/scriptorium/tools/backup.sql | gzip > work/draft.sql.gz
[ "$(gzip -dc work/draft.sql.gz | tail -n 1)" = 'COMMIT;' ] || {
  echo 'The copy of the database lacks its end.' >&2
  exit 1
}
backup="scriptorium-$(date -u +%Y%m%dT%H%M%SZ)"
# After the database, so that all files which it names are there.
if [ -n "$files" ]; then
  copy_files
  sync work/list.gz
  mv work/list.gz "$backup.files.gz"
fi
sync work/draft.sql.gz
mv work/draft.sql.gz "$backup.sql.gz"
prune "$keep"
rm -rf work
