# How every target is compiled: the language level, the warnings, the sanitizers, reproducible paths.
get_filename_component(ADC_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Debug information and assertions aside, -O2 is as fast as -O3 here and quicker to build.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
# What sanitizers watch: places in their reports, no more, so that a test run on two cores stays short. Nobody installs it.
if(ADC_SANITIZE)
  set(ADC_INSTALL OFF)
  set(ADRT_BUILD_SHARED OFF)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -gline-tables-only -DNDEBUG")
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -gline-tables-only -DNDEBUG")
endif()
# Objects come from a cache that all checkouts share (cmake/cached-compiler), whose compilations see relative paths.
find_program(ADC_CCACHE ccache)
if(ADC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND CMAKE_GENERATOR MATCHES "Ninja")
  set(CMAKE_C_COMPILER_LAUNCHER "${ADC_ROOT}/cmake/cached-compiler" "${ADC_ROOT}" "${ADC_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()
file(RELATIVE_PATH ADC_ROOT_FROM_BUILD "${CMAKE_BINARY_DIR}" "${ADC_ROOT}/CMakeLists.txt")
get_filename_component(ADC_ROOT_FROM_BUILD "${ADC_ROOT_FROM_BUILD}" DIRECTORY)

# Where size is asked for, clang has more than -Os to give: 7 % of the loader.
set(ADC_SMALLEST "$<$<AND:$<CONFIG:MinSizeRel>,$<CXX_COMPILER_ID:Clang,AppleClang>>:-Oz>")
# Of what is not run often: instructions that repeat become functions. LLVM does so by itself where it is -Oz on ARM.
set(ADC_OUTLINED "$<$<AND:$<CONFIG:MinSizeRel>,$<CXX_COMPILER_ID:Clang>>:-mllvm;-enable-machine-outliner=always>")
add_library(adc_options INTERFACE)
# The presets, which scripts/build and scripts/test use, say so; other compilers have other warnings.
option(ADC_WARNINGS_AS_ERRORS "Treat warnings of our own code as errors" OFF)
target_compile_options(adc_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${ADC_WARNINGS_AS_ERRORS}>:-Werror>
  -ffile-prefix-map=${ADC_ROOT}/= -ffile-prefix-map=${ADC_ROOT_FROM_BUILD}/=)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(adc_options INTERFACE -Wimplicit-fallthrough -Wswitch-enum -Wno-gnu-zero-variadic-macro-arguments)
endif()
# Bundles and kernels come from strangers, so what reads them makes a defect hard to use: canaries, checked copies,
# landing pads for indirect jumps, tables of addresses that are read-only once the program runs. tests/checks/hardening
# reads the programs for it; docs/security.md has the cost.
option(ADC_HARDEN "Harden the code of tools and loader" ON)
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-fcf-protection=full ADC_HAS_LANDING_PADS)
if(ADC_HARDEN)
  target_compile_options(adc_options INTERFACE $<IF:$<CONFIG:MinSizeRel>,-fstack-protector,-fstack-protector-strong> -fvisibility=hidden
    $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden> $<$<BOOL:${ADC_HAS_LANDING_PADS}>:-fcf-protection=full>)
  if(NOT ADC_SANITIZE)
    target_compile_options(adc_options INTERFACE $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3>)
  endif()
  if(WIN32)
    target_link_options(adc_options INTERFACE -Wl,--nxcompat -Wl,--dynamicbase -Wl,--high-entropy-va)
    target_link_libraries(adc_options INTERFACE ssp)
  elseif(NOT APPLE)
    target_link_options(adc_options INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
    target_link_options(adc_options INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
  endif()
endif()
if(ADC_SANITIZE)
  target_compile_options(adc_options INTERFACE -fsanitize=${ADC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(adc_options INTERFACE -fsanitize=${ADC_SANITIZE})
endif()
if(WIN32)
  # The oldest Windows that is meant is 10. printf is that of C11, of which GCC's own check knows nothing.
  target_compile_definitions(adc_options INTERFACE _WIN32_WINNT=0x0A00 __USE_MINGW_ANSI_STDIO=1)
  target_compile_options(adc_options INTERFACE -Wno-format)
endif()
find_program(ADC_LLD_LINKER NAMES ld.lld-19 ld.lld)
if(ADC_LLD_LINKER AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_link_options(adc_options INTERFACE --ld-path=${ADC_LLD_LINKER})
endif()
