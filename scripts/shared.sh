# The shared part of the scripts; sourced by them, never run. It leaves the caller in the project's folder.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The twelve modules that others embed, folder and module name.
readonly embeddable_modules=(Platform:FreshetPlatform Wire:FreshetWire Trust:FreshetTrust SQLite:FreshetSQLite Cache:FreshetCache CacheEncryption:FreshetCacheEncryption SocketHTTP:FreshetSocketHTTP TLS:FreshetTLS
    Transport:FreshetTransport HTTPCache:FreshetHTTPCache Server:FreshetServer ClientSDK:FreshetClient)

say() { printf '\n== %s\n' "$*"; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Prints the version of this copy of the project.
version() { sed -nE 's/^ *static let current = "([^"]+)"$/\1/p' Sources/CLI/Version.swift; }

# Installs those of the named Debian packages that are missing; does nothing, and needs no rights, where none is.
install_packages() {
    local package missing=()
    for package in "$@"; do
        [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || fail "this system has no apt-get; install what these Debian packages hold, then run again: ${missing[*]}"
    local rights=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "installing needs root, and there is no sudo; as root run: apt-get install ${missing[*]}"
        rights=(sudo)
    fi
    say "installing ${missing[*]}"
    local log apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
    log=$(mktemp)
    # The lists may be new enough, so they are fetched only once an installation without them has failed.
    "${rights[@]}" "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1 \
        || { "${rights[@]}" "${apt[@]}" update && "${rights[@]}" "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 \
        || { cat "$log" >&2; fail "apt-get could not install ${missing[*]}: its own words are above"; }
    rm -f "$log"
}

# The trait of every build: one release build and one debug build serve all scripts, and the release build is what the image ships.
# Another set of traits would build everything again (docs/decisions/0062-postgresql-store.md); scripts/check --all builds without.
readonly traits=(--traits PostgreSQL)

# The packages of the unit tests, and those of the other tests: the report's page is tested in a real browser, which draws no letters
# without a font.
readonly unit_packages=(curl openssl pgbouncer postgresql) integration_packages=(iso-codes chromium fonts-dejavu-core)

# The requirements of a build: Swift 6.3 or newer, git for the packages, and the C libraries.
prepare_build() {
    command -v swift >/dev/null || fail "swift is not in the PATH; install Swift 6.3 or newer: https://www.swift.org/install/linux/"
    local version
    version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1 \2/p' | head -n 1)
    read -r major minor <<<"${version:-0 0}"
    [ $((major * 100 + minor)) -ge 603 ] || fail "Swift ${major}.${minor} is too old: it takes 6.3 or newer, https://www.swift.org/install/linux/"
    install_packages git libsqlite3-dev libcurl4-openssl-dev libssl-dev pkg-config libpq-dev
}

# Builds the release program; `release_folder` is then the folder of the program and its objects.
build_release() {
    say "building (release)"
    swift build -c release --product freshet "${traits[@]}"
    release_folder=$(swift build -c release "${traits[@]}" --show-bin-path)
}
