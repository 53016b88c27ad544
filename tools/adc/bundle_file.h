#pragma once
// A bundle read for looking at: the format's own reader, which is the loader's, gives metadata and table.

#include <adrt/adrt.h>

#include <optional>
#include <string>
#include <vector>

#include "artifact/budget.h"
#include "artifact/signature.h"
#include "formulas/formulas.h"
#include "host/file_result.h"

namespace adc::tool {

struct BundleFile {
  std::vector<uint8_t> bytes;
  artifact::BundleIndex index;
  artifact::Metadata metadata;
};

/// The bytes of the file at `path` as far as they can be a bundle: of a file that does not begin as one the
/// first ones, of one that goes on after its end one byte more. The caller, which takes them as a bundle,
/// reports errors.
FileResult<std::string> ReadBundleBytes(const std::string& path);

/// kExitOk, or the exit code after the reason was printed.
int ReadBundleFile(const std::string& path, BundleFile* file);
/// The same of bytes that were read from `path`: a pipe is read once.
int TakeBundle(const std::string& path, std::vector<uint8_t> bytes, BundleFile* file);

/// The metadata of an opened bundle as it lies there.
std::string MetadataText(const adrt_bundle* bundle);
/// The metadata of an opened bundle; empty after an error was printed.
std::optional<artifact::Metadata> MetadataOf(const adrt_bundle* bundle);

/// The raw bytes of a section; the reason is printed where they are bad.
int ReadSectionBytes(const BundleFile& file, uint32_t section, std::vector<uint8_t>* bytes);

/// The rows of its SIGN section; none where it has none.
int ReadSignatureRows(const BundleFile& file, std::vector<artifact::Signature>* rows);

/// "OBJ_ cpu:x86-64-v3"
std::string SectionTitle(const BundleFile& file, const artifact::Section& section);

/// "max over i0 in [0, n) of ...", with the kernel's parameter names; "?" for an unknown size.
std::string FormulaText(const artifact::KernelMeta& kernel, artifact::NodeId node);

/// Parts of size expressions that one command writes as text, about a second of it.
inline constexpr uint64_t kFormulaSteps = 1 << 22;

/// Takes from `steps` what writing the formulas of a kernel takes, `times` times. False where fewer are left,
/// after the reason was printed: tasks may share expressions, and each writes them out.
bool SpendFormulas(const artifact::KernelMeta& kernel, uint64_t times, artifact::Steps* steps);

/// Those of a task's stacks, as one plan has them, under names where they are long.
formulas::Formulas CapacityFormulas(const artifact::KernelMeta& kernel,
                                    const artifact::AdstackPlanMeta& plan);

/// The value that is pushed there, "%a"; empty where it has no name.
std::string ValueText(const artifact::StackMeta& stack);
/// The elements of a stack: "f32", "i1 bits".
std::string ElementText(const artifact::StackMeta& stack);
/// Whether it is the copy of a buffer that a worker sums into.
bool IsCopy(const artifact::StackMeta& stack);
/// A promise that the loader checks before the launch, which the metadata has among the stacks.
std::string PromiseText(const artifact::KernelMeta& kernel, const artifact::StackMeta& stack);
/// "in the row": where the stack lies.
std::string WhereText(const artifact::KernelMeta& kernel, const artifact::StackMeta& stack);

/// "adc_k_t0, blocks of 128, rows by 32, far adc_k_t0_far, bindings 0 %x f32, 1 heap f32"
std::string EntryText(const artifact::KernelMeta& kernel, const artifact::TaskMeta& task,
                      const artifact::EntryMeta& entry);

std::string_view SizeClassText(artifact::SizeClass size_class);

/// "12,345"
std::string Grouped(uint64_t number);

}  // namespace adc::tool
