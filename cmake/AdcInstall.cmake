# What is installed beside the loader, and the packages. Components: compiler (adc, what it reads, libadc.so), loader
# (adc-runtime, libadrt.so), development (headers, static loader, files for CMake and pkg-config). Programs find what they
# read relative to themselves (lib/host/installed.h), so that an installation can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# All that is installed, and no test, sample or benchmark: cmake --build . --target adc_installed
add_custom_target(adc_installed DEPENDS adrt_installed)
if(ADC_BUILD_RUNTIME)
  add_dependencies(adc_installed adc-runtime)
  adrt_needs_built(loader adc_installed "$<TARGET_FILE:adc-runtime>")
  install(TARGETS adc-runtime RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT loader)
endif()
if(ADC_BUILD_COMPILER)
  add_dependencies(adc_installed adc adc-cpp)
  adrt_needs_built(compiler adc_installed "$<TARGET_FILE:adc>" "$<TARGET_FILE:adc-cpp>")
  install(TARGETS adc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
  if(TARGET adc_shared)
    add_dependencies(adc_installed adc_shared)
    adrt_needs_built(compiler adc_installed "$<TARGET_FILE:adc_shared>")
    install(TARGETS adc_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler
      NAMELINK_COMPONENT development)
  endif()

  # Manual pages and completions come from the option tables, so adc itself writes them. A wheel has none.
  if(NOT CMAKE_CROSSCOMPILING AND NOT SKBUILD)
    set(pages_folder "${CMAKE_CURRENT_BINARY_DIR}/pages")
    file(MAKE_DIRECTORY "${pages_folder}")
    file(STRINGS "${ADC_ROOT}/tools/adc/commands.h" lines REGEX "^    {\"[a-z]+\", ")
    set(pages "${pages_folder}/adc.1")
    set(write_pages COMMAND adc man > "${pages_folder}/adc.1")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^    {\"([a-z]+)\".*" "\\1" name "${line}")
      list(APPEND pages "${pages_folder}/adc-${name}.1")
      list(APPEND write_pages COMMAND adc man ${name} > "${pages_folder}/adc-${name}.1")
    endforeach()
    set(completions "")
    foreach(shell bash zsh fish)
      list(APPEND completions "${pages_folder}/${shell}")
      list(APPEND write_pages COMMAND adc completion ${shell} > "${pages_folder}/${shell}")
    endforeach()
    list(APPEND write_pages COMMAND adc explain --page > "${pages_folder}/errors.html")
    add_custom_command(OUTPUT ${pages} ${completions} "${pages_folder}/errors.html" ${write_pages} DEPENDS adc VERBATIM)
    add_custom_target(adc_pages ALL DEPENDS ${pages} ${completions} "${pages_folder}/errors.html")
    add_dependencies(adc_installed adc_pages)
    adrt_needs_built(compiler adc_installed "${pages_folder}/errors.html")
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT compiler)
    # Where adc finds it: messages in editors and terminals link to it.
    install(FILES "${pages_folder}/errors.html" DESTINATION lib/adc COMPONENT compiler)
    install(FILES "${pages_folder}/bash" DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME adc
      COMPONENT compiler)
    install(FILES "${pages_folder}/zsh" DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _adc
      COMPONENT compiler)
    install(FILES "${pages_folder}/fish" DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME adc.fish
      COMPONENT compiler)
  endif()

  # Private to the compiler, and always below lib/adc, whatever the system calls its folder of libraries.
  install(TARGETS adc-cpp LIBRARY DESTINATION lib/adc COMPONENT compiler)
  install(FILES ${ADC_LIBCLC_FILES} DESTINATION lib/adc/clc COMPONENT compiler)
  # Clang's own headers, of the languages that kernels have.
  install(DIRECTORY "${ADC_CLANG_RESOURCES}/include" DESTINATION lib/adc/clang COMPONENT compiler
    FILES_MATCHING PATTERN "*.h" PATTERN "*_wrappers" EXCLUDE PATTERN "sanitizer" EXCLUDE PATTERN "fuzzer" EXCLUDE
    PATTERN "xray" EXCLUDE PATTERN "profile" EXCLUDE PATTERN "orc" EXCLUDE PATTERN "hlsl" EXCLUDE
    PATTERN "opencl*" EXCLUDE PATTERN "arm_sve*" EXCLUDE PATTERN "arm_sme*" EXCLUDE PATTERN "arm_mve*" EXCLUDE
    PATTERN "riscv*" EXCLUDE PATTERN "altivec.h" EXCLUDE PATTERN "hvx_*" EXCLUDE PATTERN "hexagon_*" EXCLUDE)

  # For machines that have no C++ library: libc++, and the C headers of musl, which stand alone.
  if(ADC_STATIC_LLVM)
    find_path(ADC_LIBCXX_HEADERS NAMES __config PATHS "${LLVM_DIR}/../../../include/c++/v1" NO_DEFAULT_PATH REQUIRED)
    find_path(ADC_MUSL_HEADERS NAMES features.h PATHS "/usr/include/${CMAKE_SYSTEM_PROCESSOR}-linux-musl" NO_DEFAULT_PATH REQUIRED)
    install(DIRECTORY "${ADC_LIBCXX_HEADERS}/" DESTINATION lib/adc/c++ COMPONENT compiler)
    install(DIRECTORY "${ADC_MUSL_HEADERS}/" DESTINATION lib/adc/libc COMPONENT compiler FILES_MATCHING PATTERN "*.h")
    # What is inside, and who made it.
    foreach(package libllvm19 libc++-19-dev musl-dev libzstd-dev zlib1g-dev libxxhash-dev libsodium-dev glslang-dev spirv-tools
        libspirv-cross-c-shared-dev libcli11-dev nlohmann-json3-dev)
      install(FILES "/usr/share/doc/${package}/copyright" DESTINATION ${CMAKE_INSTALL_DOCDIR}/compiler/licenses RENAME ${package}
        COMPONENT compiler OPTIONAL)
    endforeach()
  endif()

  install(FILES "${ADC_ROOT}/include/adc/adc.h" "${ADC_ROOT}/include/adc/builder.hpp" "${ADC_ROOT}/include/adc/kernel.hpp"
    "${ADC_ROOT}/include/adc/blocks.hpp"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/adc COMPONENT development)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/install")
  set(adc_config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/adc)
  configure_package_config_file("${ADC_ROOT}/cmake/adcConfig.cmake.in" "${folder}/adcConfig.cmake"
    INSTALL_DESTINATION ${adc_config_folder} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR)
  write_basic_package_version_file("${folder}/adcConfigVersion.cmake" VERSION ${PROJECT_VERSION}
    COMPATIBILITY SameMinorVersion)
  install(FILES "${folder}/adcConfig.cmake" "${folder}/adcConfigVersion.cmake" "${ADC_ROOT}/cmake/AdcKernels.cmake"
    DESTINATION ${adc_config_folder} COMPONENT development)
  file(RELATIVE_PATH prefix_from_pc "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
  configure_file("${ADC_ROOT}/cmake/adc.pc.in" "${folder}/adc.pc" @ONLY)
  install(FILES "${folder}/adc.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endif()
# LLVM may lie outside of the folders where the dynamic linker looks. Programs say where in the build tree as they do when
# they are installed: to exchange the one for the other CMake pads it with colons, which stand for the current folder.
foreach(program adc adc-cpp adc_shared adc-runtime)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ON)
  endif()
endforeach()
foreach(component compiler loader development)
  install(FILES "${ADC_ROOT}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR}/${component} COMPONENT ${component})
endforeach()

# The pages, with the samples to which they link, as the repository has them.
if(NOT SKBUILD)
  install(FILES "${ADC_ROOT}/README.md" "${ADC_ROOT}/CHANGELOG.md" "${ADC_ROOT}/CONTRIBUTING.md" "${ADC_ROOT}/SECURITY.md" DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
  install(DIRECTORY "${ADC_ROOT}/docs" "${ADC_ROOT}/samples" DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development
    PATTERN "__pycache__" EXCLUDE)
  foreach(folder artifact-format runtime-loader)
    install(FILES "${ADC_ROOT}/${folder}/README.md" DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT development)
  endforeach()
  install(CODE "set(adc_documents \"${CMAKE_INSTALL_DOCDIR}\")\nset(adc_headers \"${CMAKE_INSTALL_INCLUDEDIR}\")"
    COMPONENT development)
  install(SCRIPT "${ADC_ROOT}/cmake/RewritePages.cmake" COMPONENT development)
endif()

# Packages: cpack -G DEB makes one for each component, cpack -G TZST one archive with all of them. scripts/package does both.
set(CPACK_PACKAGE_NAME adc)
set(CPACK_PACKAGE_VENDOR adc)
set(CPACK_PACKAGE_CONTACT "The authors of adc <adc@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Ahead-of-time compiler for differentiable parallel kernels")
set(CPACK_RESOURCE_FILE_LICENSE "${ADC_ROOT}/LICENSE")
set(CPACK_PACKAGE_DIRECTORY "${adc_BINARY_DIR}/packages")
set(CPACK_GENERATOR DEB TZST)
set(CPACK_COMPONENTS_ALL compiler loader development)
set(CPACK_STRIP_FILES ON)
if(ADC_STATIC_LLVM)
  set(CPACK_PACKAGE_FILE_NAME "adc-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}-static-llvm")
endif()
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "")
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME adc)
set(CPACK_COMPONENT_COMPILER_DESCRIPTION "Compiler: kernels and their gradients, from text to one file.")
set(CPACK_DEBIAN_COMPILER_PACKAGE_SUGGESTS "g++, adc-dev (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LOADER_PACKAGE_NAME adrt)
set(CPACK_DEBIAN_LOADER_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LOADER_DESCRIPTION "Loader: runs what adc has compiled.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME adc-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, the static loader, files for CMake and pkg-config.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "adrt (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "adc (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
include(CPack)
