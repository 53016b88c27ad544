#pragma once
// SPIR-V to Module.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diag/diagnostics.h"
#include "frontend/spirv/marked_name.h"
#include "frontend/spirv/sampler_state.h"
#include "ir/module.h"

namespace adc::frontend::spirv {

struct ReadConfig {
  /// `--spec name=value`: names or numbers of specialisation constants.
  std::vector<std::pair<std::string, std::string>> spec = {};
  std::vector<MarkedName> marked = {};
  /// Where several modules are read for one compilation: takes which of `marked` this one has. Names of the
  /// command line that it lacks are no error then.
  std::vector<bool>* has_marked = nullptr;
  /// `--sampler name=state`: how a texture is read; an empty name: any that none names.
  std::vector<std::pair<std::string, SamplerState>> samplers = {};
  bool native_images = false;  ///< images stay images, and nothing has an adjoint
  std::string entry = {};      ///< the one entry point to take; empty: all that compute
  /// The name of a kernel of the entry point `main`.
  std::string main_name = "main";
  uint64_t operation_limit = 500'000;
  /// The module is HLSL's as glslang writes it: it breaks rules about pointers that inlining mends, two
  /// buffers at one binding are two, and scans that leave the own value out are written as those that hold
  /// it.
  bool before_legalization = false;
};

/// The words of a file's bytes, in the order of this machine; empty where they are no SPIR-V.
std::vector<uint32_t> WordsOf(std::string_view bytes);

/// Reads a module: every compute entry point becomes a kernel of `module`. The words are checked by SPIR-V's
/// validator first, so that any words may come. Places are those of the files in `sources` that lines of the
/// module name; a module without lines gets its own text, disassembled, as the file `name`. False after
/// errors.
bool ReadSpirv(const std::string& name, const std::vector<uint32_t>& words, const ReadConfig& config,
               diag::SourceManager& sources, diag::Diagnostics& diagnostics, ir::Module* module);

}  // namespace adc::frontend::spirv
