#include "ir/layout.h"

#include <algorithm>
#include <unordered_map>

#include "ir/module.h"

namespace adc::ir {
namespace {

constexpr uint64_t kLargestSize = INT64_MAX;
constexpr uint64_t kLargestExtent = INT32_MAX;

class LayoutComputer {
 public:
  explicit LayoutComputer(Layout& layout) : layout_(layout) {}

  LayoutProblem Compute() {
    Extent root = Cell(layout_.roots, 0);
    layout_.byte_size = root.size;
    layout_.alignment = root.alignment;
    return problem_;
  }

 private:
  struct Extent {
    uint64_t size = 0;
    uint32_t alignment = 1;
  };

  void Fail(diag::SourceSpan span, std::string text) {
    if (problem_.text.empty()) problem_ = {span, std::move(text)};
  }
  uint64_t Sum(uint64_t a, uint64_t b) {
    if (b <= kLargestSize && a <= kLargestSize - b) return a + b;
    Fail({}, "the layout is larger than a 64-bit size can say");
    return 0;
  }
  uint64_t Product(uint64_t a, uint64_t b) {
    if (a == 0 || b <= kLargestSize / a) return a * b;
    Fail({}, "the layout is larger than a 64-bit size can say");
    return 0;
  }
  uint64_t AlignedTo(uint64_t size, uint32_t alignment) {
    uint64_t over = size % alignment;
    return over == 0 ? size : Sum(size, alignment - over);
  }

  /// Lays the members of one cell out from `begin`, bytes from the start of the buffer; the cell's padded
  /// size.
  Extent Cell(const std::vector<LayoutNode>& members, uint64_t begin) {
    Extent cell;
    for (const LayoutNode& member : members) {
      if (member.is_field) {
        LayoutField& field = layout_.fields[member.field];
        uint32_t alignment = ByteSize(field.type.scalar);
        cell.size = AlignedTo(cell.size, alignment);
        cell.alignment = std::max(cell.alignment, alignment);
        field.offset = Sum(begin, cell.size);
        SetAxes(field);
        cell.size = Sum(cell.size, field.type.ElementBytes());
        continue;
      }
      // The size of an inner cell is needed for the strides of what lies in it, its alignment for where it
      // begins.
      Extent inner = Measure(member.members);
      cell.size = AlignedTo(cell.size, inner.alignment);
      cell.alignment = std::max(cell.alignment, inner.alignment);
      uint64_t cells = 1;
      for (uint64_t extent : member.extents) cells = Product(cells, extent);
      levels_.push_back({&member, inner.size});
      Cell(member.members, Sum(begin, cell.size));
      levels_.pop_back();
      cell.size = Sum(cell.size, Product(cells, inner.size));
    }
    cell.size = AlignedTo(cell.size, cell.alignment);
    return cell;
  }

  /// Size and alignment of a cell, once per `dense`.
  Extent Measure(const std::vector<LayoutNode>& members) {
    if (auto found = measured_.find(&members); found != measured_.end()) return found->second;
    Extent cell;
    for (const LayoutNode& member : members) {
      Extent part;
      if (member.is_field) {
        const LayoutField& field = layout_.fields[member.field];
        part = {field.type.ElementBytes(), ByteSize(field.type.scalar)};
      } else {
        part = Measure(member.members);
        for (uint64_t extent : member.extents) part.size = Product(part.size, extent);
      }
      cell.size = Sum(AlignedTo(cell.size, part.alignment), part.size);
      cell.alignment = std::max(cell.alignment, part.alignment);
    }
    cell.size = AlignedTo(cell.size, cell.alignment);
    measured_.emplace(&members, cell);
    return cell;
  }

  struct Level {
    const LayoutNode* dense;
    uint64_t cell_size;
  };

  void SetAxes(LayoutField& field) {
    field.axes.clear();
    for (const Level& level : levels_) {
      const std::vector<uint64_t>& extents = level.dense->extents;
      if (field.axes.size() < extents.size()) field.axes.resize(extents.size());
      uint64_t stride = level.cell_size;
      for (size_t axis = extents.size(); axis-- > 0;) {
        field.axes[axis].levels.push_back({extents[axis], stride});
        field.axes[axis].extent = Product(field.axes[axis].extent, extents[axis]);
        stride = Product(stride, extents[axis]);
      }
    }
    for (const LayoutAxis& axis : field.axes) {
      if (axis.extent > kLargestExtent)
        Fail(field.span, "an axis of this field has more than 2147483647 cells");
    }
    if (field.axes.size() > kMaxRank) Fail(field.span, "this field has more than 8 axes");
  }

  Layout& layout_;
  LayoutProblem problem_;
  std::vector<Level> levels_;
  std::unordered_map<const std::vector<LayoutNode>*, Extent> measured_;  // looked up, never walked
};

}  // namespace

LayoutProblem ComputeLayout(Layout& layout) {
  return LayoutComputer(layout).Compute();
}

std::vector<LayoutDigit> DigitsOf(const LayoutAxis& axis) {
  std::vector<LayoutDigit> digits;
  uint64_t below = 1;  // cells of the axis.levels inside the current one
  for (const LayoutLevel& level : axis.levels) below *= level.extent;
  for (const LayoutLevel& level : axis.levels) {
    below /= level.extent == 0 ? 1 : level.extent;
    if (digits.empty() || level.extent != 1)
      digits.push_back({below, digits.empty() ? 0 : level.extent, level.stride});
  }
  return digits;
}

uint64_t OffsetOf(const LayoutAxis& axis, uint64_t index) {
  if (axis.levels.size() == 1) return index * axis.levels[0].stride;
  uint64_t offset = 0;
  for (size_t level = axis.levels.size(); level-- > 0;) {
    offset += index % axis.levels[level].extent * axis.levels[level].stride;
    index /= axis.levels[level].extent;
  }
  return offset;
}

}  // namespace adc::ir
