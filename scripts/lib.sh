# Shared by the scripts: where the project is, how they speak, how wide they build. Source it.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT" || exit 1
STEP=0
STEPS=${STEPS:-0}
STARTED=$SECONDS

# say TEXT...: one line that says what happens next and how far the script is.
say() {
  STEP=$((STEP + 1))
  printf '==> [%d/%d, %ds] %s\n' "$STEP" "$STEPS" "$((SECONDS - STARTED))" "$*"
}

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Parallel jobs: one per processor, and no more than one per 1.5 GiB of memory, since a file that includes LLVM's headers
# needs about that much. ADC_JOBS overrides.
jobs_to_run() {
  local processors memory_kib by_memory
  processors=$(nproc 2>/dev/null || echo 2)
  memory_kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo 2>/dev/null)
  by_memory=$(( ${memory_kib:-4194304} / 1572864 ))
  [ "$by_memory" -ge 1 ] || by_memory=1
  if [ "$processors" -lt "$by_memory" ]; then echo "$processors"; else echo "$by_memory"; fi
}
JOBS=${ADC_JOBS:-$(jobs_to_run)}

# A repository that root builds for another user, or the other way round, is still the user's own.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0="$ROOT"
