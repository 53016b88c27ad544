#include <adrt/adrt_static.h>

#include <algorithm>

#include "artifact/cpu_abi.h"
#include "session.h"

// Modules of linked code: the fixture's kernels, linked into this program.

#define EACH_ENTRY(DO) \
  DO(adc_saxpy_t0)     \
  DO(adc_tape_t0)      \
  DO(adc_mean_t0)      \
  DO(adc_mean_t1)      \
  DO(adc_compact_t0)   \
  DO(adc_compact_t1)   \
  DO(adc_rows_t0) DO(adc_collatz_t0) DO(adc_counted_t0) DO(adc_counted_2Esize0_t0) DO(adc_check_t0)

extern "C" {
#define DECLARE(name) void name(const adrt_cpu_frame* frame, uint64_t begin, uint64_t end);
EACH_ENTRY(DECLARE)
#undef DECLARE
}

using namespace fixture;

namespace {

/// The table that adc would have written for the fixture's bundle.
struct Table : adrt_entries {
#define ROW(name) {#name, name},
  std::vector<adrt_entry> rows = {EACH_ENTRY(ROW)};
#undef ROW

  explicit Table(const adrt_bundle* of) : adrt_entries{} {
    adrt_bundle_report report = {};
    report.struct_size = sizeof report;
    REQUIRE(adrt_bundle_info(of, &report, nullptr) == ADRT_OK);
    struct_size = sizeof(adrt_entries);
    abi = ADRT_ENTRIES_ABI;
    bundle = "fixture";
    target = "cpu:x86-64";
    std::memcpy(content_ids[0], report.content_id, sizeof report.content_id);
    std::sort(rows.begin(), rows.end(), [](const adrt_entry& left, const adrt_entry& right) {
      return std::strcmp(left.name, right.name) < 0;
    });
    Set();
  }
  void Set() {
    entries = rows.data();
    entry_count = static_cast<uint32_t>(rows.size());
  }
};

struct Linked {
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  ErrorBox error;

  /// The host trusts nothing.
  explicit Linked(const std::vector<uint8_t>& file = MakeBundle()) {
    REQUIRE(adrt_bundle_open(nullptr, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error) ==
            ADRT_OK);
    REQUIRE(adrt_device_open_cpu(nullptr, 2, &device, &error) == ADRT_OK);
  }
  Linked(const Linked&) = delete;
  Linked& operator=(const Linked&) = delete;
  ~Linked() {
    adrt_module_release(module);
    adrt_device_release(device);
    adrt_bundle_release(bundle);
  }
  adrt_status Make(const adrt_entries& table) {
    adrt_status status = adrt_module_from_entries(device, bundle, &table, &module, &error);
    CHECK((status == ADRT_OK) == (module != nullptr));
    return status;
  }
};

adrt_status RunTape(Session& session, std::vector<double>& x, std::vector<double>& y, int32_t steps,
                    uint64_t* heap_bytes) {
  int64_t count = static_cast<int64_t>(x.size());
  Plan plan(session, "tape",
            {BufferArg("x", ADRT_TYPE_F64, x.data(), {count}),
             BufferArg("y", ADRT_TYPE_F64, y.data(), {count}), ScalarArg("n", ADRT_TYPE_I32, &steps)});
  REQUIRE(plan.status == ADRT_OK);
  *heap_bytes = plan.Info().heap_bytes;
  return plan.Run();
}

}  // namespace

TEST_CASE("linked code runs as loaded code does, in the same heap", "[loader]") {
  Session session(2);
  std::vector<double> x(100), loaded(100), linked(100);
  for (size_t index = 0; index < x.size(); ++index) x[index] = 0.01 * static_cast<double>(index);
  uint64_t loaded_heap = 0, linked_heap = 0;
  REQUIRE(RunTape(session, x, loaded, 9, &loaded_heap) == ADRT_OK);
  adrt_module_release(session.module);
  session.module = nullptr;
  Table table(session.bundle);
  session.Must(
      adrt_module_from_entries(session.device, session.bundle, &table, &session.module, &session.error));
  REQUIRE(RunTape(session, x, linked, 9, &linked_heap) == ADRT_OK);
  CHECK(linked == loaded);
  CHECK(linked[1] != 0);
  CHECK(linked_heap == loaded_heap);
}

TEST_CASE("the content id is trust enough for linked code, and for nothing else", "[loader]") {
  Linked linked;
  CHECK(adrt_module_load(linked.device, linked.bundle, &linked.module, &linked.error) ==
        ADRT_ERROR_UNTRUSTED);
  CHECK(linked.Make(Table(linked.bundle)) == ADRT_OK);
}

TEST_CASE("linked code runs with a bundle that has no code", "[loader]") {
  Linked whole;
  adc::artifact::Metadata metadata = MakeMetadata();
  adc::artifact::String json;
  REQUIRE(WriteMetadata(metadata, &json, nullptr));
  adc::artifact::SectionInput section;
  section.kind = adc::artifact::section::kMeta;
  section.required = true;
  section.bytes = {reinterpret_cast<const uint8_t*>(json.data()), json.size()};
  adc::artifact::Vector<uint8_t> file;
  REQUIRE(WriteBundle({&section, 1}, &file, nullptr));
  Linked bare({file.begin(), file.end()});
  Table table(whole.bundle);
  std::memcpy(table.content_ids[1], Table(bare.bundle).content_ids[0], sizeof table.content_ids[1]);
  CHECK(bare.Make(table) == ADRT_OK);
  CHECK(whole.Make(table) == ADRT_OK);
}

TEST_CASE("a table of another bundle is refused, and both are named", "[loader]") {
  Linked linked;
  adc::artifact::Metadata metadata = MakeMetadata();
  metadata.producer = "another";
  Linked other(MakeBundle(metadata, ReadImage()));
  CHECK(other.Make(Table(linked.bundle)) == ADRT_ERROR_INTERFACE_MISMATCH);
  INFO(other.error.text);
  CHECK(other.error.Says("code of bundle 'fixture' (content id "));
  CHECK(other.error.Says("this is another bundle, of "));
  CHECK(other.error.Says("adc extract --static"));
  Table changed(linked.bundle);
  changed.content_ids[0][31] ^= 1;
  CHECK(linked.Make(changed) == ADRT_ERROR_INTERFACE_MISMATCH);
}

TEST_CASE("a table that adc did not write so is refused", "[loader]") {
  Linked linked;
  const Table good(linked.bundle);
  auto refused = [&](adrt_status expected, const char* says, auto change) {
    Table table(linked.bundle);
    change(table);
    CHECK(linked.Make(table) == expected);
    INFO(linked.error.text);
    CHECK(linked.error.Says(says));
  };
  refused(ADRT_ERROR_VERSION, "are called by convention 2, this loader has convention 1",
          [](Table& table) { table.abi = 2; });
  refused(ADRT_ERROR_ARGUMENT, "the code is for 'cpu:nothing'",
          [](Table& table) { table.target = "cpu:nothing"; });
  refused(ADRT_ERROR_DEVICE_FEATURE,
          "target 'cpu:other': ", [](Table& table) { table.target = "cpu:other"; });
  refused(ADRT_ERROR_ARGUMENT, "struct_size", [](Table& table) { table.struct_size = 0; });
  refused(ADRT_ERROR_ARGUMENT, "reserved word", [](Table& table) { table.reserved[1] = 1; });
  refused(ADRT_ERROR_ARGUMENT, "null pointer", [](Table& table) { table.entries = nullptr; });
  refused(ADRT_ERROR_ARGUMENT, "null pointer", [](Table& table) { table.bundle = nullptr; });
  refused(ADRT_ERROR_ARGUMENT, "has no entry '", [](Table& table) { table.entry_count = 0; });
  for (size_t index = 0; index < good.rows.size(); ++index) {
    std::string says = std::string("has no entry '") + good.rows[index].name + "' for kernel '";
    refused(ADRT_ERROR_ARGUMENT, says.c_str(),
            [index](Table& table) { table.rows[index].function = nullptr; });
    refused(ADRT_ERROR_ARGUMENT, says.c_str(), [index](Table& table) {
      table.rows.erase(table.rows.begin() + static_cast<std::ptrdiff_t>(index));
      table.Set();
    });
  }
  refused(ADRT_ERROR_ARGUMENT, "has no entry '", [](Table& table) { table.rows[0].name = nullptr; });
  CHECK(linked.Make(good) == ADRT_OK);
  CHECK(adrt_module_from_entries(linked.device, linked.bundle, nullptr, &linked.module, &linked.error) ==
        ADRT_ERROR_ARGUMENT);
}
