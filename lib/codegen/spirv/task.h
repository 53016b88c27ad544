#pragma once
// A task as an entry function: its prologue, then its iterations, one after the other, in steps of the number
// of threads.

#include "analysis/tasks.h"
#include "codegen/spirv/body.h"

namespace adc::codegen::spirv {

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

  /// Emits the whole task and ends the function.
  void Emit(const analysis::Task& task);
  /// The number of iterations that a workgroup may run together (common/wave_teams.h); 0: not in this way.
  uint32_t TeamLanes(const analysis::Task& task) const;
  /// The axes of a dispatch that the counters of a loop run along; none where the loop is not one iteration
  /// per invocation of a shader.
  static std::vector<uint32_t> InvocationAxes(const ir::Module& module, const ir::Function& kernel,
                                              ir::Inst loop);

 private:
  /// One axis of a parallel loop. Its extent is not negative, and at least 1 where an iteration runs.
  struct Axis {
    ir::Value counter;
    uint32_t width = 64;  ///< of the counter
    Id low = 0;           ///< in `width` bits
    Id extent = 0;        ///< in 64 bits
  };

  void EmitSerial(const analysis::Task& task);
  void EmitParallel(const analysis::Task& task);
  /// The form of the task in which an invocation runs an iteration, and that in which a workgroup does, or
  /// runs `lanes` of them. `by_lanes`: whether the launch has a workgroup for that many; 0: it has not.
  void EmitAlone(const analysis::Task& task, Id by_lanes = 0);
  void EmitInTeams(const analysis::Task& task, uint32_t lanes);
  /// In a launch that is not in teams of one: one of both forms, where there are both.
  void EmitByLanesOrAlone(const analysis::Task& task, Id blocks);
  void EmitInvocation(const analysis::Task& task);
  /// Reports loops that the driver has ended early, where it is one that does.
  void EmitCutCheck();
  /// An extent that is the same, and of which a driver cannot know that it is a constant.
  Id Unfolded(Id extent);
  /// The axes of a loop; the extent of the first one only where it is wanted.
  std::vector<Axis> AxesOf(ir::Inst loop, bool with_first);
  /// The iteration with which a thread starts: `first`, or the end where the bounds do not give the
  /// iterations that were launched.
  Id GuardBounds(const std::vector<Axis>& axes, Id first);
  /// Binds the counters of iteration `position`.
  void BindCounters(const std::vector<Axis>& axes, Id position);
  /// The digits of `position` by divisions in `width` bits, each in the width of its counter.
  std::vector<Id> Digits(const std::vector<Axis>& axes, Id position, uint32_t width);

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

}  // namespace adc::codegen::spirv
