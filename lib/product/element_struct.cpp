#include "product/element_struct.h"

#include <algorithm>

#include "adstack/artifact_type.h"
#include "product/header_names.h"
#include "product/typed_call.h"

// Each gap is a member of its own, so that the struct does not depend on how a compiler aligns:
//
//   struct Particle { vec3 position; Spin spin; };    // GLSL, std430
//
//   typedef struct adc_step_p_element {
//     float position[3];
//     uint8_t padding[4];
//     struct {
//       float axis[2];
//       int32_t kind;
//     } spin;
//     uint8_t padding_2[4];
//   } adc_step_p_element;

namespace adc::product {

namespace {

using ir::StructMember;

std::string Extents(const StructMember& member) {
  std::string text;
  for (uint64_t count : member.counts) text += "[" + (count == 0 ? "" : std::to_string(count)) + "]";
  return text;
}

std::string Scalar(const StructMember& member) {
  return CallScalar(adstack::ArtifactType(member.scalar));
}

std::string Remark(const StructMember& member) {
  std::string remark;
  if (member.scalar == ir::Scalar::F16) remark = "bits of f16";
  if (member.used != 0)
    remark += (remark.empty() ? "" : ", ") + std::to_string(member.used) + " of " +
              std::to_string(member.counts.back()) + ", then padding";
  return remark.empty() ? "" : " /* " + remark + " */";
}

uint64_t RoundUp(uint64_t bytes, uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// What stands between the braces of a struct, and assertions.
struct Body {
  bool is_possible = true;
  uint64_t bytes = 0, alignment = 1;
  std::string text, checks;
};

class Writer {
 public:
  explicit Writer(const std::string& type) : type_(type) {}

  /// Of the struct itself, or of one within it, to which `path` leads at byte `base`.
  Body Write(const StructMember& of, const std::string& path, uint64_t base, size_t depth) const {
    std::vector<std::pair<uint64_t, size_t>> order;
    HeaderScope scope;
    std::vector<std::string> names;
    for (const StructMember& member : of.members) {
      order.emplace_back(member.offset, order.size());
      names.push_back(scope.Unique(NameOf(member)));
    }
    std::ranges::sort(order);
    Body body;
    std::string indent(2 * depth, ' ');
    auto fill_to = [&](uint64_t offset) {
      body.is_possible = body.is_possible && offset >= body.bytes;
      if (offset > body.bytes)
        body.text += indent + "uint8_t " + scope.Unique("padding") + "[" +
                     std::to_string(offset - body.bytes) + "];\n";
      body.bytes = offset;
    };
    for (auto [offset, n] : order) {
      fill_to(offset);
      Add(of.members[n], path + names[n], base + offset, depth, &body);
    }
    fill_to(of.bytes == 0 ? RoundUp(body.bytes, body.alignment) : of.bytes);
    body.is_possible = body.is_possible && body.bytes % body.alignment == 0;
    return body;
  }

  static std::string NameOf(const StructMember& member) {
    return HeaderMember(member.name.empty() ? "member" : member.name);
  }

 private:
  void Add(const StructMember& member, const std::string& path, uint64_t at, size_t depth, Body* body) const {
    std::string indent(2 * depth, ' '), extents = Extents(member), what = Scalar(member);
    uint64_t bytes = ir::ByteSize(member.scalar), alignment = bytes;
    body->checks += "static_assert(offsetof(" + type_ + ", " + path + ") == " + std::to_string(at) + ", \"" +
                    type_ + "." + path + "\");\n";
    if (!member.members.empty()) {
      std::string first = path;
      for (size_t axis = 0; axis < member.counts.size(); ++axis) first += "[0]";
      Body inner = Write(member, first + ".", at, depth + 1);
      body->is_possible = body->is_possible && inner.is_possible;
      body->checks += inner.checks;
      what = "struct {\n" + inner.text + indent + "}";
      bytes = inner.bytes;
      alignment = inner.alignment;
    }
    body->text +=
        indent + what + " " + path.substr(path.rfind('.') + 1) + extents + ";" + Remark(member) + "\n";
    body->is_possible = body->is_possible && member.offset % alignment == 0;
    body->alignment = std::max(body->alignment, alignment);
    for (uint64_t count : member.counts) {
      body->is_possible = body->is_possible && count != 0;
      bytes *= count;
    }
    body->bytes += bytes;
  }

  const std::string& type_;
};

/// Members of structs within it under the names by which they are reached.
void List(const StructMember& of, const std::string& path, uint64_t base, std::string* text) {
  for (const StructMember& member : of.members) {
    std::string name = path + Writer::NameOf(member) + Extents(member);
    if (!member.members.empty()) {
      List(member, name + ".", base + member.offset, text);
      continue;
    }
    *text += " *   " + std::to_string(base + member.offset) + ": " + Scalar(member) + " " + name;
    if (member.used != 0) *text += ", the first " + std::to_string(member.used) + " of the last extent";
    *text += member.scalar == ir::Scalar::F16 ? ", bits of f16\n" : "\n";
  }
}

}  // namespace

std::optional<std::string> ElementStructText(const StructMember& element, const std::string& type) {
  Body body = Writer(type).Write(element, "", 0, 1);
  if (element.bytes == 0 || element.members.empty() || !body.is_possible) return std::nullopt;
  return "typedef struct " + type + " {\n" + body.text + "} " + type + ";\nstatic_assert(sizeof(" + type +
         ") == " + std::to_string(body.bytes) + ", \"" + type + "\");\n" + body.checks;
}

std::string MembersRemark(const StructMember& element, const std::string& param) {
  std::string text =
      "/* Bytes of " + (element.bytes == 0
                            ? "the memory of " + param + " at which its members begin:\n"
                            : "an element of " + param + ", of " + std::to_string(element.bytes) +
                                  ", at which its members begin, which no struct of C has so:\n");
  List(element, "", 0, &text);
  return text + " */\n";
}

}  // namespace adc::product
