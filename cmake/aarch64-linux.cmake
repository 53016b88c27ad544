# Cross-builds for AArch64 Linux on Debian x86-64: clang with Debian's cross C library and libstdc++, and the libraries
# that scripts/fetch-aarch64 unpacks below build/aarch64-packages. cmake --preset aarch64
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
foreach(language C CXX ASM)
  set(CMAKE_${language}_COMPILER_TARGET aarch64-linux-gnu)
endforeach()
set(CMAKE_FIND_ROOT_PATH "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-packages" /usr/aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
# Headers alone, the same for every processor: this machine's own will do.
set(CLI11_DIR /usr/share/cmake/CLI11 CACHE PATH "")
set(nlohmann_json_DIR /usr/share/cmake/nlohmann_json CACHE PATH "")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-fuse-ld=lld")
# With what programs of it run here, where qemu-user-static is installed: cross-built ones find their libraries there.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)
