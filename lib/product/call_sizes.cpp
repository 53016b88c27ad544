#include "product/call_sizes.h"

#include <algorithm>

#include "artifact/adstack_layout.h"
#include "artifact/cpu_abi.h"

// The loader's arithmetic (runtime-loader/src/core/sizing.cpp) for a CPU without budget and cap, printed for
// one kernel: nodes of the size expressions become constants e0, e1 ..., each task a block. A worker that is
// woken takes a row, which has the capacities of the task's stacks one after the other.

namespace adc::product {

namespace {

using artifact::AdstackPlanMeta, artifact::KernelMeta, artifact::NodeId, artifact::SizeNode, artifact::SizeOp;
using artifact::StackMeta, artifact::Storage;

std::string Number(int64_t value) {
  return std::to_string(value);
}

std::string Of(const std::string& value) {
  return "adrt_size_of(" + value + ")";
}

std::string Call2(const std::string& function, const std::string& left, const std::string& right) {
  return "adrt_size_" + function + "(" + left + ", " + right + ")";
}

std::string Node(NodeId id) {
  return "e" + std::to_string(id);
}

const artifact::EntryMeta* CpuEntry(const artifact::Metadata& metadata, const artifact::TaskMeta& task) {
  for (const artifact::EntryMeta& entry : task.entries) {
    if (metadata.targets[entry.target].kind == "cpu") return &entry;
  }
  return nullptr;
}

class Sizes {
 public:
  Sizes(const artifact::Metadata& metadata, const KernelMeta& kernel, const std::vector<CallMember>& members,
        const std::string& word)
      : metadata_(metadata), kernel_(kernel), members_(members), word_(word) {}

  std::string Text() {
    std::string scratch = ScratchText(), heap = HeapText();
    return scratch + (why_.empty() ? heap
                                   : "/* No " + word_ + "_heap_bytes: " + why_ +
                                         ". adrt_plan_info says the size. */\n");
  }

 private:
  void Refuse(const std::string& why) {
    if (why_.empty()) why_ = why;
  }

  bool HasScratch() const {
    return std::ranges::any_of(kernel_.params, [](const artifact::ParamMeta& param) {
      return param.kind == artifact::ParamKind::kScratch;
    });
  }

  // The text of a node without operands; empty where arguments and extents do not give its value.
  std::string Leaf(const SizeNode& node) const {
    if (node.op == SizeOp::kConst)
      return node.value == INT64_MIN ? Of("INT64_MIN") : Of("INT64_C(" + Number(node.value) + ")");
    bool is_words = node.op == SizeOp::kShape && !members_[node.param].element.empty() &&
                    node.axis == members_[node.param].axes;
    if (is_words) return Of(Number(members_[node.param].words));
    if (node.op == SizeOp::kShape && !members_[node.param].shape.empty())
      return Of("args->" + members_[node.param].shape + "[" + Number(node.axis) + "]");
    if (node.op != SizeOp::kArg) return "";
    const artifact::ParamMeta& param = kernel_.params[node.param];
    // Without a budget a CPU keeps whole tapes.
    if (param.kind == artifact::ParamKind::kSegment) return Of("0");
    if (members_[node.param].name.empty()) return "";
    return (param.type == artifact::ScalarType::kU64 ? "adrt_size_of_u64(" : "adrt_size_of(") +
           ("args->" + members_[node.param].name) + ")";
  }

  // The name of a root that later code may use.
  std::string Take(NodeId root) {
    if (root == artifact::kNoNode) {
      Refuse("no expression says how deep a tape gets");
      return "";
    }
    if (used_.size() <= root) used_.resize(root + 1);
    used_[root] = true;
    return Node(root);
  }

  // Constants of all nodes that have been taken, and of what they are made of.
  std::string NodesText() {
    std::string text;
    bool loops = false, unknown = false;
    for (size_t id = used_.size(); id-- > 0;) {
      if (!used_[id]) continue;
      for (NodeId operand : kernel_.exprs[static_cast<NodeId>(id)].operands) {
        if (operand != artifact::kNoNode) used_[operand] = true;
      }
    }
    for (NodeId id = 0; id < used_.size(); ++id) {
      if (!used_[id]) continue;
      const SizeNode& node = kernel_.exprs[id];
      uint32_t operands = artifact::SizeOpOperands(node.op);
      std::string value = operands == 0 ? Leaf(node) : "";
      if (operands > 0 && !kernel_.exprs.HasLoops(id)) {
        value = "adrt_size_" + std::string(artifact::SizeOpName(node.op)) + "(";
        for (uint32_t n = 0; n < operands; ++n) value += (n > 0 ? ", " : "") + Node(node.operands[n]);
        value += ")";
      }
      loops = loops || kernel_.exprs.HasLoops(id);
      unknown = unknown || (operands == 0 && value.empty() && node.op != SizeOp::kIndex);
      text += "  const adrt_size " + Node(id) + " = " + value + ";\n";
    }
    used_.clear();
    if (unknown) Refuse("it depends on what buffers hold");
    if (loops) Refuse("its formula has a sum or a maximum over a range");
    return text;
  }

  std::string Head(const std::string& name, const std::string& more) const {
    return "static inline uint64_t " + word_ + name + "(const " + word_ + "_args* args" + more + ") {\n";
  }

  std::string ScratchText() {
    if (!HasScratch()) return "";
    std::string sums;
    for (const artifact::ParamMeta& param : kernel_.params) {
      if (param.kind != artifact::ParamKind::kScratch) continue;
      std::string bytes = Of(Number(artifact::ElementSize(param)));
      for (NodeId extent : param.extents)
        bytes = Call2("mul", bytes, "adrt_size_clamp0(" + Take(extent) + ")");
      sums += "  sum = " + Call2("add", "sum", Aligned(bytes)) + ";\n";
    }
    std::string nodes = NodesText();
    if (!why_.empty()) return "";
    return "/* Bytes of scratch on a CPU, at the beginning of the heap. UINT64_MAX: they do not fit. */\n" +
           Head("_scratch_bytes", "") + nodes + "  adrt_size sum = " + Of("0") + ";\n  (void)args;\n" + sums +
           "  return adrt_size_bytes(sum);\n}\n";
  }

  static std::string Aligned(const std::string& bytes) {
    return Call2("align", bytes, Number(ADRT_CPU_ROW_ALIGNMENT));
  }

  // Bytes that the capacity in `elements` takes.
  static std::string StackBytes(const StackMeta& stack, const std::string& elements) {
    std::string units =
        stack.bits ? Call2("ceil_div", elements, Of(Number(artifact::kFlagsPerWord))) : elements;
    return Call2("mul", units, Of(Number(artifact::ScalarTypeSize(stack.type))));
  }

  void CheckStacks(const AdstackPlanMeta& plan) {
    for (const StackMeta& stack : plan.stacks) {
      bool is_loose = stack.loose && stack.counted;
      if (stack.storage == Storage::kPromise || is_loose ||
          (stack.counted && stack.capacity == artifact::kNoNode))
        Refuse("a launch counts before it runs");
    }
  }

  // `row` becomes what one worker takes: artifact::PlaceStacks, whose groups each begin at a multiple of 64.
  std::string RowText(const AdstackPlanMeta& plan) {
    std::string text;
    for (uint32_t group = 0; group < plan.groups.size(); ++group) {
      for (uint32_t n = 0; n < plan.stacks.size(); ++n) {
        const StackMeta& stack = plan.stacks[n];
        if (stack.storage != Storage::kRow || stack.group != group) continue;
        auto shares = [&](const StackMeta& other) {
          return stack.share != artifact::kNoIndex && other.share == stack.share && other.group == group &&
                 other.storage == stack.storage;
        };
        uint32_t alignment = artifact::ScalarTypeSize(stack.type);
        std::string bytes = StackBytes(stack, Elements(stack));
        bool is_placed = false;
        for (uint32_t other = 0; other < plan.stacks.size(); ++other) {
          if (other == n || !shares(plan.stacks[other])) continue;
          is_placed = is_placed || other < n;
          alignment = std::max(alignment, artifact::ScalarTypeSize(plan.stacks[other].type));
          bytes = Call2("max", bytes, StackBytes(plan.stacks[other], Elements(plan.stacks[other])));
        }
        if (is_placed) continue;
        text += "  row = " + Call2("add", Call2("align", "row", Number(alignment)), bytes) + ";\n";
      }
      text += "  row = " + Aligned("row") + ";\n";
    }
    return text;
  }

  static bool IsCopy(const StackMeta& stack) {
    return stack.storage == Storage::kRow && stack.param != artifact::kNoIndex;
  }

  std::string Elements(const StackMeta& stack) {
    std::string capacity = "adrt_size_clamp0(" + Take(stack.capacity) + ")";
    return IsCopy(stack) ? Call2("mul", "copies", capacity) : capacity;
  }

  // Workers that sum into copies of a buffer are four or more, or one without a copy.
  std::string CopiesText(const AdstackPlanMeta& plan) {
    std::string sum;
    for (const StackMeta& stack : plan.stacks) {
      if (!IsCopy(stack)) continue;
      std::string capacity = "adrt_size_clamp0(" + Take(stack.capacity) + ")";
      sum = sum.empty() ? capacity : Call2("add", sum, capacity);
    }
    if (sum.empty()) return "";
    return "  copies = " + sum +
           ";\n  if (copies.value == 0 && workers.value < 4) workers = " + Call2("min", "workers", Of("1")) +
           ";\n  copies = " + Call2("gt", "workers", Of("1")) + ";\n";
  }

  static std::string AtMost(const std::string& workers) { return Call2("min", workers, Of("most_workers")); }

  std::string TaskText(uint32_t number, const artifact::TaskMeta& task, const AdstackPlanMeta& plan) {
    CheckStacks(plan);
    if (!task.trip_kernel.empty()) Refuse("a launch counts iterations before it runs");
    std::string text = "  /* task " + Number(number) + " */\n  workers = " + AtMost(Of("1")) + ";\n";
    for (NodeId extent : task.extents)
      text +=
          "  workers = " + AtMost(Call2("mul", "workers", AtMost("adrt_size_clamp0(" + Take(extent) + ")"))) +
          ";\n";
    text += CopiesText(plan);
    text += "  row = " + Of("0") + ";\n" + RowText(plan);
    return text + "  heap = " + Call2("max", "heap", Call2("mul", "workers", "row")) + ";\n";
  }

  std::string HeapText() {
    std::string tasks;
    for (uint32_t number = 0; number < kernel_.tasks.size(); ++number) {
      const artifact::TaskMeta& task = kernel_.tasks[number];
      const artifact::EntryMeta* entry = CpuEntry(metadata_, task);
      if (entry == nullptr) {
        Refuse("the bundle has no code for a CPU");
        continue;
      }
      for (const artifact::EntryMeta& other : task.entries) {
        if (metadata_.targets[other.target].kind == "cpu" && other.plan != entry->plan)
          Refuse("the targets for CPUs differ in it");
      }
      if (entry->plan != artifact::kNoIndex) tasks += TaskText(number, task, task.plans[entry->plan]);
    }
    std::string nodes = NodesText();
    std::string comment =
        "/* Bytes of the heap of a launch on a CPU with at most so many workers, without a budget. "
        "UINT64_MAX: "
        "they do not\n   fit. Of other devices adrt_plan_info says it. */\n";
    return comment + Head("_heap_bytes", ", uint32_t most_workers") + nodes +
           "  adrt_size heap = " + Of("0") + (tasks.empty() ? "" : ", workers, row") +
           (tasks.find("copies") == std::string::npos ? "" : ", copies") + ";\n  (void)args;\n" +
           (tasks.empty() ? "  (void)most_workers;\n" : "") + tasks +
           (HasScratch()
                ? "  heap = " + Call2("add", "heap", "adrt_size_of_u64(" + word_ + "_scratch_bytes(args))") +
                      ";\n"
                : "") +
           "  return adrt_size_bytes(heap);\n}\n";
  }

  const artifact::Metadata& metadata_;
  const KernelMeta& kernel_;
  const std::vector<CallMember>& members_;
  const std::string& word_;
  std::vector<bool> used_;
  std::string why_;
};

}  // namespace

std::string SizesText(const artifact::Metadata& metadata, const KernelMeta& kernel,
                      const std::vector<CallMember>& members, const std::string& word) {
  return Sizes(metadata, kernel, members, word).Text();
}

}  // namespace adc::product
