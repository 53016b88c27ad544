#include <cstring>

#include "core/errors.h"
#include "core/launch.h"

// Arguments against parameters. Every text names the kernel and the parameter, what was given and what is
// expected, so that the caller need not look anything up.

namespace adrt {
namespace {

using artifact::ParamKind;
using artifact::ParamMeta;

uint32_t ToType(artifact::ScalarType type) {
  return static_cast<uint32_t>(type) + 1;
}

uint32_t ToKind(ParamKind kind) {
  switch (kind) {
    case ParamKind::kBuffer:
      return ADRT_PARAM_BUFFER;
    case ParamKind::kScalar:
      return ADRT_PARAM_SCALAR;
    case ParamKind::kLayout:
      return ADRT_PARAM_LAYOUT;
    case ParamKind::kScratch:
      return ADRT_PARAM_SCRATCH;
    case ParamKind::kSegment:
      return ADRT_PARAM_SEGMENT;
    case ParamKind::kTrips:
      return ADRT_PARAM_TRIPS;
  }
  return 0;
}

const char* KindName(uint32_t kind) {
  constexpr const char* kNames[] = {"nothing known", "a buffer",         "a by-value argument", "a layout",
                                    "scratch",       "a segment length", "a trip count"};
  return kind <= ADRT_PARAM_TRIPS ? kNames[kind] : kNames[0];
}

class Binder {
 public:
  Binder(const adrt_arg* args, uint32_t arg_count, adrt_launch_plan& plan, adrt_error* error)
      : args_(args), arg_count_(arg_count), plan_(plan), meta_(plan.meta()), error_(error) {}

  bool MakeRoom() {
    const artifact::Allocator* allocator = &plan_.host.allocator;
    plan_.params.Bind(allocator);
    plan_.size_params.Bind(allocator);
    plan_.cells.Bind(allocator);
    if (!plan_.params.TryResize(meta_.params.size()) || !plan_.size_params.TryResize(meta_.params.size()) ||
        !MakeCells()) {
      OutOfMemory(error_);
      return false;
    }
    return true;
  }

  // Parameters that are not given stay what they were.
  bool Run() {
    ++plan_.bindings;
    const unsigned char* place = reinterpret_cast<const unsigned char*>(args_);
    uint32_t stride = arg_count_ > 0 ? args_->struct_size : 0;
    for (uint32_t number = 0; number < arg_count_; ++number) {
      const adrt_arg* given = reinterpret_cast<const adrt_arg*>(place + size_t{number} * stride);
      adrt_arg copy;
      bool good = given->struct_size == stride;
      if (good && stride == sizeof copy) good = (given->reserved[0] | given->reserved[1]) == 0;
      if (good && stride != sizeof copy) {  // of another version of the header
        copy = {};
        good = CopyDescriptor(given, &copy);
        given = &copy;
      }
      if (!good) {
        return Refuse(error_, ADRT_ERROR_ARGUMENT, "argument ", number, ": ", kNotSet);
      }
      if (!Bind(*given, number)) return false;
    }
    for (uint32_t index = 0; index < meta_.params.size(); ++index) {
      if (!artifact::IsHidden(meta_.params[index]) && plan_.params[index].given == 0) {
        return Bad(index, "is missing");
      }
    }
    return CheckCompanions() && CheckAliasing();
  }

 private:
  template <class... Parts>
  [[gnu::always_inline]] bool Bad(uint32_t index, const Parts&... parts) {
    const artifact::MessagePart list[] = {artifact::MessagePart(parts)...};
    return BadWith(index, list);
  }
  bool BadWith(uint32_t index, artifact::Message message) {
    const artifact::MessagePart prefix[] = {"kernel '", meta_.name.view(), "', parameter '",
                                            meta_.params[index].name.view(), "': "};
    return RefuseWith(error_, ADRT_ERROR_ARGUMENT, prefix, message);
  }

  bool MakeCells() {
    uint64_t count = 0;
    for (const ParamMeta& param : meta_.params) count += artifact::CellCount(param);
    return plan_.cells.TryResize(count);
  }

  bool FindParam(const adrt_arg& arg, uint32_t number, uint32_t* index) {
    if (!arg.name) {
      *index = arg.index;
      if (arg.index < meta_.params.size()) return true;
      return Refuse(error_, ADRT_ERROR_ARGUMENT, "kernel '", meta_.name.view(), "', argument ", number,
                    ": names parameter ", arg.index, ", the kernel has ", uint64_t{meta_.params.size()});
    }
    for (*index = 0; *index < meta_.params.size(); ++*index) {
      if (meta_.params[*index].name.view() == std::string_view(arg.name)) return true;
    }
    return Refuse(error_, ADRT_ERROR_ARGUMENT, "kernel '", meta_.name.view(), "' has no parameter '",
                  arg.name, "'");
  }

  bool Bind(const adrt_arg& arg, uint32_t number) {
    uint32_t index = 0;
    if (!FindParam(arg, number, &index)) return false;
    const ParamMeta& param = meta_.params[index];
    BoundParam& bound = plan_.params[index];
    if (bound.given == plan_.bindings) return Bad(index, "is given twice");
    if (artifact::IsHidden(param))
      return Bad(index, "is ", KindName(ToKind(param.kind)), ", which the launch makes itself");
    if (arg.kind != ToKind(param.kind)) {
      return Bad(index, "is ", KindName(ToKind(param.kind)), ", given as ", KindName(arg.kind));
    }
    if (param.kind != ParamKind::kLayout && !CheckElement(arg, index)) return false;
    bound = {};
    bound.given = plan_.bindings;
    bound.content_version = arg.content_version;
    switch (param.kind) {
      case ParamKind::kBuffer:
        return BindBuffer(arg, index);
      case ParamKind::kLayout:
        return BindLayout(arg, index);
      case ParamKind::kScalar:
        return BindScalar(arg, index);
      case ParamKind::kScratch:
      case ParamKind::kSegment:
      case ParamKind::kTrips:
        break;
    }
    return false;
  }

  bool CheckElement(const adrt_arg& arg, uint32_t index) {
    const ParamMeta& param = meta_.params[index];
    if (arg.type != ToType(param.type)) {
      return Bad(index, "elements are ", artifact::ScalarTypeName(param.type), ", given ",
                 adrt_type_name(arg.type));
    }
    uint32_t rows = arg.rows ? arg.rows : 1, columns = arg.columns ? arg.columns : 1;
    if (rows != param.rows || columns != param.columns) {
      return Bad(index, "elements have the shape ", param.rows, " x ", param.columns, ", given ", rows, " x ",
                 columns);
    }
    return true;
  }

  // What the device sees at arg.data. Sizes can be asked for without memory; a launch cannot.
  bool FindPlace(const adrt_arg& arg, uint32_t index, uint64_t bytes, uint64_t alignment) {
    Place& place = plan_.params[index].place;
    if (!arg.data) {
      if (bytes > 0 && plan_.module) return Bad(index, "is null and should hold ", bytes, " bytes");
      return true;
    }
    place = Place::Host(arg.data, UINT64_MAX);
    if (plan_.module) {
      char text[160] = {};
      artifact::TextWriter reason(text, sizeof text);
      const adrt_device& device = *plan_.module->device;
      if (!device.kind->bind(device, arg.data, &place, reason)) return Bad(index, "its memory ", text);
    } else if (plan_.rules.is_gpu) {
      place = {};  // only a device knows what it names
      return true;
    }
    if (place.position() % alignment != 0) return Bad(index, "its address is not a multiple of ", alignment);
    if (place.bytes < bytes) return Bad(index, "needs ", bytes, " bytes, and its memory has ", place.bytes);
    if (place.position() > uint64_t{PTRDIFF_MAX} || bytes > uint64_t{PTRDIFF_MAX} - place.position()) {
      return Bad(index, "its ", bytes, " bytes reach past the end of the address space");
    }
    if (ReadsInPlace(plan_)) plan_.params[index].content = place.host();
    return true;
  }

  bool BindBuffer(const adrt_arg& arg, uint32_t index) {
    const ParamMeta& param = meta_.params[index];
    BoundParam& bound = plan_.params[index];
    if (arg.rank != param.rank) return Bad(index, "has rank ", param.rank, ", given rank ", arg.rank);
    uint64_t bytes = artifact::ElementSize(param);
    bool empty = false;
    for (uint32_t axis = 0; axis < param.rank; ++axis) {
      int64_t extent = arg.extents[axis];
      if (extent < 0) return Bad(index, "extent of axis ", axis, " is ", extent, ", which is negative");
      if (param.shape_i32 && extent > INT32_MAX) {
        return Bad(index, "extent of axis ", axis, " is ", extent, ", and the kernel reads it as i32");
      }
      if (extent == 0) empty = true;
      bound.extents[axis] = extent;
    }
    for (uint32_t axis = 0; axis < param.rank && !empty; ++axis) {
      if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(arg.extents[axis]), &bytes)) {
        return Refuse(error_, ADRT_ERROR_SIZE_OVERFLOW, "kernel '", meta_.name.view(), "', parameter '",
                      param.name.view(), "': its size in bytes does not fit 64 bits");
      }
    }
    if (empty) bytes = 0;
    if (arg.size != 0 && arg.size < bytes) {
      return Bad(index, "needs ", bytes, " bytes for its extents, given ", arg.size);
    }
    if (!FindPlace(arg, index, bytes, artifact::ScalarTypeSize(param.type))) return false;
    bound.bytes = bytes;
    plan_.size_params[index].extents = bound.extents;
    plan_.size_params[index].rank = param.rank;
    uint64_t* cell = &plan_.cells[param.cell];
    *cell++ = bound.place.address;
    for (uint32_t axis = 0; axis < param.rank; ++axis) *cell++ = static_cast<uint64_t>(arg.extents[axis]);
    return true;
  }

  bool BindLayout(const adrt_arg& arg, uint32_t index) {
    const ParamMeta& param = meta_.params[index];
    const artifact::LayoutMeta& layout = plan_.bundle->metadata.layouts[param.layout];
    uint64_t bytes = static_cast<uint64_t>(layout.size);
    if (arg.size < bytes)
      return Bad(index, "layout '", layout.name.view(), "' takes ", bytes, " bytes, given ", arg.size);
    if (!FindPlace(arg, index, bytes, layout.alignment)) return false;
    plan_.params[index].bytes = bytes;
    plan_.cells[param.cell] = plan_.params[index].place.address;
    return true;
  }

  // A cell holds a component's bytes in its low end; integers are extended by their sign.
  bool BindScalar(const adrt_arg& arg, uint32_t index) {
    const ParamMeta& param = meta_.params[index];
    uint32_t size = artifact::ScalarTypeSize(param.type), count = param.rows * param.columns;
    if (!arg.data) return Bad(index, "its value is null");
    if (arg.size != 0 && arg.size != uint64_t{size} * count) {
      return Bad(index, "its value has ", uint64_t{size} * count, " bytes, given ", arg.size);
    }
    const unsigned char* bytes = static_cast<const unsigned char*>(arg.data);
    for (uint32_t component = 0; component < count; ++component) {
      uint64_t cell = 0;
      std::memcpy(&cell, bytes + size_t{component} * size, size);
      bool is_signed = param.type >= artifact::ScalarType::kI8 && param.type <= artifact::ScalarType::kI64;
      if (is_signed && size < 8 && (cell >> (8 * size - 1) & 1)) cell |= ~uint64_t{0} << (8 * size);
      if (param.type == artifact::ScalarType::kI1 && cell > 1)
        return Bad(index, "is an i1 and neither 0 nor 1");
      plan_.cells[param.cell + component] = cell;
      if (count == 1 && artifact::IsInteger(param.type)) {
        bool fits = is_signed || cell <= uint64_t{INT64_MAX};
        plan_.params[index].has_integer = fits;
        plan_.params[index].integer = static_cast<int64_t>(cell);
      }
    }
    plan_.size_params[index].has_scalar = plan_.params[index].has_integer;
    plan_.size_params[index].scalar = plan_.params[index].integer;
    return true;
  }

  // A derived kernel indexes an adjoint or a tangent as it does the primal.
  bool CheckCompanions() {
    for (uint32_t index = 0; index < meta_.params.size(); ++index) {
      const ParamMeta& param = meta_.params[index];
      if (param.kind != ParamKind::kBuffer || param.primal >= meta_.params.size()) continue;
      const ParamMeta& primal = meta_.params[param.primal];
      if (primal.kind != ParamKind::kBuffer || primal.rank != param.rank) continue;
      for (uint32_t axis = 0; axis < param.rank; ++axis) {
        int64_t expected = plan_.params[param.primal].extents[axis],
                given = plan_.params[index].extents[axis];
        if (given == expected) continue;
        return Bad(index, "extent of axis ", axis, " is ", given, ", and that of '", primal.name.view(),
                   "' is ", expected, ": they have one shape");
      }
    }
    return true;
  }

  // Two buffers of one device may lie in the same memory, so addresses count where there are any.
  static bool Overlap(const BoundParam& a, const BoundParam& b) {
    bool addressed = a.place.address != 0 && b.place.address != 0;
    if (!addressed && a.place.buffer != b.place.buffer) return false;
    uint64_t a_begin = addressed ? a.place.address : a.place.offset,
             b_begin = addressed ? b.place.address : b.place.offset;
    return a_begin < b_begin + b.bytes && b_begin < a_begin + a.bytes;
  }

  // Whether no two parameters share memory, where that is soon found out: in the order of their addresses,
  // which is nearly that of the parameters as a rule, each ends before the next one begins.
  bool AllApart() const {
    constexpr uint32_t kMost = 128;
    struct Stretch {
      uint64_t begin, end;
    };
    Stretch sorted[kMost];
    uint32_t count = 0;
    for (const BoundParam& bound : plan_.params) {
      if (bound.bytes == 0 || !bound.place.given()) continue;
      if (bound.place.address == 0 || count == kMost) return false;
      uint64_t begin = bound.place.address;
      uint32_t place = count++;
      for (; place > 0 && sorted[place - 1].begin > begin; --place) sorted[place] = sorted[place - 1];
      sorted[place] = {begin, begin + bound.bytes};
    }
    for (uint32_t place = 1; place < count; ++place) {
      if (sorted[place].begin < sorted[place - 1].end) return false;
    }
    return true;
  }

  // Memory that two parameters share must be read only by both, or declared shared by both.
  bool CheckAliasing() {
    if (AllApart()) return true;
    for (uint32_t right = 1; right < meta_.params.size(); ++right) {
      const BoundParam& b = plan_.params[right];
      if (b.bytes == 0 || !b.place.given()) continue;
      for (uint32_t left = 0; left < right; ++left) {
        const BoundParam& a = plan_.params[left];
        if (a.bytes == 0 || !a.place.given() || !Overlap(a, b)) continue;
        const ParamMeta &a_meta = meta_.params[left], &b_meta = meta_.params[right];
        bool both_read = a_meta.access == artifact::Access::kRead && b_meta.access == artifact::Access::kRead;
        if (both_read || (a_meta.alias && b_meta.alias)) continue;
        return Bad(right, "shares memory with '", a_meta.name.view(),
                   "', which both must allow with 'alias' unless both are only read");
      }
    }
    return true;
  }

  const adrt_arg* args_;
  uint32_t arg_count_;
  adrt_launch_plan& plan_;
  const artifact::KernelMeta& meta_;
  adrt_error* error_;
};

}  // namespace

bool BindArguments(const adrt_plan_desc& desc, adrt_launch_plan& plan, adrt_error* error) {
  Binder binder(desc.args, desc.arg_count, plan, error);
  return binder.MakeRoom() && binder.Run();
}

bool BindOthers(const adrt_arg* args, uint32_t arg_count, adrt_launch_plan& plan, adrt_error* error) {
  return Binder(args, arg_count, plan, error).Run();
}

}  // namespace adrt
