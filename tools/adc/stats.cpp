// `adc stats`: figures of each function in a bundle.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "code_statistics.h"
#include "command_line.h"
#include "commands.h"
#include "host/exit_code.h"
#include "json_output.h"
#include "print.h"

namespace adc::tool {

namespace {

std::string OrDash(std::optional<uint64_t> number) {
  return number ? Grouped(*number) : "-";
}

void PrintTable(const Statistics& statistics) {
  size_t width = 8;
  for (const auto& [title, figures] : statistics) width = std::max(width, title.size());
  Print("%-*s %12s %9s %10s %6s  %s\n", static_cast<int>(width), "function", "instructions", "registers",
        "bytes", "stacks", "row of the heap");
  for (const auto& [title, figures] : statistics) {
    Print("%-*s %12s %9s %10s %6s  %s\n", static_cast<int>(width), title.c_str(),
          OrDash(figures.instructions).c_str(), OrDash(figures.registers).c_str(),
          OrDash(figures.bytes).c_str(), Grouped(figures.stacks).c_str(),
          figures.row.empty() ? "-" : RowText(figures).c_str());
  }
}

Json OrNull(std::optional<uint64_t> number) {
  return number ? Json(*number) : Json();
}

Json AsJson(const Statistics& statistics) {
  Json list = Json::array();
  for (const auto& [title, figures] : statistics) {
    Json entry;
    entry["function"] = title;
    entry["instructions"] = OrNull(figures.instructions);
    entry["registers"] = OrNull(figures.registers);
    entry["bytes"] = OrNull(figures.bytes);
    entry["stacks"] = figures.stacks;
    entry["row"] = RowText(figures);
    list.push_back(entry);
  }
  return list;
}

}  // namespace

int Stats(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  bool json = false;
  CommandLine line(
      "adc stats [options] bundle.adcb",
      "Prints figures of each function in a bundle: instructions, registers, bytes, stacks, and\n"
      "what its row of the heap holds. Registers are vector registers of HSACO and virtual\n"
      "registers of PTX; instructions of Metal are statements; '-' is what code does not say.");
  line.Flag("--json", "print a list of objects", &json);
  line.Example("adc stats relax.adcb", "one line for each task and target");
  line.Positional("bundle", 1, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  BundleFile file;
  Statistics statistics;
  if (int code = ReadBundleFile(files[0], &file); code != kExitOk) return code;
  if (int code = StatisticsOf(file, &statistics); code != kExitOk) return code;
  if (json) {
    PrintJson(AsJson(statistics));
  } else {
    PrintTable(statistics);
  }
  return kExitOk;
}

}  // namespace adc::tool
