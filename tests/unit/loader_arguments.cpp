#include <functional>

#include "session.h"

using namespace fixture;

namespace {

// saxpy with everything right; a row of the test below breaks one thing.
struct Saxpy {
  alignas(64) float x[8] = {};
  alignas(64) float y[8] = {};
  float a = 1;
  std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, x, {8}), BufferArg("y", ADRT_TYPE_F32, y, {8}),
                                ScalarArg("a", ADRT_TYPE_F32, &a)};
};

}  // namespace

TEST_CASE("each wrong argument is named with what was expected", "[loader]") {
  struct Row {
    const char* name;
    std::function<void(Saxpy&)> change;
    adrt_status status;
    std::vector<const char*> says;
  };
  const Row rows[] = {
      {"missing", [](Saxpy& s) { s.args.pop_back(); }, ADRT_ERROR_ARGUMENT, {"'a'", "missing"}},
      {"twice", [](Saxpy& s) { s.args.push_back(s.args[0]); }, ADRT_ERROR_ARGUMENT, {"'x'", "twice"}},
      {"unknown name", [](Saxpy& s) { s.args[0].name = "z"; }, ADRT_ERROR_ARGUMENT, {"'saxpy'", "'z'"}},
      {"index too large",
       [](Saxpy& s) { s.args[0].name = nullptr, s.args[0].index = 3; },
       ADRT_ERROR_ARGUMENT,
       {"3"}},
      {"type", [](Saxpy& s) { s.args[0].type = ADRT_TYPE_F64; }, ADRT_ERROR_ARGUMENT, {"f32", "f64"}},
      {"no type", [](Saxpy& s) { s.args[0].type = 77; }, ADRT_ERROR_ARGUMENT, {"f32", "?"}},
      {"element shape", [](Saxpy& s) { s.args[0].rows = 3; }, ADRT_ERROR_ARGUMENT, {"1 x 1", "3 x 1"}},
      {"rank", [](Saxpy& s) { s.args[0].rank = 2; }, ADRT_ERROR_ARGUMENT, {"rank 1", "rank 2"}},
      {"kind",
       [](Saxpy& s) { s.args[0].kind = ADRT_PARAM_SCALAR; },
       ADRT_ERROR_ARGUMENT,
       {"a buffer", "by-value"}},
      {"no kind", [](Saxpy& s) { s.args[0].kind = 1000; }, ADRT_ERROR_ARGUMENT, {"nothing known"}},
      {"negative extent",
       [](Saxpy& s) { s.args[0].extents[0] = -5; },
       ADRT_ERROR_ARGUMENT,
       {"-5", "negative"}},
      {"extent past i32",
       [](Saxpy& s) { s.args[1].extents[0] = 1ll << 31; },
       ADRT_ERROR_ARGUMENT,
       {"2147483648", "i32"}},
      {"bytes past the address space",
       [](Saxpy& s) { s.args[0].extents[0] = INT64_MAX / 4; },
       ADRT_ERROR_ARGUMENT,
       {"address space"}},
      {"bytes past 64 bits",
       [](Saxpy& s) { s.args[0].extents[0] = INT64_MAX; },
       ADRT_ERROR_SIZE_OVERFLOW,
       {"64 bits"}},
      {"null buffer", [](Saxpy& s) { s.args[0].data = nullptr; }, ADRT_ERROR_ARGUMENT, {"null", "32 bytes"}},
      {"null scalar", [](Saxpy& s) { s.args[2].data = nullptr; }, ADRT_ERROR_ARGUMENT, {"null"}},
      {"misaligned",
       [](Saxpy& s) { s.args[0].data = reinterpret_cast<char*>(s.x) + 1; },
       ADRT_ERROR_ARGUMENT,
       {"multiple of 4"}},
      {"fewer bytes than stated", [](Saxpy& s) { s.args[0].size = 31; }, ADRT_ERROR_ARGUMENT, {"32", "31"}},
      {"scalar of another size", [](Saxpy& s) { s.args[2].size = 8; }, ADRT_ERROR_ARGUMENT, {"4 bytes", "8"}},
      {"shared memory",
       [](Saxpy& s) { s.args[1].data = s.x + 4, s.args[1].extents[0] = 2; },
       ADRT_ERROR_ARGUMENT,
       {"'y'", "'x'", "alias"}},
      {"struct_size", [](Saxpy& s) { s.args[1].struct_size = 0; }, ADRT_ERROR_ARGUMENT, {"struct_size"}},
      {"struct_size of another element",
       [](Saxpy& s) { s.args[1].struct_size = offsetof(adrt_arg, reserved); },
       ADRT_ERROR_ARGUMENT,
       {"argument 1", "struct_size"}},
      {"reserved word", [](Saxpy& s) { s.args[1].reserved[1] = 1; }, ADRT_ERROR_ARGUMENT, {"reserved word"}},
  };
  Session session;
  for (const Row& row : rows) {
    Saxpy saxpy;
    row.change(saxpy);
    Plan plan(session, "saxpy", saxpy.args);
    INFO(row.name << ": " << plan.error.text);
    CHECK(plan.status == row.status);
    CHECK(plan.plan == nullptr);
    CHECK(plan.error.status == row.status);
    for (const char* part : row.says) CHECK(plan.error.Says(part));
  }
  Saxpy saxpy;
  CHECK(Plan(session, "saxpy", saxpy.args).status == ADRT_OK);
  std::swap(saxpy.args[0], saxpy.args[2]);
  CHECK(Plan(session, "saxpy", saxpy.args).status == ADRT_OK);
  for (uint32_t index = 0; index < 3; ++index)
    saxpy.args[index].name = nullptr, saxpy.args[index].index = 2 - index;
  CHECK(Plan(session, "saxpy", saxpy.args).status == ADRT_OK);
}

TEST_CASE("neighbours do not share memory, and readers may", "[loader]") {
  Session session;
  Saxpy saxpy;
  saxpy.args[0].extents[0] = 4;
  saxpy.args[1].data = saxpy.x + 4;
  saxpy.args[1].extents[0] = 4;
  CHECK(Plan(session, "saxpy", saxpy.args).status == ADRT_OK);
  saxpy.args[1].extents[0] = 0;
  saxpy.args[1].data = saxpy.x;
  CHECK(Plan(session, "saxpy", saxpy.args).status == ADRT_OK);
  int32_t start[4] = {};
  float y[2] = {};
  std::vector<adrt_arg> rows = {BufferArg("start", ADRT_TYPE_I32, start, {3}),
                                BufferArg("x", ADRT_TYPE_F32, start, {4}),
                                BufferArg("y", ADRT_TYPE_F32, y, {2})};
  CHECK(Plan(session, "rows", rows).status == ADRT_OK);
  adc::artifact::Metadata metadata = MakeMetadata();
  for (adc::artifact::KernelMeta& kernel : metadata.kernels) {
    for (adc::artifact::ParamMeta& param : kernel.params)
      param.alias = param.kind == adc::artifact::ParamKind::kBuffer;
  }
  Session aliasing(1, MakeBundle(metadata, ReadImage()));
  saxpy.args[1].extents[0] = 4;
  CHECK(Plan(aliasing, "saxpy", saxpy.args).status == ADRT_OK);
}

TEST_CASE("a companion has its primal's shape", "[loader]") {
  adc::artifact::Metadata metadata = MakeMetadata();
  for (adc::artifact::KernelMeta& kernel : metadata.kernels) {
    if (kernel.name != "saxpy") continue;
    kernel.params[1].role = adc::artifact::ParamRole::kAdjoint;
    kernel.params[1].primal = 0;
  }
  FinishMetadata(&metadata);
  Session session(1, MakeBundle(metadata, ReadImage()));
  Saxpy saxpy;
  CHECK(Plan(session, "saxpy", saxpy.args).status == ADRT_OK);
  for (int64_t extent : {7, 0}) {
    saxpy.args[1].extents[0] = extent;
    Plan plan(session, "saxpy", saxpy.args);
    CHECK(plan.status == ADRT_ERROR_ARGUMENT);
    CHECK(plan.error.Says("'y'"));
    CHECK(plan.error.Says("'x' is 8"));
  }
}

TEST_CASE("a buffer of no bytes may be null", "[loader]") {
  Session session;
  Saxpy saxpy;
  saxpy.args[0].data = saxpy.args[1].data = nullptr;
  saxpy.args[0].extents[0] = saxpy.args[1].extents[0] = 0;
  Plan plan(session, "saxpy", saxpy.args);
  REQUIRE(plan.status == ADRT_OK);
  CHECK(plan.Run() == ADRT_OK);
  // An empty axis makes the buffer empty, however long the others are.
  float m[4] = {};
  int8_t k = 0;
  uint16_t u = 0;
  uint8_t flag = 0;
  uint32_t code = 0;
  std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, nullptr, {INT64_MAX, 0}),
                                ScalarArg("m", ADRT_TYPE_F32, m),
                                ScalarArg("k", ADRT_TYPE_I8, &k),
                                ScalarArg("u", ADRT_TYPE_U16, &u),
                                ScalarArg("flag", ADRT_TYPE_I1, &flag),
                                ScalarArg("code", ADRT_TYPE_U32, &code)};
  args[1].rows = args[1].columns = 2;
  Plan empty(session, "check", args);
  INFO(empty.error.text);
  REQUIRE(empty.status == ADRT_OK);
  CHECK(empty.Task(0).iterations == 0);
  flag = 2;
  Plan neither(session, "check", args);
  CHECK(neither.status == ADRT_ERROR_ARGUMENT);
  CHECK(neither.error.Says("i1"));
}

TEST_CASE("a layout argument has its size and alignment checked", "[loader]") {
  adc::artifact::Metadata metadata = MakeMetadata();
  adc::artifact::LayoutMeta layout;
  layout.name = "grid";
  layout.size = 256;
  layout.alignment = 8;
  metadata.layouts.push_back(layout);
  for (adc::artifact::KernelMeta& kernel : metadata.kernels) {
    if (kernel.name != "mean") continue;
    adc::artifact::ParamMeta param;
    param.name = "g";
    param.kind = adc::artifact::ParamKind::kLayout;
    param.layout = 0;
    kernel.params.push_back(param);
  }
  FinishMetadata(&metadata);
  Session session(1, MakeBundle(metadata, ReadImage()));
  float x[2] = {1, 3}, y[2] = {};
  alignas(8) unsigned char grid[264] = {};
  adrt_arg g = {};
  g.struct_size = sizeof g;
  g.kind = ADRT_PARAM_LAYOUT;
  g.name = "g";
  g.data = grid;
  g.size = 256;
  auto plan_with = [&](const adrt_arg& arg) {
    Plan plan(session, "mean",
              {BufferArg("x", ADRT_TYPE_F32, x, {2}), BufferArg("y", ADRT_TYPE_F32, y, {2}), arg});
    return plan.status == ADRT_OK ? std::string() : std::string(plan.error.text);
  };
  CHECK(plan_with(g).empty());
  g.size = 255;
  CHECK(plan_with(g).find("256 bytes, given 255") != std::string::npos);
  g.size = 256;
  g.data = grid + 4;
  CHECK(plan_with(g).find("multiple of 8") != std::string::npos);
  g.data = nullptr;
  CHECK(plan_with(g).find("null") != std::string::npos);
}

TEST_CASE("what a newer caller asks for is refused, not passed over", "[loader]") {
  Session session;
  Saxpy saxpy;
  ErrorBox error;
  adrt_launch_plan* plan = nullptr;
  // A descriptor of a later version: this one's, and words behind it.
  struct Later {
    adrt_plan_desc desc;
    uint64_t more[2];
  } later = {};
  later.desc.struct_size = sizeof later;
  later.desc.module = session.module;
  later.desc.args = saxpy.args.data();
  later.desc.arg_count = 3;
  auto made = [&] {
    adrt_status status = adrt_plan(session.Kernel("saxpy"), &later.desc, &plan, &error);
    adrt_plan_release(plan);
    plan = nullptr;
    return status;
  };
  CHECK(made() == ADRT_OK);
  later.more[1] = 1;
  CHECK(made() == ADRT_ERROR_ARGUMENT);
  CHECK(error.Says("reserved word"));
  later.more[1] = 0;
  later.desc.reserved[0] = 1;
  CHECK(made() == ADRT_ERROR_ARGUMENT);
  later.desc.struct_size = offsetof(adrt_plan_desc, reserved);  // an earlier caller has no such word
  CHECK(made() == ADRT_OK);
  adrt_host host = TrustingHost();
  host.reserved[0] = 7;
  adrt_device* device = nullptr;
  CHECK(adrt_device_open_cpu(&host, 1, &device, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(error.Says("host: "));
  CHECK(device == nullptr);
}

TEST_CASE("elements of an array lie where their type must", "[loader]") {
  Session session;
  Saxpy saxpy;
  ErrorBox error;
  // Arguments of a caller whose header has more words behind this one's.
  auto planned = [&](uint32_t stride) {
    std::vector<uint64_t> memory(3 * stride / sizeof(uint64_t) + 1);
    auto* bytes = reinterpret_cast<unsigned char*>(memory.data());
    for (size_t number = 0; number < 3; ++number) {
      saxpy.args[number].struct_size = stride;
      std::memcpy(bytes + number * stride, &saxpy.args[number], sizeof(adrt_arg));
    }
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.module = session.module;
    desc.args = reinterpret_cast<const adrt_arg*>(bytes);
    desc.arg_count = 3;
    adrt_launch_plan* plan = nullptr;
    adrt_status status = adrt_plan(session.Kernel("saxpy"), &desc, &plan, &error);
    adrt_plan_release(plan);
    return status;
  };
  CHECK(planned(sizeof(adrt_arg) + 8) == ADRT_OK);
  for (uint32_t more : {1u, 4u, 12u}) {
    CHECK(planned(sizeof(adrt_arg) + more) == ADRT_ERROR_ARGUMENT);
    CHECK(error.Says("argument 0: struct_size"));
  }
}

TEST_CASE("calls without what they need are refused", "[loader]") {
  Session session;
  ErrorBox error;
  adrt_launch_plan* plan = nullptr;
  adrt_plan_desc desc = {};
  CHECK(adrt_plan(session.Kernel("saxpy"), &desc, &plan, &error) == ADRT_ERROR_ARGUMENT);
  desc.struct_size = sizeof desc;
  desc.arg_count = 1;
  CHECK(adrt_plan(session.Kernel("saxpy"), &desc, &plan, &error) == ADRT_ERROR_ARGUMENT);
  desc.arg_count = 0;
  desc.target = 5;
  CHECK(adrt_plan(session.Kernel("saxpy"), &desc, &plan, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_plan(nullptr, &desc, &plan, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_run(nullptr, nullptr, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_bundle_info(session.bundle, nullptr, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_device_open_cpu(nullptr, 1u << 20, &session.device, &error) == ADRT_ERROR_ARGUMENT);
  Session other;
  Saxpy saxpy;
  desc = {};
  desc.struct_size = sizeof desc;
  desc.module = other.module;
  desc.args = saxpy.args.data();
  desc.arg_count = 3;
  CHECK(adrt_plan(session.Kernel("saxpy"), &desc, &plan, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(error.Says("another bundle"));
  CHECK(plan == nullptr);
}

TEST_CASE("an extent past i32 is refused along the axes that the kernel reads as i32, and along no other",
          "[loader]") {
  adc::artifact::Metadata metadata = MakeMetadata();
  for (adc::artifact::KernelMeta& kernel : metadata.kernels) {
    if (kernel.name != "check") continue;
    kernel.params[0].shape_i32 = true;
    kernel.params[0].shape_i32_axes = 2;
  }
  Session session(2, MakeBundle(metadata, ReadImage()));
  float m[4] = {};
  int8_t k = 0, flag = 0;
  uint16_t u = 0;
  uint32_t code = 0;
  alignas(64) float x[4] = {};
  adrt_arg matrix = ScalarArg("m", ADRT_TYPE_F32, m);
  matrix.rows = matrix.columns = 2;
  constexpr int64_t kLong = int64_t{1} << 31;
  for (auto [rows, columns] : {std::pair{kLong, int64_t{1}}, {kLong, int64_t{0}}, {int64_t{1}, kLong - 1}}) {
    Plan plan(session, "check",
              {BufferArg("x", ADRT_TYPE_F32, x, {rows, columns}), matrix, ScalarArg("k", ADRT_TYPE_I8, &k),
               ScalarArg("u", ADRT_TYPE_U16, &u), ScalarArg("flag", ADRT_TYPE_I1, &flag),
               ScalarArg("code", ADRT_TYPE_U32, &code)},
              0, false);
    INFO(plan.error.text);
    CHECK(plan.status == ADRT_OK);
  }
  for (int64_t rows : {0, 1}) {
    Plan plan(session, "check",
              {BufferArg("x", ADRT_TYPE_F32, x, {rows, kLong}), matrix, ScalarArg("k", ADRT_TYPE_I8, &k),
               ScalarArg("u", ADRT_TYPE_U16, &u), ScalarArg("flag", ADRT_TYPE_I1, &flag),
               ScalarArg("code", ADRT_TYPE_U32, &code)},
              0, false);
    CHECK(plan.status == ADRT_ERROR_ARGUMENT);
    CHECK(plan.error.Says("extent of axis 1 is 2147483648, and the kernel reads it as i32"));
  }
}
