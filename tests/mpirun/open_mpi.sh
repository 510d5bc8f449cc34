#!/bin/sh
# open_mpi.sh RANKS PROGRAM [ARGUMENTS]: what a program prints under Open MPI, rank by rank.
#
# Open MPI reads from a terminal per rank, in pieces, and may put a piece of one rank into a line of another.
set -e
PRINTED=$(mktemp -d)
export PRINTED
trap 'rm -r "$PRINTED"' EXIT
ranks=$1
shift
mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" \
    sh -c 'exec "$0" "$@" >"$PRINTED/$OMPI_COMM_WORLD_RANK"' "$@"
cat "$PRINTED"/*
