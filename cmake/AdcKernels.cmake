# Kernels as part of a target. Comes with find_package(adc), and with add_subdirectory of adc's own source.
#
#   adc_add_kernels(
#     TARGET target            the program or library that runs the kernels
#     SOURCES file...          .ir files or C++ files, compiled together; or shaders
#     [NAME name]              of what is made; default: the name of the only source, else that of the target
#     [TARGETS target...]      cpu, cpu:x86-64-v3, vulkan, cuda:sm_80 and so on; default: adc's
#     [DERIVE list]            grad, jvp, none; default: grad
#     [OPTIONS option...]      further options of adc, -O3 or --deterministic, say
#     [OUTPUT_DIRECTORY dir]   default: adc-kernels in the current binary folder
#     [DEPENDS file...]        what the kernels are made from besides, in files that the build makes: imports are
#                              found without it
#     [HEADER]                 NAME.h, with typed calls, names, hashes and positions of parameters, for sources of the target
#     [JSON]                   NAME.json, the metadata
#     [EMBED]                  the bundle inside the target: NAME_adcb.h declares NAME_adcb and NAME_adcb_size
#     [STATIC]                 the code of the only CPU target linked into the target: NAME_entries.h declares the table
#                              PREFIX_entries for adrt_module_from_entries. What EMBED embeds is then the bundle without
#                              code of processors. The target needs the headers of the loader (adrt::adrt)
#     [PREFIX prefix]          with STATIC: what the names begin with that linkers see; default: NAME
#
# One run of adc makes all of it. The target property ADC_BUNDLES lists the bundles of a target, and adc_bundle_NAME holds
# the path of this one in the caller's scope; with STATIC adc_static_bundle_NAME holds that of the bundle without code of
# processors. A change in a source or in what it imports, of the options or of adc itself
# builds again; a header that comes out as it was is not touched, so that what includes it is not compiled again.

set(_adc_kernels_folder "${CMAKE_CURRENT_LIST_DIR}")

# The body of a function has the policies that hold here. Were they set in it, an error would leave them set, and CMake
# would say that behind the error.
cmake_policy(PUSH)
cmake_policy(SET CMP0116 NEW)
function(adc_add_kernels)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "HEADER;JSON;EMBED;STATIC" "TARGET;NAME;DERIVE;OUTPUT_DIRECTORY;PREFIX"
    "SOURCES;TARGETS;OPTIONS;DEPENDS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "adc_add_kernels: unknown argument '${ARG_UNPARSED_ARGUMENTS}'")
  endif()
  if(ARG_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "adc_add_kernels: nothing behind ${ARG_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT ARG_TARGET OR NOT TARGET "${ARG_TARGET}")
    message(FATAL_ERROR "adc_add_kernels: TARGET names the program or library that runs the kernels; there is no target '${ARG_TARGET}'")
  endif()
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "adc_add_kernels: SOURCES names the kernels")
  endif()

  list(LENGTH ARG_SOURCES count)
  if(NOT ARG_NAME)
    set(ARG_NAME "${ARG_TARGET}")
    if(count EQUAL 1)
      get_filename_component(ARG_NAME "${ARG_SOURCES}" NAME_WE)
    endif()
  endif()
  if(NOT ARG_OUTPUT_DIRECTORY)
    set(ARG_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/adc-kernels")
  endif()
  get_filename_component(folder "${ARG_OUTPUT_DIRECTORY}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  file(MAKE_DIRECTORY "${folder}")
  # Whole paths: messages can be followed, and what a bundle calls its sources does not depend on where they lie.
  set(sources "")
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(file "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND sources "${file}")
  endforeach()

  set(bundle "${folder}/${ARG_NAME}.adcb")
  set(words ${sources} -o "${bundle}" -MF "${bundle}.d" -MT "${bundle}")
  foreach(target IN LISTS ARG_TARGETS)
    list(APPEND words "--target=${target}")
  endforeach()
  if(ARG_DERIVE)
    list(APPEND words "--derive=${ARG_DERIVE}")
  endif()
  set(beside "")
  if(ARG_HEADER)
    list(APPEND words "--header=${folder}/${ARG_NAME}.h")
    list(APPEND beside "${folder}/${ARG_NAME}.h")
  endif()
  if(ARG_JSON)
    list(APPEND words "--json=${folder}/${ARG_NAME}.json")
    list(APPEND beside "${folder}/${ARG_NAME}.json")
  endif()
  list(APPEND words ${ARG_OPTIONS})
  set(byproducts "")
  if(beside)
    set(byproducts BYPRODUCTS ${beside})
  endif()
  # Make hands its tokens to commands that are marked so alone.
  set(job_server "")
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.28)
    set(job_server JOB_SERVER_AWARE TRUE)
  endif()
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    list(APPEND words --jobs=make)
  endif()
  set(static "")
  set(linked "")
  set(embedded "${bundle}")
  if(ARG_PREFIX AND NOT ARG_STATIC)
    message(FATAL_ERROR "adc_add_kernels: PREFIX is for the names of linked code, with STATIC")
  endif()
  if(ARG_STATIC)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT "C" IN_LIST languages)
      message(FATAL_ERROR "adc_add_kernels: STATIC needs the language C, in which adc writes the table of entries")
    endif()
    list(JOIN ARG_TARGETS ";" listed)
    list(FILTER ARG_TARGETS INCLUDE REGEX "^cpu")
    list(LENGTH ARG_TARGETS processors)
    if(NOT processors EQUAL 1)
      message(FATAL_ERROR "adc_add_kernels: STATIC links the code of one CPU target, and TARGETS names ${processors}: '${listed}'")
    endif()
    set(embedded "${folder}/${ARG_NAME}_static.adcb")
    set(linked "${folder}/${ARG_NAME}_code.o" "${folder}/${ARG_NAME}_entries.c" "${folder}/${ARG_NAME}_entries.h")
    set(static COMMAND adc::compiler extract --static "${bundle}" -o "${folder}")
    if(ARG_PREFIX)
      list(APPEND static "--prefix=${ARG_PREFIX}")
    endif()
  endif()
  set(outputs "${bundle}" "${embedded}" ${linked})
  list(REMOVE_DUPLICATES outputs)
  add_custom_command(OUTPUT ${outputs} ${byproducts}
    COMMAND adc::compiler ${words} ${static}
    DEPENDS adc::compiler ${sources} ${ARG_DEPENDS} DEPFILE "${bundle}.d" ${job_server}
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" COMMENT "Compiling kernels ${ARG_NAME}" VERBATIM)

  string(MAKE_C_IDENTIFIER "${ARG_TARGET}_${ARG_NAME}_kernels" custom)
  add_custom_target(${custom} DEPENDS "${bundle}")
  add_dependencies("${ARG_TARGET}" ${custom})
  set_property(TARGET "${ARG_TARGET}" APPEND PROPERTY ADC_BUNDLES "${bundle}")
  if(ARG_HEADER OR ARG_EMBED OR ARG_STATIC)
    target_include_directories("${ARG_TARGET}" PRIVATE "${folder}")
  endif()
  if(ARG_STATIC)
    target_sources("${ARG_TARGET}" PRIVATE ${linked})
    list(GET linked 0 object)
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    target_link_libraries("${ARG_TARGET}" PRIVATE m)
  endif()
  if(ARG_EMBED)
    _adc_embed("${ARG_TARGET}" "${ARG_NAME}" "${embedded}" "${folder}")
  endif()
  if(ARG_STATIC)
    set("adc_static_bundle_${ARG_NAME}" "${embedded}" PARENT_SCOPE)
  endif()
  set("adc_bundle_${ARG_NAME}" "${bundle}" PARENT_SCOPE)
endfunction()
cmake_policy(POP)

# A file of C, or of C++ in a project without C, whose assembler takes the bytes of the bundle in. It is compiled again when the bundle changes.
function(_adc_embed target name bundle folder)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("C" IN_LIST languages AND CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    set(extension c)
  elseif("CXX" IN_LIST languages AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    set(extension cpp)
  else()
    message(FATAL_ERROR "adc_add_kernels: EMBED needs C or C++ and a compiler that knows .incbin (GCC, Clang), and not '${CMAKE_C_COMPILER_ID}${CMAKE_CXX_COMPILER_ID}'; others compile the source that adc --emit=c writes")
  endif()
  string(MAKE_C_IDENTIFIER "${name}_adcb" symbol)
  string(TOUPPER "${symbol}_H" guard)
  set(prefix "")
  set(section ".section .rodata,\\\"a\\\"")
  if(APPLE)
    set(prefix "_")
    set(section ".const_data")
  elseif(WIN32)
    set(section ".section .rdata,\\\"dr\\\"")
  endif()
  file(CONFIGURE OUTPUT "${folder}/${symbol}.h" @ONLY CONTENT [=[
#ifndef @guard@
#define @guard@
/* A bundle inside the program: adrt_bundle_open(&host, @symbol@, @symbol@_size, ADRT_BUNDLE_BORROW, ...). */
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
extern const unsigned char @symbol@[];
extern const size_t @symbol@_size;
#ifdef __cplusplus
}
#endif
#endif
]=])
  file(CONFIGURE OUTPUT "${folder}/${symbol}.${extension}" @ONLY CONTENT [=[
#include "@symbol@.h"

extern const unsigned char @symbol@_end[];
__asm__("@section@\n"
        ".balign 64\n"
        ".globl @prefix@@symbol@, @prefix@@symbol@_end, @prefix@@symbol@_size\n"
        "@prefix@@symbol@:\n"
        ".incbin \"@bundle@\"\n"
        "@prefix@@symbol@_end:\n"
        ".balign 8\n"
        "@prefix@@symbol@_size:\n"
#if defined(__LP64__) || defined(_WIN64)
        ".quad @prefix@@symbol@_end - @prefix@@symbol@\n"
#else
        ".long @prefix@@symbol@_end - @prefix@@symbol@\n"
#endif
        ".text\n");
]=])
  set_source_files_properties("${folder}/${symbol}.${extension}" PROPERTIES OBJECT_DEPENDS "${bundle}")
  target_sources("${target}" PRIVATE "${folder}/${symbol}.${extension}")
endfunction()
