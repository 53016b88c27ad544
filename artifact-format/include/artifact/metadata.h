#pragma once
// The metadata of a bundle as types: the compiler fills it, the META section holds it as canonical JSON, and
// the loader plans launches from it. A person can read from it what a launch will allocate.
//
// Everything that refers to something else does so by index: parameters of the kernel, nodes of the kernel's
// pool of size expressions, targets and layouts of the bundle, claim groups and stacks of a plan.

#include <cstdint>
#include <string_view>

#include "artifact/error.h"
#include "artifact/memory.h"
#include "artifact/size_expr.h"

namespace adc::artifact {

inline constexpr uint32_t kNoIndex = 0xFFFFFFFFu;

enum class ScalarType : uint8_t {
#define ADC_SCALAR_TYPE(name, spelling, bytes) k##name,
#include "artifact/scalar_types.def"
#undef ADC_SCALAR_TYPE
};
std::string_view ScalarTypeName(ScalarType type);
inline constexpr uint8_t kScalarTypeSizes[] = {
#define ADC_SCALAR_TYPE(name, spelling, bytes) bytes,
#include "artifact/scalar_types.def"
#undef ADC_SCALAR_TYPE
};
/// Size in memory and alignment, in bytes.
inline uint32_t ScalarTypeSize(ScalarType type) {
  return kScalarTypeSizes[static_cast<uint8_t>(type)];
}
bool IsInteger(ScalarType type);  ///< i8 to u64

enum class ParamKind : uint8_t {
  kBuffer,   ///< dense C-order memory, rank 0 to 8
  kScalar,   ///< by value: a scalar, a vector or a matrix
  kLayout,   ///< one buffer that holds a layout tree
  kScratch,  ///< a buffer that the compiler made: the caller does not give it, the heap holds it, zero-filled
  kSegment,  ///< an i32 that the launch chooses: iterations between checkpoints, 0 where whole tapes fit
  kTrips,    ///< an i64 that the launch counts: iterations of one axis of one task
};
enum class Access : uint8_t { kRead, kWrite, kReadWrite };
/// kSaved: the caller's memory, which a kernel fills with values that its gradient reads.
enum class ParamRole : uint8_t { kPlain, kAdjoint, kTangent, kScratch, kSegment, kTrips, kSaved };

struct ParamMeta {
  String name;  ///< without the leading %
  ParamKind kind = ParamKind::kBuffer;
  ScalarType type = ScalarType::kF32;  ///< of an element's components; not meaningful for a layout
  uint32_t rows = 1, columns = 1;      ///< element shape: 1 x 1 scalar, N x 1 vec<T, N>, R x C mat<T, R, C>
  uint32_t rank = 0;                   ///< buffer and scratch: number of axes
  uint32_t layout = kNoIndex;          ///< layout: index in Metadata::layouts
  Access access = Access::kReadWrite;
  bool diff = false;            ///< has a companion in derived kernels
  bool alias = false;           ///< may share memory with other parameters that say so
  bool write_once = false;      ///< the user's promise
  bool shape_i32 = false;       ///< the kernel reads an extent of it as i32: one that is larger is refused
  uint32_t shape_i32_axes = 0;  ///< of which axes, a bit each; all of them before format 1.5
  ParamRole role = ParamRole::kPlain;
  uint32_t primal = kNoIndex;  ///< adjoint, tangent: the parameter that this is the companion of
  uint32_t cell = 0;           ///< first cell in the argument block; filled by FinishMetadata
  Vector<NodeId> extents;      ///< scratch, and saved the least extent: one S0 or S1 expression per axis
};

/// Whether the launch makes it, and not the caller.
inline bool IsHidden(const ParamMeta& param) {
  return param.kind == ParamKind::kScratch || param.kind == ParamKind::kSegment ||
         param.kind == ParamKind::kTrips;
}
/// Cells that a parameter takes in the argument block (artifact/cpu_abi.h).
uint32_t CellCount(const ParamMeta& param);
/// Bytes of one element of a buffer, or of a by-value parameter.
inline uint32_t ElementSize(const ParamMeta& param) {
  return ScalarTypeSize(param.type) * param.rows * param.columns;
}

/// One `dense` level of a layout tree: index digits and the bytes that each moves by.
struct LevelMeta {
  Vector<int64_t> extents;
  Vector<int64_t> strides;
};

/// A leaf of a layout tree. The index along an axis is split into one digit per level, outermost level most
/// significant; the address is offset + sum over levels and axes of digit * stride.
struct FieldMeta {
  String name;
  ScalarType type = ScalarType::kF32;
  uint32_t rows = 1, columns = 1;
  bool diff = false;
  int64_t offset = 0;  ///< bytes from the start of the buffer
  Vector<LevelMeta> levels;
};

struct LayoutMeta {
  String name;       ///< without the leading @
  int64_t size = 0;  ///< bytes of the whole buffer
  uint32_t alignment = 1;
  Vector<FieldMeta> fields;
};

enum class Addressing : uint8_t {
  kIndexed,  ///< the slot is computed from the loop indices
  kCounted,  ///< a counter per thread
};
enum class Storage : uint8_t {
  kRow,      ///< in the thread's row of the heap
  kPrivate,  ///< registers or private memory: constant capacity, no cells
  kSaved,    ///< a buffer of saved values, the caller's; its extent is the capacity of the code
  kPromise,  ///< nowhere: its number of elements is 1 + an iteration that breaks a promise, or 0
};

/// Stacks that live under one gate: a thread claims one row for all of them.
struct GroupMeta {
  String gate;           ///< source place of the gate, empty where the group has none
  bool counted = false;  ///< the task's size kernel counts the iterations that claim a row
};

struct StackMeta {
  uint32_t id =
      0;  ///< number of the stack in the printed IR; in a size kernel, of the stack that it counts for
  uint32_t group = 0;
  ScalarType type = ScalarType::kF32;  ///< of what lies in memory
  bool bits = false;                   ///< the elements are flags: bits of words of `type`, which is u32
  NodeId capacity = kNoNode;           ///< elements; kNoNode: no expression says it
  /// The task's size kernel counts the elements too. Where `capacity` is none and this is false, the launch
  /// needs a cap.
  bool counted = false;
  bool loose = false;  ///< `capacity` is a bound that launches may stay well below
  String place;        ///< source place "file:line:column" of the push
  String value;        ///< name of what is pushed, as the source has it, without %; empty: it has none
  Addressing addressing = Addressing::kIndexed;
  Storage storage = Storage::kRow;
  /// Of storage kSaved: the buffer; of kRow: the buffer that it is a copy of, if it is one; of kPromise: that
  /// of which something is promised.
  uint32_t param = kNoIndex;
  /// Stacks of a group with the same share number occupy the same bytes, since they never live at once;
  /// kNoIndex: bytes of its own.
  uint32_t share = kNoIndex;
};

/// How one task tapes primal values. The stride of a group's row is the sum of its stacks' bytes, in stack
/// order, each aligned to its element or word, rounded up to 64 bytes on a CPU and to 8 elsewhere
/// (artifact/adstack_layout.h).
struct AdstackPlanMeta {
  uint32_t lanes = 1;  ///< rows lie interleaved in blocks of this many; 1 on a CPU
  Vector<GroupMeta> groups;
  Vector<StackMeta> stacks;
};

/// The meaning of a binding of an entry (artifact/gpu_abi.h).
enum class BindingOf : uint8_t {
  kParam,   ///< the memory of a parameter
  kWords,   ///< the words of the launch
  kHeap,    ///< the adstack heap
  kStatus,  ///< the status block
};

/// A numbered slot through which code reaches memory: Vulkan's descriptors of set 0, Metal's [[buffer(n)]].
/// Several bindings may hold the same memory, one for each element type that the code sees it as.
struct BindingMeta {
  uint32_t number = 0;
  BindingOf of = BindingOf::kParam;
  uint32_t param = kNoIndex;           ///< kParam: index in KernelMeta::params
  ScalarType type = ScalarType::kF32;  ///< of the elements that the code sees there
};

/// A task's code on one target.
struct EntryMeta {
  uint32_t target = 0;
  String symbol;
  /// The same code with device addresses in place of bindings, for buffers beyond what a binding reaches;
  /// empty where there is none.
  String far_symbol;
  Vector<BindingMeta>
      bindings;              ///< of `symbol`, by ascending number; none where the target has no such slots
  uint32_t plan = kNoIndex;  ///< index in TaskMeta::plans; kNoIndex where the task has no stacks
  uint32_t block_size =
      0;  ///< threads of a block; CPU: iterations that go together; 0: the launcher's choice
  uint32_t shared_bytes = 0;  ///< memory shared by a block of threads
  bool team = false;          ///< the threads of a block run an iteration together
  /// In the second form that `team_turns` says: the most iterations that a block may run together, one in
  /// each lane of its waves, which share the turns; 0: one iteration alone.
  uint32_t team_lanes = 0;
  /// The code has a second form, in which they do, for launches of few iterations (artifact/gpu_abi.h): how
  /// many turns they share, an expression of arguments and shapes. kNoNode where it has none.
  NodeId team_turns = kNoNode;
};

enum class TaskKind : uint8_t { kSerial, kParallel };

struct TaskMeta {
  TaskKind kind = TaskKind::kSerial;
  String place;
  Vector<NodeId> extents;       ///< parallel: one expression per axis, negative counts as 0; serial: none
  Vector<uint32_t> size_reads;  ///< parameters that sizing reads; filled by FinishMetadata
  SizeClass size_class = SizeClass::kS0;  ///< filled by FinishMetadata
  /// Running segments again costs a device less than memory that whole tapes are written to and read from.
  bool cheap_replay = false;
  String size_kernel;            ///< kernel that counts what the buffers' contents decide; empty where none
  Vector<uint32_t> count_reads;  ///< parameters whose content the size kernel reads, ascending
  /// Kernel that counts the iterations of axes: the extent of such an axis is the value of a parameter of
  /// kind kTrips. Empty where none.
  String trip_kernel;
  Vector<uint32_t> trip_reads;    ///< parameters whose content it reads, ascending
  Vector<uint32_t> reads;         ///< parameters whose content the task reads, ascending; for people
  Vector<uint32_t> writes;        ///< those that it writes or sums into, in the same way
  Vector<AdstackPlanMeta> plans;  ///< targets with equal plans share one
  Vector<EntryMeta> entries;      ///< one per target, ascending
};

/// A place in the source that the status block can name.
struct CheckMeta {
  String place;
  String text;  ///< assertion: its text; access: the parameter's name; loop: "for", "while" or "parallel"
};

/// A size kernel has the parameters of the kernel it sizes and one more, a buffer<i64, 1> of zeros: it raises
/// element k of it to what the counted stack k of the task would need, and adds to element stacks + g one for
/// each iteration that claims a row of group g, where that is counted.
/// A bounds kernel records the bounds of loops (artifact/bounds_record.h).
enum class KernelRole : uint8_t { kPrimal, kGrad, kJvp, kSize, kBounds };

struct KernelMeta {
  String name;                  ///< without the leading @
  uint64_t interface_hash = 0;  ///< filled by FinishMetadata
  KernelRole role = KernelRole::kPrimal;
  String of;                   ///< grad, jvp, bounds: the kernel that this was derived from
  uint32_t bounds = kNoIndex;  ///< primal, grad: the kernel that records the bounds of their loops
  String place;
  Vector<ParamMeta> params;
  SizeExprPool exprs;
  Vector<TaskMeta> tasks;
  Vector<CheckMeta> asserts;   ///< by assertion index; bounds: the loops, by number in the record
  Vector<CheckMeta> accesses;  ///< by access index
};

/// Cells of the whole argument block.
inline uint32_t CellCount(const KernelMeta& kernel) {
  return kernel.params.empty() ? 0 : kernel.params.back().cell + CellCount(kernel.params.back());
}

struct TargetMeta {
  String name;  ///< "cpu:x86-64-v3"
  String kind;  ///< "cpu", "cuda", "hip", "vulkan", "metal"
  String arch;  ///< "x86-64", "sm_80", "gfx1100"; the version of the interface for Vulkan and Metal
  String abi;   ///< form of the code: "elf", "ptx", "hsaco", "spirv", "msl"
  /// The features that the device must have, sorted: artifact/cpu_features.h for a CPU, Vulkan's names of its
  /// features.
  Vector<String> features;
};

struct Metadata {
  String producer;               ///< "adc 0.1.0"
  bool bounds_recorded = false;  ///< without a bounds kernel loops are fixed; else that is not known
  Vector<String> sources;        ///< source files as the places name them
  /// SHA-256 of each one's text, as 64 hexadecimal digits; empty where it is not known. No list: of none.
  Vector<String> source_digests;
  Vector<TargetMeta> targets;
  Vector<LayoutMeta> layouts;
  Vector<KernelMeta> kernels;
};

/// Limits on what a reader accepts; a caller may lower them.
struct Limits {
  uint64_t file_bytes = 1ull << 30;
  uint32_t sections = 1024;
  uint32_t targets = 64;
  uint32_t kernels = 65535;
  uint32_t name_bytes = 255;
  uint64_t section_bytes = 256ull << 20;
  uint32_t ratio = 1000;
  uint64_t metadata_bytes = 16ull << 20;
};

/// Fills what follows from the rest: cells, interface hashes, size classes, parameters read by sizing.
void FinishMetadata(Metadata* metadata);

/// Every consistency rule between the parts. True, or false with the first broken rule in `error`.
bool CheckMetadata(const Metadata& metadata, const Limits& limits, Error* error);

/// Canonical JSON of checked metadata (call FinishMetadata before).
bool WriteMetadata(const Metadata& metadata, String* json, Error* error);

/// Reads canonical JSON and checks it. `minor` is the bundle's minor version: keys that are unknown here are
/// skipped where it is newer than this reader's and refused otherwise. All memory comes from `allocator`.
bool ReadMetadata(std::string_view json, uint32_t minor, const Limits& limits, const Allocator* allocator,
                  Metadata* metadata, Error* error);

}  // namespace adc::artifact
