// A module as text. The text parses to the same module, and that prints the same text again.
//
// Derived functions stand after their primals, in whatever order they were made.
//
// The printer also shows modules that a defective pass has broken, so it trusts no index that it follows.

#include <unordered_map>

#include "ir/function_printer.h"
#include "ir/module.h"
#include "ir/number.h"
#include "ir/string_literal.h"

namespace adc::ir {
namespace {

class ModulePrinter {
 public:
  ModulePrinter(const Module& module, std::string& out) : module_(module), out_(out) {}

  void Print() {
    if (module_.items.empty()) {
      for (const Import& import : module_.imports) PrintImport(import);
      for (const ModuleConstant& constant : module_.constants) PrintConstant(constant);
      for (const Layout& layout : module_.layouts) PrintLayout(layout);
    } else {
      PrintItems();
    }
    PrintRest();
    if (module_.trailing_comments.empty()) return;
    if (!out_.empty()) out_ += '\n';
    Comments(module_.trailing_comments);
  }

 private:
  void PrintItems() {
    listed_.assign(module_.functions.size(), 0);
    for (const Module::Item& item : module_.items) {
      if (item.kind == Module::ItemKind::Function && item.position < listed_.size())
        listed_[item.position] = 1;
    }
    IndexDerived();
    for (const Module::Item& item : module_.items) {
      if (item.imported) continue;
      switch (item.kind) {
        case Module::ItemKind::Import:
          if (item.position < module_.imports.size()) PrintImport(module_.imports[item.position]);
          break;
        case Module::ItemKind::Constant:
          if (item.position < module_.constants.size()) PrintConstant(module_.constants[item.position]);
          break;
        case Module::ItemKind::Layout:
          if (item.position < module_.layouts.size()) PrintLayout(module_.layouts[item.position]);
          break;
        case Module::ItemKind::Function:
          if (item.position < module_.functions.size()) PrintWithDerived(item.position);
          break;
      }
    }
  }
  /// Functions that passes added, by the primal they come from.
  void IndexDerived() {
    for (uint32_t n = 0; n < module_.functions.size(); ++n) {
      StringId primal = module_.functions[n]->derived_from;
      if (!listed_[n] && primal.Valid()) derived_[primal].push_back(n);
    }
  }
  void PrintWithDerived(uint32_t first) {
    std::vector<uint32_t> pending{first};
    while (!pending.empty()) {
      uint32_t position = pending.back();
      pending.pop_back();
      PrintOne(*module_.functions[position]);
      listed_[position] = 1;
      auto found = derived_.find(module_.functions[position]->name);
      if (found == derived_.end()) continue;
      for (size_t n = found->second.size(); n-- > 0;) {
        if (!listed_[found->second[n]]) pending.push_back(found->second[n]);
      }
    }
  }
  void PrintRest() {
    listed_.resize(module_.functions.size(), 0);
    for (uint32_t n = 0; n < module_.functions.size(); ++n) {
      if (!listed_[n]) PrintOne(*module_.functions[n]);
    }
  }

  void Separate(bool blank_line) {
    if (!out_.empty() && (blank_line || last_was_block_)) out_ += '\n';
    last_was_block_ = blank_line;
  }
  void Comments(const std::vector<StringId>& comments) {
    for (StringId comment : comments) {
      out_ += module_.Text(comment);
      out_ += '\n';
    }
  }
  void PrintImport(const Import& import) {
    Separate(false);
    Comments(import.leading_comments);
    out_ += "import ";
    out_ += StringLiteral(module_.Text(import.path)) + "\n";
  }
  void PrintConstant(const ModuleConstant& constant) {
    Separate(false);
    Comments(constant.leading_comments);
    out_ += "const @";
    out_ += module_.Text(constant.name);
    out_ += " = ";
    bool array = constant.type.IsArray();
    if (array) out_ += '[';
    for (size_t n = 0; n < constant.elements.size(); ++n) {
      if (n != 0) out_ += ", ";
      bool spelled = n < constant.spellings.size() && constant.spellings[n].Valid();
      out_ += spelled ? std::string(module_.Text(constant.spellings[n]))
                      : PrintNumber(constant.type.scalar, constant.elements[n]);
    }
    if (array) out_ += ']';
    out_ += " : " + TypeName(module_, constant.type) + "\n";
  }
  void PrintLayout(const Layout& layout) {
    Separate(true);
    Comments(layout.leading_comments);
    out_ += "layout @";
    out_ += module_.Text(layout.name);
    out_ += " {\n";
    for (const LayoutNode& node : layout.roots) PrintNode(layout, node, 1);
    out_ += "}\n";
  }
  void PrintNode(const Layout& layout, const LayoutNode& node, uint32_t depth) {
    out_.append(2 * size_t{depth}, ' ');
    if (node.is_field) {
      if (node.field >= layout.fields.size()) {
        out_ += "<field>\n";
        return;
      }
      const LayoutField& field = layout.fields[node.field];
      out_ += module_.Text(field.name);
      out_ += ": " + TypeName(module_, field.type);
      if (field.diff) out_ += " diff";
      out_ += '\n';
      return;
    }
    out_ += "dense[";
    for (size_t n = 0; n < node.extents.size(); ++n) {
      if (n != 0) out_ += ", ";
      out_ += std::to_string(node.extents[n]);
    }
    out_ += "] {\n";
    for (const LayoutNode& member : node.members) PrintNode(layout, member, depth + 1);
    out_.append(2 * size_t{depth}, ' ');
    out_ += "}\n";
  }
  void PrintOne(const Function& function) {
    Separate(true);
    PrintFunction(module_, function, out_);
  }

  const Module& module_;
  std::string& out_;
  bool last_was_block_ = false;
  std::vector<unsigned char> listed_;
  std::unordered_map<StringId, std::vector<uint32_t>> derived_;
};
}  // namespace

std::string Print(const Module& module) {
  std::string out;
  ModulePrinter(module, out).Print();
  return out;
}

std::string Print(const Module& module, const Function& function) {
  std::string out;
  PrintFunction(module, function, out);
  return out;
}

}  // namespace adc::ir
