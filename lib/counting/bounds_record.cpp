#include "counting/bounds_record.h"

#include <algorithm>
#include <optional>

#include "analysis/walk.h"
#include "artifact/bounds_record.h"
#include "counting/bounds_check.h"
#include "counting/bounds_words.h"
#include "counting/recorded_loops.h"
#include "ir/clone.h"
#include "ir/module.h"
#include "transform/simplify.h"

// A bounds kernel has three parts.
//
//   atomic add %sums[0], tag                         the head, a serial task: loops that a launch has once
//   atomic add %sums[1], mix(lo, trips)   atomic add %sums[2], trips
//
//   parallel %i in 0..%n {                           a copy of each task whose iterations decide, without
//     atomic add %sums[3], mix(%i, lo, trips)        effects: all that does not lead to a count is dead, and
//     atomic add %sums[4], trips                     leaves with simplification
//   }
//   parallel %one in 0..1 {                          the check, the last task
//     for %k in 0..2 reversed { if %sums and %record differ there { write %status } }
//   }
//
// The order of iterations must not matter, and the visits of each of them must: so an iteration's number goes
// into a hash with the bounds of its loop, and the hashes are added up. Where an iteration comes to a loop
// more than once the hash is of all of its visits, in their order, which is the program's. Two lists of trips
// have one checksum by chance alone, once in 2^64.
//
// A loop that no iteration comes to counts nothing. So a gate that lets other iterations in is seen by the
// loops after it.

namespace adc::counting {
namespace {

using adstack::AdstackPlan, adstack::PlanConfig, adstack::PlannedStack, adstack::TaskPlan;
using analysis::ForEachInst;
using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Type, ir::Value;

/// The facts that one iteration, or a serial task, has collected of a loop that it comes to often: the hash
/// of its visits and their trips, in a local array.
struct Collected {
  uint32_t loop = 0;
  Value array;
};

class BoundsKernelBuilder {
 public:
  BoundsKernelBuilder(ir::Module& module, const Function& from, const AdstackPlan& plan, bool keeps_rows,
                      const RecordedLoops& loops)
      : module_(module), from_(from), loops_(loops) {
    for (const TaskPlan& task : plan.tasks) {
      for (const PlannedStack& stack : task.stacks) {
        if (keeps_rows || stack.storage != artifact::Storage::kRow) copied_stacks_.Insert(stack.stack);
      }
    }
    for (uint32_t number = 0; number < loops.chosen().size(); ++number)
      number_of_[loops.chosen()[number].loop] = number;
  }

  /// Null where something was missing on the way.
  Function* Run() {
    MakeSignature();
    MakeHead();
    for (uint32_t task = 0; task < loops_.tasks().size(); ++task) CopyTask(task);
    builder_->SetSpan(from_.span);
    AddBoundsCheck(*builder_, parameters_, Tag(), chosen().size());
    if (!complete_) return nullptr;
    builder_->Terminate(Op::Return, {});
    return &module_.AddFunction(std::move(made_));
  }

 private:
  const std::vector<LoopChoice>& chosen() const { return loops_.chosen(); }

  void MakeSignature() {
    std::string name = std::string(module_.Text(from_.derived_from)) + ".bounds";
    while (module_.Find(name) != nullptr) name += '_';
    made_ = std::make_unique<Function>(ir::FunctionKind::Kernel, module_.Intern(name));
    made_->role = ir::KernelRole::Bounds;
    made_->derived_from = from_.derived_from;
    made_->span = from_.span;
    for (uint32_t n = 0; n < from_.params.size(); ++n) {
      ir::ParamInfo info = from_.params[n];
      if (info.role != ir::ParamRole::Plain) continue;
      Value param = from_.Params()[n];
      given_[param] = made_->AddParameter(from_.TypeOf(param), from_[param].name, info);
    }
    parameters_.record = AddParameter("record", Type::Buffer(kRecordWord, 1));
    parameters_.status = AddParameter("status", Type::Buffer(ir::kI32, 1));
    parameters_.sums = AddParameter("sums", Type::Buffer(kRecordWord, 1));
    builder_.emplace(module_, *made_, made_->Body(), parameters_.sums);
    for (uint32_t n = 0; n < from_.params.size(); ++n) {
      const ir::ParamInfo& info = from_.params[n];
      Value param = from_.Params()[n];
      // As if all tapes were whole. A parameter stands for its companion, which has the same shape, where
      // shapes are asked.
      if (info.role == ir::ParamRole::Segment) given_[param] = builder_->Int(from_.TypeOf(param), 0);
      if (info.role == ir::ParamRole::Plain || info.companion_of == ir::kNoAttr) continue;
      Value of = given_.Get(from_.Params()[info.companion_of]);
      if (of.Valid() && made_->TypeOf(of) == from_.TypeOf(param)) given_[param] = of;
    }
  }

  Value AddParameter(const char* name, Type type) {
    return made_->AddParameter(type, ir::FreshName(module_, *made_, name), {});
  }

  void MakeHead() {
    map_ = given_;
    builder_->AddTo(ADRT_BOUNDS_TAG, builder_->Word(Tag()));
    for (uint32_t number = 0; number < chosen().size(); ++number) {
      const LoopChoice& choice = chosen()[number];
      if (choice.at != RecordedAt::Launch) continue;
      builder_->SetSpan(from_[choice.loop].span);
      std::span<const Value> operands = from_.Operands(choice.loop);
      Value hash = builder_->Word(0), trips = builder_->Word(1);
      if (from_[choice.loop].op == Op::For) {
        Value low = OfLaunch(operands[0]), high = OfLaunch(operands[1]);
        trips = builder_->Trips(low, high, OfLaunch(operands[2]));
        hash = builder_->Into(builder_->Into(hash, builder_->AsWord(low)), trips);
      } else {
        for (size_t axis = 0; axis < operands.size(); axis += 2) {
          Value low = OfLaunch(operands[axis]), high = OfLaunch(operands[axis + 1]);
          Value along = builder_->Trips(low, high, builder_->Int(from_.TypeOf(operands[axis]), 1));
          hash = builder_->Into(builder_->Into(hash, builder_->AsWord(low)), along);
          trips = builder_->Two(Op::Mul, trips, along);
        }
      }
      builder_->AddCount(number, builder_->Spread(hash), trips);
    }
  }

  /// A name for the record's form, so that another kernel's is known as such.
  uint64_t Tag() const {
    uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
    auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001B3; };
    for (char letter : module_.Text(from_.derived_from)) add(static_cast<unsigned char>(letter));
    add(0);
    for (const LoopChoice& choice : chosen()) add(static_cast<unsigned char>(from_[choice.loop].op));
    return hash;
  }

  /// A value of the whole launch, computed here as well.
  Value OfLaunch(Value value) {
    ir::Cloner cloner(from_, *builder_, map_);
    Inst made_by = from_.DefiningInst(value);
    if (!made_by.Valid() || map_.Get(value).Valid()) return cloner.Map(value);
    for (Value operand : from_.Operands(made_by)) OfLaunch(operand);
    return made_->Result(cloner.CloneInst(made_by, false), 0);
  }

  void CopyTask(uint32_t task) {
    bool any = std::any_of(chosen().begin(), chosen().end(), [&](const LoopChoice& choice) {
      return choice.task == task && choice.at != RecordedAt::Launch;
    });
    if (!any) return;
    task_ = task;
    map_ = given_;
    const analysis::Task& work = loops_.tasks()[task];
    const std::vector<Inst>& body = from_[from_.Body()].insts;
    iteration_ = builder_->Word(1);
    if (!work.parallel.Valid()) BeginIteration();
    for (uint32_t place = work.first; place < work.last; ++place) Copy(body[place]);
    if (!work.parallel.Valid()) EndIteration();
  }

  void BeginIteration() {
    collected_.clear();
    for (uint32_t number = 0; number < chosen().size(); ++number) {
      if (chosen()[number].task != task_ || chosen()[number].at != RecordedAt::Visit) continue;
      collected_.push_back({number, builder_->Alloca(Type::Array(kRecordWord, 2))});
    }
  }

  void EndIteration() {
    for (const Collected& one : collected_) {
      Value hash = Get(one, 0);
      Value spread = builder_->Spread(builder_->Into(hash, iteration_));
      Value none = builder_->Two(Op::Eq, hash, builder_->Word(0));
      Value added = builder_->Make(Op::Select, {none, builder_->Word(0), spread});
      builder_->AddCount(one.loop, added, Get(one, 1));
    }
  }

  Value Get(const Collected& one, int64_t cell) {
    Value index = builder_->I64(cell);
    return builder_->Load(one.array, {&index, 1});
  }
  void Set(const Collected& one, int64_t cell, Value word) {
    Value index = builder_->I64(cell);
    builder_->Access(Op::Store, one.array, {&index, 1}, {&word, 1});
  }

  /// At a loop: it runs `trips` times from `low` on.
  void Record(uint32_t number, Value low, Value trips) {
    if (chosen()[number].at == RecordedAt::Iteration) {
      Value hash = builder_->Into(builder_->Into(builder_->Word(0), builder_->AsWord(low)), trips);
      return builder_->AddCount(number, builder_->Spread(builder_->Into(hash, iteration_)), trips);
    }
    auto one = std::find_if(collected_.begin(), collected_.end(),
                            [&](const Collected& other) { return other.loop == number; });
    Set(*one, 0, builder_->Into(builder_->Into(Get(*one, 0), builder_->AsWord(low)), trips));
    Set(*one, 1, builder_->Two(Op::Add, Get(*one, 1), trips));
  }

  Value Mapped(Value value) {
    if (loops_.repeatable(task_).Lost(value)) return builder_->Zero(from_.TypeOf(value));
    const ir::ValueData& data = from_[value];
    bool is_literal = data.kind == ir::ValueKind::Constant || data.kind == ir::ValueKind::Global;
    if (!is_literal && !map_.Get(value).Valid()) {
      complete_ = false;
      return builder_->Zero(ir::kI32);
    }
    return ir::Cloner(from_, *builder_, map_).Map(value);
  }

  /// The number of a loop that is recorded where it stands.
  std::optional<uint32_t> NumberOf(Inst loop) const {
    uint32_t number = number_of_.Get(loop);
    if (number == ir::kNoAttr || chosen()[number].at == RecordedAt::Launch) return {};
    return number;
  }

  void Copy(Inst inst) {
    auto has_stack = [&](Value stack) { return copied_stacks_.Has(stack); };
    if (!complete_ || loops_.repeatable(task_).IsLeftOut(inst, has_stack)) return;
    builder_->SetSpan(from_[inst].span);
    std::optional<uint32_t> number = NumberOf(inst);
    if (number && from_[inst].op == Op::For) {
      Value low = Mapped(from_.Operand(inst, 0));
      Record(*number, low,
             builder_->Trips(low, Mapped(from_.Operand(inst, 1)), Mapped(from_.Operand(inst, 2))));
    }
    Inst copy = CopyAlone(inst, number && from_[inst].op == Op::While);
    if (number && from_[inst].op == Op::While)
      Record(*number, builder_->I64(0), made_->Result(copy, (*made_)[copy].result_count - 1));
  }

  /// `counts`: a `while` that carries the number of its iterations, as its last value.
  Inst CopyAlone(Inst inst, bool counts) {
    std::vector<Value> operands;
    std::vector<Type> results;
    for (Value operand : from_.Operands(inst)) operands.push_back(Mapped(operand));
    for (uint32_t n = 0; n < from_[inst].result_count; ++n)
      results.push_back(from_.TypeOf(from_.Result(inst, n)));
    if (counts) {
      operands.push_back(builder_->Word(0));
      results.push_back(kRecordWord);
    }
    Inst copy = builder_->Create(from_[inst].op, operands, results);
    const ir::InstData& source = from_[inst];
    ir::CopyAttributes(source, (*made_)[copy]);
    for (uint32_t n = 0; n < from_[inst].result_count; ++n)
      map_[from_.Result(inst, n)] = made_->Result(copy, n);
    Block outer = builder_->block();
    Value counter;
    for (uint32_t region = 0; region < from_.RegionCount(inst); ++region) {
      Block source_region = from_[inst].regions[region];
      Block block = made_->NewBlock(copy);
      (*made_)[copy].regions[region] = block;
      for (Value param : from_[source_region].params)
        map_[param] = made_->AddParam(block, from_.TypeOf(param), from_[param].name);
      if (counts && region == 0) counter = made_->AddParam(block, kRecordWord);
      builder_->SetBlock(block);
      bool is_iteration = inst == loops_.tasks()[task_].parallel;
      if (is_iteration) StartIteration(inst);
      Inst end = from_.Terminator(source_region);
      for (Inst inner : from_[source_region].insts) {
        if (inner != end) {
          Copy(inner);
          continue;
        }
        if (is_iteration) EndIteration();
        CopyEnd(end, counts && region == 1 ? counter : Value());
      }
    }
    builder_->SetBlock(outer);
    return copy;
  }

  void CopyEnd(Inst end, Value counter) {
    std::vector<Value> values;
    for (Value value : from_.Operands(end)) values.push_back(Mapped(value));
    if (counter.Valid()) values.push_back(builder_->Two(Op::Add, counter, builder_->Word(1)));
    builder_->Terminate(from_[end].op, values);
  }

  void StartIteration(Inst parallel) {
    iteration_ = builder_->Word(0);
    for (Value index : from_[from_[parallel].regions[0]].params)
      iteration_ = builder_->Into(iteration_, builder_->AsWord(map_[index]));
    BeginIteration();
  }

  ir::Module& module_;
  const Function& from_;
  const RecordedLoops& loops_;
  std::unique_ptr<Function> made_;
  std::optional<BoundsBuilder> builder_;
  ir::ValueMap given_;  ///< parameters
  ir::ValueMap map_;    ///< of the task that is being copied
  BoundsParameters parameters_;
  IndexSet<Value> copied_stacks_;  ///< stacks
  SideTable<Inst, uint32_t> number_of_{0, ir::kNoAttr};
  uint32_t task_ = 0;
  Value iteration_;  ///< hash of the number of the iteration
  std::vector<Collected> collected_;
  bool complete_ = true;  ///< nothing was missing so far
};

/// Parameters that a launch of the primal has not got, or whose content the gradient changes. Segments are as
/// if all tapes were whole.
IndexSet<Value> AbsentParameters(const Function& gradient) {
  IndexSet<Value> absent;
  bool aliases_change = false;
  std::span<const Value> params = gradient.Params();
  for (uint32_t n = 0; n < params.size(); ++n) {
    ir::ParamRole role = gradient.params[n].role;
    if (role != ir::ParamRole::Plain && role != ir::ParamRole::Segment) absent.Insert(params[n]);
  }
  ForEachInst(gradient, [&](Inst inst) {
    if (!analysis::WritesMemory(gradient[inst].op)) return;
    Value base = gradient.Operand(inst, 0);
    if (!gradient.IsParameter(base) || !absent.Insert(base)) return;
    aliases_change = aliases_change || gradient.params[gradient[base].number].alias;
  });
  for (uint32_t n = 0; n < params.size(); ++n) {
    if (aliases_change && gradient.params[n].alias) absent.Insert(params[n]);
  }
  return absent;
}

/// Whether some stack of the plan is so.
template <class Is>
bool AnyStack(const AdstackPlan& plan, Is&& is) {
  return std::ranges::any_of(plan.tasks,
                             [&](const TaskPlan& task) { return std::ranges::any_of(task.stacks, is); });
}

bool HasRows(const AdstackPlan& plan) {
  return AnyStack(plan, [](const PlannedStack& stack) { return stack.storage == artifact::Storage::kRow; });
}

/// Whether arguments and shapes alone say what a launch of the kernel takes.
bool IsSizedByArguments(const AdstackPlan& plan) {
  return !AnyStack(plan, [&](const PlannedStack& stack) {
    return plan.exprs.ClassOf(stack.capacity) == artifact::SizeClass::kS2;
  });
}

}  // namespace

BoundsKernel AddBoundsKernel(ir::Module& module, const Function& gradient, const AdstackPlan& plan,
                             diag::Diagnostics& diagnostics) {
  analysis::Structure structure(gradient);
  IndexSet<Value> absent = AbsentParameters(gradient);
  PlanConfig config;
  config.private_bytes = plan.private_bytes;
  auto make = [&](bool keeps_rows) {
    RecordedLoops loops(module, structure, plan, keeps_rows, absent);
    BoundsKernel made;
    made.missed = loops.missed();
    if (loops.chosen().empty()) return made;
    for (const LoopChoice& choice : loops.chosen())
      made.loops.push_back({gradient[choice.loop].op, gradient[choice.loop].span});
    BoundsKernelBuilder builder(module, gradient, plan, keeps_rows, loops);
    made.function = builder.Run();
    if (made.function == nullptr) return made;
    transform::SimplifyFunction(module, *made.function, {});
    made.plan = adstack::PlanAdstacks(module, *made.function, config, diagnostics);
    return made;
  };
  BoundsKernel made = make(false);
  if (made.missed.empty() || !HasRows(plan)) return made;
  // The missing bounds may be popped from rows. Rows take memory, whose size must be known beforehand.
  BoundsKernel with_rows = make(true);
  bool better = with_rows.missed.size() < made.missed.size() && IsSizedByArguments(with_rows.plan);
  BoundsKernel& other = better ? made : with_rows;
  if (other.function != nullptr) module.DropFunction(*other.function);
  return better ? std::move(with_rows) : std::move(made);
}

}  // namespace adc::counting
