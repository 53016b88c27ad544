#pragma once
// Constants, layouts and names of types. Each may be used above its definition, and in the definition of
// another, so that they are found first and read when they are asked for.

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "ir/module.h"
#include "parse/token_stream.h"

namespace adc::parse {

/// A definition of the command line: `-D NAME=VALUE`.
struct Define {
  std::string name;
  std::string value;
};

class Definitions {
 public:
  enum class Kind : uint8_t { Constant, Layout, Type };
  struct Definition {
    Kind kind = Kind::Constant;
    const diag::SourceFile* file = nullptr;
    uint32_t begin = 0;  ///< offset after the name
    uint32_t end = 0;    ///< offset of the next item
    StringId name = {};
    diag::SourceSpan span = {};
    size_t item = SIZE_MAX;  ///< position in Module::items; SIZE_MAX: the name is taken, nothing is defined
    std::vector<StringId> comments = {};
  };

  Definitions(Shared& shared, diag::SourceManager& sources) : shared_(shared), sources_(sources) {}

  void Add(Definition definition);
  /// Reads all of them, in the order of Add, and says which of `defines` define nothing, unless `unused`
  /// allows such. Of several with one name the last counts.
  void ResolveAll(std::span<const Define> defines, bool unused = false);
  /// Reads the constant or layout named `name`, if there is one that was not read yet. `use` is the place
  /// that asks.
  void Resolve(StringId name, diag::SourceSpan use);
  /// The type that `word` names; empty where it names none. None, as a type, after an error in its
  /// definition.
  std::optional<ir::Type> FindType(std::string_view word, diag::SourceSpan use);
  bool NamesType(std::string_view word) const;
  /// Names of types, for suggestions.
  std::vector<std::string_view> TypeNames() const;

 private:
  enum class State : uint8_t { Waiting, Active, Done };
  struct Entry {
    Definition definition;
    State state = State::Waiting;
    ir::Type type = {};                       ///< of a Type
    const diag::SourceFile* value = nullptr;  ///< the text of `-D`
  };

  void Read(Entry& entry, diag::SourceSpan use);
  void ReadConstant(Entry& entry, TokenStream& stream);
  bool ReadValue(Entry& entry, TokenStream& stream, ir::ModuleConstant* constant);
  bool ReadReplacement(const Entry& entry, ir::ModuleConstant* constant);
  void ReadLayout(Entry& entry, TokenStream& stream);
  void ReadType(Entry& entry, TokenStream& stream);
  void TakeDefines(std::span<const Define> defines, bool unused);

  Shared& shared_;
  diag::SourceManager& sources_;
  std::deque<Entry> entries_;
  std::unordered_map<StringId, Entry*> symbols_;  ///< constants and layouts
  std::unordered_map<StringId, Entry*> types_;
  std::vector<StringId> type_order_;
  uint32_t depth_ = 0;
};

/// A constant expression, from the current token of `stream` on, which stands after it then. Literals in it
/// wait for the type that Finish gives them.
class ConstantExpression {
 public:
  explicit ConstantExpression(Shared& shared);
  ~ConstantExpression();
  ConstantExpression(const ConstantExpression&) = delete;
  ConstantExpression& operator=(const ConstantExpression&) = delete;

  /// `in_type`: between the brackets of a type, where '>' ends it.
  bool Parse(TokenStream& stream, bool in_type);
  /// The value, of this type; none: of its own type, for literals i64. False after an error.
  bool Finish(ir::Type type, ir::Type* found, uint64_t* bits);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

inline constexpr uint64_t kNoCount = UINT64_MAX;

/// A number of elements or the like.
struct Count {
  bool good = false;          ///< false after an error
  uint64_t value = kNoCount;  ///< kNoCount: negative, or no integer
  std::string text = {};      ///< for messages
};

/// A number, or a constant expression of integers. False where none stands there.
bool ParseCount(TokenStream& stream, const char* what, Count* count);

}  // namespace adc::parse
