#pragma once
// The form of a bundle's metadata as JSON: every object's fields, in the ascending order that canonical JSON
// has them, once, for the writer and the reader (`V`). `M` is the structure, const for the writer. The schema
// in metadata.schema.json says the same to other tools; a test compares the two. `v.Since(n)`: whether the
// bundle is of minor version n or later, and so has the fields that came with it.

#include "artifact/metadata.h"

namespace adc::artifact {

inline constexpr std::string_view kParamKinds[] = {"buffer",  "scalar",  "layout",
                                                   "scratch", "segment", "trips"};
inline constexpr std::string_view kAccesses[] = {"read", "write", "readwrite"};
inline constexpr std::string_view kParamRoles[] = {"plain",   "adjoint", "tangent", "scratch",
                                                   "segment", "trips",   "saved"};
inline constexpr std::string_view kAddressings[] = {"indexed", "counted"};
inline constexpr std::string_view kStorages[] = {"row", "private", "saved", "promise"};
inline constexpr std::string_view kBindingsOf[] = {"param", "words", "heap", "status"};
inline constexpr std::string_view kTaskKinds[] = {"serial", "parallel"};
inline constexpr std::string_view kKernelRoles[] = {"primal", "grad", "jvp", "size", "bounds"};
inline constexpr std::string_view kSizeClasses[] = {"S0", "S1", "S2"};
inline constexpr std::string_view kScalarTypes[] = {
#define ADC_SCALAR_TYPE(name, spelling, bytes) spelling,
#include "artifact/scalar_types.def"
#undef ADC_SCALAR_TYPE
};

template <class V, class M>
bool LevelFields(V& v, M& level) {
  return v.Ints("extents", level.extents) && v.Ints("strides", level.strides);
}

template <class V, class M>
bool FieldFields(V& v, M& field) {
  return v.Number("columns", field.columns) && v.Flag("diff", field.diff) &&
         v.List("levels", field.levels, [](V& w, auto& level) { return LevelFields(w, level); }) &&
         v.Text("name", field.name) && v.Number("offset", field.offset) && v.Number("rows", field.rows) &&
         v.Enum("type", field.type, kScalarTypes);
}

template <class V, class M>
bool LayoutFields(V& v, M& layout) {
  return v.Number("alignment", layout.alignment) &&
         v.List("fields", layout.fields, [](V& w, auto& field) { return FieldFields(w, field); }) &&
         v.Text("name", layout.name) && v.Number("size", layout.size);
}

template <class V, class M>
bool ParamFields(V& v, M& param) {
  return v.Enum("access", param.access, kAccesses) && v.Flag("alias", param.alias) &&
         v.Number("cell", param.cell) && v.Number("columns", param.columns) && v.Flag("diff", param.diff) &&
         v.Indices("extents", param.extents) && v.Enum("kind", param.kind, kParamKinds) &&
         v.Index("layout", param.layout) && v.Text("name", param.name) && v.Index("primal", param.primal) &&
         v.Number("rank", param.rank) && v.Enum("role", param.role, kParamRoles) &&
         v.Number("rows", param.rows) && v.Flag("shape_i32", param.shape_i32) &&
         (!v.Since(5) || v.Number("shape_i32_axes", param.shape_i32_axes)) &&
         v.Enum("type", param.type, kScalarTypes) && v.Flag("write_once", param.write_once);
}

template <class V, class M>
bool StackFields(V& v, M& stack) {
  return v.Enum("addressing", stack.addressing, kAddressings) &&
         (!v.Since(3) || v.Flag("bits", stack.bits)) && v.Index("capacity", stack.capacity) &&
         (!v.Since(3) || v.Flag("counted", stack.counted)) && v.Number("group", stack.group) &&
         v.Number("id", stack.id) && (!v.Since(3) || v.Flag("loose", stack.loose)) &&
         (!v.Since(7) || v.Index("param", stack.param)) && v.Text("place", stack.place) &&
         v.Index("share", stack.share) && v.Enum("storage", stack.storage, kStorages) &&
         v.Enum("type", stack.type, kScalarTypes) && (!v.Since(13) || v.Text("value", stack.value));
}

template <class V, class M>
bool GroupFields(V& v, M& group) {
  return (!v.Since(2) || v.Flag("counted", group.counted)) && v.Text("gate", group.gate);
}

template <class V, class M>
bool PlanFields(V& v, M& plan) {
  return v.List("groups", plan.groups, [](V& w, auto& group) { return GroupFields(w, group); }) &&
         v.Number("lanes", plan.lanes) &&
         v.List("stacks", plan.stacks, [](V& w, auto& stack) { return StackFields(w, stack); });
}

template <class V, class M>
bool BindingFields(V& v, M& binding) {
  return v.Number("number", binding.number) && v.Enum("of", binding.of, kBindingsOf) &&
         v.Index("param", binding.param) && v.Enum("type", binding.type, kScalarTypes);
}

template <class V, class M>
bool EntryFields(V& v, M& entry) {
  return (!v.Since(1) || v.List("bindings", entry.bindings,
                                [](V& w, auto& binding) { return BindingFields(w, binding); })) &&
         v.Number("block_size", entry.block_size) &&
         (!v.Since(1) || v.Text("far_symbol", entry.far_symbol)) && v.Index("plan", entry.plan) &&
         v.Number("shared_bytes", entry.shared_bytes) && v.Text("symbol", entry.symbol) &&
         v.Number("target", entry.target) && (!v.Since(10) || v.Flag("team", entry.team)) &&
         (!v.Since(15) || v.Number("team_lanes", entry.team_lanes)) &&
         (!v.Since(11) || v.Index("team_turns", entry.team_turns));
}

template <class V, class M>
bool TaskFields(V& v, M& task) {
  return (!v.Since(9) || v.Flag("cheap_replay", task.cheap_replay)) &&
         (!v.Since(2) || v.Indices("count_reads", task.count_reads)) &&
         v.List("entries", task.entries, [](V& w, auto& entry) { return EntryFields(w, entry); }) &&
         v.Indices("extents", task.extents) && v.Enum("kind", task.kind, kTaskKinds) &&
         v.Text("place", task.place) &&
         v.List("plans", task.plans, [](V& w, auto& plan) { return PlanFields(w, plan); }) &&
         (!v.Since(16) || v.Indices("reads", task.reads)) && v.Gone("reference", 3, 6) &&
         v.Enum("size_class", task.size_class, kSizeClasses) && v.Text("size_kernel", task.size_kernel) &&
         v.Indices("size_reads", task.size_reads) &&
         (!v.Since(3) ||
          (v.Text("trip_kernel", task.trip_kernel) && v.Indices("trip_reads", task.trip_reads))) &&
         (!v.Since(16) || v.Indices("writes", task.writes));
}

template <class V, class M>
bool CheckFields(V& v, M& check) {
  return v.Text("place", check.place) && v.Text("text", check.text);
}

template <class V, class M>
bool KernelFields(V& v, M& kernel) {
  auto check = [](V& w, auto& item) { return CheckFields(w, item); };
  return v.List("accesses", kernel.accesses, check) && v.List("asserts", kernel.asserts, check) &&
         (!v.Since(4) || v.Index("bounds", kernel.bounds)) && v.Exprs("exprs", kernel.exprs) &&
         v.Hash("interface_hash", kernel.interface_hash) && v.Text("name", kernel.name) &&
         v.Text("of", kernel.of) &&
         v.List("params", kernel.params, [](V& w, auto& param) { return ParamFields(w, param); }) &&
         v.Text("place", kernel.place) && v.Enum("role", kernel.role, kKernelRoles) &&
         v.List("tasks", kernel.tasks, [](V& w, auto& task) { return TaskFields(w, task); });
}

template <class V, class M>
bool TargetFields(V& v, M& target) {
  return v.Text("abi", target.abi) && v.Text("arch", target.arch) && v.Texts("features", target.features) &&
         v.Text("kind", target.kind) && v.Text("name", target.name);
}

template <class V, class M>
bool MetadataFields(V& v, M& metadata) {
  return (!v.Since(4) || v.Flag("bounds_recorded", metadata.bounds_recorded)) &&
         v.List("kernels", metadata.kernels, [](V& w, auto& kernel) { return KernelFields(w, kernel); }) &&
         v.List("layouts", metadata.layouts, [](V& w, auto& layout) { return LayoutFields(w, layout); }) &&
         v.Text("producer", metadata.producer) &&
         (!v.Since(17) || v.Texts("source_digests", metadata.source_digests)) &&
         v.Texts("sources", metadata.sources) &&
         v.List("targets", metadata.targets, [](V& w, auto& target) { return TargetFields(w, target); });
}

}  // namespace adc::artifact
