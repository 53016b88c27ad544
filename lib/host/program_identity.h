#pragma once
// Which program this is, down to the libraries that it runs with.

#include <string>

namespace adc {

/// One line for each file of code that this process has loaded, in an order that does not depend on where
/// they are loaded: its name without folders, its build id (what a linker computes from the content) and, for
/// the program, the files beside it or installed with it, and where there is no build id, its size and a hash
/// of its bytes. Another build of adc or of LLVM gives another text, and so does a changed copy of adc.
std::string ProgramIdentity();

}  // namespace adc
