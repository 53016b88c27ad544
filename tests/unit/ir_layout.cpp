// Where the fields of a layout lie.

#include <catch2/catch.hpp>

#include "ir/layout.h"
#include "ir/module.h"

using namespace adc;
using namespace adc::ir;

namespace {

struct Tree {
  Module module;
  Layout layout;

  LayoutNode Field(const char* name, Type type) {
    LayoutField field;
    field.name = module.Intern(name);
    field.type = type;
    layout.fields.push_back(field);
    LayoutNode node;
    node.is_field = true;
    node.field = static_cast<uint32_t>(layout.fields.size() - 1);
    return node;
  }
  static LayoutNode Dense(std::vector<uint64_t> extents, std::vector<LayoutNode> members) {
    LayoutNode node;
    node.extents = std::move(extents);
    node.members = std::move(members);
    return node;
  }
  /// The byte offset of a cell of field `n`.
  uint64_t Place(uint32_t n, std::vector<uint64_t> index) const {
    const LayoutField& field = layout.fields[n];
    uint64_t place = field.offset;
    for (size_t axis = 0; axis < field.axes.size(); ++axis) {
      uint64_t rest = index[axis];
      uint64_t below = field.axes[axis].extent;
      for (const LayoutLevel& level : field.axes[axis].levels) {
        below /= level.extent;
        place += rest / below * level.stride;
        rest %= below;
      }
    }
    return place;
  }
};

}  // namespace

TEST_CASE("members lie in order, aligned and padded as in C", "[ir][layout]") {
  Tree t;
  t.layout.roots = {
      Tree::Dense({4}, {t.Field("a", Type::Of(Scalar::U8)), t.Field("b", kF64),
                        t.Field("c", Type::Vec(Scalar::F32, 3)), t.Field("d", Type::Of(Scalar::I1))})};
  REQUIRE(ComputeLayout(t.layout).text.empty());
  CHECK(t.layout.fields[0].offset == 0);
  CHECK(t.layout.fields[1].offset == 8);
  CHECK(t.layout.fields[2].offset == 16);
  CHECK(t.layout.fields[3].offset == 28);
  CHECK(t.layout.alignment == 8);
  CHECK(t.layout.byte_size == 4 * 32);
  CHECK(t.Place(1, {3}) == 3 * 32 + 8);
}

TEST_CASE("nested cells multiply the extents of their axis", "[ir][layout]") {
  Tree t;
  t.layout.roots = {Tree::Dense({16, 16}, {Tree::Dense({8, 8}, {t.Field("rho", kF64), t.Field("t", kF32)}),
                                           t.Field("flag", Type::Of(Scalar::U8))}),
                    t.Field("count", kI32)};
  REQUIRE(ComputeLayout(t.layout).text.empty());
  REQUIRE(t.layout.fields[0].axes.size() == 2);
  CHECK(t.layout.fields[0].axes[0].extent == 128);
  CHECK(t.layout.fields[2].axes[1].extent == 16);
  CHECK(t.layout.fields[3].axes.empty());
  uint64_t inner = 16;              // f64, f32, padding
  uint64_t outer = 64 * inner + 8;  // 8 by 8 cells, the flag, padding
  CHECK(t.layout.fields[3].offset == 256 * outer);
  CHECK(t.layout.byte_size == 256 * outer + 8);
  // Every cell of rho lies where walking the tree leads.
  for (uint64_t i = 0; i < 128; i += 7) {
    for (uint64_t j = 0; j < 128; j += 5) {
      uint64_t walked = (i / 8 * 16 + j / 8) * outer + (i % 8 * 8 + j % 8) * inner;
      CHECK(t.Place(0, {i, j}) == walked);
      CHECK(t.Place(1, {i, j}) == walked + 8);
    }
  }
}

TEST_CASE("axes go by position where inner cells have fewer", "[ir][layout]") {
  Tree t;
  t.layout.roots = {Tree::Dense({4, 3}, {Tree::Dense({2}, {t.Field("a", kF32)})})};
  REQUIRE(ComputeLayout(t.layout).text.empty());
  CHECK(t.layout.fields[0].axes[0].extent == 8);
  CHECK(t.layout.fields[0].axes[1].extent == 3);
  CHECK(t.Place(0, {5, 2}) == (2 * 3 + 2) * 8 + 1 * 4);
}

TEST_CASE("sizes beyond 63 bits and axes beyond 31 are refused", "[ir][layout]") {
  Tree huge;
  huge.layout.roots = {Tree::Dense({2147483647, 2147483647, 2147483647}, {huge.Field("a", kF64)})};
  CHECK_FALSE(ComputeLayout(huge.layout).text.empty());
  Tree wide;
  wide.layout.roots = {Tree::Dense({65536}, {Tree::Dense({65536}, {wide.Field("a", Type::Of(Scalar::U8))})})};
  CHECK_FALSE(ComputeLayout(wide.layout).text.empty());
}
