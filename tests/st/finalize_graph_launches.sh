#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Description: shmem_finalize says what launches of a graph are never done, as
# of operations that are enqueued.
# Timeout: 30
set -u
for far in '' '--ppn 1'; do
    # shellcheck disable=SC2086
    said=$("$BUILD/bin/oshrun" -n 2 $far \
        "$BUILD/obj/tests/st/finalize_graph_launches" 2>&1) || {
        echo "exit status $?: $said"
        exit 1
    }
    echo "$said" | grep -qE 'shmem_finalize: (an|[0-9]+) operations? (was|were) enqueued that (its|their) streams? ha(s|ve) not reached' || {
        echo "it says nothing of them: $said"
        exit 1
    }
done
