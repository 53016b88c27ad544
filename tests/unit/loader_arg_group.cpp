#include <adrt/adrt_arg_group.h>
#include <adrt/adrt_sequence.h>

#include "session.h"

// Arguments that plans share: what is given to a group reaches its plans and what is recorded from then on,
// or nothing changes at all.

using namespace fixture;

namespace {

constexpr int64_t kCount = 100;

struct Group {
  adrt_arg_group* group = nullptr;
  ErrorBox error;

  Group(Session& session, std::vector<adrt_arg> args) {
    INFO(error.text);
    REQUIRE(adrt_arg_group_create(session.device, args.data(), static_cast<uint32_t>(args.size()), &group,
                                  &error) == ADRT_OK);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { adrt_arg_group_release(group); }

  adrt_status Update(std::vector<adrt_arg> args) {
    return adrt_arg_group_update(group, args.data(), static_cast<uint32_t>(args.size()), &error);
  }
  adrt_status Make(Session& session, const char* kernel, std::vector<adrt_arg> own, adrt_launch_plan** plan) {
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.module = session.module;
    desc.args = own.data();
    desc.arg_count = static_cast<uint32_t>(own.size());
    return adrt_plan_grouped(session.Kernel(kernel), &desc, &group, 1, plan, &error);
  }
};

/// y += a x and z += a x with one group that has x and a, and what no kernel knows.
struct Shared {
  Session session;
  std::vector<float> x = std::vector<float>(kCount, 1), y = std::vector<float>(kCount),
                     z = std::vector<float>(kCount);
  float a = 2;
  Group group{
      session,
      {Buffer("x", x), ScalarArg("a", ADRT_TYPE_F32, &a), BufferArg("mass", ADRT_TYPE_F64, nullptr, {0})}};
  adrt_launch_plan *to_y = nullptr, *to_z = nullptr;

  Shared() {
    session.Must(group.Make(session, "saxpy", {Buffer("y", y)}, &to_y));
    session.Must(group.Make(session, "saxpy", {Buffer("y", z)}, &to_z));
  }
  ~Shared() {
    adrt_plan_release(to_y);
    adrt_plan_release(to_z);
  }
  static adrt_arg Buffer(const char* name, std::vector<float>& values) {
    return BufferArg(name, ADRT_TYPE_F32, values.data(), {static_cast<int64_t>(values.size())});
  }
  void Run() {
    for (adrt_launch_plan* plan : {to_y, to_z}) session.Must(adrt_run(plan, nullptr, &session.error));
  }
};

}  // namespace

TEST_CASE("what a group is given reaches all of its plans", "[loader]") {
  Shared shared;
  shared.a = 1000;  // the group has its own copy
  shared.Run();
  CHECK(shared.y == std::vector<float>(kCount, 2));
  CHECK(shared.z == shared.y);
  float other = 3;
  std::vector<float> elsewhere(kCount, 10);
  REQUIRE(shared.group.Update({ScalarArg("a", ADRT_TYPE_F32, &other), Shared::Buffer("x", elsewhere)}) ==
          ADRT_OK);
  shared.Run();
  CHECK(shared.y == std::vector<float>(kCount, 32));
  CHECK(shared.z == shared.y);
  // A plan that is gone is not updated any more, the others are.
  adrt_plan_release(shared.to_y);
  shared.to_y = nullptr;
  other = -1;
  REQUIRE(shared.group.Update({ScalarArg("a", ADRT_TYPE_F32, &other)}) == ADRT_OK);
  shared.session.Must(adrt_run(shared.to_z, nullptr, &shared.session.error));
  CHECK(shared.z == std::vector<float>(kCount, 22));
}

TEST_CASE("a sequence is recorded with what the group has, and says where it is behind", "[loader]") {
  Shared shared;
  alignas(64) static uint32_t blocks[2][16];
  adrt_sequence* sequence = nullptr;
  ErrorBox error;
  shared.session.Must(adrt_sequence_create(shared.session.device, &sequence, &error));
  shared.session.Must(adrt_sequence_add(sequence, shared.to_y, nullptr, 0, blocks[0], &error));
  shared.session.Must(adrt_sequence_add(sequence, shared.to_z, nullptr, 0, blocks[1], &error));
  auto changed = [&] {
    adrt_sequence_report report = {};
    report.struct_size = sizeof report;
    shared.session.Must(adrt_sequence_info(sequence, &report, &error));
    return report.changed != 0;
  };
  CHECK(changed());
  shared.session.Must(adrt_sequence_run(sequence, &error));
  CHECK_FALSE(changed());
  float other = 5;
  REQUIRE(shared.group.Update({ScalarArg("a", ADRT_TYPE_F32, &other)}) == ADRT_OK);
  CHECK(changed());
  shared.session.Must(adrt_sequence_run(sequence, &error));
  CHECK_FALSE(changed());
  CHECK(shared.y == std::vector<float>(kCount, 7));
  CHECK(shared.z == shared.y);
  adrt_sequence_release(sequence);
}

TEST_CASE("where one plan refuses, group and plans have what they had", "[loader]") {
  Shared shared;
  std::vector<float> seven(kCount, 7), few(10, 100);
  // x would fit, a does not: neither is taken.
  double other = 50;
  adrt_arg wrong = ScalarArg("a", ADRT_TYPE_F64, &other);
  CHECK(shared.group.Update({Shared::Buffer("x", seven), wrong}) == ADRT_ERROR_ARGUMENT);
  CHECK(shared.group.error.Says("kernel 'saxpy', parameter 'a'"));
  shared.Run();
  CHECK(shared.y == std::vector<float>(kCount, 2));
  CHECK(shared.z == shared.y);
  // A plan that is made later gets what was there as well.
  std::vector<float> w(kCount);
  adrt_launch_plan* later = nullptr;
  shared.session.Must(shared.group.Make(shared.session, "saxpy", {Shared::Buffer("y", w)}, &later));
  shared.session.Must(adrt_run(later, nullptr, &shared.session.error));
  CHECK(w == shared.y);
  adrt_plan_release(later);
}

TEST_CASE("the second plan refuses: the first takes back what it had", "[loader]") {
  Session session;
  std::vector<float> x(kCount, 1), y(kCount), z(kCount);
  float a = 2;
  std::vector<double> tape_x(kCount, 0.5), tape_y(kCount);
  int32_t n = 3;
  // Two kernels that mean different things by x.
  Group group(session, {ScalarArg("a", ADRT_TYPE_F32, &a), ScalarArg("n", ADRT_TYPE_I32, &n)});
  adrt_launch_plan *saxpy = nullptr, *tape = nullptr;
  session.Must(group.Make(session, "saxpy", {Shared::Buffer("x", x), Shared::Buffer("y", y)}, &saxpy));
  session.Must(group.Make(session, "tape",
                          {BufferArg("x", ADRT_TYPE_F64, tape_x.data(), {kCount}),
                           BufferArg("y", ADRT_TYPE_F64, tape_y.data(), {kCount})},
                          &tape));
  float other = 9;
  CHECK(group.Update({ScalarArg("a", ADRT_TYPE_F32, &other), ScalarArg("n", ADRT_TYPE_F32, &other)}) ==
        ADRT_ERROR_ARGUMENT);
  CHECK(group.error.Says("kernel 'tape', parameter 'n'"));
  session.Must(adrt_run(saxpy, nullptr, &session.error));
  CHECK(y == std::vector<float>(kCount, 2));
  adrt_plan_release(saxpy);
  adrt_plan_release(tape);
}

TEST_CASE("what groups are not given right they refuse", "[loader]") {
  Shared shared;
  Group& group = shared.group;
  float value = 1;
  CHECK(group.Update({ScalarArg("b", ADRT_TYPE_F32, &value)}) == ADRT_ERROR_ARGUMENT);
  CHECK(group.error.Says("the group has no argument 'b'"));
  adrt_arg arg = ScalarArg("a", ADRT_TYPE_F32, &value);
  CHECK(group.Update({arg, arg}) == ADRT_ERROR_ARGUMENT);
  CHECK(group.error.Says("'a' is given twice"));
  adrt_arg n = ScalarArg("n", ADRT_TYPE_F32, &value);
  n.struct_size = offsetof(adrt_arg, reserved);  // not the stride of the array
  CHECK(group.Update({arg, n}) == ADRT_ERROR_ARGUMENT);
  CHECK(group.error.Says("argument 1: struct_size"));
  arg.name = nullptr;
  CHECK(group.Update({arg}) == ADRT_ERROR_ARGUMENT);
  CHECK(group.error.Says("has no name"));
  // A parameter that group and descriptor both give, and one that nobody gives.
  adrt_launch_plan* plan = nullptr;
  CHECK(group.Make(shared.session, "saxpy", {Shared::Buffer("y", shared.y), Shared::Buffer("x", shared.x)},
                   &plan) == ADRT_ERROR_ARGUMENT);
  CHECK(group.error.Says("parameter 'x'"));
  CHECK(group.error.Says("is given twice"));
  CHECK(group.Make(shared.session, "saxpy", {}, &plan) == ADRT_ERROR_ARGUMENT);
  CHECK(plan == nullptr);
  Session other;
  CHECK(group.Make(other, "saxpy", {Shared::Buffer("y", shared.y)}, &plan) == ADRT_ERROR_ARGUMENT);
  CHECK(group.error.Says("not of the module's device"));
}
