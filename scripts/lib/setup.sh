# Sets up what the scripts need: uv, the Python environment in .venv, the Rust build. Sourced by
# every script beside this folder, never run itself. It changes neither the working directory nor
# the environment of the caller.
#
#   ensure_setup deps   the libraries alone, so that a script works while the Rust code does not build
#   ensure_setup run    the libraries and both executables
#   ensure_setup dev    the same and the tools of the tests and checks
#
# A step is skipped when the fingerprint of its inputs is the one that stands in .venv/.setup.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
target_dir=${CARGO_TARGET_DIR:-$root/target}

private_uv_version=0.13.9    # installed only where no uv is on PATH
oldest_uv_version=0.8.0      # `required-version` in pyproject.toml

say() { printf 'crystalmath: %s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

# One line that differs whenever the installation must: the place of the checkout (the environment
# holds absolute paths) and the names and contents of the inputs.
fingerprint() {
    local inputs=(pyproject.toml uv.lock) sum=(sha256sum)
    [[ $1 == deps ]] || inputs+=(Cargo.toml Cargo.lock python/crystalmath/__init__.py src)
    command -v sha256sum >/dev/null || sum=(shasum -a 256)
    printf '%s ' "$root"
    cd "$root" && find "${inputs[@]}" -type f -print0 | LC_ALL=C sort -z | xargs -0 "${sum[@]}" | "${sum[@]}"
}

is_fresh() {
    local level=$1 stamp=$root/.venv/.setup/$1
    [[ -r $stamp && -x $root/.venv/bin/python ]] || return 1
    [[ $level == deps || (-x $root/.venv/bin/crystalmath && -x $root/.venv/bin/crystalmath-server) ]] || return 1
    [[ $(<"$stamp") == "$(fingerprint "$level")" ]]
}

ensure_setup() {
    if is_fresh "$1"; then return; fi
    (set_up "$1")
}

set_up() {
    local level=$1 python
    python=$(find_python)
    mkdir -p "$root/.tools"
    exec 9>"$root/.tools/setup.lock"
    take_lock "$python"
    if is_fresh "$level"; then return; fi

    find_cargo
    local uv started=$SECONDS
    uv=$(find_uv "$python")
    forget_moved_environment
    sync_environment "$level" "$uv" "$python"
    say "ready after $((SECONDS - started)) s"
}

# The lock belongs to the open file, so it outlives the process that takes it and ends with this shell.
take_lock() {
    local wait_for='import fcntl, sys; fcntl.flock(9, fcntl.LOCK_EX | (fcntl.LOCK_NB if sys.argv[1:] else 0))'
    if ! "$1" -c "$wait_for" try 2>/dev/null; then
        say "waiting for another set-up of this checkout"
        "$1" -c "$wait_for"
    fi
}

find_python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        "$name" -c 'import sys; sys.version_info < (3, 11) and sys.exit(1); print(sys.executable)' 2>/dev/null && return
    done
    die "Python 3.11 or newer is needed and none is on PATH: install it and run this again."
}

find_cargo() {
    PATH=$PATH:${CARGO_HOME:-${HOME:-/root}/.cargo}/bin
    local needed have
    needed=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$root/Cargo.toml")
    command -v cargo >/dev/null ||
        die "Rust $needed or newer is needed and no cargo is on PATH: install it (https://rustup.rs) and run this again."
    have=$(cd "$root" && cargo --version | cut -d ' ' -f 2)
    is_at_least "$needed" "$have" || die "Rust $needed or newer is needed, this one is $have: run 'rustup update'."
}

find_uv() {
    local private=$root/.tools/uv
    if command -v uv >/dev/null && is_at_least "$oldest_uv_version" "$(uv --version | cut -d ' ' -f 2)"; then
        command -v uv
        return
    fi
    if ! [[ -x $private/bin/uv && $("$private/bin/uv" --version) == *" $private_uv_version"* ]]; then
        say "installing uv $private_uv_version into .tools"
        "$1" -m venv --clear "$private" >&2 ||
            die "this Python has no working venv module: install it (python3-venv on Debian) or uv, and run this again."
        "$private/bin/python" -m pip install --quiet --disable-pip-version-check "uv==$private_uv_version" >&2 ||
            die "uv could not be installed: see the lines above."
    fi
    printf '%s\n' "$private/bin/uv"
}

# Without the lock, which a process that uv leaves behind would hold, and with the certificates of the
# machine, as pip and cargo do: a company's proxy signs with its own.
run_uv() {
    local settings=(CARGO_TARGET_DIR="$target_dir")
    if [[ -e /etc/ssl/certs/ca-certificates.crt || -e /etc/pki/tls/certs/ca-bundle.crt ]]; then
        settings+=(UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-1}")
    fi
    env -u VIRTUAL_ENV -u UV_PROJECT_ENVIRONMENT "${settings[@]}" "$@" 9>&- </dev/null
}

is_at_least() { [[ $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

# A copied or moved checkout carries an environment whose scripts point to the old place.
forget_moved_environment() {
    local stamp=$root/.venv/.setup/deps
    if [[ -r $stamp && $(<"$stamp") != "$root "* ]]; then rm -rf "$root/.venv"; fi
}

sync_environment() {
    local level=$1 uv=$2 python=$3 stamps=$root/.venv/.setup
    [[ $level == run && -e $stamps/dev ]] && level=dev    # do not take the tools away again
    local options=(--quiet --project "$root" --frozen --extra fast)
    if [[ $level == deps ]]; then
        say "installing the Python libraries"
        options+=(--no-dev --no-install-project --inexact)
    else
        say "installing the Python libraries and building the Rust client; the first time takes minutes"
        options+=(--reinstall-package crystalmath)
        if [[ $level == run ]]; then options+=(--no-dev); fi
    fi
    if ! [[ -x $root/.venv/bin/python ]]; then options+=(--python "$python"); fi

    # Taken before the build: a file that changes meanwhile is built again by the next run.
    local deps full
    deps=$(fingerprint deps)
    full=$(fingerprint "$level")
    run_uv "$uv" sync "${options[@]}" >&2 || die "setting up failed: see the lines above."
    if [[ $level != deps ]]; then
        # Compiled now, the modules are not compiled while the client waits for its first daemon.
        "$root/.venv/bin/python" -P -c 'import crystalmath.api, crystalmath.server.daemon' >&2 ||
            die "the daemon cannot be loaded: see the lines above."
    fi

    mkdir -p "$stamps"
    printf '%s\n' "$deps" >"$stamps/deps"
    if [[ $level != deps ]]; then printf '%s\n' "$full" >"$stamps/run"; fi
    if [[ $level == dev ]]; then printf '%s\n' "$full" >"$stamps/dev"; fi
}
