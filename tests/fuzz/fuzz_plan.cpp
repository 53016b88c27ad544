// Any bytes as the description of a kernel: parameters, a graph of size expressions, tasks with axes and
// adstacks, a size kernel. What the metadata's rules accept is opened and planned for a CPU and for GPUs,
// with arguments from the bytes, given other arguments, resolved, capped, assumed and reported. Every call
// ends within its steps, and what fails says why. Code is never run.

#include <adrt/adrt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../support/hostile_bundles.h"
#include "host_memory.h"
#include "seeds.h"
#include "size_ops.h"

namespace {

using namespace adc::artifact;

constexpr uint64_t kBudget = 4000;

void Demand(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_plan: %s\n", what);
  std::abort();
}

/// Numbers from the input, zeros behind its end.
class Dice {
 public:
  Dice(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  uint32_t Below(uint32_t count) { return count == 0 ? 0 : Byte() % count; }
  bool Flag() { return Byte() & 1; }
  uint8_t Byte() { return at_ < size_ ? data_[at_++] : 0; }
  bool AtEnd() const { return at_ >= size_; }
  int64_t Number() {
    constexpr int64_t kEdges[] = {0,
                                  1,
                                  -1,
                                  2,
                                  3,
                                  7,
                                  64,
                                  1000,
                                  1 << 20,
                                  INT32_MAX,
                                  int64_t{1} << 31,
                                  int64_t{1} << 40,
                                  int64_t{1} << 56,
                                  INT64_MAX,
                                  INT64_MIN};
    uint8_t byte = Byte();
    return byte < 200 ? byte % 20 : kEdges[byte % std::size(kEdges)];
  }

 private:
  const uint8_t* data_;
  size_t size_, at_ = 0;
};

class Builder {
 public:
  explicit Builder(Dice& dice) : dice_(dice) {}

  Metadata Run() {
    metadata_ = hostile::OneTarget();
    for (const char* const* target : kGpus) {
      TargetMeta added;
      added.name = target[0];
      added.kind = target[0];
      added.arch = target[1];
      added.abi = target[2];
      metadata_.targets.push_back(added);
    }
    kernel_.name = "k";
    Params();
    Exprs();
    counts_ = dice_.Flag();
    for (uint32_t count = 1 + dice_.Below(3); count > 0; --count) kernel_.tasks.push_back(Task());
    for (uint32_t index = 0; index < kernel_.params.size(); ++index) {
      ParamMeta& param = kernel_.params[index];
      if (param.role != ParamRole::kSaved && param.kind != ParamKind::kScratch) continue;
      for (uint32_t axis = 0; axis < param.rank; ++axis) param.extents.push_back(Closed(SizeClass::kS1));
    }
    if (counts_) metadata_.kernels.push_back(SizeKernel());
    metadata_.kernels.push_back(kernel_);
    FinishMetadata(&metadata_);
    return metadata_;
  }

 private:
  static constexpr const char* kCuda[] = {"cuda", "sm_80", "ptx"};
  static constexpr const char* kVulkan[] = {"vulkan", "1.2", "spirv"};
  static constexpr const char* const* kGpus[] = {kCuda, kVulkan};

  void Params() {
    constexpr ScalarType kTypes[] = {ScalarType::kI32, ScalarType::kI64, ScalarType::kU8,
                                     ScalarType::kU64, ScalarType::kF32, ScalarType::kI1};
    uint32_t count = 1 + dice_.Below(6);
    bool has_segment = false;
    for (uint32_t index = 0; index < count; ++index) {
      ParamMeta param = hostile::Param(index, kTypes[dice_.Below(6)], dice_.Below(3));
      uint32_t kind = dice_.Below(9);
      param.access = static_cast<Access>(dice_.Below(3));
      param.alias = dice_.Below(4) == 0;
      if (kind >= 4) MakeScalar(param, kind, has_segment);
      if (kind == 3) {
        param.kind = ParamKind::kScratch;
        param.role = ParamRole::kScratch;
      }
      if (kind == 2 && param.rank == 1) param.role = ParamRole::kSaved;
      kernel_.params.push_back(param);
    }
  }
  void MakeScalar(ParamMeta& param, uint32_t kind, bool& has_segment) {
    param.access = Access::kRead;
    param.rank = 0;
    param.alias = false;
    param.kind = ParamKind::kScalar;
    if (kind == 7 && !has_segment) {
      has_segment = true;
      param.kind = ParamKind::kSegment;
      param.role = ParamRole::kSegment;
      param.type = ScalarType::kI32;
    }
  }

  // A parameter of which `fits` holds; kNoIndex where there is none.
  template <class Fits>
  uint32_t Find(Fits fits) {
    uint32_t count = static_cast<uint32_t>(kernel_.params.size()), first = dice_.Below(count);
    for (uint32_t step = 0; step < count; ++step) {
      uint32_t index = (first + step) % count;
      if (fits(kernel_.params[index])) return index;
    }
    return kNoIndex;
  }

  void Exprs() {
    SizeExprPool& pool = kernel_.exprs;
    for (uint32_t count = 1 + dice_.Byte() % 96; count > 0; --count) {
      SizeNode node;
      node.op = static_cast<SizeOp>(dice_.Below(kSizeOps + 1));
      uint32_t size = static_cast<uint32_t>(pool.size());
      NodeId indices[2] = {};
      uint32_t index_count = 0;
      if (node.op == SizeOp::kArg) {
        node.param = Find([](const ParamMeta& param) {
          return param.kind == ParamKind::kSegment ||
                 (param.kind == ParamKind::kScalar && param.type < ScalarType::kF16);
        });
      } else if (node.op == SizeOp::kShape) {
        node.param =
            Find([](const ParamMeta& param) { return param.kind == ParamKind::kBuffer && param.rank > 0; });
        if (node.param != kNoIndex) node.axis = dice_.Below(kernel_.params[node.param].rank);
      } else if (node.op == SizeOp::kRead) {
        node.param = Find([](const ParamMeta& param) {
          return (param.kind == ParamKind::kBuffer || param.kind == ParamKind::kScratch) &&
                 IsInteger(param.type);
        });
        if (node.param != kNoIndex) index_count = kernel_.params[node.param].rank;
        if (size == 0) continue;
        for (uint32_t axis = 0; axis < index_count; ++axis) indices[axis] = Back(size);
      } else {
        node.axis = dice_.Below(4);
        if (node.op == SizeOp::kConst) node.value = dice_.Number();
      }
      if (node.param == kNoIndex) continue;
      uint32_t operands = static_cast<uint32_t>(node.op) < kSizeOps ? SizeOpOperands(node.op) : 0;
      if (operands > 0 && size == 0) continue;
      for (uint32_t operand = 0; operand < operands; ++operand) node.operands[operand] = Back(size);
      Error error;
      bool good = pool.AppendChecked(node, {indices, index_count}, &error);
      Demand(good || !error.message().empty(), "a node refused without a reason");
    }
  }
  NodeId Back(uint32_t size) {
    uint32_t back = dice_.Below(24);
    return back < size ? size - 1 - back : 0;
  }
  // A node that may be a root, of at most this class; a constant where there is none.
  NodeId Closed(SizeClass most) {
    uint32_t count = static_cast<uint32_t>(kernel_.exprs.size());
    for (uint32_t step = 0, first = dice_.Byte(); step < count; ++step) {
      NodeId id = (first + step) % count;
      if (kernel_.exprs.FreeLevels(id) == 0 && kernel_.exprs.ClassOf(id) <= most) return id;
    }
    return kernel_.exprs.Const(3);
  }

  TaskMeta Task() {
    TaskMeta task;
    if (dice_.Below(8) != 0) {
      task.kind = TaskKind::kParallel;
      for (uint32_t axes = 1 + dice_.Below(3); axes > 0; --axes)
        task.extents.push_back(Closed(SizeClass::kS2));
    }
    if (counts_) {
      task.size_kernel = "k.size";
      uint32_t read = Find([](const ParamMeta& param) { return param.kind == ParamKind::kBuffer; });
      if (read != kNoIndex && dice_.Flag()) task.count_reads.push_back(read);
    }
    AdstackPlanMeta plan;
    for (uint32_t count = 1 + dice_.Below(3); count > 0; --count) {
      GroupMeta group;
      if (dice_.Flag()) group.gate = "a:1:1";
      group.counted = counts_ && !group.gate.empty() && dice_.Flag();
      plan.groups.push_back(group);
    }
    for (uint32_t count = dice_.Below(6), index = 0; index < count; ++index)
      plan.stacks.push_back(Stack(plan, index));
    task.plans.push_back(plan);
    plan.lanes = 1u << dice_.Below(7);
    task.plans.push_back(plan);
    for (uint32_t target = 0; target < 3; ++target) {
      EntryMeta entry;
      entry.target = target;
      entry.symbol = "f";
      entry.plan = target == 0 ? 0 : 1;
      entry.block_size = 1 + dice_.Byte();
      task.entries.push_back(entry);
    }
    return task;
  }

  StackMeta Stack(const AdstackPlanMeta& plan, uint32_t index) {
    constexpr ScalarType kTypes[] = {ScalarType::kF16, ScalarType::kF32, ScalarType::kF64, ScalarType::kI1};
    StackMeta stack;
    stack.id = index;
    stack.group = dice_.Below(static_cast<uint32_t>(plan.groups.size()));
    stack.type = kTypes[dice_.Below(4)];
    stack.capacity = dice_.Below(6) == 0 ? kNoNode : Closed(SizeClass::kS2);
    stack.counted = counts_ && dice_.Flag();
    stack.loose = stack.capacity != kNoNode && dice_.Flag();
    stack.place = "a:2:2";
    if (dice_.Below(4) == 0) stack.share = dice_.Below(2);
    if (dice_.Below(4) == 0) {
      stack.bits = true;
      stack.type = ScalarType::kU32;
    }
    if (!stack.counted && stack.share == kNoIndex && kernel_.exprs.IsConst(stack.capacity) && dice_.Flag())
      stack.storage = Storage::kPrivate;
    return stack;
  }

  KernelMeta SizeKernel() {
    KernelMeta size;
    size.name = "k.size";
    size.role = KernelRole::kSize;
    size.of = "k";
    size.params = kernel_.params;
    ParamMeta counts = hostile::Param(99, ScalarType::kI64);
    counts.access = Access::kReadWrite;
    size.params.push_back(counts);
    size.exprs = kernel_.exprs;
    TaskMeta task = kernel_.tasks[0];
    task.size_kernel = "";
    task.count_reads.clear();
    task.plans.clear();
    for (EntryMeta& entry : task.entries) entry.plan = kNoIndex;
    size.tasks.push_back(task);
    return size;
  }

  Dice& dice_;
  Metadata metadata_;
  KernelMeta kernel_;
  bool counts_ = false;
};

class Planner {
 public:
  Planner(Dice& dice, const adrt_kernel* kernel, const Metadata& metadata, uint32_t target)
      : dice_(dice), kernel_(kernel), target_(target) {
    for (const KernelMeta& one : metadata.kernels) {
      if (one.name == "k") params_ = &one.params;
    }
    for (unsigned char& byte : values_) byte = dice.Byte() % 16;
  }

  void Run() {
    std::vector<adrt_arg> args = Args();
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.target = target_;
    desc.workers = 1 + dice_.Below(100);
    desc.size_budget = kBudget;
    if (dice_.Flag()) desc.heap_budget = uint64_t{1} << dice_.Below(40);
    adrt_error error = {};
    error.struct_size = sizeof error;
    if (!Good(adrt_plan(kernel_, &desc, &plan_, &error), error)) return;
    Look();
    for (uint32_t step = 0; step < 6; ++step) {
      std::vector<adrt_arg> others = Args();
      uint32_t from = dice_.Below(static_cast<uint32_t>(others.size()));
      adrt_status status = ADRT_OK;
      switch (dice_.Below(4)) {
        case 0:
          status = others.empty() ? ADRT_OK : adrt_plan_update(plan_, &others[from], 1, &error);
          break;
        case 1:
          status = adrt_plan_resolve(plan_, nullptr, 0, &error);
          break;
        case 2:
          status = adrt_plan_with_cap(plan_, uint64_t{1} << dice_.Below(32), &error);
          break;
        case 3:
          status = adrt_plan_assume(plan_, dice_.Below(3), dice_.Below(3), dice_.Byte(), &error);
          break;
      }
      Good(status, error);
      Look();
    }
    adrt_plan_release(plan_);
  }

 private:
  static bool Good(adrt_status status, const adrt_error& error) {
    Demand(status == ADRT_OK || (error.status == status && error.text[0] != 0), "an error without a text");
    Demand(status != ADRT_ERROR_OUT_OF_HOST_MEMORY && status != ADRT_ERROR_DRIVER, "an error that cannot be");
    return status == ADRT_OK;
  }

  std::vector<adrt_arg> Args() {
    std::vector<adrt_arg> args;
    for (uint32_t index = 0; index < params_->size(); ++index) {
      const ParamMeta& param = (*params_)[index];
      if (IsHidden(param)) continue;
      adrt_arg arg = {};
      arg.struct_size = sizeof arg;
      arg.kind = static_cast<uint32_t>(param.kind) + 1;
      arg.index = index;
      arg.type = static_cast<uint32_t>(param.type) + 1;
      arg.rank = param.rank;
      // Each buffer has memory of its own.
      arg.data = values_ + 2048 * index;
      if (param.kind == ParamKind::kScalar) {
        int64_t value = param.type == ScalarType::kI1 ? dice_.Below(2) : dice_.Number();
        std::memcpy(arg.data, &value, sizeof value);
      } else if (dice_.Below(4) == 0) {
        arg.data = nullptr;
      }
      for (uint32_t axis = 0; axis < param.rank; ++axis)
        arg.extents[axis] = arg.data ? dice_.Below(16) : dice_.Number();
      arg.content_version = dice_.Below(3);
      args.push_back(arg);
    }
    return args;
  }

  void Look() {
    adrt_plan_report info = {};
    info.struct_size = sizeof info;
    Demand(adrt_plan_info(plan_, &info, nullptr) == ADRT_OK, "a plan without a report");
    Demand(info.steps <= kBudget, "planning took too many steps");
    for (uint32_t task = 0; task < info.task_count; ++task) {
      adrt_task_report report = {};
      report.struct_size = sizeof report;
      Demand(adrt_plan_task(plan_, task, &report, nullptr) == ADRT_OK, "a task without a report");
      if (report.resolved) Demand(report.heap_bytes <= INT64_MAX, "more bytes than there can be");
      for (uint32_t stack = 0; stack < report.stack_count; ++stack) {
        adrt_stack_report one = {};
        one.struct_size = sizeof one;
        Demand(adrt_plan_stack(plan_, task, stack, &one, nullptr) == ADRT_OK, "a stack without a report");
        bool inside = !report.resolved || !one.in_row || report.iterations == 0 ||
                      (one.bytes <= report.row_bytes && one.offset <= report.row_bytes - one.bytes);
        Demand(inside, "a stack outside of its row");
      }
    }
  }

  Dice& dice_;
  const adrt_kernel* kernel_;
  uint32_t target_;
  const Vector<ParamMeta>* params_ = nullptr;
  adrt_launch_plan* plan_ = nullptr;
  alignas(64) unsigned char values_[2048 * 8];
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Dice dice(data, size);
  Metadata metadata = Builder(dice).Run();
  String json;
  Error refused;
  if (!WriteMetadata(metadata, &json, &refused)) return 0;
  std::vector<uint8_t> file = hostile::Pack(std::string(json.view()), {});
  fuzz::HostMemory memory;
  adrt_host host = memory.Host();
  adrt_limits limits = {};  // a graph of reads for a task or two may take more than its few bytes are worth
  limits.struct_size = sizeof limits;
  limits.open_steps = 1 << 24;
  host.limits = &limits;
  adrt_bundle* bundle = nullptr;
  adrt_error error = {};
  error.struct_size = sizeof error;
  if (adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error) != ADRT_OK) {
    std::fprintf(stderr, "%s\n", error.text);
    Demand(false, "what the writer takes the reader refuses");
  }
  const adrt_kernel* kernel = nullptr;
  Demand(adrt_bundle_find_kernel(bundle, "k", 0, &kernel, nullptr) == ADRT_OK, "a kernel is lost");
  Planner(dice, kernel, metadata, dice.Below(3)).Run();
  adrt_bundle_release(bundle);
  Demand(memory.live == 0, "memory is left");
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  std::vector<std::string> seeds;
  // A fixed generator's bytes: every one describes a kernel.
  uint64_t state = 1;
  for (size_t size : {60u, 120u, 250u, 500u, 900u}) {
    std::string seed;
    for (size_t index = 0; index < size; ++index) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      seed += static_cast<char>(state >> 56);
    }
    seeds.push_back(seed);
  }
  return seeds;
}
