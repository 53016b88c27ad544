# Cross-builds for Windows on Debian x86-64: mingw-w64 with threads of POSIX, for the tools' C++ library alone, and what
# scripts/fetch-windows puts below build/windows-packages. cmake --preset windows
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
get_filename_component(packages "${CMAKE_CURRENT_LIST_DIR}/../build/windows-packages" ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH "${packages}" /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CLI11_DIR "${packages}/cmake/CLI11" CACHE PATH "")
set(nlohmann_json_DIR "${packages}/cmake/nlohmann_json" CACHE PATH "")
# Programs that need no library beside them but those of Windows.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static")
# With what programs of it run here, where wine64 is installed.
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/lib/wine/wine64)
