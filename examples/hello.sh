#!/bin/sh
# The smallest job: it says where it runs and leaves a file behind.
#   crystalmath submit examples/hello.sh --code command --wait
set -eu
echo "hello from $(uname -n), attempt ${CRYSTALMATH_JOB_ATTEMPT:-1}"
date -u +%Y-%m-%dT%H:%M:%SZ >greeted_at.txt
