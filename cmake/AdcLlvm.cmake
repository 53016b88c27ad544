# LLVM 19 as the target adc_llvm, and Clang's libraries as adc_clang: the distribution's shared libraries, or, with
# ADC_STATIC_LLVM, static ones, so that programs run where LLVM is not installed.
find_package(LLVM REQUIRED CONFIG PATHS "${LLVM_DIR}" NO_DEFAULT_PATH)
if(NOT LLVM_VERSION_MAJOR EQUAL 19)
  message(FATAL_ERROR "adc needs LLVM 19, found ${LLVM_PACKAGE_VERSION}; scripts/install-deps installs it")
endif()
add_library(adc_llvm INTERFACE)
add_library(adc_clang INTERFACE)
target_link_libraries(adc_clang INTERFACE adc_llvm)
if(NOT ADC_STATIC_LLVM)
  find_library(ADC_CLANG_CPP NAMES clang-cpp libclang-cpp.so.19.1 libclang-cpp.so.19
    PATHS "${LLVM_LIBRARY_DIR}" NO_DEFAULT_PATH REQUIRED)
  target_link_libraries(adc_llvm INTERFACE LLVM)
  target_link_libraries(adc_clang INTERFACE "${ADC_CLANG_CPP}")
  return()
endif()

# The linker of images names every target that LLVM was built with.
set(parts Passes LTO Option FrontendOpenMP WindowsDriver DebugInfoDWARF IRReader AsmParser X86Disassembler
  AArch64Disassembler AMDGPUDisassembler)
foreach(processor IN LISTS LLVM_TARGETS_TO_BUILD)
  list(APPEND parts ${processor}CodeGen ${processor}Desc ${processor}Info)
  if(TARGET LLVM${processor}AsmParser)
    list(APPEND parts ${processor}AsmParser)
  endif()
endforeach()
list(TRANSFORM parts PREPEND LLVM)
foreach(part IN LISTS parts)
  if(NOT TARGET ${part})
    message(FATAL_ERROR "ADC_STATIC_LLVM: there is no static library ${part} of LLVM in ${LLVM_LIBRARY_DIR}")
  endif()
endforeach()
# Extensions of LLVM's tools, which the linker names: they stay out.
set_property(TARGET LLVMExtensions PROPERTY INTERFACE_LINK_LIBRARIES LLVMSupport)
add_library(adc_no_polly STATIC "${ADC_ROOT}/lib/codegen/llvm/static/no_polly.cpp")
target_include_directories(adc_no_polly SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_link_libraries(adc_no_polly PRIVATE adc_options)
target_link_libraries(adc_llvm INTERFACE ${parts} adc_no_polly)
set(clang_parts "")
foreach(part Tooling ToolingCore ToolingInclusions Format Frontend Driver Serialization Parse Sema Edit Analysis ASTMatchers
    AST Rewrite Lex APINotes Support Basic)
  find_library(ADC_CLANG_${part} NAMES libclang${part}.a PATHS "${LLVM_LIBRARY_DIR}" NO_DEFAULT_PATH REQUIRED)
  list(APPEND clang_parts "${ADC_CLANG_${part}}")
endforeach()
list(JOIN clang_parts "," clang_parts)
target_link_libraries(adc_clang INTERFACE "$<LINK_GROUP:RESCAN,${clang_parts}>")
# Most of these libraries is code for what adc does not do.
target_link_options(adc_llvm INTERFACE -Wl,--gc-sections -Wl,--as-needed)
