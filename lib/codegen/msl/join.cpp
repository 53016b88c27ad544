#include "codegen/msl/join.h"

#include <vector>

#include "codegen/msl/statements.h"
#include "codegen/msl/tidy.h"
#include "support/letters.h"

// SPIRV-Cross writes one text per entry point, and each repeats the struct types of the module and the helper
// functions that its entry reaches. Names derive from SPIR-V ids, so a declaration that two entries share is
// the same text in both, character by character, and is written once. One case differs: a local name steps
// aside for a resource of the same name ("x" becomes "x_1"), and which resources there are depends on the
// entry. Then a helper comes in two spellings; the second gets a name of its own in the text that brought it.

namespace adc::codegen {
namespace {

constexpr char kHead[] = "#include <metal_stdlib>\nusing namespace metal;\n";

// The second one is what newer compilers call it.
constexpr char kNoContraction[] = "#pragma STDC FP_CONTRACT OFF\n#pragma METAL fp contract(off)\n";

// The text may be compiled by an engine that leaves fast math on, which is Metal's default: infinities, NaNs
// and the order of operations count. Compilers before Metal 3.2 do not know the pragma; theirs must be told
// by MTLCompileOptions, as the loader does.
constexpr char kSafeMath[] = "#if __METAL_VERSION__ >= 320\n#pragma METAL fp math_mode(safe)\n#endif\n";

// The function that SPIRV-Cross calls where SPIR-V adds a float to memory. The bits are compared, so that a
// NaN there cannot keep the loop going.
constexpr char kAtomicAdd[] = R"(
static inline float atomicAdd(device float& place, float value) {
    device atomic_uint* bits = (device atomic_uint*)&place;
    uint seen = atomic_load_explicit(bits, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(bits, &seen, as_type<uint>(as_type<float>(seen) + value),
                                                  memory_order_relaxed, memory_order_relaxed)) {}
    return as_type<float>(seen);
}
)";

bool IsPreamble(std::string_view line) {
  return line.empty() || line.starts_with("#pragma") || line.starts_with("#include") ||
         line.starts_with("using namespace");
}

/// The declarations of a text, in order, each with its newline at the end.
std::vector<std::string> SplitDeclarations(std::string_view text) {
  std::vector<std::string> declarations;
  std::string current;
  bool open = false;  // a brace in the first column is open
  while (!text.empty()) {
    std::string_view line = msl::TakeLine(text);
    if (current.empty() && IsPreamble(line)) continue;
    // In front of a function it is that of the function before.
    if (!open && line.starts_with("#line")) continue;
    current.append(line).push_back('\n');
    if (line == "{") open = true;
    if (line == "}" || line == "};" || (!open && line.ends_with(";"))) {
      declarations.push_back(std::move(current));
      current.clear();
      open = false;
    }
  }
  if (!current.empty()) declarations.push_back(std::move(current));
  return declarations;
}

std::string_view LastWordBefore(std::string_view text, size_t end) {
  while (end > 0 && !IsNameCharacter(text[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && IsNameCharacter(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// The name that a declaration introduces.
std::string_view DeclaredName(std::string_view declaration) {
  static constexpr std::string_view kInline = "static inline __attribute__((always_inline))\n";
  if (declaration.starts_with(kInline)) declaration.remove_prefix(kInline.size());
  if (declaration.starts_with("struct")) return LastWordBefore(declaration, declaration.find('\n'));
  return LastWordBefore(declaration, declaration.find_first_of("([=;"));
}

/// SPIRV-Cross's own helpers are the same text wherever they are needed, some as overloads that share a name.
bool CanBeRenamed(std::string_view declaration, std::string_view name) {
  return declaration.starts_with("struct") ||
         !(declaration.starts_with("template") || name.starts_with("spv"));
}

void ReplaceWord(std::string& text, std::string_view word, std::string_view replacement) {
  for (size_t at = msl::FindWord(text, word, 0); at != std::string::npos;
       at = msl::FindWord(text, word, at + replacement.size())) {
    text.replace(at, word.size(), replacement);
  }
}

/// The text with plain names for what SPIRV-Cross names by itself.
std::string WithPlainNames(std::string_view original) {
  std::string text(original);
  ReplaceWord(text, "spvDescriptorSetBuffer1", "AddressTable");
  ReplaceWord(text, "gl_GlobalInvocationID", "position");
  // (*spvDescriptorSet1.x_f32).at[0] is table.x_f32->at[0].
  constexpr std::string_view kOpen = "(*spvDescriptorSet1.", kTable = "table.";
  for (size_t at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, at)) {
    size_t close = text.find(").", at);
    if (close == std::string::npos) break;
    text.replace(close, 2, "->");
    text.replace(at, kOpen.size(), kTable);
  }
  ReplaceWord(text, "spvDescriptorSet1", "table");
  return text;
}

/// SPIRV-Cross writes the struct types of the whole module.
bool IsUsed(const std::vector<std::string>& declarations, size_t at, std::string_view name) {
  for (size_t later = at + 1; later < declarations.size(); ++later) {
    if (msl::FindWord(declarations[later], name, 0) != std::string::npos) return true;
  }
  return false;
}

/// A declaration as it is written.
std::string Layout(const std::string& declaration) {
  if (!declaration.starts_with("struct")) return msl::TidyFunction(declaration);
  std::string text = declaration;
  if (size_t brace = text.find("\n{\n"); brace != std::string::npos) text[brace] = ' ';
  return text;
}

}  // namespace

void MslJoiner::Add(std::string_view text, std::string_view translated_name, std::string_view symbol,
                    uint32_t block_size) {
  std::vector<std::string> declarations = SplitDeclarations(WithPlainNames(text));
  for (size_t n = 0; n < declarations.size(); ++n) {
    std::string name(DeclaredName(declarations[n]));
    if (declarations[n].starts_with("struct") && !IsUsed(declarations, n, name)) continue;
    if (name == translated_name) {
      ReplaceWord(declarations[n], name, symbol);
    } else if (written_.contains(declarations[n])) {
      continue;
    } else if (uint32_t others = names_[name]++; others > 0 && CanBeRenamed(declarations[n], name)) {
      std::string own_name = name + "_v" + std::to_string(others);
      for (size_t user = n; user < declarations.size(); ++user)
        ReplaceWord(declarations[user], name, own_name);
    }
    declarations_ += '\n';
    // Without it a block may not fit, since the compiler may take too many registers.
    if (name == translated_name && block_size != 0)
      declarations_ += "[[max_total_threads_per_threadgroup(" + std::to_string(block_size) + ")]]\n";
    declarations_ += Layout(declarations[n]);
    written_.insert(std::move(declarations[n]));
  }
}

std::string MslJoiner::Finish() const {
  bool adds = declarations_.find(" atomicAdd(") != std::string::npos;
  return msl::FinishLines(std::string(kHead) + kSafeMath + (contraction_ ? "" : kNoContraction) +
                          (adds ? kAtomicAdd : "") + declarations_);
}

}  // namespace adc::codegen
