#include <array>
#include <functional>

#include "artifact/signature.h"
#include "session.h"

// Who may vouch for code by signature. The library is the host's, so one of the test's own stands in for it:
// a "signature" is made of hashes of key and message. That the real one is Ed25519 is tested with `adc sign`.

using namespace fixture;
namespace artifact = adc::artifact;

namespace {

using Key = std::array<uint8_t, 32>;

Key KeyOf(uint8_t first) {
  Key key = {};
  key[0] = first;
  return key;
}

void Compute(const uint8_t* key, const void* message, size_t size, uint8_t (&signature)[64]) {
  std::vector<uint8_t> text(key, key + 32);
  const uint8_t* bytes = static_cast<const uint8_t*>(message);
  text.insert(text.end(), bytes, bytes + size);
  for (size_t word = 0; word < 8; ++word) {
    text.push_back(static_cast<uint8_t>(word));
    uint64_t hash = artifact::Hash64(text);
    std::memcpy(signature + 8 * word, &hash, sizeof hash);
  }
}

int Check(void*, const uint8_t key[32], const uint8_t signature[64], const void* message, size_t size) {
  uint8_t right[64];
  Compute(key, message, size, right);
  return std::memcmp(right, signature, sizeof right) == 0;
}

using Bytes = std::vector<uint8_t>;

Bytes Resigned(const Bytes& file, const std::vector<artifact::Signature>& rows) {
  artifact::BundleIndex index;
  artifact::Vector<uint8_t> written;
  artifact::Error error;
  REQUIRE(artifact::ReadIndex(file, {}, nullptr, &index, &error));
  bool done = artifact::WithSignatures(file, index, rows, &written, &error);
  INFO(error.text);
  REQUIRE(done);
  return Bytes(written.begin(), written.end());
}

artifact::Signature Row(const Bytes& file, const Key& key) {
  artifact::BundleIndex index;
  artifact::Error error;
  REQUIRE(artifact::ReadIndex(file, {}, nullptr, &index, &error));
  uint8_t message[artifact::kSignedBytes];
  artifact::MakeSignedBytes(index, message);
  artifact::Signature row;
  std::memcpy(row.key, key.data(), key.size());
  Compute(row.key, message, sizeof message, row.bytes);
  return row;
}

/// What the sections of a bundle but its signatures say, whatever their stored bytes are.
std::vector<Bytes> ContentOf(const Bytes& file) {
  artifact::BundleIndex index;
  artifact::Error error;
  REQUIRE(artifact::ReadIndex(file, {}, nullptr, &index, &error));
  std::vector<Bytes> content;
  for (uint32_t number = 0; number < index.sections.size(); ++number) {
    const artifact::Section& section = index.sections[number];
    if (section.kind == artifact::section::kSignature) continue;
    artifact::Vector<uint8_t> bytes;
    REQUIRE(artifact::ReadSection(file, index, number, {}, &bytes, &error));
    content.emplace_back(bytes.begin(), bytes.end());
  }
  return content;
}

Bytes Signed(const Bytes& file, const std::vector<Key>& keys) {
  std::vector<artifact::Signature> rows;
  for (const Key& key : keys) rows.push_back(Row(file, key));
  return Resigned(file, rows);
}

struct Opened {
  adrt_status open = ADRT_OK, load = ADRT_OK;
  adrt_bundle_report report = {};
  ErrorBox error;
};

/// What a host that knows `keys` makes of a file: whether it opens, what its signatures say, whether it
/// loads.
Opened Open(const Bytes& file, std::vector<Key> keys, bool with_library = true, bool load = true) {
  Opened opened;
  adrt_host host = {};
  host.struct_size = sizeof host;
  host.public_keys = keys.empty() ? nullptr : keys[0].data();
  host.public_key_count = static_cast<uint32_t>(keys.size());
  host.check_signature = with_library ? Check : nullptr;
  adrt_bundle* bundle = nullptr;
  opened.open = adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &opened.error);
  if (opened.open != ADRT_OK) return opened;
  // Keys are read by adrt_bundle_open alone.
  for (Key& key : keys) key.fill(0xEE);
  opened.report.struct_size = sizeof opened.report;
  REQUIRE(adrt_bundle_info(bundle, &opened.report, nullptr) == ADRT_OK);
  if (load) {
    adrt_device* device = nullptr;
    adrt_module* module = nullptr;
    REQUIRE(adrt_device_open_cpu(nullptr, 1, &device, nullptr) == ADRT_OK);
    opened.load = adrt_module_load(device, bundle, &module, &opened.error);
    adrt_module_release(module);
    adrt_device_release(device);
  }
  adrt_bundle_release(bundle);
  return opened;
}

void Put(Bytes& file, size_t at, uint64_t value, size_t size) {
  for (size_t index = 0; index < size; ++index) file[at + index] = static_cast<uint8_t>(value >> (8 * index));
}

/// Makes hashes of header, table and sections right again, as somebody does who changes a bundle on purpose.
/// The content id, which takes decompression, stays.
void Rehash(Bytes& file) {
  uint32_t count = 0;
  std::memcpy(&count, file.data() + 24, sizeof count);
  if (count > (file.size() - 128) / 64) return;
  for (size_t row = 128; row < 128 + 64 * size_t{count}; row += 64) {
    uint64_t offset = 0, size = 0;
    uint32_t flags = 0;
    std::memcpy(&flags, file.data() + row + 4, sizeof flags);
    std::memcpy(&offset, file.data() + row + 8, sizeof offset);
    std::memcpy(&size, file.data() + row + 16, sizeof size);
    if (offset > file.size() || size > file.size() - offset) continue;
    uint64_t hash = artifact::Hash64({file.data() + offset, size});
    Put(file, row + 32, hash, 8);
    if ((flags & artifact::kSectionZstd) == 0) Put(file, row + 40, hash, 8);
  }
  Put(file, 48, 0, 8);
  Put(file, 48, artifact::Hash64({file.data(), 128 + 64 * size_t{count}}), 8);
}

}  // namespace

TEST_CASE("a signature of a key that the host knows lets code run, and nothing else about it does",
          "[loader][sign]") {
  Bytes plain = MakeBundle(), file = Signed(plain, {KeyOf(1)});
  Opened good = Open(file, {KeyOf(7), KeyOf(1)});
  CHECK(good.report.signature == ADRT_SIGNATURE_GOOD);
  CHECK(good.report.signer[0] == 1);
  CHECK(good.load == ADRT_OK);

  Opened other = Open(file, {KeyOf(2)});
  CHECK(other.report.signature == ADRT_SIGNATURE_UNKNOWN);
  CHECK(other.load == ADRT_ERROR_UNTRUSTED);
  CHECK(other.error.Says("signed by an unknown key"));

  for (const Opened& unchecked : {Open(file, {}), Open(file, {KeyOf(1)}, false)}) {
    CHECK(unchecked.report.signature == ADRT_SIGNATURE_NOT_CHECKED);
    CHECK(unchecked.load == ADRT_ERROR_UNTRUSTED);
    CHECK(unchecked.error.Says("not checked"));
  }

  // A key's row with another's signature.
  artifact::Signature forged = Row(plain, KeyOf(2));
  forged.key[0] = 1;
  Opened bad = Open(Resigned(plain, {forged}), {KeyOf(1)});
  CHECK(bad.report.signature == ADRT_SIGNATURE_BAD);
  CHECK(bad.report.signer[0] == 1);
  CHECK(bad.load == ADRT_ERROR_UNTRUSTED);

  Bytes stripped = Resigned(file, {});
  CHECK(stripped == plain);
  Opened none = Open(stripped, {KeyOf(1)});
  CHECK(none.report.signature == ADRT_SIGNATURE_NONE);
  CHECK(none.load == ADRT_ERROR_UNTRUSTED);
  CHECK(none.error.Says("not signed"));
}

TEST_CASE("of several signatures one of a known key does", "[loader][sign]") {
  Bytes plain = MakeBundle();
  artifact::Signature bad = Row(plain, KeyOf(1));
  bad.bytes[3] ^= 1;
  Bytes file = Resigned(plain, {bad, Row(plain, KeyOf(2))});
  CHECK(Open(file, {KeyOf(2)}).report.signature == ADRT_SIGNATURE_GOOD);
  CHECK(Open(file, {KeyOf(1)}).report.signature == ADRT_SIGNATURE_BAD);
  Opened both = Open(file, {KeyOf(1), KeyOf(2)});
  CHECK(both.report.signature == ADRT_SIGNATURE_GOOD);
  CHECK(both.report.signer[0] == 2);
}

TEST_CASE("a signature section has one spelling", "[loader][sign]") {
  Bytes plain = MakeBundle();
  artifact::Signature one = Row(plain, KeyOf(1)), two = Row(plain, KeyOf(2));
  artifact::Vector<artifact::Signature> read;
  artifact::Error error;
  auto section = [](const std::vector<artifact::Signature>& rows) {
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(rows.data());
    return Bytes(bytes, bytes + rows.size() * sizeof(artifact::Signature));
  };
  CHECK(artifact::ReadSignatures(section({one, two}), &read, &error));
  std::vector<Bytes> wrong = {section({two, one}),
                              section({one, one}),
                              Bytes(95),
                              Bytes(97),
                              Bytes(),
                              section(std::vector<artifact::Signature>(17, one))};
  for (const Bytes& bytes : wrong) {
    artifact::Error own;
    CHECK_FALSE(artifact::ReadSignatures(bytes, &read, &own));
    CHECK(own.rule == artifact::Rule::kH3);
  }
  // The file with rows out of order, which the writer refuses.
  Bytes file = Signed(plain, {KeyOf(1), KeyOf(2)});
  for (size_t at = 0; at < 96; ++at) std::swap(file[file.size() - 192 + at], file[file.size() - 96 + at]);
  Rehash(file);
  Opened opened = Open(file, {KeyOf(1)});
  CHECK(opened.open == ADRT_ERROR_MALFORMED);
  CHECK(opened.error.rule == 3);
}

TEST_CASE("one flipped bit anywhere, and nobody has signed it", "[loader][sign]") {
  Bytes file = Signed(MakeBundle(), {KeyOf(1)});
  REQUIRE(Open(file, {KeyOf(1)}, true, false).report.signature == ADRT_SIGNATURE_GOOD);
  const std::vector<Bytes> content = ContentOf(file);
  size_t opened = 0, table_end = 128 + 3 * 64, signature_begin = file.size() - 96;
  for (size_t at = 0; at < file.size(); ++at) {
    Bytes flipped = file;
    flipped[at] ^= static_cast<uint8_t>(1u << at % 8);
    CHECK(Open(flipped, {KeyOf(1)}, true, false).open != ADRT_OK);
    if (at > table_end && at < signature_begin && at % 17 != 0) continue;
    Rehash(flipped);
    Opened with_hashes = Open(flipped, {KeyOf(1)}, true, false);
    // A byte of a hash comes back by hashing.
    if (with_hashes.open != ADRT_OK || flipped == file) continue;
    ++opened;
    INFO("byte " << at);
    // Compressed bytes have several forms of one content, and that is what is signed.
    if (at >= table_end && at < signature_begin && ContentOf(flipped) == content) {
      CHECK(with_hashes.report.signature == ADRT_SIGNATURE_GOOD);
    } else {
      CHECK(with_hashes.report.signature != ADRT_SIGNATURE_GOOD);
    }
  }
  CHECK(opened >= 96);  // of the signature at least
}

TEST_CASE("other content with a right content id is not what was signed", "[loader][sign]") {
  Bytes plain = MakeBundle();
  artifact::Signature row = Row(plain, KeyOf(1));
  adc::artifact::Metadata metadata = MakeMetadata();
  metadata.kernels[0].place = "elsewhere.ir:1:1";
  Bytes image = ReadImage(), changed = MakeBundle(metadata, image);
  image.back() ^= 1;
  for (const Bytes& other : {changed, MakeBundle(MakeMetadata(), image)}) {
    Opened opened = Open(Resigned(other, {row}), {KeyOf(1)});
    CHECK(opened.open == ADRT_OK);
    CHECK(opened.report.signature == ADRT_SIGNATURE_BAD);
    CHECK(opened.load == ADRT_ERROR_UNTRUSTED);
  }
}

TEST_CASE("the version that metadata is read by is signed, and a content id has one reading",
          "[loader][sign]") {
  Bytes file = Signed(MakeBundle(), {KeyOf(1)});
  for (uint16_t minor = 0; minor < artifact::kFormatMinor + 3; ++minor) {
    if (minor == artifact::kFormatMinor) continue;
    Bytes other = file;
    Put(other, 10, minor, 2);
    Rehash(other);
    Opened opened = Open(other, {KeyOf(1)});
    // authorize sees the content id alone: of a version without all of its keys the same text is refused, a
    // newer one only adds fields, which this text has not.
    constexpr uint16_t kAllKeys = 17;
    if (minor < kAllKeys) {
      CHECK(opened.open == ADRT_ERROR_MALFORMED);
      continue;
    }
    REQUIRE(opened.open == ADRT_OK);
    CHECK(opened.report.signature == ADRT_SIGNATURE_BAD);
    CHECK(opened.load == ADRT_ERROR_UNTRUSTED);
  }
}

TEST_CASE("a host states its keys", "[loader][sign]") {
  Bytes file = MakeBundle();
  std::vector<Key> keys(65);
  CHECK(Open(file, keys).open == ADRT_ERROR_ARGUMENT);
  adrt_host host = {};
  host.struct_size = sizeof host;
  host.public_key_count = 1;
  adrt_bundle* bundle = nullptr;
  ErrorBox error;
  CHECK(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error) ==
        ADRT_ERROR_ARGUMENT);
  CHECK(error.Says("public_keys"));
}
