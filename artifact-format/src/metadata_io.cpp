#include "artifact/bundle.h"
#include "artifact/metadata.h"
#include "json.h"
#include "metadata_fields.h"
#include "metadata_rules.h"

namespace adc::artifact {
namespace {

// The writer's side of metadata_fields.h.
class MetaWriter {
 public:
  explicit MetaWriter(String* text) : json_(text) {}

  bool Since(uint32_t) const { return true; }
  bool Gone(std::string_view, uint32_t, uint32_t) { return true; }

  template <class M, class Fields>
  bool Object(M& value, Fields fields) {
    json_.BeginObject();
    bool done = fields(*this, value);
    json_.EndObject();
    return done && json_.ok();
  }

  template <class N>
  bool Number(std::string_view key, const N& value) {
    json_.Key(key);
    json_.Int(static_cast<int64_t>(value));
    return json_.ok();
  }
  bool Index(std::string_view key, uint32_t value) { return Number(key, FromIndex(value)); }
  bool Flag(std::string_view key, bool value) {
    json_.Key(key);
    json_.Bool(value);
    return json_.ok();
  }
  bool Text(std::string_view key, const String& value) {
    json_.Key(key);
    json_.Str(value);
    return json_.ok();
  }
  bool Texts(std::string_view key, const Vector<String>& values) {
    json_.Key(key);
    json_.BeginArray();
    for (const String& value : values) json_.Str(value);
    json_.EndArray();
    return json_.ok();
  }
  bool Ints(std::string_view key, const Vector<int64_t>& values) {
    json_.Key(key);
    json_.BeginArray();
    for (int64_t value : values) json_.Int(value);
    json_.EndArray();
    return json_.ok();
  }
  bool Indices(std::string_view key, const Vector<uint32_t>& values) {
    json_.Key(key);
    json_.BeginArray();
    for (uint32_t value : values) json_.Int(FromIndex(value));
    json_.EndArray();
    return json_.ok();
  }
  template <class E, size_t N>
  bool Enum(std::string_view key, const E& value, const std::string_view (&names)[N]) {
    json_.Key(key);
    json_.Str(names[static_cast<size_t>(value)]);
    return json_.ok();
  }
  bool Hash(std::string_view key, uint64_t value) {
    char digits[20];
    TextWriter(digits, sizeof digits).Hex(value);
    json_.Key(key);
    json_.Str(digits);
    return json_.ok();
  }
  template <class T, class Fields>
  bool List(std::string_view key, const Vector<T>& values, Fields fields) {
    json_.Key(key);
    json_.BeginArray();
    for (const T& value : values) {
      if (!Object(value, fields)) return false;
    }
    json_.EndArray();
    return json_.ok();
  }
  bool Exprs(std::string_view key, const SizeExprPool& pool) {
    json_.Key(key);
    json_.BeginArray();
    for (NodeId id = 0; id < pool.size(); ++id) {
      const SizeNode& node = pool[id];
      json_.BeginArray();
      json_.Str(SizeOpName(node.op));
      switch (node.op) {
        case SizeOp::kConst:
          json_.Int(node.value);
          break;
        case SizeOp::kArg:
          json_.Int(node.param);
          break;
        case SizeOp::kShape:
          json_.Int(node.param);
          json_.Int(node.axis);
          break;
        case SizeOp::kRead:
          json_.Int(node.param);
          json_.BeginArray();
          for (NodeId index : pool.ReadIndices(node)) json_.Int(index);
          json_.EndArray();
          break;
        case SizeOp::kIndex:
        case SizeOp::kMaxOver:
        case SizeOp::kSumOver:
          json_.Int(node.axis);
          break;
        case SizeOp::kAdd:
        case SizeOp::kSub:
        case SizeOp::kMul:
        case SizeOp::kDiv:
        case SizeOp::kMod:
        case SizeOp::kFloorDiv:
        case SizeOp::kCeilDiv:
        case SizeOp::kMin:
        case SizeOp::kMax:
        case SizeOp::kEq:
        case SizeOp::kNe:
        case SizeOp::kLt:
        case SizeOp::kLe:
        case SizeOp::kGt:
        case SizeOp::kGe:
        case SizeOp::kNeg:
        case SizeOp::kClamp0:
        case SizeOp::kSelect:
          break;
      }
      for (NodeId operand : node.operands) {
        if (operand != kNoNode) json_.Int(operand);
      }
      json_.EndArray();
    }
    json_.EndArray();
    return json_.ok();
  }

 private:
  static int64_t FromIndex(uint32_t value) { return value == kNoIndex ? -1 : int64_t{value}; }

  JsonWriter json_;
};

// The reader's side. Objects must have exactly the described fields; where the bundle's minor version is
// newer than this reader's, keys that it does not know are skipped.
class MetaReader {
 public:
  MetaReader(std::string_view json, uint32_t minor, const Allocator* allocator, Error* error)
      : json_(json, error), minor_(minor), skip_unknown_(minor > kFormatMinor), allocator_(allocator) {}

  bool Since(uint32_t minor) const { return minor_ >= minor; }
  /// A key of the minor versions from `since` on and before `until`, of which nothing is read any more.
  bool Gone(std::string_view key, uint32_t since, uint32_t until) {
    return minor_ < since || minor_ >= until || (Key(key) && json_.Skip());
  }

  template <class M, class Fields>
  bool Object(M& value, Fields fields) {
    if (!json_.BeginObject() || !fields(*this, value)) return false;
    while (!json_.EndsObject()) {
      std::string_view key;
      if (!json_.AnyKey(&key)) return false;
      if (!skip_unknown_) return json_.Fault("unknown or repeated key '", key, "'");
      if (!json_.Skip()) return false;
    }
    return true;
  }
  // Earlier versions did not say what size kernels read: it may be all.
  bool GuessCountReads(Metadata& metadata, OpenBudget* budget) {
    Vector<uint32_t> all(allocator_);
    for (KernelMeta& kernel : metadata.kernels) {
      all.clear();
      for (uint32_t param = 0; param < kernel.params.size(); ++param) {
        if (kernel.params[param].kind != ParamKind::kScalar && !all.TryPush(param)) return json_.NoMemory();
      }
      // Copied here, checked later, given back: the steps and bytes for all of it are spent before any of it
      // is done. Where there are no steps or bytes left, the budget explains.
      uint64_t counted = 0;
      for (const TaskMeta& task : kernel.tasks) counted += task.size_kernel.empty() ? 0 : 1;
      if (budget && !budget->Spend(8 * counted * all.size())) return json_.NoMemory();
      for (TaskMeta& task : kernel.tasks) {
        task.count_reads.Bind(allocator_);
        if (task.size_kernel.empty() || all.empty()) continue;
        if (!task.count_reads.TryResize(all.size())) return json_.NoMemory();
        std::memcpy(task.count_reads.data(), all.data(), all.size() * sizeof(uint32_t));
      }
    }
    return true;
  }
  // Nor which extents are read as i32: it may be all.
  bool GuessI32Axes(Metadata& metadata) const {
    for (KernelMeta& kernel : metadata.kernels) {
      for (ParamMeta& param : kernel.params) {
        if (param.shape_i32 && param.rank < 32) param.shape_i32_axes = (uint32_t{1} << param.rank) - 1;
      }
    }
    return true;
  }
  bool Finished() {
    return json_.ok() && (json_.AtEnd() || json_.Fault("text after the end of the metadata"));
  }

  template <class N>
  bool Number(std::string_view key, N& value) {
    int64_t read = 0;
    if (!Key(key) || !json_.Int(&read)) return false;
    value = static_cast<N>(read);
    return (static_cast<int64_t>(value) == read && (read >= 0 || N(-1) < N(0))) || OutOfRange(key);
  }
  bool Index(std::string_view key, uint32_t& value) { return Key(key) && ReadIndexValue(key, &value); }
  bool Flag(std::string_view key, bool& value) { return Key(key) && json_.Bool(&value); }
  bool Text(std::string_view key, String& value) {
    value.Bind(allocator_);
    return Key(key) && json_.Str(&value);
  }
  bool Texts(std::string_view key, Vector<String>& values) {
    return Array(key, values, [this](String& value) {
      value.Bind(allocator_);
      return json_.Str(&value);
    });
  }
  bool Ints(std::string_view key, Vector<int64_t>& values) {
    return Array(key, values, [this](int64_t& value) { return json_.Int(&value); });
  }
  bool Indices(std::string_view key, Vector<uint32_t>& values) {
    return Array(key, values, [this, key](uint32_t& value) { return ReadIndexValue(key, &value); });
  }
  template <class E, size_t N>
  bool Enum(std::string_view key, E& value, const std::string_view (&names)[N]) {
    size_t which = 0;
    if (!Key(key) || !Choose(key, names, N, &which)) return false;
    value = static_cast<E>(which);
    return true;
  }
  bool Hash(std::string_view key, uint64_t& value) {
    word_.Bind(allocator_);
    if (!Key(key) || !json_.Str(&word_)) return false;
    std::string_view digits = word_;
    if (digits.size() != 18 || digits[0] != '0' || digits[1] != 'x') return OutOfRange(key);
    value = 0;
    for (size_t index = 2; index < digits.size(); ++index) {
      char digit = digits[index];
      if (!((digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f'))) return OutOfRange(key);
      value = value << 4 | static_cast<uint64_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    return true;
  }
  template <class T, class Fields>
  bool List(std::string_view key, Vector<T>& values, Fields fields) {
    return Array(key, values, [this, fields](T& value) { return Object(value, fields); });
  }
  bool Exprs(std::string_view key, SizeExprPool& pool) {
    pool.Bind(allocator_);
    if (!Key(key) || !json_.BeginArray()) return false;
    while (!json_.EndsArray()) {
      if (!json_.Element() || !ReadNode(pool)) return false;
    }
    return true;
  }

 private:
  bool OutOfRange(std::string_view key) { return json_.Fault("the value of '", key, "' is out of range"); }

  // Keys ascend, so the wanted one is next, or something unknown comes before it.
  bool Key(std::string_view wanted) {
    while (true) {
      std::string_view key;
      if (!json_.AnyKey(&key)) return json_.Fault("key '", wanted, "' is missing");
      if (key == wanted) return true;
      if (!(key < wanted) || !skip_unknown_) {
        return json_.Fault("expected the key '", wanted, "', found '", key, "'");
      }
      if (!json_.Skip()) return false;
    }
  }
  template <class T, class Read>
  bool Array(std::string_view key, Vector<T>& values, Read read) {
    values.Bind(allocator_);
    if (!Key(key) || !json_.BeginArray()) return false;
    while (!json_.EndsArray()) {
      if (!json_.Element()) return false;
      T* value = values.TryAppend();
      if (!value) return json_.NoMemory();
      if (!read(*value)) return false;
    }
    return true;
  }
  bool ReadIndexValue(std::string_view key, uint32_t* value) {
    int64_t read = 0;
    if (!json_.Int(&read)) return false;
    if (read < -1 || read >= int64_t{kNoIndex}) return OutOfRange(key);
    *value = static_cast<uint32_t>(read);  // -1 becomes kNoIndex
    return true;
  }
  bool Choose(std::string_view key, const std::string_view* names, size_t count, size_t* which) {
    word_.Bind(allocator_);
    if (!json_.Str(&word_)) return false;
    for (*which = 0; *which < count; ++*which) {
      if (word_ == names[*which]) return true;
    }
    return json_.Fault(Quote(), Shown(), Quote(), " is not a value of '", key, "'");
  }
  // The word that is none of a list, for a message: bytes that terminals might obey are not repeated.
  std::string_view Shown() { return IsPrintable() ? word_.view() : "a word that is not printable"; }
  std::string_view Quote() { return IsPrintable() ? "'" : ""; }
  bool IsPrintable() {
    for (char letter : word_.view()) {
      if (letter < 0x20 || letter > 0x7E) return false;
    }
    return true;
  }
  bool NextIndex(uint32_t* value) { return json_.Element() && ReadIndexValue("exprs", value); }

  bool ReadNode(SizeExprPool& pool) {
    word_.Bind(allocator_);
    if (!json_.BeginArray() || !json_.Element() || !json_.Str(&word_)) return false;
    SizeNode node;
    if (!SizeOpFromName(word_, &node.op))
      return json_.Fault(Quote(), Shown(), Quote(), " is not a size operation");
    NodeId read_indices[8];
    uint32_t read_count = 0;
    switch (node.op) {
      case SizeOp::kConst:
        if (!json_.Element() || !json_.Int(&node.value)) return false;
        break;
      case SizeOp::kArg:
        if (!NextIndex(&node.param)) return false;
        break;
      case SizeOp::kShape:
        if (!NextIndex(&node.param) || !NextIndex(&node.axis)) return false;
        break;
      case SizeOp::kRead:
        if (!NextIndex(&node.param) || !json_.Element() || !json_.BeginArray()) return false;
        while (!json_.EndsArray()) {
          if (read_count == 8) return json_.Fault("a read has at most 8 indices");
          if (!NextIndex(&read_indices[read_count++])) return false;
        }
        break;
      case SizeOp::kIndex:
      case SizeOp::kMaxOver:
      case SizeOp::kSumOver:
        if (!NextIndex(&node.axis)) return false;
        break;
      case SizeOp::kAdd:
      case SizeOp::kSub:
      case SizeOp::kMul:
      case SizeOp::kDiv:
      case SizeOp::kMod:
      case SizeOp::kFloorDiv:
      case SizeOp::kCeilDiv:
      case SizeOp::kMin:
      case SizeOp::kMax:
      case SizeOp::kEq:
      case SizeOp::kNe:
      case SizeOp::kLt:
      case SizeOp::kLe:
      case SizeOp::kGt:
      case SizeOp::kGe:
      case SizeOp::kNeg:
      case SizeOp::kClamp0:
      case SizeOp::kSelect:
        break;
    }
    for (uint32_t index = 0; index < SizeOpOperands(node.op); ++index) {
      if (!NextIndex(&node.operands[index])) return false;
    }
    if (!json_.EndsArray()) return json_.Fault("too many operands for '", word_.view(), "'");
    Error reason;
    if (pool.AppendChecked(node, {read_indices, read_count}, &reason)) return true;
    return reason.code == Code::kOutOfMemory ? json_.NoMemory() : json_.Fault(reason.message());
  }

  JsonReader json_;
  uint32_t minor_;
  bool skip_unknown_;
  const Allocator* allocator_;
  String word_;
};

}  // namespace

bool WriteMetadata(const Metadata& metadata, String* json, Error* error) {
  if (!CheckMetadata(metadata, Limits{}, error)) return false;
  json->clear();
  MetaWriter writer(json);
  auto fields = [](MetaWriter& v, const Metadata& value) { return MetadataFields(v, value); };
  if (!writer.Object(metadata, fields)) {
    return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for the metadata");
  }
  return true;
}

namespace {

bool Read(std::string_view json, uint32_t minor, const Limits& limits, const Allocator* allocator,
          OpenBudget* budget, Metadata* metadata, Error* error) {
  if (json.size() > limits.metadata_bytes) {
    return Fail(error, Code::kOverLimit, Rule::kH8, "metadata of ", uint64_t{json.size()},
                " bytes is over the limit of ", limits.metadata_bytes);
  }
  // Each byte is looked at a few times, by the reader and by rules that ask about one part alone; rules that
  // hold parts against each other spend on their own.
  constexpr uint64_t kPasses = 6;
  if (budget && !budget->Spend(kPasses * json.size()))
    return Fail(error, Code::kOverLimit, Rule::kH4, "the metadata takes too many steps");
  MetaReader reader(json, minor, allocator, error);
  auto fields = [](MetaReader& v, Metadata& value) { return MetadataFields(v, value); };
  return reader.Object(*metadata, fields) && reader.Finished() &&
         (reader.Since(2) || reader.GuessCountReads(*metadata, budget)) &&
         (reader.Since(5) || reader.GuessI32Axes(*metadata)) &&
         CheckMetadata(*metadata, limits, budget, error);
}

}  // namespace

bool ReadMetadata(std::string_view json, uint32_t minor, const Limits& limits, OpenBudget* budget,
                  Metadata* metadata, Error* error) {
  return Read(json, minor, limits, budget->allocator(), budget, metadata, error);
}

bool ReadMetadata(std::string_view json, uint32_t minor, const Limits& limits, const Allocator* allocator,
                  Metadata* metadata, Error* error) {
  return Read(json, minor, limits, allocator, nullptr, metadata, error);
}

}  // namespace adc::artifact
