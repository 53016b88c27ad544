#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "artifact/bundle.h"
#include "artifact/metadata.h"

using namespace adc::artifact;

namespace {

// One of everything: a layout, a scratch buffer, every kind of expression, shared stacks, bindings, three
// targets.
Metadata Sample() {
  Metadata metadata;
  metadata.producer = "adc test";
  metadata.sources = {String("a.ir"), String("quat\".ir")};
  TargetMeta cpu;
  cpu.name = "cpu:x86-64-v2";
  cpu.kind = "cpu";
  cpu.arch = "x86-64";
  cpu.abi = "elf";
  cpu.features = {String("popcnt"), String("sse4.2")};
  TargetMeta cuda;
  cuda.name = "cuda:sm_80";
  cuda.kind = "cuda";
  TargetMeta vulkan;
  vulkan.name = "vulkan:1.2";
  vulkan.kind = "vulkan";
  vulkan.arch = "1.2";
  vulkan.abi = "spirv";
  metadata.targets = {cpu, cuda, vulkan};

  LayoutMeta grid;
  grid.name = "grid";
  grid.size = 64 * 16 + 4;
  grid.alignment = 4;
  FieldMeta mass;
  mass.name = "mass";
  mass.levels = {{{4, 4}, {256, 64}}, {{2, 2}, {32, 16}}};
  mass.diff = true;
  FieldMeta velocity = mass;
  velocity.name = "vel";
  velocity.rows = 3;
  velocity.offset = 4;
  FieldMeta count;
  count.name = "count";
  count.type = ScalarType::kI32;
  count.offset = 1024;
  grid.fields = {mass, velocity, count};
  metadata.layouts = {grid};

  KernelMeta kernel;
  kernel.name = "k";
  kernel.place = "a.ir:1:1";
  ParamMeta x;
  x.name = "x";
  x.rank = 2;
  x.diff = true;
  x.access = Access::kRead;
  ParamMeta n;
  n.name = "n";
  n.kind = ParamKind::kScalar;
  n.type = ScalarType::kI32;
  n.access = Access::kRead;
  ParamMeta g;
  g.name = "g";
  g.kind = ParamKind::kLayout;
  g.layout = 0;
  ParamMeta start;
  start.name = "start";
  start.type = ScalarType::kI64;
  start.rank = 1;
  start.access = Access::kRead;
  ParamMeta scratch;
  scratch.name = "s.0";
  scratch.kind = ParamKind::kScratch;
  scratch.role = ParamRole::kScratch;
  scratch.rank = 1;
  SizeExprPool& pool = kernel.exprs;
  scratch.extents = {pool.Const(2)};
  kernel.params = {x, n, g, start, scratch};
  NodeId i = pool.Index(3), length = pool.Read(3, {&i, 1});
  NodeId longest = pool.MaxOver(3, pool.Const(0), pool.Arg(1), length);
  NodeId mixed = pool.Select(pool.Binary(SizeOp::kLe, pool.Arg(1), pool.Const(4)), pool.Neg(pool.Shape(0, 1)),
                             pool.CeilDiv(pool.FloorDiv(pool.Shape(0, 0), pool.Const(3)), pool.Const(2)));
  TaskMeta serial;
  serial.place = "a.ir:2:3";
  EntryMeta entry;
  entry.symbol = "adc_k_t0";
  serial.entries = {entry};
  TaskMeta parallel = serial;
  parallel.kind = TaskKind::kParallel;
  parallel.extents = {pool.Shape(0, 0), pool.Clamp0(mixed)};
  AdstackPlanMeta plan;
  plan.groups = {{"a.ir:4:5"}, {""}};
  StackMeta stack;
  stack.capacity = longest;
  stack.place = "a.ir:5:7";
  StackMeta shared = stack;
  shared.id = 1;
  shared.group = 1;
  shared.share = 0;
  shared.type = ScalarType::kF64;
  StackMeta private_stack = stack;
  private_stack.id = 2;
  private_stack.storage = Storage::kPrivate;
  private_stack.capacity = pool.Const(4);
  StackMeta unknown = stack;
  unknown.id = 3;
  unknown.capacity = kNoNode;
  unknown.addressing = Addressing::kCounted;
  plan.stacks = {stack, shared, private_stack, unknown};
  parallel.plans = {plan};
  parallel.entries[0].symbol = "adc_k_t1";
  parallel.entries[0].plan = 0;
  parallel.entries.push_back(parallel.entries[0]);
  parallel.entries[1].target = 1;
  parallel.entries[1].block_size = 128;
  parallel.entries[1].shared_bytes = 1024;
  parallel.entries.push_back(parallel.entries[0]);
  parallel.entries[2].target = 2;
  parallel.entries[2].far_symbol = "adc_k_t1_far";
  parallel.entries[2].bindings = {{0, BindingOf::kParam, 0, ScalarType::kF32},
                                  {1, BindingOf::kParam, 2, ScalarType::kF32},
                                  {2, BindingOf::kParam, 2, ScalarType::kI32},
                                  {4, BindingOf::kHeap, kNoIndex, ScalarType::kF64},
                                  {5, BindingOf::kWords, kNoIndex, ScalarType::kU64},
                                  {7, BindingOf::kStatus, kNoIndex, ScalarType::kU32}};
  for (uint32_t target : {1u, 2u}) {
    entry.target = target;
    serial.entries.push_back(entry);
  }
  kernel.tasks = {serial, parallel};
  kernel.asserts = {{"a.ir:9:1", "tab\there, \x01 and \xC3\xA9"}};
  kernel.accesses = {{"a.ir:10:1", "x"}};

  KernelMeta grad = kernel;
  grad.name = "k.grad";
  grad.role = KernelRole::kGrad;
  grad.of = "k";
  ParamMeta adjoint = x;
  adjoint.name = "x.adj";
  adjoint.role = ParamRole::kAdjoint;
  adjoint.primal = 0;
  adjoint.access = Access::kReadWrite;
  adjoint.alias = true;
  adjoint.write_once = true;
  adjoint.shape_i32 = true;
  adjoint.shape_i32_axes = 1;
  grad.params.push_back(adjoint);
  metadata.kernels = {grad, kernel};
  FinishMetadata(&metadata);
  return metadata;
}

std::string Json(const Metadata& metadata) {
  String json;
  Error error;
  INFO(error.text);
  bool written = WriteMetadata(metadata, &json, &error);
  INFO(error.text);
  REQUIRE(written);
  return std::string(json.view());
}

Error ReadError(const std::string& json, uint32_t minor = kFormatMinor) {
  Metadata metadata;
  Error error;
  bool read = ReadMetadata(json, minor, Limits{}, nullptr, &metadata, &error);
  CHECK(read == error.ok());
  return error;
}

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  INFO("looking for " << from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("metadata comes back as it was written, byte for byte", "[metadata]") {
  std::string json = Json(Sample());
  Metadata read;
  Error error;
  REQUIRE(ReadMetadata(json, kFormatMinor, Limits{}, nullptr, &read, &error));
  CHECK(Json(read) == json);
  // Kernels are in the order of their names, whatever order they were given in.
  CHECK(read.kernels[0].name == "k");
  CHECK(read.kernels[1].name == "k.grad");
  CHECK(read.sources[1] == "quat\".ir");
  CHECK(read.kernels[0].asserts[0].text == "tab\there, \x01 and \xC3\xA9");
  CHECK(read.kernels[0].tasks[1].size_class == SizeClass::kS2);
  CHECK(read.kernels[0].tasks[1].size_reads == Vector<uint32_t>{3});
  CHECK(read.kernels[0].params[4].cell == 3 + 1 + 1 + 2);
  CHECK(read.kernels[0].exprs == Sample().kernels[0].exprs);
}

TEST_CASE("the interface hash sees what callers give and nothing else", "[metadata]") {
  Metadata metadata = Sample();
  uint64_t before = metadata.kernels[0].interface_hash;
  auto changed = [&](const std::function<void(Metadata&)>& change) {
    Metadata copy = Sample();
    change(copy);
    FinishMetadata(&copy);
    return copy.kernels[0].interface_hash != before;
  };
  CHECK(changed([](Metadata& m) { m.kernels[0].params[0].type = ScalarType::kF64; }));
  CHECK(changed([](Metadata& m) { m.kernels[0].params[0].rank = 3; }));
  CHECK(changed([](Metadata& m) { m.kernels[0].params[1].name = "m"; }));
  CHECK(changed([](Metadata& m) { m.layouts[0].fields[0].offset = 8; }));
  CHECK_FALSE(changed([](Metadata& m) { m.kernels[0].params[0].access = Access::kReadWrite; }));
  CHECK_FALSE(
      changed([](Metadata& m) { m.kernels[0].params[4].rank = 0, m.kernels[0].params[4].extents.clear(); }));
  CHECK_FALSE(changed([](Metadata& m) { m.kernels[0].tasks.clear(); }));
  CHECK_FALSE(changed([](Metadata& m) { m.kernels[0].tasks[1].entries[2].bindings.clear(); }));
  CHECK_FALSE(changed([](Metadata& m) { m.kernels[0].tasks[1].entries[2].far_symbol = ""; }));
}

TEST_CASE("each consistency rule refuses what breaks it", "[metadata]") {
  struct Row {
    const char* name;
    std::function<void(Metadata&)> change;
    const char* says;
  };
  const Row rows[] = {
      {"empty kernel name", [](Metadata& m) { m.kernels[0].name = ""; }, "empty"},
      {"control character", [](Metadata& m) { m.kernels[0].params[0].name = "a\nb"; }, "control"},
      {"not UTF-8", [](Metadata& m) { m.kernels[0].params[0].name = "\xC3("; }, "UTF-8"},
      {"surrogate", [](Metadata& m) { m.kernels[0].params[0].name = "\xED\xA0\x80"; }, "UTF-8"},
      {"overlong", [](Metadata& m) { m.kernels[0].params[0].name = "\xC0\xAF"; }, "UTF-8"},
      {"long name",
       [](Metadata& m) { m.kernels[0].params[0].name = std::string_view(std::string(256, 'a')); }, "long"},
      {"two parameters of one name", [](Metadata& m) { m.kernels[0].params[1].name = "x"; }, "'x'"},
      {"two targets of one name", [](Metadata& m) { m.targets[1].name = "cpu:x86-64-v2"; }, "two targets"},
      {"two kernels of one name", [](Metadata& m) { m.kernels[1].name = "k"; }, "sorted"},
      {"unsorted features",
       [](Metadata& m) { std::swap(m.targets[0].features[0], m.targets[0].features[1]); }, "sorted"},
      {"rank 9", [](Metadata& m) { m.kernels[0].params[0].rank = 9; }, "rank"},
      {"rank on a scalar", [](Metadata& m) { m.kernels[0].params[1].rank = 1; }, "rank"},
      {"vec of 17", [](Metadata& m) { m.kernels[0].params[0].rows = 17; }, "17"},
      {"1 x 2", [](Metadata& m) { m.kernels[0].params[0].columns = 2; }, "1 x 2"},
      {"no such layout", [](Metadata& m) { m.kernels[0].params[2].layout = 1; }, "layout"},
      {"layout on a buffer", [](Metadata& m) { m.kernels[0].params[0].layout = 0; }, "layout"},
      {"extents on a buffer", [](Metadata& m) { m.kernels[0].params[0].extents = {0}; }, "extents"},
      {"scratch without extents", [](Metadata& m) { m.kernels[0].params[4].extents.clear(); }, "extents"},
      {"scratch of S2 size",
       [](Metadata& m) {
         m.kernels[0].params[4].extents = {m.kernels[0].tasks[1].plans[0].stacks[0].capacity};
       },
       "depends on buffer contents"},
      {"saved values of rank 2", [](Metadata& m) { m.kernels[0].params[0].role = ParamRole::kSaved; },
       "list of scalars"},
      {"saved values without an extent",
       [](Metadata& m) {
         m.kernels[0].params[0].role = ParamRole::kSaved;
         m.kernels[0].params[0].rank = 1;
         m.kernels[0].params[0].rows = m.kernels[0].params[0].columns = 1;
       },
       "extents"},
      {"written scalar", [](Metadata& m) { m.kernels[0].params[1].access = Access::kWrite; }, "by-value"},
      {"diff integer", [](Metadata& m) { m.kernels[0].params[1].diff = true; }, "diff"},
      {"adjoint of nothing", [](Metadata& m) { m.kernels[1].params[5].primal = kNoIndex; }, "primal"},
      {"adjoint of an adjoint", [](Metadata& m) { m.kernels[1].params[5].primal = 5; }, "primal"},
      {"primal of a plain parameter", [](Metadata& m) { m.kernels[0].params[0].primal = 1; }, "primal"},
      {"wrong cell", [](Metadata& m) { m.kernels[0].params[1].cell = 2; }, "cells"},
      {"wrong hash", [](Metadata& m) { m.kernels[0].interface_hash ^= 1; }, "hash"},
      {"primal with an origin", [](Metadata& m) { m.kernels[0].of = "k.grad"; }, "origin"},
      {"origin that is not there", [](Metadata& m) { m.kernels[1].of = "q"; }, "'q'"},
      {"parallel without axes", [](Metadata& m) { m.kernels[0].tasks[1].extents.clear(); }, "axes"},
      {"serial with axes", [](Metadata& m) { m.kernels[0].tasks[0].extents = {0}; }, "axes"},
      {"extent that is no node", [](Metadata& m) { m.kernels[0].tasks[1].extents[0] = 1000; }, "1000"},
      {"extent that uses an index",
       [](Metadata& m) { m.kernels[0].tasks[1].extents[0] = m.kernels[0].exprs.Index(3); },
       "outside of its loop"},
      {"wrong class", [](Metadata& m) { m.kernels[0].tasks[1].size_class = SizeClass::kS1; }, "class"},
      {"wrong reads", [](Metadata& m) { m.kernels[0].tasks[1].size_reads.clear(); }, "read by sizing"},
      {"no size kernel", [](Metadata& m) { m.kernels[0].tasks[1].size_kernel = "k.size"; }, "k.size"},
      {"no bounds kernel", [](Metadata& m) { m.kernels[0].bounds = 7; }, "kernel 7"},
      {"a bounds kernel that is none", [](Metadata& m) { m.kernels[0].bounds = 1; }, "kernel 1"},
      {"stack without group", [](Metadata& m) { m.kernels[0].tasks[1].plans[0].stacks[0].group = 2; },
       "group"},
      {"private without a constant",
       [](Metadata& m) { m.kernels[0].tasks[1].plans[0].stacks[0].storage = Storage::kPrivate; }, "private"},
      {"private that shares", [](Metadata& m) { m.kernels[0].tasks[1].plans[0].stacks[2].share = 0; },
       "shares"},
      {"saved in a buffer of another role",
       [](Metadata& m) { m.kernels[0].tasks[1].plans[0].stacks[0].storage = Storage::kSaved; },
       "names no buffer of saved values"},
      {"a copy of no parameter",
       [](Metadata& m) {
         m.kernels[0].tasks[1].plans[0].stacks[0].param = static_cast<uint32_t>(m.kernels[0].params.size());
       },
       "names no buffer"},
      {"a promise that nothing counts",
       [](Metadata& m) { m.kernels[0].tasks[1].plans[0].stacks[0].storage = Storage::kPromise; },
       "is no promise that is counted"},
      {"bits of f32",
       [](Metadata& m) {
         m.kernels[0].tasks[1].plans[0].stacks[0].type = ScalarType::kF32;
         m.kernels[0].tasks[1].plans[0].stacks[0].bits = true;
       },
       "bits"},
      {"three lanes", [](Metadata& m) { m.kernels[0].tasks[1].plans[0].lanes = 3; }, "lanes"},
      {"lanes on a CPU", [](Metadata& m) { m.kernels[0].tasks[1].plans[0].lanes = 32; }, "CPU"},
      {"entry of one task alone", [](Metadata& m) { m.kernels[0].tasks[0].entries.pop_back(); },
       "others have none"},
      {"entries of one task alone", [](Metadata& m) { m.kernels[0].tasks[1].entries.clear(); },
       "others have none"},
      {"name that turns its line",
       [](Metadata& m) {
         m.targets[0].name =
             "a\xE2\x80\x8F"
             "b";
       },
       "control characters"},
      {"name with an Arabic mark", [](Metadata& m) { m.targets[0].name = "\xD8\x9C"; }, "control characters"},
      {"entry without plan", [](Metadata& m) { m.kernels[0].tasks[1].entries[0].plan = 1; }, "plan"},
      {"entry for no target", [](Metadata& m) { m.kernels[0].tasks[1].entries[2].target = 3; }, "targets"},
      {"entries out of order",
       [](Metadata& m) { std::swap(m.kernels[0].tasks[1].entries[0], m.kernels[0].tasks[1].entries[1]); },
       "ascending"},
      {"code of another form", [](Metadata& m) { m.targets[2].abi = "ptx"; }, "cannot be 'ptx'"},
      {"binding of no parameter", [](Metadata& m) { m.kernels[0].tasks[1].entries[2].bindings[0].param = 5; },
       "names no parameter"},
      {"heap of a parameter", [](Metadata& m) { m.kernels[0].tasks[1].entries[2].bindings[3].param = 0; },
       "names no parameter"},
      {"binding of a scalar", [](Metadata& m) { m.kernels[0].tasks[1].entries[2].bindings[0].param = 1; },
       "by-value"},
      {"two bindings of a number",
       [](Metadata& m) { m.kernels[0].tasks[1].entries[2].bindings[1].number = 0; }, "upwards"},
      {"binding on CUDA",
       [](Metadata& m) {
         m.kernels[0].tasks[1].entries[1].bindings = m.kernels[0].tasks[1].entries[2].bindings;
       },
       "'cuda'"},
      {"far symbol on a CPU", [](Metadata& m) { m.kernels[0].tasks[1].entries[0].far_symbol = "far"; },
       "far symbol"},
      {"field outside", [](Metadata& m) { m.layouts[0].fields[0].levels[0].strides[0] = 1024; }, "inside"},
      {"field that wraps", [](Metadata& m) { m.layouts[0].fields[0].levels[0].strides[0] = INT64_MAX; },
       "inside"},
      {"negative extent", [](Metadata& m) { m.layouts[0].fields[0].levels[0].extents[0] = -1; }, "inside"},
      {"layout alignment", [](Metadata& m) { m.layouts[0].alignment = 3; }, "alignment"},
      {"arg of a buffer", [](Metadata& m) { m.kernels[0].exprs.Arg(0); }, "integer argument"},
      {"shape of a scalar", [](Metadata& m) { m.kernels[0].exprs.Shape(1, 0); }, "extent"},
      {"shape of an axis too far", [](Metadata& m) { m.kernels[0].exprs.Shape(0, 2); }, "extent"},
      {"read of a float",
       [](Metadata& m) {
         NodeId two[] = {0, 0};
         m.kernels[0].exprs.Read(0, two);
       },
       "reads"},
      {"read of another rank", [](Metadata& m) { m.kernels[0].exprs.Read(3, {}); }, "reads"},
      {"expression of no parameter", [](Metadata& m) { m.kernels[0].exprs.Arg(77); }, "parameter"},
  };
  for (const Row& row : rows) {
    Metadata metadata = Sample();
    row.change(metadata);
    Error error;
    String json;
    INFO(row.name);
    CHECK_FALSE(WriteMetadata(metadata, &json, &error));
    INFO(error.text);
    CHECK(error.code == Code::kMalformed);
    CHECK(error.rule != Rule::kNone);
    CHECK(error.message().find(row.says) != std::string_view::npos);
  }
}

TEST_CASE("text that is not canonical JSON is refused", "[metadata]") {
  std::string json = Json(Sample());
  struct Row {
    const char* name;
    std::string text;
    const char* says;
  };
  std::string deep(40, '[');
  const Row rows[] = {
      {"empty", "", "expected '{'"},
      {"white space", " " + json, "expected '{'"},
      {"white space inside", Replace(json, "\"producer\":", "\"producer\": "), "expected a string"},
      {"text behind", json + "\n", "after the end"},
      {"missing key", Replace(json, "\"producer\":\"adc test\",", ""), "producer"},
      {"unknown key", Replace(json, "\"producer\"", "\"aaa\":1,\"producer\""), "'aaa'"},
      {"repeated key", Replace(json, "\"producer\":", "\"producer\":\"a\",\"producer\":"), "producer"},
      {"float", Replace(json, "\"cell\":0", "\"cell\":0.0"), "integers"},
      {"exponent", Replace(json, "\"cell\":0", "\"cell\":0e1"), "integers"},
      {"leading zero", Replace(json, "\"cell\":0", "\"cell\":00"), "shortest"},
      {"minus zero", Replace(json, "\"cell\":0", "\"cell\":-0"), "shortest"},
      {"negative count", Replace(json, "\"cell\":0", "\"cell\":-1"), "range"},
      {"past 64 bits", Replace(json, "\"cell\":0", "\"cell\":9223372036854775808"), "range"},
      {"far past 64 bits", Replace(json, "\"cell\":0", "\"cell\":" + std::string(400, '9')), "range"},
      {"past 32 bits", Replace(json, "\"cell\":0", "\"cell\":4294967296"), "range"},
      {"null", Replace(json, "\"cell\":0", "\"cell\":null"), "integer"},
      {"string without end", "{\"kernels", "without end"},
      {"raw control character", Replace(json, "adc test", "adc\ntest"), "control"},
      {"needless escape", Replace(json, "adc test", "adc\\u0041test"), "escape"},
      {"slash escape", Replace(json, "adc test", "adc\\/test"), "escape"},
      {"long form of a short escape", Replace(json, "tab\\there", "tab\\u0009here"), "escape"},
      {"upper case escape", Replace(json, "\\u0001", "\\u001F"), "escape"},
      {"bad UTF-8", Replace(json, "adc test", "adc\xFFtest"), "UTF-8"},
      {"nesting", Replace(json, "\"kernels\":", "\"kernels\":" + deep), "expected"},
      {"wrong enum", Replace(json, "\"access\":\"read\"", "\"access\":\"rw\""), "'rw'"},
      {"short hash", Replace(json, "\"interface_hash\":\"0x", "\"interface_hash\":\"0x0"), "range"},
      {"unknown operation", Replace(json, "[\"const\",", "[\"konst\","), "konst"},
      {"too few operands", Replace(json, "[\"const\",2]", "[\"const\"]"), "expected"},
      {"too many operands", Replace(json, "[\"const\",2]", "[\"const\",2,3]"), "too many"},
      {"operand of the future", Replace(json, "[\"read\",3,[1]]", "[\"read\",3,[2]]"), "earlier"},
      {"nine indices", Replace(json, "[\"read\",3,[1]]", "[\"read\",3,[1,1,1,1,1,1,1,1,1]]"), "at most 8"},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    Error error = ReadError(row.text);
    INFO(error.text);
    CHECK(error.code == Code::kMalformed);
    CHECK(error.message().find(row.says) != std::string_view::npos);
  }
}

TEST_CASE("a newer minor version may add keys, in order and once", "[metadata]") {
  std::string json = Json(Sample());
  std::string added = Replace(json, "\"producer\"", "\"new\":{\"a\":[1,true,\"x\"],\"b\":{}},\"producer\"");
  CHECK(ReadError(added, kFormatMinor + 1).ok());
  CHECK(ReadError(added, kFormatMinor).code == Code::kMalformed);
  CHECK(ReadError(Replace(json, "\"producer\"", "\"new\":1,\"new\":1,\"producer\""), kFormatMinor + 1).code ==
        Code::kMalformed);
  CHECK(ReadError(Replace(json, "\"producer\"", "\"new\":1,\"app\":1,\"producer\""), kFormatMinor + 1).code ==
        Code::kMalformed);
  std::string deep = "\"new\":" + std::string(100000, '[') + std::string(100000, ']') + ",\"producer\"";
  Error error = ReadError(Replace(json, "\"producer\"", deep), kFormatMinor + 1);
  CHECK(error.message().find("deeper than 32") != std::string_view::npos);
  std::string objects;
  for (int depth = 0; depth < 1000; ++depth) objects += "{\"a\":";
  error = ReadError(Replace(json, "\"producer\"", "\"new\":" + objects + "1"), kFormatMinor + 1);
  CHECK(error.message().find("deeper than 32") != std::string_view::npos);
}

TEST_CASE("metadata of an earlier minor version is read without what came later", "[metadata]") {
  Metadata old = Sample();
  for (KernelMeta& kernel : old.kernels) {
    for (EntryMeta& entry : kernel.tasks[1].entries) {
      entry.bindings.clear();
      entry.far_symbol = "";
    }
    for (ParamMeta& param : kernel.params) {
      if (param.shape_i32) param.shape_i32_axes = (1u << param.rank) - 1;
    }
  }
  std::string json = Json(old), first = json;
  for (std::string_view later :
       {"\"bindings\":[],", "\"far_symbol\":\"\",", "\"cheap_replay\":false,", "\"count_reads\":[],",
        "\"counted\":false,", "\"loose\":false,", "\"param\":-1,", "\"bits\":false,", "\"bounds\":-1,",
        "\"bounds_recorded\":false,", "\"shape_i32_axes\":0,", "\"shape_i32_axes\":3,",
        ",\"trip_kernel\":\"\",\"trip_reads\":[]", ",\"team\":false,\"team_lanes\":0,\"team_turns\":-1",
        ",\"value\":\"\"", "\"reads\":[],", ",\"writes\":[]", "\"source_digests\":[],"}) {
    for (size_t at = first.find(later); at != std::string::npos; at = first.find(later))
      first.erase(at, later.size());
  }
  REQUIRE(first != json);
  Metadata read;
  Error error;
  REQUIRE(ReadMetadata(first, 0, Limits{}, nullptr, &read, &error));
  CHECK(Json(read) == json);
  CHECK(ReadError(json, 0).code == Code::kMalformed);
  CHECK(ReadError(first, 1).code == Code::kMalformed);
}

TEST_CASE("an entry says that a block of threads runs an iteration", "[metadata]") {
  Metadata written = Sample();
  REQUIRE_FALSE(written.kernels[0].tasks[1].entries[1].team);
  written.kernels[0].tasks[1].entries[1].team = true;
  Metadata read;
  Error error;
  REQUIRE(ReadMetadata(Json(written), kFormatMinor, Limits{}, nullptr, &read, &error));
  CHECK(read.kernels[0].tasks[1].entries[1].team);
  CHECK_FALSE(read.kernels[0].tasks[1].entries[0].team);
}

TEST_CASE("an entry says how many turns the threads of a block share", "[metadata]") {
  Metadata written = Sample();
  KernelMeta& kernel = written.kernels[0];
  EntryMeta& entry = kernel.tasks[1].entries[1];
  REQUIRE(entry.team_turns == kNoNode);
  entry.team_turns = kernel.exprs.Const(512);
  kernel.tasks[1].entries[0].team_lanes = 32;
  Metadata read;
  Error error;
  REQUIRE(ReadMetadata(Json(written), kFormatMinor, Limits{}, nullptr, &read, &error));
  CHECK(read.kernels[0].tasks[1].entries[1].team_turns == entry.team_turns);
  CHECK(read.kernels[0].tasks[1].entries[0].team_turns == kNoNode);
  CHECK(read.kernels[0].tasks[1].entries[0].team_lanes == 32);
  CHECK(read.kernels[0].tasks[1].entries[1].team_lanes == 0);
  std::string json = Json(written),
              stated = "\"team\":false,\"team_lanes\":0,\"team_turns\":" + std::to_string(entry.team_turns);
  REQUIRE(json.find(stated) != std::string::npos);
  Error none = ReadError(Replace(
      json, stated, "\"team\":false,\"team_lanes\":0,\"team_turns\":" + std::to_string(kernel.exprs.size())));
  CHECK(none.message().find("does not exist") != std::string_view::npos);
  Error large = ReadError(Replace(json, "\"team_lanes\":32", "\"team_lanes\":4000000000"));
  CHECK(large.message().find("teams of 4000000000 iterations") != std::string_view::npos);
}

TEST_CASE("a stack says what it holds", "[metadata]") {
  Metadata written = Sample();
  written.kernels[0].tasks[1].plans[0].stacks[0].value = "a";
  Metadata read;
  Error error;
  REQUIRE(ReadMetadata(Json(written), kFormatMinor, Limits{}, nullptr, &read, &error));
  CHECK(read.kernels[0].tasks[1].plans[0].stacks[0].value == "a");
  CHECK(read.kernels[0].tasks[1].plans[0].stacks[1].value.empty());
}

TEST_CASE("a task says what it reads and writes", "[metadata]") {
  Metadata written = Sample();
  written.kernels[0].tasks[1].reads = {0, 3, 4};
  written.kernels[0].tasks[1].writes = {2, 4};
  Metadata read;
  Error error;
  REQUIRE(ReadMetadata(Json(written), kFormatMinor, Limits{}, nullptr, &read, &error));
  CHECK(read.kernels[0].tasks[1].reads == written.kernels[0].tasks[1].reads);
  CHECK(read.kernels[0].tasks[1].writes == written.kernels[0].tasks[1].writes);
  CHECK(read.kernels[0].tasks[0].reads.empty());
  // Not ascending, one twice, one that is not there, and one without content.
  for (const char* list : {"[3,0,4]", "[0,0,4]", "[0,3,99]", "[0,1,4]"}) {
    Error refused = ReadError(Replace(Json(written), "[0,3,4]", list));
    CHECK(refused.message().find("parameters that are read or written is wrong") != std::string_view::npos);
  }
  Error refused = ReadError(Replace(Json(written), "[2,4]", "[4,2]"));
  CHECK(refused.message().find("parameters that are read or written is wrong") != std::string_view::npos);
}

TEST_CASE("sources have digests of their texts", "[metadata]") {
  Metadata written = Sample();
  String digest(std::string(64, 'a'));
  written.source_digests = {digest, String()};
  Metadata read;
  Error error;
  std::string json = Json(written);
  REQUIRE(ReadMetadata(json, kFormatMinor, Limits{}, nullptr, &read, &error));
  CHECK(read.source_digests == written.source_digests);
  std::string quoted = "\"" + std::string(64, 'a') + "\"";
  // One too few, one too many, a short one, and one of other characters.
  for (const std::string& list : {quoted, quoted + ",\"\",\"\"", std::string("\"aa\",\"\""),
                                  "\"" + std::string(63, 'a') + "G\",\"\""}) {
    Error refused = ReadError(Replace(json, quoted + ",\"\"", list));
    CHECK(refused.message().find("digests of the sources are wrong") != std::string_view::npos);
  }
}

TEST_CASE("what a stranger writes cannot speak to a terminal or a compiler", "[metadata]") {
  std::string json = Json(Sample());
  for (const char* producer :
       {"\\u001b[31m", "a\xC2\x9B", "a\xE2\x80\xAE", "a\xE2\x81\xA6", "a\xE2\x80\xA8"}) {
    Error error = ReadError(Replace(json, "\"producer\":\"", std::string("\"producer\":\"") + producer));
    CHECK(error.message().find("control characters") != std::string_view::npos);
  }
  CHECK(ReadError(Replace(json, "\"producer\":\"", "\"producer\":\"\xC3\xA9\xE2\x82\xAC ")).ok());
  Error error = ReadError(Replace(json, "\"kind\":\"buffer\"", "\"kind\":\"\\u001b[31m\\n\""));
  CHECK(error.message().find("a word that is not printable is not a value of 'kind'") !=
        std::string_view::npos);
  for (const char* symbol : {"x(void); int system", "2adc", "adc-k", "adc.k"}) {
    error = ReadError(Replace(json, "\"symbol\":\"", std::string("\"symbol\":\"") + symbol));
    CHECK(error.message().find("no identifier of C") != std::string_view::npos);
  }
}

TEST_CASE("a key that is gone is passed over in the versions that had it, and refused after them",
          "[metadata]") {
  Metadata now = Sample();
  std::string json = Json(now), then = json;
  std::string gone = "\"reference\":[{\"capacity\":0,\"floats_4\":5,\"floats_8\":0,\"integers\":3}],";
  for (size_t at = then.find("\"size_class\""); at != std::string::npos;
       at = then.find("\"size_class\"", at + gone.size() + 1)) {
    then.insert(at, gone);
  }
  REQUIRE(then != json);
  // What came in 1.7, 1.9, 1.10, 1.11, 1.13, 1.15, 1.16 and 1.17.
  for (auto [later, next] : {std::pair<std::string_view, std::string_view>{"\"param\":-1,", "\"place\""},
                             {"\"cheap_replay\":false,", "\"count_reads\""},
                             {",\"team\":false,\"team_lanes\":0,\"team_turns\":-1", "}"},
                             {",\"value\":\"\"", "}"},
                             {"\"reads\":[],", "\"reference\""},
                             {",\"writes\":[]", "}"},
                             {"\"source_digests\":[],", "\"sources\""}}) {
    std::string whole = std::string(later) + std::string(next);
    for (size_t at = then.find(whole); at != std::string::npos; at = then.find(whole))
      then.erase(at, later.size());
  }
  Metadata read;
  Error error;
  REQUIRE(ReadMetadata(then, 5, Limits{}, nullptr, &read, &error));
  CHECK(Json(read) == json);
  CHECK(ReadError(json, 5).code == Code::kMalformed);
  CHECK(ReadError(then, 6).code == Code::kMalformed);
}

TEST_CASE("a bounds kernel fits the kernels that it records", "[metadata]") {
  auto refused = [](void (*change)(KernelMeta& bounds)) {
    Metadata metadata = Sample();
    metadata.bounds_recorded = true;
    KernelMeta bounds;
    bounds.name = "k.bounds";
    bounds.role = KernelRole::kBounds;
    bounds.of = "k";
    bounds.asserts = {{"a.ir:2:3", "for"}};
    bounds.exprs = metadata.kernels[1].exprs;
    for (const ParamMeta& param : metadata.kernels[1].params) {
      if (param.role == ParamRole::kPlain) bounds.params.push_back(param);
    }
    ParamMeta own;
    own.rank = 1;
    for (auto [name, type] :
         {std::pair{"record", ScalarType::kU64}, {"status", ScalarType::kI32}, {"sums", ScalarType::kU64}}) {
      own.name = name;
      own.type = type;
      bounds.params.push_back(own);
    }
    TaskMeta task = metadata.kernels[1].tasks[0];
    task.entries = metadata.kernels[1].tasks[1].entries;
    for (EntryMeta& entry : task.entries) {
      entry.plan = kNoIndex;
      entry.bindings.clear();
      entry.far_symbol = "";
    }
    bounds.tasks = {task, task};
    change(bounds);
    metadata.kernels[0].bounds = metadata.kernels[1].bounds = 1;
    metadata.kernels = {metadata.kernels[0], bounds, metadata.kernels[1]};
    FinishMetadata(&metadata);
    Error error;
    String json;
    bool written = WriteMetadata(metadata, &json, &error);
    INFO(error.message());
    CHECK((written || error.message().find("kernel 1 does not record its bounds") != std::string_view::npos));
    return !written;
  };
  CHECK_FALSE(refused([](KernelMeta&) {}));
  CHECK(refused([](KernelMeta& bounds) { bounds.role = KernelRole::kJvp; }));
  CHECK(refused([](KernelMeta& bounds) { bounds.params.pop_back(); }));
  CHECK(refused([](KernelMeta& bounds) { bounds.params[0].rank = 3; }));
  CHECK(refused([](KernelMeta& bounds) { bounds.params.back().type = ScalarType::kI64; }));
  CHECK(refused([](KernelMeta& bounds) { bounds.tasks.pop_back(); }));
  CHECK(refused([](KernelMeta& bounds) { bounds.tasks[1].entries.pop_back(); }));
}

TEST_CASE("metadata cut anywhere is refused", "[metadata]") {
  std::string json = Json(Sample());
  int accepted = 0;
  for (size_t length = 0; length < json.size(); ++length) {
    Metadata metadata;
    Error error;
    accepted += ReadMetadata({json.data(), length}, kFormatMinor, Limits{}, nullptr, &metadata, &error);
  }
  CHECK(accepted == 0);
}

TEST_CASE("limits on metadata hold", "[metadata]") {
  std::string json = Json(Sample());
  auto code = [&](const std::function<void(Limits&)>& lower) {
    Limits limits;
    lower(limits);
    Metadata metadata;
    Error error;
    CHECK_FALSE(ReadMetadata(json, kFormatMinor, limits, nullptr, &metadata, &error));
    return error.code;
  };
  CHECK(code([](Limits& limits) { limits.metadata_bytes = 100; }) == Code::kOverLimit);
  CHECK(code([](Limits& limits) { limits.kernels = 1; }) == Code::kOverLimit);
  CHECK(code([](Limits& limits) { limits.targets = 1; }) == Code::kOverLimit);
  CHECK(code([](Limits& limits) { limits.name_bytes = 4; }) == Code::kOverLimit);
}
