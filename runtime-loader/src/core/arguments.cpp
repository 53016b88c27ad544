#include <cstring>

#include "core/errors.h"
#include "core/launch.h"

// Arguments against parameters. Every text names the kernel and the parameter, the given and the expected
// value, so that the caller need not look anything up.
//
// This is most of the cost of a plan: few branches find out that an argument is wrong, and the reason is
// looked for afterwards.

namespace adrt {
namespace {

using artifact::ParamKind, artifact::ParamMeta;

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

  bool AllocateParams() {
    const artifact::Allocator* allocator = plan_.allocator();
    plan_.params.Bind(allocator);
    plan_.size_params.Bind(allocator);
    plan_.cells.Bind(allocator);
    if (!plan_.params.TryResize(meta_.params.size()) || !plan_.size_params.TryResize(meta_.params.size()) ||
        !plan_.cells.TryResize(artifact::CellCount(meta_))) {
      OutOfMemory(error_);
      return false;
    }
    return true;
  }

  const Changes& changes() const { return changes_; }

  // Parameters that are not given stay what they were.
  bool Run() {
    ++plan_.bindings;
    const unsigned char* place = reinterpret_cast<const unsigned char*>(args_);
    uint32_t stride = arg_count_ > 0 ? args_->struct_size : 0;
    for (uint32_t number = 0; number < arg_count_; ++number) {
      const adrt_arg* given = reinterpret_cast<const adrt_arg*>(place + size_t{number} * stride);
      adrt_arg copy;
      bool good = stride % alignof(adrt_arg) == 0 && given->struct_size == stride;
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
    // None is given twice: where there are as many arguments as parameters, none is missing.
    for (uint32_t index = 0; index < meta_.params.size() && arg_count_ < meta_.params.size(); ++index) {
      if (!artifact::IsHidden(meta_.params[index]) && plan_.params[index].given == 0) {
        return Bad(index, "is missing");
      }
    }
    return CheckCompanions() && CheckAliasing();
  }

 private:
  template <class... Parts>
  ADC_ALWAYS_INLINE bool Bad(uint32_t index, const Parts&... parts) {
    const artifact::MessagePart list[] = {artifact::MessagePart(parts)...};
    return BadWith(index, list);
  }
  ADC_RARE bool BadWith(uint32_t index, artifact::Message message) {
    const artifact::MessagePart prefix[] = {meta_, ", parameter '", meta_.params[index].name.view(), "': "};
    return RefuseWith(error_, ADRT_ERROR_ARGUMENT, prefix, message);
  }

  // Where an argument says its parameter by name, or wrongly.
  ADC_NEVER_INLINE bool FindParam(const adrt_arg& arg, uint32_t number, uint32_t* index) {
    if (!arg.name) {
      return Refuse(error_, ADRT_ERROR_ARGUMENT, meta_, ", argument ", number, ": names parameter ",
                    arg.index, ", the kernel has ", uint64_t{meta_.params.size()});
    }
    // Most callers keep the order of the parameters.
    std::string_view name = arg.name;
    if (number < meta_.params.size() && meta_.params[number].name.view() == name) {
      *index = number;
      return true;
    }
    if (!SpendSteps(plan_, meta_.params.size(), error_)) return false;
    for (*index = 0; *index < meta_.params.size(); ++*index) {
      if (meta_.params[*index].name.view() == name) return true;
    }
    return Refuse(error_, ADRT_ERROR_ARGUMENT, meta_, " has no parameter '", arg.name, "'");
  }

  bool Bind(const adrt_arg& arg, uint32_t number) {
    uint32_t index = arg.index;
    if ((arg.name || index >= meta_.params.size()) && !FindParam(arg, number, &index)) return false;
    const ParamMeta& param = meta_.params[index];
    BoundParam& bound = plan_.params[index];
    uint32_t rows = arg.rows ? arg.rows : 1, columns = arg.columns ? arg.columns : 1;
    bool is_element = arg.type == ToType(param.type) && rows == param.rows && columns == param.columns;
    bool fits = bound.given != plan_.bindings && arg.kind == ToKind(param.kind) &&
                !artifact::IsHidden(param) && (is_element || param.kind == ParamKind::kLayout);
    if (!fits) return BadArgument(arg, index);
    if (!plan_.params_before.empty()) Keep(index);
    bound.given = plan_.bindings;
    bound.content_version = arg.content_version;
    if (param.kind == ParamKind::kBuffer) return BindBuffer(arg, index);
    return param.kind == ParamKind::kLayout ? BindLayout(arg, index) : BindScalar(arg, index);
  }

  ADC_NEVER_INLINE void Keep(uint32_t index) {
    const ParamMeta& param = meta_.params[index];
    plan_.params_before[index] = plan_.params[index];
    for (uint32_t n = artifact::CellCount(param); n-- > 0;)
      plan_.cells_before[param.cell + n] = plan_.cells[param.cell + n];
  }

  // Finds the error of an argument beside its memory and its value.
  ADC_NEVER_INLINE bool BadArgument(const adrt_arg& arg, uint32_t index) {
    const ParamMeta& param = meta_.params[index];
    const char* kind = KindName(ToKind(param.kind));
    if (plan_.params[index].given == plan_.bindings) return Bad(index, "is given twice");
    if (artifact::IsHidden(param)) return Bad(index, "is ", kind, ", which the launch makes itself");
    if (arg.kind != ToKind(param.kind)) return Bad(index, "is ", kind, ", given as ", KindName(arg.kind));
    if (arg.type != ToType(param.type)) {
      return Bad(index, "elements are ", artifact::ScalarTypeName(param.type), ", given ",
                 adrt_type_name(arg.type));
    }
    return Bad(index, "elements have the shape ", param.rows, " x ", param.columns, ", given ",
               arg.rows ? arg.rows : 1, " x ", arg.columns ? arg.columns : 1);
  }

  // The place that the device sees at arg.data. Sizes can be asked for without memory; a launch cannot.
  // `alignment` is a power of two.
  bool FindPlace(const adrt_arg& arg, uint32_t index, uint64_t bytes, uint64_t alignment) {
    BoundParam& bound = plan_.params[index];
    Place& place = bound.place;
    bound.bytes = bytes;
    bound.content = nullptr;
    if (!arg.data) {
      place = {};
      if (bytes > 0 && plan_.module) return Bad(index, "is null and should hold ", bytes, " bytes");
      return true;
    }
    place = Place::Host(arg.data, UINT64_MAX);
    if (plan_.module) {
      if (!FindOnDevice(arg, index)) return false;
    } else if (plan_.rules.is_gpu) {
      place = {};  // only a device knows what it names
      return true;
    }
    uint64_t position = place.position(), end = 0;
    bool overflows = artifact::AddOverflows(position, bytes, &end);
    if ((position & (alignment - 1)) != 0 || place.bytes < bytes || overflows || end > uint64_t{PTRDIFF_MAX})
      return BadPlace(place, index, bytes, alignment);
    if (ReadsInPlace(plan_)) bound.content = place.host();
    return true;
  }
  ADC_NEVER_INLINE bool FindOnDevice(const adrt_arg& arg, uint32_t index) {
    char text[160] = {};
    artifact::TextWriter reason(text, sizeof text);
    const adrt_device& device = *plan_.module->device;
    return device.kind->bind(device, arg.data, &plan_.params[index].place, reason) ||
           Bad(index, "its memory ", text);
  }
  ADC_NEVER_INLINE bool BadPlace(const Place& place, uint32_t index, uint64_t bytes, uint64_t alignment) {
    if ((place.position() & (alignment - 1)) != 0)
      return Bad(index, "its address is not a multiple of ", alignment);
    if (place.bytes < bytes) return Bad(index, "needs ", bytes, " bytes, and its memory has ", place.bytes);
    return Bad(index, "its ", bytes, " bytes reach past the end of the address space");
  }

  bool BindBuffer(const adrt_arg& arg, uint32_t index) {
    const ParamMeta& param = meta_.params[index];
    BoundParam& bound = plan_.params[index];
    if (arg.rank != param.rank) return Bad(index, "has rank ", param.rank, ", given rank ", arg.rank);
    uint64_t bytes = artifact::ElementSize(param);
    uint64_t* cell = &plan_.cells[param.cell];
    bool empty = false, changed = false, overflows = false;
    uint64_t all = 0, narrow = 0;
    for (uint32_t axis = 0, rank = param.rank; axis < rank; ++axis) {
      uint64_t extent = static_cast<uint64_t>(arg.extents[axis]);
      all |= extent;
      if (param.shape_i32_axes >> axis & 1) narrow |= extent;
      empty |= extent == 0;
      changed |= extent != static_cast<uint64_t>(bound.extents[axis]);
      overflows |= artifact::MultiplyOverflows(bytes, extent, &bytes);
      bound.extents[axis] = arg.extents[axis];
      cell[1 + axis] = extent;
    }
    changes_.sizes |= changed;
    if (empty) bytes = 0;
    bool fits = all <= uint64_t{INT64_MAX} && narrow <= uint64_t{INT32_MAX} && (empty || !overflows) &&
                (arg.size == 0 || arg.size >= bytes);
    if (!fits) return BadExtents(arg, index, !empty && overflows, bytes);
    if (!FindPlace(arg, index, bytes, artifact::ScalarTypeSize(param.type))) return false;
    plan_.size_params[index].extents = bound.extents;
    plan_.size_params[index].rank = param.rank;
    *cell = bound.place.address;
    return true;
  }
  ADC_NEVER_INLINE bool BadExtents(const adrt_arg& arg, uint32_t index, bool overflows, uint64_t bytes) {
    for (uint32_t axis = 0; axis < meta_.params[index].rank; ++axis) {
      int64_t extent = arg.extents[axis];
      if (extent < 0) return Bad(index, "extent of axis ", axis, " is ", extent, ", which is negative");
      if ((meta_.params[index].shape_i32_axes >> axis & 1) && extent > INT32_MAX) {
        return Bad(index, "extent of axis ", axis, " is ", extent, ", and the kernel reads it as i32");
      }
    }
    if (overflows) {
      return Refuse(error_, ADRT_ERROR_SIZE_OVERFLOW, meta_, ", parameter '", meta_.params[index].name.view(),
                    "': its size in bytes does not fit 64 bits");
    }
    return Bad(index, "needs ", bytes, " bytes for its extents, given ", arg.size);
  }

  bool BindLayout(const adrt_arg& arg, uint32_t index) {
    const ParamMeta& param = meta_.params[index];
    const artifact::LayoutMeta& layout = plan_.bundle->metadata.layouts[param.layout];
    uint64_t bytes = static_cast<uint64_t>(layout.size);
    if (arg.size < bytes)
      return Bad(index, "layout '", layout.name.view(), "' takes ", bytes, " bytes, given ", arg.size);
    if (!FindPlace(arg, index, bytes, layout.alignment)) return false;
    plan_.cells[param.cell] = plan_.params[index].place.address;
    return true;
  }

  template <class N>
  static uint64_t Load(const unsigned char* bytes) {
    N number;
    std::memcpy(&number, bytes, sizeof number);
    return number;
  }
  static uint64_t LoadCell(const unsigned char* bytes, uint32_t size) {
    if (size == 4) return Load<uint32_t>(bytes);
    if (size == 8) return Load<uint64_t>(bytes);
    return size == 2 ? Load<uint16_t>(bytes) : *bytes;
  }

  // A cell holds a component's bytes in its low end; integers are extended by their sign.
  bool BindScalar(const adrt_arg& arg, uint32_t index) {
    const ParamMeta& param = meta_.params[index];
    uint32_t size = artifact::ScalarTypeSize(param.type), count = param.rows * param.columns;
    if (!arg.data) return Bad(index, "its value is null");
    if (arg.size != 0 && arg.size != uint64_t{size} * count) {
      return Bad(index, "its value has ", uint64_t{size} * count, " bytes, given ", arg.size);
    }
    BoundParam& bound = plan_.params[index];
    const unsigned char* bytes = static_cast<const unsigned char*>(arg.data);
    for (uint32_t component = 0; component < count; ++component) {
      uint64_t cell = LoadCell(bytes + size_t{component} * size, size);
      bool is_signed = param.type >= artifact::ScalarType::kI8 && param.type <= artifact::ScalarType::kI64;
      if (is_signed && size < 8 && (cell >> (8 * size - 1) & 1)) cell |= ~uint64_t{0} << (8 * size);
      if (param.type == artifact::ScalarType::kI1 && cell > 1)
        return Bad(index, "is an i1 and neither 0 nor 1");
      changes_.numbers |= plan_.cells[param.cell + component] != cell;
      plan_.cells[param.cell + component] = cell;
      bool is_number = artifact::IsInteger(param.type) || param.type == artifact::ScalarType::kI1;
      if (count == 1 && is_number) {
        bool fits = is_signed || cell <= uint64_t{INT64_MAX};
        changes_.sizes |= bound.has_integer != fits || bound.integer != static_cast<int64_t>(cell);
        bound.has_integer = fits;
        bound.integer = static_cast<int64_t>(cell);
      }
    }
    plan_.size_params[index].has_scalar = bound.has_integer;
    plan_.size_params[index].scalar = bound.integer;
    return true;
  }

  // A derived kernel indexes an adjoint or a tangent as it does the primal.
  bool CheckCompanions() {
    for (uint32_t index = 0; index < meta_.params.size(); ++index) {
      const ParamMeta& param = meta_.params[index];
      if (param.kind != ParamKind::kBuffer || param.primal >= meta_.params.size()) continue;
      const ParamMeta& primal = meta_.params[param.primal];
      if (primal.kind != ParamKind::kBuffer || primal.rank != param.rank) continue;
      // Beyond the rank extents are zero.
      bool alike = true;
      for (uint32_t axis = 0; axis < 8; ++axis)
        alike &= plan_.params[param.primal].extents[axis] == plan_.params[index].extents[axis];
      if (alike) continue;
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

  // Whether each parameter's memory lies after that of the one before.
  bool Ascending() const {
    uint64_t end = 0;
    for (const BoundParam& bound : plan_.params) {
      if (bound.bytes == 0 || !bound.place.given()) continue;
      if (bound.place.address == 0 || bound.place.address < end) return false;
      end = bound.place.address + bound.bytes;
    }
    return true;
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
    if (Ascending() || AllApart()) return true;
    for (uint32_t right = 1; right < meta_.params.size(); ++right) {
      const BoundParam& b = plan_.params[right];
      if (!SpendSteps(plan_, right, error_)) return false;
      if (b.bytes == 0 || !b.place.given()) continue;
      for (uint32_t left = 0; left < right; ++left) {
        const BoundParam& a = plan_.params[left];
        if (a.bytes == 0 || !a.place.given() || !Overlap(a.place, a.bytes, b.place, b.bytes)) continue;
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
  Changes changes_;
  adrt_error* error_;
};

}  // namespace

bool BindArguments(const adrt_plan_desc& desc, adrt_launch_plan& plan, adrt_error* error) {
  Binder binder(desc.args, desc.arg_count, plan, error);
  return binder.AllocateParams() && binder.Run();
}

bool BindOthers(const adrt_arg* args, uint32_t arg_count, adrt_launch_plan& plan, Changes* changes,
                adrt_error* error) {
  Binder binder(args, arg_count, plan, error);
  bool good = binder.Run();
  *changes = binder.changes();
  return good;
}

}  // namespace adrt
