#include "code_statistics.h"

#include <algorithm>

#include "code_note.h"
#include "code_text.h"
#include "codegen/llvm/disassemble.h"
#include "host/exit_code.h"

namespace adc::tool {

namespace {

namespace kinds = artifact::section;

std::string_view Trimmed(std::string_view line) {
  size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

/// Calls `take` with each line that is not empty, without the spaces around it.
template <typename Take>
void ForEachLine(std::string_view text, const Take& take) {
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = Trimmed(text.substr(0, end));
    if (!line.empty()) take(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Of "\t.reg .b32 \t%r<27>;": 27, one more than the highest number, which starts at 1.
uint64_t DeclaredRegisters(std::string_view line) {
  size_t begin = line.find('<'), end = line.find('>');
  if (begin == std::string_view::npos || end == std::string_view::npos) return 0;
  uint64_t count = 0;
  for (char digit : line.substr(begin + 1, end - begin - 1)) {
    if (digit < '0' || digit > '9') return 0;
    count = 10 * count + static_cast<uint64_t>(digit - '0');
  }
  return count == 0 ? 0 : count - 1;
}

void CountPtx(std::string_view text, CodeFigures* figures) {
  uint64_t instructions = 0, registers = 0;
  ForEachLine(text, [&](std::string_view line) {
    if (line.starts_with(".reg")) registers += DeclaredRegisters(line);
    if (line.ends_with(';') && line.front() != '.') ++instructions;
  });
  figures->instructions = instructions;
  figures->registers = registers;
}

/// The label stands in front of the instructions.
void CountMachine(std::string_view text, CodeFigures* figures) {
  uint64_t instructions = 0;
  bool label = true;
  ForEachLine(text, [&](std::string_view) {
    if (!label) ++instructions;
    label = false;
  });
  figures->instructions = instructions;
}

void CountText(uint32_t kind, std::string_view text, CodeFigures* figures) {
  if (kind == kinds::kPtx) return CountPtx(text, figures);
  if (kind != kinds::kMsl && kind != kinds::kSpirv) return CountMachine(text, figures);
  uint64_t count = 0;
  ForEachLine(text, [&](std::string_view line) {
    count += kind == kinds::kMsl ? static_cast<uint64_t>(std::count(line.begin(), line.end(), ';')) : 1;
  });
  figures->instructions = count;
}

void AddStacks(const artifact::KernelMeta& kernel, const artifact::TaskMeta& task,
               const artifact::EntryMeta& entry, CodeFigures* figures) {
  if (entry.plan == artifact::kNoIndex) return;
  const artifact::AdstackPlanMeta& plan = task.plans[entry.plan];
  for (const artifact::StackMeta& stack : plan.stacks) {
    figures->stacks += stack.storage != artifact::Storage::kPromise;
    if (stack.storage != artifact::Storage::kRow) continue;
    figures->row.push_back({ElementText(stack), FormulaText(kernel, stack.capacity)});
  }
}

}  // namespace

std::string RowText(const CodeFigures& figures) {
  std::string text;
  for (const RowStack& stack : figures.row)
    text += (text.empty() ? "" : ", ") + stack.element + " x " + stack.formula;
  return text;
}

int StatisticsOf(const BundleFile& file, Statistics* statistics) {
  for (uint32_t number = 0; number < file.index.sections.size(); ++number) {
    const artifact::Section& section = file.index.sections[number];
    if (section.target == artifact::kNoTarget || section.kind == kinds::kImage) continue;
    const artifact::TargetMeta& target = file.metadata.targets[section.target];
    std::vector<uint8_t> bytes;
    if (int code = ReadSectionBytes(file, number, &bytes); code != kExitOk) return code;
    CodeReader reader(section.kind, bytes, target, CodeReader::Form::Exact);
    std::map<std::string, uint64_t> registers;
    if (section.kind == kinds::kHsaco) {
      for (const NoteKernel& kernel : KernelsOfNote(bytes))
        if (kernel.registers) registers[kernel.name] = *kernel.registers;
    }
    for (const artifact::KernelMeta& kernel : file.metadata.kernels) {
      for (size_t task = 0; task < kernel.tasks.size(); ++task) {
        for (const artifact::EntryMeta& entry : kernel.tasks[task].entries) {
          if (entry.target != section.target) continue;
          std::string symbol(entry.symbol.view());
          CodeFigures& figures = (*statistics)["@" + std::string(kernel.name.view()) + ", task " +
                                               std::to_string(task) + ", " + std::string(target.name.view())];
          AddStacks(kernel, kernel.tasks[task], entry, &figures);
          if (auto found = registers.find(symbol); found != registers.end())
            figures.registers = found->second;
          diag::Result<std::string> text = reader.Function(symbol);
          if (!text) continue;
          CountText(section.kind, *text, &figures);
          bool readable = section.kind == kinds::kPtx || section.kind == kinds::kMsl;
          figures.bytes = readable ? text->size() : codegen::FunctionBytes(bytes, symbol);
        }
      }
    }
  }
  return kExitOk;
}

}  // namespace adc::tool
