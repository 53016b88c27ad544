#include <functional>

#include "session.h"

using namespace fixture;

TEST_CASE("a bundle opens by copy and by loan, and says what it holds", "[loader]") {
  std::vector<uint8_t> file = MakeBundle();
  for (uint32_t mode : {uint32_t{ADRT_BUNDLE_COPY}, uint32_t{ADRT_BUNDLE_BORROW}}) {
    std::vector<uint8_t> bytes = file;
    adrt_bundle* bundle = nullptr;
    ErrorBox error;
    REQUIRE(adrt_bundle_open(nullptr, bytes.data(), bytes.size(), mode, &bundle, &error) == ADRT_OK);
    if (mode == ADRT_BUNDLE_COPY) std::fill(bytes.begin(), bytes.end(), uint8_t{0});
    adrt_bundle_report report = {};
    report.struct_size = sizeof report;
    REQUIRE(adrt_bundle_info(bundle, &report, &error) == ADRT_OK);
    CHECK(report.major == 1);
    CHECK(report.kernel_count == 9);
    CHECK(report.target_count == 2);
    CHECK(report.section_count == 2);
    CHECK(report.source_count == 1);
    CHECK(report.file_bytes == file.size());
    CHECK(std::string(report.producer) == "fixture");
    CHECK(std::string(adrt_bundle_source(bundle, 0)) == "fixture.ir");
    CHECK(adrt_bundle_source(bundle, 1) == nullptr);

    adrt_section_report section = {};
    section.struct_size = sizeof section;
    REQUIRE(adrt_bundle_section(bundle, 1, &section, &error) == ADRT_OK);
    CHECK(std::string(section.kind) == "SHLB");
    CHECK(section.compressed == 1);
    size_t size = 0;
    REQUIRE(adrt_bundle_section_data(bundle, 1, nullptr, 0, &size, &error) == ADRT_OK);
    std::vector<uint8_t> image(size);
    CHECK(adrt_bundle_section_data(bundle, 1, image.data(), size - 1, &size, &error) == ADRT_ERROR_ARGUMENT);
    REQUIRE(adrt_bundle_section_data(bundle, 1, image.data(), image.size(), &size, &error) == ADRT_OK);
    CHECK(image == ReadImage());
    CHECK(adrt_bundle_section(bundle, 2, &section, &error) == ADRT_ERROR_ARGUMENT);
    CHECK(error.Says("there are 2"));
    adrt_bundle_retain(bundle);
    adrt_bundle_release(bundle);
    adrt_bundle_release(bundle);
  }
}

TEST_CASE("kernels and parameters can be listed", "[loader]") {
  Session session;
  ErrorBox error;
  std::vector<std::string> names;
  const adrt_kernel* kernel = nullptr;
  for (uint32_t index = 0; adrt_bundle_kernel(session.bundle, index, &kernel, &error) == ADRT_OK; ++index) {
    adrt_kernel_report report = {};
    report.struct_size = sizeof report;
    REQUIRE(adrt_kernel_info(kernel, &report, &error) == ADRT_OK);
    CHECK(report.index == index);
    names.push_back(report.name);
  }
  CHECK(names == std::vector<std::string>{"check", "collatz", "compact", "counted", "counted.size0", "mean",
                                          "rows", "saxpy", "tape"});
  adrt_param_report param = {};
  param.struct_size = sizeof param;
  REQUIRE(adrt_kernel_param(session.Kernel("check"), 1, &param, &error) == ADRT_OK);
  CHECK(std::string(param.name) == "m");
  CHECK(param.kind == ADRT_PARAM_SCALAR);
  CHECK(param.type == ADRT_TYPE_F32);
  CHECK(param.rows == 2);
  CHECK(param.columns == 2);
  CHECK(param.access == ADRT_ACCESS_READ);
  CHECK(std::string(adrt_type_name(param.type)) == "f32");
  CHECK(adrt_type_size(ADRT_TYPE_F64) == 8);
  CHECK(adrt_type_size(99) == 0);
  REQUIRE(adrt_kernel_param(session.Kernel("mean"), 2, &param, &error) == ADRT_OK);
  CHECK(param.kind == ADRT_PARAM_SCRATCH);
  CHECK(param.role == ADRT_ROLE_SCRATCH);
  CHECK(adrt_kernel_param(session.Kernel("mean"), 3, &param, &error) == ADRT_ERROR_ARGUMENT);
}

TEST_CASE("layouts can be looked at", "[loader]") {
  adc::artifact::Metadata metadata = MakeMetadata();
  adc::artifact::LayoutMeta layout;
  layout.name = "grid";
  layout.size = 256;
  layout.alignment = 8;
  adc::artifact::FieldMeta field;
  field.name = "rho";
  field.type = adc::artifact::ScalarType::kF64;
  field.levels = {{{2, 2}, {128, 64}}, {{4}, {16}}};
  layout.fields.push_back(field);
  metadata.layouts.push_back(layout);
  Session session(1, MakeBundle(metadata, ReadImage()));
  adrt_layout_report report = {};
  report.struct_size = sizeof report;
  REQUIRE(adrt_bundle_layout(session.bundle, 0, &report, &session.error) == ADRT_OK);
  CHECK(std::string(report.name) == "grid");
  CHECK(report.bytes == 256);
  adrt_field_report rho = {};
  rho.struct_size = sizeof rho;
  REQUIRE(adrt_bundle_field(session.bundle, 0, 0, &rho, &session.error) == ADRT_OK);
  CHECK(rho.type == ADRT_TYPE_F64);
  CHECK(rho.level_count == 2);
  CHECK(rho.axis_count[0] == 2);
  CHECK(rho.strides[0][1] == 64);
  CHECK(rho.extents[1][0] == 4);
  CHECK(adrt_bundle_field(session.bundle, 0, 1, &rho, &session.error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_bundle_layout(session.bundle, 1, &report, &session.error) == ADRT_ERROR_ARGUMENT);
}

TEST_CASE("kernels are found by exact name and interface", "[loader]") {
  Session session;
  ErrorBox error;
  const adrt_kernel* kernel = session.Kernel("tape");
  adrt_kernel_report report = {};
  report.struct_size = sizeof report;
  REQUIRE(adrt_kernel_info(kernel, &report, &error) == ADRT_OK);
  CHECK(report.checks == 0);
  const adrt_kernel* again = nullptr;
  CHECK(adrt_bundle_find_kernel(session.bundle, "tape", report.interface_hash, &again, &error) == ADRT_OK);
  CHECK(again == kernel);
  again = nullptr;
  CHECK(adrt_bundle_find_kernel(session.bundle, "tape", report.interface_hash ^ 1, &again, &error) ==
        ADRT_ERROR_INTERFACE_MISMATCH);
  CHECK(error.Says("'tape'"));
  CHECK(adrt_bundle_find_kernel(session.bundle, "tap", 0, &again, &error) == ADRT_ERROR_NOT_FOUND);
  CHECK(error.Says("'tap'"));
  CHECK(adrt_bundle_find_kernel(session.bundle, nullptr, 0, &again, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(again == nullptr);
  REQUIRE(adrt_kernel_info(session.Kernel("check"), &report, &error) == ADRT_OK);
  CHECK(report.checks == 4);
}

TEST_CASE("bytes that are no bundle are refused with their code", "[loader]") {
  std::vector<uint8_t> file = MakeBundle();
  adrt_bundle* bundle = nullptr;
  ErrorBox error;
  CHECK(adrt_bundle_open(nullptr, "hello", 5, 0, &bundle, &error) == ADRT_ERROR_BAD_MAGIC);
  CHECK(adrt_bundle_open(nullptr, nullptr, 0, 0, &bundle, &error) == ADRT_ERROR_BAD_MAGIC);
  CHECK(adrt_bundle_open(nullptr, nullptr, 5, 0, &bundle, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_bundle_open(nullptr, file.data(), file.size() - 1, 0, &bundle, &error) == ADRT_ERROR_TRUNCATED);
  CHECK(error.offset == file.size() - 1);
  CHECK(adrt_bundle_open(nullptr, file.data(), file.size(), 7, &bundle, &error) == ADRT_ERROR_ARGUMENT);
  std::vector<uint8_t> damaged = file;
  damaged.back() ^= 1;
  CHECK(adrt_bundle_open(nullptr, damaged.data(), damaged.size(), 0, &bundle, &error) == ADRT_ERROR_CORRUPT);
  CHECK(error.section == 1);
  damaged = file;
  damaged[8] = 9;
  CHECK(adrt_bundle_open(nullptr, damaged.data(), damaged.size(), 0, &bundle, &error) == ADRT_ERROR_VERSION);
  std::string minor = "." + std::to_string(adc::artifact::kFormatMinor);
  CHECK(error.Says(("9" + minor).c_str()));
  CHECK(error.Says(("1" + minor).c_str()));
  // Without an error struct, or with one of another version, the status alone has to do.
  CHECK(adrt_bundle_open(nullptr, damaged.data(), damaged.size(), 0, &bundle, nullptr) == ADRT_ERROR_VERSION);
  ErrorBox small;
  small.struct_size = 4;
  CHECK(adrt_bundle_open(nullptr, damaged.data(), damaged.size(), 0, &bundle, &small) == ADRT_ERROR_VERSION);
  CHECK(small.text[0] == 0);
  CHECK(bundle == nullptr);
}

TEST_CASE("a host's limits are lowered, never raised", "[loader]") {
  std::vector<uint8_t> file = MakeBundle();
  adrt_limits limits = {};
  limits.struct_size = sizeof limits;
  adrt_host host = TrustingHost();
  host.limits = &limits;
  adrt_bundle* bundle = nullptr;
  ErrorBox error;
  auto open = [&] { return adrt_bundle_open(&host, file.data(), file.size(), 0, &bundle, &error); };
  limits.file_bytes = file.size() - 1;
  CHECK(open() == ADRT_ERROR_OVER_LIMIT);
  limits.file_bytes = ~uint64_t{0};
  limits.kernels = 8;
  CHECK(open() == ADRT_ERROR_OVER_LIMIT);
  limits.kernels = ~0u;
  CHECK(open() == ADRT_OK);
  adrt_bundle_release(bundle);
  bundle = nullptr;
  limits.struct_size = 0;
  CHECK(open() == ADRT_ERROR_ARGUMENT);
  host.limits = nullptr;
  host.release = [](void*, void*, size_t, size_t) {};
  CHECK(open() == ADRT_ERROR_ARGUMENT);
  CHECK(bundle == nullptr);
}

TEST_CASE("code runs only on the caller's word", "[loader]") {
  std::vector<uint8_t> file = MakeBundle();
  ErrorBox error;
  adrt_device* device = nullptr;
  REQUIRE(adrt_device_wrap_cpu(nullptr, nullptr, &device, &error) == ADRT_OK);
  struct Answer {
    int say = 0;
    uint8_t id[32] = {};
  } answer;
  adrt_host host = {};
  host.struct_size = sizeof host;
  host.user = &answer;
  auto load = [&] {
    adrt_bundle* bundle = nullptr;
    adrt_module* module = nullptr;
    REQUIRE(adrt_bundle_open(&host, file.data(), file.size(), 0, &bundle, &error) == ADRT_OK);
    adrt_status status = adrt_module_load(device, bundle, &module, &error);
    adrt_module_release(module);
    adrt_bundle_release(bundle);
    return status;
  };
  CHECK(load() == ADRT_ERROR_UNTRUSTED);
  host.authorize = [](void* user, const uint8_t content_id[32]) {
    Answer& own = *static_cast<Answer*>(user);
    std::memcpy(own.id, content_id, 32);
    return own.say;
  };
  CHECK(load() == ADRT_ERROR_UNTRUSTED);
  CHECK(std::memcmp(answer.id, file.data() + 56, 32) == 0);
  answer.say = 1;
  CHECK(load() == ADRT_OK);
  adrt_device_release(device);
}

TEST_CASE("handles keep alive what they were made from", "[loader]") {
  std::vector<float> x = {1, 2, 3}, y = {10, 20, 30};
  float a = 2;
  adrt_launch_plan* plan = nullptr;
  ErrorBox error;
  {
    Session session(2);
    Plan made(session, "saxpy",
              {BufferArg("x", ADRT_TYPE_F32, x.data(), {3}), BufferArg("y", ADRT_TYPE_F32, y.data(), {3}),
               ScalarArg("a", ADRT_TYPE_F32, &a)});
    REQUIRE(made.status == ADRT_OK);
    std::swap(plan, made.plan);
  }
  REQUIRE(adrt_run(plan, nullptr, &error) == ADRT_OK);
  CHECK(y == std::vector<float>{12, 24, 36});
  adrt_plan_release(plan);
}

TEST_CASE("borrowed bytes that change after opening run nothing", "[loader][state]") {
  std::vector<uint8_t> file = MakeBundle();
  adrt_host host = TrustingHost();
  adrt_device* device = nullptr;
  ErrorBox error;
  REQUIRE(adrt_device_wrap_cpu(&host, nullptr, &device, &error) == ADRT_OK);
  for (uint32_t mode : {uint32_t{ADRT_BUNDLE_COPY}, uint32_t{ADRT_BUNDLE_BORROW}}) {
    adrt_bundle* bundle = nullptr;
    REQUIRE(adrt_bundle_open(&host, file.data(), file.size(), mode, &bundle, &error) == ADRT_OK);
    bool borrowed = mode == ADRT_BUNDLE_BORROW;
    for (uint32_t number : {0u, 1u}) {
      adrt_section_report section = {};
      section.struct_size = sizeof section;
      REQUIRE(adrt_bundle_section(bundle, number, &section, &error) == ADRT_OK);
      // The last byte of either section, that of the code and one that loading does not need.
      uint8_t& byte = file[section.offset + section.stored_bytes - 1];
      byte ^= 1;
      adrt_module* module = nullptr;
      INFO("mode " << mode << ", section " << number << ": " << error.text);
      CHECK(adrt_module_load(device, bundle, &module, &error) == (borrowed ? ADRT_ERROR_CORRUPT : ADRT_OK));
      adrt_module_release(module);
      byte ^= 1;
      module = nullptr;
      CHECK(adrt_module_load(device, bundle, &module, &error) == ADRT_OK);
      adrt_module_release(module);
    }
    adrt_bundle_release(bundle);
  }
  adrt_device_release(device);
}
