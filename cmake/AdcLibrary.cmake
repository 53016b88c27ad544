# What nearly every file of lib and tools includes of the standard library, precompiled: it is more than half of what a
# plain file's compilation takes. A file still includes what it names, since other compilers and builds read it as it is.
if(ADC_BUILD_COMPILER)
  add_library(adc_standard_headers OBJECT "${ADC_ROOT}/cmake/precompiled.cpp")
  target_link_libraries(adc_standard_headers PRIVATE adc_options)
  target_precompile_headers(adc_standard_headers PRIVATE <algorithm> <array> <bit> <cmath> <cstdint> <cstdio> <cstdlib>
    <cstring> <functional> <limits> <map> <memory> <optional> <set> <span> <string> <string_view> <unordered_map> <utility>
    <variant> <vector>)
endif()

# The same for loader and artifact format, which have neither exceptions nor RTTI. <atomic> alone, which handles need, is
# a third of what the loader takes to compile. Where they are built for size some files have options of their own, and on
# Apple's systems some are in another language: there, as where the loader is built alone, files are read as they are.
if(ADC_BUILD_COMPILER AND NOT APPLE AND NOT WIN32 AND NOT CMAKE_BUILD_TYPE STREQUAL MinSizeRel)
  add_library(adc_loader_headers OBJECT "${ADC_ROOT}/cmake/precompiled.cpp")
  target_compile_options(adc_loader_headers PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics)
  target_link_libraries(adc_loader_headers PRIVATE adc_options)
  target_precompile_headers(adc_loader_headers PRIVATE <atomic> <cstdint> <cstdlib> <cstring> <span> <string_view>)
endif()

# adc_library(name [HEADERS target] [DEPS target...]): one folder, one static library, made of every source file in the folder.
# HEADERS: the target whose precompiled headers the library starts from, or NONE; the standard library's if it is not said.
# A folder that holds headers alone becomes an interface library, so that its dependants need not know.
function(adc_library name)
  cmake_parse_arguments(ARG "" "HEADERS" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE adc_options)
    if(NOT ARG_HEADERS)
      set(ARG_HEADERS adc_standard_headers)
    endif()
    if(TARGET ${ARG_HEADERS})
      target_precompile_headers(${name} REUSE_FROM ${ARG_HEADERS})
    endif()
    target_include_directories(${name} PUBLIC "${ADC_ROOT}/lib" "${ADC_ROOT}/include")
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
    target_include_directories(${name} INTERFACE "${ADC_ROOT}/lib" "${ADC_ROOT}/include")
  endif()
endfunction()

# adc_embed_text(target namespace symbol file): FILE of the current folder as the string NAMESPACE::SYMBOL, part of
# TARGET; configured again whenever the text changes.
function(adc_embed_text target namespace symbol file)
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  configure_file("${ADC_ROOT}/cmake/embedded_text.cpp.in" ${file}_text.cpp @ONLY)
  target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${file}_text.cpp")
endfunction()
