#include "tally.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

namespace adc::farm {

namespace {

const char* NameOf(ir::OpClass op_class) {
  static const std::map<ir::OpClass, const char*> kNames = {
      {ir::OpClass::Arithmetic, "arithmetic"}, {ir::OpClass::Function, "functions"},
      {ir::OpClass::Compare, "comparisons"},   {ir::OpClass::Bits, "bits"},
      {ir::OpClass::Convert, "conversions"},   {ir::OpClass::Composed, "composed"},
      {ir::OpClass::Vector, "vectors"},        {ir::OpClass::Random, "random"},
      {ir::OpClass::Shape, "shape"},           {ir::OpClass::Access, "accesses"},
      {ir::OpClass::Atomic, "atomics"},        {ir::OpClass::Local, "arrays"},
      {ir::OpClass::Control, "control"},       {ir::OpClass::Terminator, "terminators"},
      {ir::OpClass::Check, "checks"}};
  return kNames.at(op_class);
}

/// What compilation makes, and no text of a user has.
bool IsMade(ir::Op op) {
  ir::OpClass op_class = ir::ClassOf(op);
  return op_class == ir::OpClass::Stack || op_class == ir::OpClass::Row || op == ir::Op::StatusRaise ||
         op == ir::Op::AddTo;
}

}  // namespace

const Tally::Named Tally::kNumbers[] = {{"programs", &Tally::programs},
                                        {"accepted", &Tally::accepted},
                                        {"without_gradient", &Tally::without_gradient},
                                        {"refused", &Tally::refused},
                                        {"not_finite", &Tally::not_finite},
                                        {"rounding", &Tally::rounding},
                                        {"values", &Tally::values},
                                        {"gradients", &Tally::gradients},
                                        {"tangents", &Tally::tangents},
                                        {"optimised", &Tally::optimised},
                                        {"wrong", &Tally::wrong}};

void Tally::CountRefusal(diag::ErrorId id) {
  for (Refusal& refusal : refusals) {
    if (refusal.count != 0 && refusal.id != static_cast<uint16_t>(id)) continue;
    refusal.id = static_cast<uint16_t>(id);
    ++refusal.count;
    return;
  }
}

void Tally::CountOperations(const ir::Module& module) {
  bool found[kOps] = {};
  for (const auto& function : module.functions) {
    for (uint32_t n = 0; n < function->InstCount(); ++n)
      found[static_cast<size_t>((*function)[ir::Inst(n)].op)] = true;
  }
  for (size_t op = 0; op < kOps; ++op) with[op] += found[op] ? 1 : 0;
}

void Tally::Add(const Tally& other) {
  for (const Named& named : kNumbers) this->*named.number += other.*named.number;
  for (size_t step = 0; step < kSteps; ++step) seconds[step] += other.seconds[step];
  for (size_t op = 0; op < kOps; ++op) with[op] += other.with[op];
  for (const Refusal& refusal : other.refusals) {
    for (uint64_t n = 0; n < refusal.count; ++n) CountRefusal(diag::ErrorId{refusal.id});
  }
}

std::string Tally::Write() const {
  std::ostringstream out;
  for (const Named& named : kNumbers) out << named.name << ' ' << this->*named.number << '\n';
  for (size_t step = 0; step < kSteps; ++step)
    out << "seconds." << kStepNames[step] << ' ' << seconds[step] << '\n';
  for (const Refusal& refusal : refusals) {
    if (refusal.count != 0) out << "refusal." << refusal.id << ' ' << refusal.count << '\n';
  }
  for (size_t op = 0; op < kOps; ++op) {
    std::string spelling(ir::InfoOf(static_cast<ir::Op>(op)).spelling);
    std::replace(spelling.begin(), spelling.end(), ' ', '_');
    if (with[op] != 0) out << "op." << spelling << ' ' << with[op] << '\n';
  }
  return out.str();
}

void Tally::Read(const std::string& lines) {
  std::istringstream in(lines);
  std::string name;
  double number = 0;
  while (in >> name >> number) {
    auto count = static_cast<uint64_t>(number);
    for (const Named& named : kNumbers) {
      if (name == named.name) this->*named.number = count;
    }
    for (size_t step = 0; step < kSteps; ++step) {
      if (name == std::string("seconds.") + kStepNames[step]) seconds[step] = number;
    }
    if (name.starts_with("refusal.")) {
      auto id = static_cast<uint16_t>(std::stoul(name.substr(8)));
      for (uint64_t n = 0; n < count; ++n) CountRefusal(diag::ErrorId{id});
    }
    if (!name.starts_with("op.")) continue;
    std::string spelling = name.substr(3);
    std::replace(spelling.begin(), spelling.end(), '_', ' ');
    for (size_t op = 0; op < kOps; ++op) {
      std::string own(ir::InfoOf(static_cast<ir::Op>(op)).spelling);
      std::replace(own.begin(), own.end(), '_', ' ');
      if (own == spelling) with[op] = count;
    }
  }
}

std::string Tally::Report() const {
  std::ostringstream out;
  out << programs << " programs: " << accepted << " accepted, " << without_gradient << " without a gradient, "
      << refused << " refused, " << wrong << " wrong; " << optimised << " of them optimised, " << not_finite
      << " with results that are not finite\n"
      << Compared() << " numbers compared: " << values << " values, " << gradients
      << " derivatives of gradients, " << tangents << " tangents; " << rounding
      << " of derivatives as far off as rounding of the arguments explains\n";
  for (const Refusal& refusal : refusals) {
    if (refusal.count == 0) continue;
    const diag::ErrorInfo& info = diag::InfoOf(diag::ErrorId{refusal.id});
    out << "  " << info.id << " " << refusal.count << " times: " << info.title << '\n';
  }
  out << "seconds:";
  for (size_t step = 0; step < kSteps; ++step) {
    char text[64];
    std::snprintf(text, sizeof text, " %s %.1f", kStepNames[step], seconds[step]);
    out << text;
  }
  out << "\noperations, and the accepted programs that have them:\n";
  std::map<ir::OpClass, std::string> present;
  std::string absent;
  for (size_t n = 0; n < kOps; ++n) {
    auto op = static_cast<ir::Op>(n);
    if (IsMade(op)) continue;
    std::string spelling(ir::InfoOf(op).spelling);
    if (with[n] == 0) {
      absent += (absent.empty() ? "" : ", ") + spelling;
    } else {
      std::string& list = present[ir::ClassOf(op)];
      list += (list.empty() ? "" : ", ") + spelling + " " + std::to_string(with[n]);
    }
  }
  for (const auto& [op_class, list] : present) out << "  " << NameOf(op_class) << ": " << list << '\n';
  out << "  never: " << (absent.empty() ? "none" : absent) << '\n';
  return out.str();
}

}  // namespace adc::farm
