#!/bin/bash
# Keeps what the official image promises of POSTGRES_PASSWORD, POSTGRES_USER, POSTGRES_DB, POSTGRES_INITDB_ARGS and PGDATA: a
# folder without a database gets one. Scripts in /docker-entrypoint-initdb.d and the *_FILE variables are not looked at.
set -euo pipefail

initialize() {
    local user=${POSTGRES_USER:-postgres}
    local database=${POSTGRES_DB:-$user}
    : "${POSTGRES_PASSWORD:?is empty: the superuser needs a password}"
    # Word splitting is wanted: the variable holds several arguments.
    # shellcheck disable=SC2086
    initdb --pgdata="$PGDATA" --username="$user" --pwfile=<(echo "$POSTGRES_PASSWORD") ${POSTGRES_INITDB_ARGS-}
    echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
    if [ "$database" != postgres ]; then
        echo "CREATE DATABASE \"$database\"" | postgres --single -D "$PGDATA" -c exit_on_error=on postgres
    fi
}

if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then initialize; fi
exec "$@"
