#!/bin/bash -eu
# What OSS-Fuzz runs in its image: SRC, OUT, CC, CFLAGS and the others are set. The targets are those of the format and
# the loader, which is where foreign bytes arrive in a game; those of the compiler need an LLVM that is built against the
# image's own C++ library, and run in the tests. Elsewhere, with libc++ and a libFuzzer that was built with libstdc++, both
# are linked: LIB_FUZZING_ENGINE="-fsanitize=fuzzer;-Wl,--no-as-needed,-lstdc++".
SRC=$SRC/adc FUZZ_TARGETS="fuzz_bundle fuzz_plan fuzz_load fuzz_metadata fuzz_payload fuzz_size_expr" \
  "$SRC/adc/tests/fuzz/build-libfuzzer" "$(nproc)"
