# What is installed of the loader. Components: loader (what programs need that run), development (what programs are
# built with). Nothing that is installed names the prefix, so that it can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# `cmake --install` of a component of which a file is not built says what builds it: the target `target`.
function(adrt_needs_built component target)
  list(JOIN ARGN "\" \"" files)
  install(CODE "foreach(file \"${files}\")
  if(NOT EXISTS \"\${file}\")
    message(FATAL_ERROR \"'\${file}' is not built. First: cmake --build ${CMAKE_BINARY_DIR} --target ${target}\")
  endif()
endforeach()" COMPONENT ${component})
endfunction()
set(all_installed adrt_installed)
if(CMAKE_PROJECT_NAME STREQUAL adc)
  set(all_installed adc_installed)
endif()

# The static library is the package: one archive with the decoder inside.
add_custom_target(adrt_installed ALL DEPENDS adrt_package)
adrt_needs_built(development ${all_installed} "${package_folder}/libadrt.a")
install(FILES "${package_folder}/libadrt.a" DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
if(ADRT_BUILD_SHARED)
  add_dependencies(adrt_installed adrt_shared)
  adrt_needs_built(loader ${all_installed} "$<TARGET_FILE:adrt_shared>")
  install(TARGETS adrt_shared
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT loader
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT loader NAMELINK_COMPONENT development
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()

# A header of a kind that was left out would declare functions that are not there.
set(headers adrt.h adrt_call.h adrt_prints.h adrt_rollout.h adrt_sodium.h adrt_trace.h)
if(ADRT_JOBS)
  list(APPEND headers adrt_arg_group.h adrt_cpu.h adrt_sequence.h)
endif()
if(ADRT_STATIC)
  list(APPEND headers adrt_static.h)
endif()
set(headers_of_vulkan adrt_vk.h)
foreach(kind cuda hip metal)
  set(headers_of_${kind} adrt_${kind}.h)
endforeach()
foreach(kind IN LISTS ADRT_KINDS)
  list(APPEND headers ${headers_of_${kind}})
endforeach()
list(TRANSFORM headers PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/include/adrt/")
install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/adrt COMPONENT development)
# How code is called that was compiled to be linked, without the loader.
set(artifact_headers "${CMAKE_CURRENT_LIST_DIR}/../artifact-format/include/artifact")
install(FILES "${artifact_headers}/cpu_abi.h" "${artifact_headers}/status_codes.h"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/artifact COMPONENT development)

set(system_libraries m ${CMAKE_DL_LIBS})
if(APPLE AND "metal" IN_LIST ADRT_KINDS)
  list(APPEND system_libraries "-framework Metal" "-framework Foundation")
endif()
string(REPLACE ";" " " adrt_kind_words "${ADRT_KINDS}")
set(folder "${CMAKE_CURRENT_BINARY_DIR}/install")
set(adrt_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/adrt)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/adrtConfig.cmake.in" "${folder}/adrtConfig.cmake"
  INSTALL_DESTINATION ${adrt_config_folder} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${folder}/adrtConfigVersion.cmake" VERSION ${PROJECT_VERSION}
  COMPATIBILITY SameMinorVersion)
install(FILES "${folder}/adrtConfig.cmake" "${folder}/adrtConfigVersion.cmake" DESTINATION ${adrt_config_folder}
  COMPONENT development)

# pkg-config: adrt is what the linker finds, the shared library where there is one; adrt-static the archive.
file(RELATIVE_PATH prefix_from_pc "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
list(JOIN system_libraries " -l" private_libraries)
set(private_libraries "-l${private_libraries} -pthread")
foreach(name adrt adrt-static)
  if(name STREQUAL adrt)
    set(libs "-L\${libdir} -ladrt\nLibs.private: ${private_libraries}")
    if(NOT ADRT_BUILD_SHARED)
      set(libs "-L\${libdir} -ladrt ${private_libraries}")
    endif()
  else()
    set(libs "\${libdir}/libadrt.a ${private_libraries}")
  endif()
  configure_file("${CMAKE_CURRENT_LIST_DIR}/adrt.pc.in" "${folder}/${name}.pc" @ONLY)
  install(FILES "${folder}/${name}.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()
