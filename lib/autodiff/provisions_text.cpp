#include <algorithm>
#include <map>

#include "analysis/structure.h"
#include "autodiff/provisions.h"
#include "support/check.h"

namespace adc::autodiff {
namespace {

/// Longer lists of names end in a number.
constexpr size_t kShownNames = 6;

std::string NameList(const std::vector<std::string>& names) {
  std::string list;
  for (size_t at = 0; at < std::min(names.size(), kShownNames); ++at)
    list += (at == 0 ? "%" : ", %") + names[at];
  if (names.size() > kShownNames) list += " and " + std::to_string(names.size() - kShownNames) + " more";
  return list;
}

void AddNew(std::vector<std::string>& list, const std::string& text) {
  if (!text.empty() && std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

std::string Amount(ir::Scalar scalar) {
  if (scalar == ir::Scalar::I1) return "1 bit";
  uint32_t bytes = ir::ByteSize(scalar);
  return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string_view Title(ir::Op op) {
  if (analysis::IsSerialLoop(op)) return "loop";
  if (op == ir::Op::If) return "branch";
  return analysis::IsParallel(op) ? "parallel iteration" : "kernel";
}

std::string_view Reason(bool carried) {
  return carried ? "carried from iteration to iteration"
                 : "computed from carried values, and smaller than these";
}

/// How much of a stored value each iteration pushes, and why.
std::string Storage(ir::Scalar scalar, std::string_view reason) {
  return Amount(scalar) + " an iteration: " + std::string(reason);
}

std::string OperationCount(uint32_t operations) {
  return std::to_string(operations) + (operations == 1 ? " operation" : " operations");
}

class ProvisionPrinter {
 public:
  ProvisionPrinter(const ProvisionRecord& record, const diag::SourceManager& sources)
      : record_(record), sources_(sources), names_(record.names.begin(), record.names.end()) {}

  std::string Print(std::string_view kernel) {
    text_ = "primal values that @" + std::string(kernel) + " reads\n";
    size_t empty = text_.size();
    for (const UnitProvisions& unit : record_.units) PrintUnit(unit);
    if (text_.size() == empty) text_ += "  all of them are available\n";
    return text_;
  }

 private:
  std::string At(diag::SourceSpan place) const {
    return place.Valid() ? "  at " + sources_.Describe(place) : "";
  }

  void PrintUnit(const UnitProvisions& unit) {
    bool is_empty = unit.stored.empty() && unit.arrays.empty() && unit.undone.empty() && unit.left.empty() &&
                    unit.recomputed.empty() && unit.loaded.empty();
    if (is_empty) return;
    text_ += "  " + std::string(unit.segments ? "loop over segments" : Title(unit.op)) + At(unit.place);
    for (uint32_t around = unit.around; around != UnitProvisions::kNone;
         around = record_.units[around].around) {
      const UnitProvisions& outer = record_.units[around];
      if (analysis::IsSerialLoop(outer.op) && outer.place.Valid())
        text_ += ", in the loop at " + sources_.Describe(outer.place);
    }
    text_ += "\n";
    for (const Provision& value : unit.stored) {
      text_ += (unit.segments ? "    taped as checkpoint: " : "    taped: ") + Named(value) + ", " +
               Storage(value.scalar, Reason(value.carried)) + At(value.place) + "\n";
    }
    if (!unit.arrays.empty())
      text_ += "    taped: old contents of " + NameList(unit.arrays) + ", which iterations overwrite\n";
    if (!unit.undone.empty()) text_ += "    inverted: " + NameList(NamesOf(unit.undone)) + "\n";
    for (const Provision& value : unit.left)
      text_ += "    read again where the kernel stored it: " + Named(value) + At(value.place) + "\n";
    PrintRecomputed(unit.recomputed);
    if (!unit.loaded.empty()) {
      text_ += "    available: " + std::to_string(unit.loaded.size()) +
               (unit.loaded.size() == 1 ? " load" : " loads") + " of memory that is not written\n";
    }
  }

  /// Values of one line of the source together.
  void PrintRecomputed(const std::vector<Provision>& values) {
    std::vector<std::vector<const Provision*>> lines;
    std::map<std::pair<const diag::SourceFile*, uint32_t>, size_t> known;
    for (const Provision& value : values) {
      uint32_t line = value.place.Valid() ? sources_.Locate(value.place).line : 0;
      auto [found, fresh] = known.try_emplace({sources_.FileOf(value.place), line}, lines.size());
      if (fresh) lines.emplace_back();
      lines[found->second].push_back(&value);
    }
    for (const std::vector<const Provision*>& line : lines) PrintLine(line);
  }

  void PrintLine(const std::vector<const Provision*>& line) {
    std::vector<std::string> names, from;
    std::string types;
    uint32_t operations = 0;
    diag::SourceSpan place = line.front()->place;
    auto is_here = [&](uint32_t id) {
      return std::any_of(line.begin(), line.end(), [&](const Provision* one) { return one->id == id; });
    };
    for (const Provision* value : line) {
      AddNew(names, value->name);
      operations += value->operations;
      if (value->place.Valid() && value->place.begin < place.begin) place = value->place;
      std::string type(ir::Spelling(value->scalar));
      if ((", " + types + ",").find(", " + type + ",") == std::string::npos)
        types += (types.empty() ? "" : ", ") + type;
      for (uint32_t id : value->from) {
        auto name = names_.find(id);
        if (name != names_.end() && !is_here(id)) AddNew(from, name->second);
      }
    }
    text_ += "    recomputed: ";
    text_ += names.empty() ? std::to_string(line.size()) + (line.size() == 1 ? " value" : " values")
                           : NameList(names);
    text_ += " : " + types;
    if (!from.empty()) text_ += " from " + NameList(from);
    text_ += At(place) + " (" + OperationCount(operations) + ")\n";
  }

  static std::vector<std::string> NamesOf(const std::vector<Provision>& values) {
    std::vector<std::string> names;
    for (const Provision& value : values) names.push_back(value.name);
    return names;
  }

  static std::string Named(const Provision& value) {
    return (value.name.empty() ? "a value" : "%" + value.name) + " : " +
           std::string(ir::Spelling(value.scalar));
  }

  const ProvisionRecord& record_;
  const diag::SourceManager& sources_;
  std::map<uint32_t, std::string> names_;
  std::string text_;
};

/// Makes the notes of a record, unit by unit.
class NoteMaker {
 public:
  explicit NoteMaker(const ProvisionRecord& record)
      : record_(record), names_(record.names.begin(), record.names.end()) {
    for (const UnitProvisions& unit : record.units) {
      for (const Provision& value : unit.recomputed) {
        for (uint32_t id : value.from) AddNew(made_from_[id], value.name);
      }
    }
  }

  std::vector<ProvisionNote> Make() {
    using Way = ProvisionNote::Way;
    for (const UnitProvisions& unit : record_.units) {
      for (const Provision& value : unit.stored) {
        ProvisionNote& note = Add(unit, unit.segments ? Way::Checkpoint : Way::Taped, value);
        note.bits = value.scalar == ir::Scalar::I1 ? 1 : 8 * ir::ByteSize(value.scalar);
        note.reason = Reason(value.carried);
      }
      for (const std::string& array : unit.arrays) {
        ProvisionNote& note = Add(unit, Way::Contents, {});
        note.name = array;
        note.place = unit.place;
      }
      for (const Provision& value : unit.undone) Add(unit, Way::Inverted, value);
      for (const Provision& value : unit.left) Add(unit, Way::ReadAgain, value);
      for (const Provision& value : unit.loaded) Add(unit, Way::Loaded, value);
      for (const Provision& value : unit.recomputed) {
        ProvisionNote& note = Add(unit, Way::Recomputed, value);
        note.operations = value.operations;
        for (uint32_t id : value.from) {
          auto found = names_.find(id);
          if (found != names_.end()) AddNew(note.from, found->second);
        }
      }
    }
    return std::move(notes_);
  }

 private:
  ProvisionNote& Add(const UnitProvisions& unit, ProvisionNote::Way way, const Provision& value) {
    ProvisionNote& note = notes_.emplace_back();
    note.way = way;
    note.name = value.name;
    note.scalar = value.scalar;
    note.place = value.place;
    note.readers = value.readers;
    auto made = made_from_.find(value.id);
    if (made != made_from_.end() && way != ProvisionNote::Way::Contents) note.makes = made->second;
    note.unit = Title(unit.op);
    note.unit_place = unit.place;
    return note;
  }

  const ProvisionRecord& record_;
  const std::map<uint32_t, std::string> names_;
  std::map<uint32_t, std::vector<std::string>> made_from_;  ///< names of what is recomputed from a value
  std::vector<ProvisionNote> notes_;
};

}  // namespace

std::string Describe(const ProvisionNote& note, const diag::SourceManager& sources) {
  using Way = ProvisionNote::Way;
  std::string where = std::string(note.unit) + " at " + sources.Describe(note.unit_place);
  switch (note.way) {
    case Way::Taped:
      return "taped in the " + where + ", " + Storage(note.scalar, note.reason);
    case Way::Checkpoint:
      return "taped as checkpoint in the " + where + ", " + Storage(note.scalar, note.reason);
    case Way::Contents:
      return "its old contents are taped in the " + where + ", whose iterations overwrite them";
    case Way::Inverted:
      return "inverted in the " + where + ", no bytes";
    case Way::ReadAgain:
      return "read again where the kernel stored it";
    case Way::Recomputed:
      return "recomputed" + (note.from.empty() ? "" : " from " + NameList(note.from)) + ", " +
             OperationCount(note.operations) + ", no bytes";
    case Way::Loaded:
      return "loaded again from memory that is not written, no bytes";
  }
  ADC_UNREACHABLE("a provision without a text");
}

std::vector<ProvisionNote> NotesOf(const ProvisionRecord& record) {
  return NoteMaker(record).Make();
}

std::vector<std::string> DescribeValue(const ProvisionRecord& record, std::string_view name,
                                       diag::SourceSpan place, const diag::SourceManager& sources) {
  std::vector<std::string> lines;
  for (const ProvisionNote& note : NotesOf(record)) {
    bool same_line = note.place.Valid() && sources.FileOf(note.place) == sources.FileOf(place) &&
                     sources.Locate(note.place).line == sources.Locate(place).line;
    if (note.name == name && same_line) AddNew(lines, Describe(note, sources));
  }
  return lines;
}

std::string PrintProvisions(std::string_view kernel, const ProvisionRecord& record,
                            const diag::SourceManager& sources) {
  return ProvisionPrinter(record, sources).Print(kernel);
}

}  // namespace adc::autodiff
