# adc_library(name [DEPS target...]): one folder, one static library, made of every source file in the folder.
# A folder that holds headers alone becomes an interface library, so that its dependants need not know.
function(adc_library name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE adc_options)
    target_include_directories(${name} PUBLIC "${ADC_ROOT}/lib" "${ADC_ROOT}/include")
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
    target_include_directories(${name} INTERFACE "${ADC_ROOT}/lib" "${ADC_ROOT}/include")
  endif()
endfunction()

# adc_embed_text(target namespace symbol name): NAME.ir of the current folder as the string NAMESPACE::SYMBOL, part of
# TARGET; configured again whenever the text changes.
function(adc_embed_text target namespace symbol name)
  set(source "${CMAKE_CURRENT_SOURCE_DIR}/${name}.ir")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  configure_file("${ADC_ROOT}/cmake/embedded_text.cpp.in" ${name}_text.cpp @ONLY)
  target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${name}_text.cpp")
endfunction()
