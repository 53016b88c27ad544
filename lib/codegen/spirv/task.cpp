// A parallel task of n threads runs iterations t, t + n, t + 2n, ... in thread t:
//
//   position = t < n ? t : total
//   while position < total:
//     counters = digits of position
//     body
//     position += n
//
// so that every thread, with or without iterations, comes to the end. Where threads are in step (in_step.h)
// all of a workgroup run the loop as long as its first one does, and a thread takes part while its position
// is below the total. A position splits into the counters of several axes by division. Where the total fits
// 32 bits, which one branch that all threads take alike decides, so do the position and every extent, and the
// divisions are those of 32 bits, which devices have.
//
// A driver sees no extent as a constant: one (NVIDIA's, 580) takes the second counter of 0..5, 0..2 for one
// that all threads share where it divides by a constant 2, and is right where it divides by a number that it
// does not know.

#include "codegen/spirv/task.h"

#include "artifact/gpu_abi.h"
#include "codegen/common/team_steps.h"
#include "ir/module.h"

namespace adc::codegen::spirv {

using ir::Op;

std::vector<uint32_t> InvocationAxes(const ir::Module& module, const ir::Function& kernel, ir::Inst loop) {
  if (kernel[loop].op == Op::ParallelOver || kernel[loop].Has(ir::Word::Recheck)) return {};
  std::vector<uint32_t> axes;
  for (uint32_t n = 0; n < kernel[kernel[loop].regions[0]].params.size(); ++n) {
    const ir::ValueData& high = kernel[kernel.Operand(loop, 2 * n + 1)];
    bool is_parameter = kernel.IsParameter(kernel.Operand(loop, 2 * n + 1));
    uint32_t at = is_parameter ? kernel.params[high.number].shader_binding : ir::kNoAttr;
    bool from_zero = kernel.IntegerConstant(kernel.Operand(loop, 2 * n)) == int64_t{0};
    if (!from_zero || at == ir::kNoAttr ||
        module.shader_bindings[at].kind != ir::ShaderBinding::Kind::Invocations)
      return {};
    axes.push_back(module.shader_bindings[at].number);
  }
  return axes;
}

namespace {

class TaskEmitter {
 public:
  TaskEmitter(Environment& environment, ValueTable& values, StatusReporter& status, MemoryEmitter& memory,
              BodyEmitter& body, uint32_t block_size)
      : context_(environment.entry.context),
        kernel_(environment.entry.kernel),
        environment_(environment),
        f_(environment.entry.f),
        m_(context_.module),
        values_(values),
        status_(status),
        memory_(memory),
        body_(body),
        block_size_(block_size) {}

  void Emit(const analysis::Task& task) {
    if (task.kind == analysis::TaskKind::Parallel) {
      EmitParallel(task);
    } else {
      EmitSerial(task);
    }
    if (f_.HasLoops() && !context_.IsMetal() && !context_.config.keep_bindings) EmitCutCheck();
    f_.Do(spv::OpReturn, {});
    f_.Finish();
  }

  /// The number of iterations that a workgroup may run together (common/wave_teams.h); 0: not in this way.
  uint32_t TeamLanes(const analysis::Task& task) const {
    uint32_t lanes = context_.config.target.wave;
    bool fits = task.kind == analysis::TaskKind::Parallel && block_size_ > lanes && block_size_ % lanes == 0;
    return fits && body_.team().MayShare(task.parallel) ? lanes : 0;
  }

 private:
  /// One axis of a parallel loop. Its extent is not negative, and at least 1 where an iteration runs.
  struct Axis {
    ir::Value counter;
    uint32_t width = 64;  ///< of the counter
    Id low = 0;           ///< in `width` bits
    Id extent = 0;        ///< in 64 bits
  };

  void EmitSerial(const analysis::Task& task) {
    Id thread = environment_.invocations.Thread(), threads = environment_.words.Threads();
    f_.When(f_.Compare(spv::OpULessThan, thread, threads),
            [&] { body_.EmitRange(kernel_.Body(), task.first, task.last); });
  }

  void EmitParallel(const analysis::Task& task) {
    if (environment_.entry.narrow && environment_.entry.KeepsBindings()) return EmitInvocation(task);
    if (!MayBeInTeams(kernel_[task.parallel])) return EmitAlone(task);
    uint32_t width = environment_.entry.Wide();
    Id blocks = f_.Div(width, environment_.words.Threads(), f_.Int(width, block_size_));
    f_.Either(
        f_.Compare(spv::OpUGreaterThanEqual, blocks, environment_.words.Iterations()),
        [&] { EmitInTeams(task, 1); }, [&] { EmitByLanesOrAlone(task, blocks); });
  }

  /// The iteration that is being emitted; 0: none.
  void SetIteration(ir::Inst loop, Id iteration) {
    status_.SetIteration(iteration);
    memory_.SetIteration(loop, iteration);
  }

  /// The form of the task in which an invocation runs an iteration, and that in which a workgroup does, or
  /// runs `lanes` of them. `by_lanes`: whether the launch has a workgroup for that many; 0: it has not.
  /// In a launch with one workgroup for as many iterations as a wave has lanes, its first threads have one
  /// each.
  void EmitAlone(const analysis::Task& task, Id by_lanes = 0) {
    body_.EmitRange(kernel_.Body(), task.first, task.last - 1);
    bool guarded = kernel_[task.parallel].Has(ir::Word::Recheck);
    std::vector<Axis> axes = AxesOf(task.parallel, guarded);
    uint32_t width = environment_.entry.Wide();
    Id wide = m_.types.Int(width);
    Id thread = environment_.invocations.Thread(), threads = environment_.words.Threads(),
       total = environment_.words.Iterations();
    // In step all threads of a workgroup stay as long as its first one has an iteration. With a shader's
    // bindings each has one.
    bool in_step = body_.in_step(), leads = in_step && !environment_.entry.KeepsBindings();
    Id lead = leads ? environment_.invocations.FirstOfBlock(block_size_) : thread;
    Id in_block = leads ? f_.Sub(width, thread, lead) : 0, step = threads;
    if (by_lanes != 0) {
      Id lanes = f_.Int(width, TeamLanes(task)), blocks = f_.Div(width, threads, f_.Int(width, block_size_));
      lead = f_.Choose(wide, by_lanes, f_.Mul(width, environment_.invocations.TeamNumber(), lanes), lead);
      step = f_.Choose(wide, by_lanes, f_.Mul(width, blocks, lanes), threads);
    }
    Id first = f_.Choose(wide, f_.Compare(spv::OpULessThan, lead, threads), lead, total);
    if (guarded) first = GuardBounds(axes, first);
    Loop loop(f_);
    OpenPhi turn = loop.Phi(wide, first);
    std::vector<OpenPhi> states = body_.states().Open(task.parallel, loop);
    loop.EndHeader(f_.Compare(spv::OpULessThan, turn.id, total));
    Id position = leads ? f_.Add(width, turn.id, in_block) : turn.id;
    SetIteration(task.parallel, position);
    // A field outside of every `dense` has one cell and no counter.
    BindCounters(axes, position);
    ir::Block block = kernel_[task.parallel].regions[0];
    if (IsInTeams(kernel_[task.parallel])) {
      body_.team().EmitBlock(block, kernel_[task.parallel].component);
    } else if (in_step) {
      Id has_one = f_.Compare(spv::OpULessThan, position, total);
      if (leads) has_one = f_.Both(has_one, f_.Compare(spv::OpULessThan, thread, threads));
      if (by_lanes != 0) {
        Id most = f_.Choose(wide, by_lanes, f_.Int(width, TeamLanes(task)), f_.Int(width, block_size_));
        has_one = f_.Both(has_one, f_.Compare(spv::OpULessThan, in_block, most));
      }
      body_.in_step()->EmitBlock(block, has_one);
    } else {
      body_.EmitBlock(block);
    }
    SetIteration({}, 0);
    loop.BeginNext();
    loop.Close(turn, f_.Add(width, turn.id, step));
    body_.states().Close(task.parallel, loop, states);
    loop.End();
    body_.states().UpdateCells();
  }

  /// In a launch with a workgroup for each iteration, or for `lanes`. Threads without one compute the last
  /// one too, and do nothing with what they have.
  void EmitInTeams(const analysis::Task& task, uint32_t lanes) {
    uint32_t width = environment_.entry.Wide();
    Id total = environment_.words.Iterations();
    Id iteration = f_.Mul(width, environment_.invocations.TeamNumber(), f_.Int(width, lanes));
    f_.When(f_.Compare(spv::OpULessThan, iteration, total), [&] {
      Shares shares;
      if (lanes != 1) {
        Id place = environment_.invocations.InSubgroups();
        shares.lanes = lanes, shares.count = block_size_ / lanes;
        shares.lane = f_.Mod(32, place, f_.Int(32, lanes)),
        shares.number = f_.Div(32, place, f_.Int(32, lanes));
        iteration = f_.Add(width, iteration, f_.Resize(shares.lane, 32, width, false));
        shares.has = f_.Compare(spv::OpULessThan, iteration, total);
        iteration =
            f_.Choose(m_.types.Int(width), shares.has, iteration, f_.Sub(width, total, f_.Int(width, 1)));
      }
      body_.EmitRange(kernel_.Body(), task.first, task.last - 1);
      SetIteration(task.parallel, iteration);
      BindCounters(AxesOf(task.parallel, false), iteration);
      body_.team().EmitBlock(kernel_[task.parallel].regions[0], block_size_, lanes != 1 ? &shares : nullptr);
      SetIteration({}, 0);
    });
  }

  /// In a launch that is not in teams of one: one of both forms, where there are both.
  void EmitByLanesOrAlone(const analysis::Task& task, Id blocks) {
    uint32_t lanes = TeamLanes(task), width = environment_.entry.Wide();
    if (lanes == 0) return EmitAlone(task);
    Id reached = f_.Mul(width, blocks, f_.Int(width, lanes));
    Id by_lanes = f_.Compare(spv::OpUGreaterThanEqual, reached, environment_.words.Iterations());
    Id fills = environment_.invocations.FillsSubgroups(block_size_, lanes);
    f_.Either(
        f_.Both(by_lanes, fills), [&] { EmitInTeams(task, lanes); }, [&] { EmitAlone(task, by_lanes); });
  }

  /// An invocation is an iteration: no loop, and no position that splits into counters.
  void EmitInvocation(const analysis::Task& task) {
    body_.EmitRange(kernel_.Body(), task.first, task.last - 1);
    const std::vector<ir::Value>& counters = kernel_[kernel_[task.parallel].regions[0]].params;
    std::vector<uint32_t> axes = InvocationAxes(context_.ir, kernel_, task.parallel);
    for (size_t n = 0; n < counters.size(); ++n) {
      uint32_t width = ir::BitWidth(kernel_.TypeOf(counters[n]).scalar);
      values_.Bind(counters[n], f_.Resize(environment_.invocations.Invocation(axes[n]), 32, width, false));
    }
    memory_.SetIteration(task.parallel, environment_.invocations.Thread());
    ir::Block block = kernel_[task.parallel].regions[0];
    if (body_.in_step()) {
      body_.in_step()->EmitBlock(block, m_.constants.Bool(true));
    } else {
      body_.EmitBlock(block);
    }
    memory_.SetIteration({}, 0);
    body_.states().UpdateCells();
  }

  /// Reports loops that the driver has ended early, where it is one that does.
  ///
  /// llvmpipe counts the turns of all loops of a thread together, and lets each loop end after one turn when
  /// there have been 65,535, in silence. So does a loop of two turns at the end, of a length that it cannot
  /// know. The value that decides the loop's exit is known where the loop has been left (Mesa puts a constant
  /// there), so that another number tells how often it has run.
  void EmitCutCheck() {
    f_.When(m_.constants.SpecializedBool(ADRT_VULKAN_LLVMPIPE), [&] {
      uint32_t width = environment_.entry.Wide();
      Id wide = m_.types.Int(width), turns = Unfolded(f_.Int(width, 2));
      Loop loop(f_);
      OpenPhi turn = loop.Phi(wide, f_.Int(width, 0)), left = loop.Phi(wide, turns);
      loop.EndHeader(f_.Compare(spv::OpULessThan, turn.id, turns));
      loop.BeginNext();
      loop.Close(turn, f_.Add(width, turn.id, f_.Int(width, 1)));
      loop.Close(left, f_.Sub(width, left.id, f_.Int(width, 1)));
      loop.End();
      f_.When(f_.Compare(spv::OpINotEqual, left.id, f_.Int(width, 0)),
              [&] { status_.Raise(StatusCode::LoopsCut, 0); });
    });
  }

  /// An extent that is the same, and of which a driver cannot know that it is a constant.
  Id Unfolded(Id extent) {
    if (context_.IsMetal()) return extent;
    // No launch has 2^63 iterations; the loader makes none of 2^31 for code that counts them in 32 bits.
    uint32_t width = environment_.entry.Wide();
    return f_.Emit(spv::OpIAdd, m_.types.Int(width),
                   {extent, f_.ShiftRight(width, environment_.words.Iterations(), f_.Int(32, width - 1))});
  }

  /// The axes of a loop; the extent of the first one only where it is wanted.
  std::vector<Axis> AxesOf(ir::Inst loop, bool with_first) {
    const std::vector<ir::Value>& counters = kernel_[kernel_[loop].regions[0]].params;
    std::vector<Axis> axes;
    if (kernel_[loop].op == Op::ParallelOver) {
      const ir::Layout& layout = context_.ir.layouts[kernel_.TypeOf(kernel_.Operand(loop, 0)).count];
      const ir::LayoutField& field = layout.fields[kernel_[loop].attr];
      for (size_t n = 0; n < counters.size(); ++n) {
        uint32_t width = ir::BitWidth(kernel_.TypeOf(counters[n]).scalar);
        axes.push_back({counters[n], width, f_.Int(width, 0),
                        Unfolded(f_.Int(environment_.entry.Wide(), field.axes[n].extent))});
      }
      return axes;
    }
    for (uint32_t n = 0; n < counters.size(); ++n) {
      ir::Value low_value = kernel_.Operand(loop, 2 * n), high_value = kernel_.Operand(loop, 2 * n + 1);
      uint32_t width = ir::BitWidth(kernel_.TypeOf(counters[n]).scalar);
      Id low = values_.Get(low_value), extent = 0;
      if (n != 0 || with_first) {  // the first extent is never divided by
        // The distance of 32-bit bounds fits 32 bits without a sign.
        Id high = values_.Get(high_value);
        Id some = f_.Compare(spv::OpSLessThan, low, high);
        extent = f_.Choose(m_.types.Int(width), some, f_.Sub(width, high, low), f_.Int(width, 0));
        extent = f_.Resize(extent, width, environment_.entry.Wide(), false);
        if (m_.constants.IntegerOf(low) && m_.constants.IntegerOf(high)) extent = Unfolded(extent);
      }
      axes.push_back({counters[n], width, low, extent});
    }
    return axes;
  }

  /// The iteration with which a thread starts: `first`, or the end where the bounds do not give the
  /// iterations that were launched.
  Id GuardBounds(const std::vector<Axis>& axes, Id first) {
    Id now = f_.Int(64, 1), launched = environment_.words.Iterations();
    for (const Axis& axis : axes) now = f_.Mul(64, now, axis.extent);
    Id differs = f_.Compare(spv::OpINotEqual, now, launched);
    f_.When(differs, [&] { status_.Raise(StatusCode::BoundsMoved, 0, now); });
    return f_.Choose(m_.types.Int(64), differs, launched, first);
  }

  /// Binds the counters of iteration `position`.
  void BindCounters(const std::vector<Axis>& axes, Id position) {
    std::vector<Id> digits;
    std::optional<uint64_t> known_total = 1;
    for (const Axis& axis : axes) {
      std::optional<uint64_t> extent = axis.extent != 0 ? m_.constants.IntegerOf(axis.extent) : std::nullopt;
      known_total =
          known_total && extent && *extent < (uint64_t{1} << 31) && *known_total < (uint64_t{1} << 31)
              ? std::optional(*known_total * *extent)
              : std::nullopt;
    }
    bool always_narrow = known_total && *known_total < (uint64_t{1} << 32);
    if (axes.size() <= 1 || always_narrow || environment_.entry.narrow) {
      digits = Digits(axes, position, axes.size() <= 1 ? environment_.entry.Wide() : 32);
    } else {
      Id fits = f_.Compare(spv::OpULessThan, environment_.words.Iterations(), f_.Int(64, uint64_t{1} << 32));
      std::vector<Id> short_digits, long_digits;
      auto [narrow, wide] = f_.Either(
          fits, [&] { short_digits = Digits(axes, position, 32); },
          [&] { long_digits = Digits(axes, position, 64); });
      for (size_t n = 0; n < axes.size(); ++n)
        digits.push_back(f_.Phi(m_.types.Int(axes[n].width), short_digits[n], narrow, long_digits[n], wide));
    }
    for (size_t n = 0; n < axes.size(); ++n)
      values_.Bind(axes[n].counter, f_.Add(axes[n].width, axes[n].low, digits[n]));
  }

  /// The digits of `position` by divisions in `width` bits, each in the width of its counter.
  std::vector<Id> Digits(const std::vector<Axis>& axes, Id position, uint32_t width) {
    std::vector<Id> digits(axes.size());
    Id rest = f_.Resize(position, environment_.entry.Wide(), width, false);
    for (size_t n = axes.size(); n-- > 0;) {
      Id digit = rest;
      if (n != 0) {
        Id extent = f_.Resize(axes[n].extent, environment_.entry.Wide(), width, false);
        Id quotient = f_.Div(width, rest, extent);
        digit = f_.Sub(width, rest, f_.Mul(width, quotient, extent));
        rest = quotient;
      }
      digits[n] = f_.Resize(digit, width, axes[n].width, false);
    }
    return digits;
  }

  ModuleContext& context_;
  const ir::Function& kernel_;
  Environment& environment_;
  FunctionBuilder& f_;
  ModuleBuilder& m_;
  ValueTable& values_;
  StatusReporter& status_;
  MemoryEmitter& memory_;
  BodyEmitter& body_;
  uint32_t block_size_;
};

}  // namespace

uint32_t EmitTask(const analysis::Task& task, Environment& environment, ValueTable& values,
                  StatusReporter& status, MemoryEmitter& memory, BodyEmitter& body, uint32_t block_size) {
  TaskEmitter emitter(environment, values, status, memory, body, block_size);
  emitter.Emit(task);
  return emitter.TeamLanes(task);
}

}  // namespace adc::codegen::spirv
