#pragma once
// The words on operations that words.def lists, and the sets of them that instructions have.

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>

#include "ir/op.h"
#include "ir/phase.h"

namespace adc::ir {

enum class Word : uint8_t {
#define ADC_WORD(name, ...) name,
#include "ir/words.def"
#undef ADC_WORD
};

/// Kinds of operations that words.def names.
enum WordPlace : uint16_t {
  OnFor = 1,
  OnWhile = 2,
  OnParallel = 4,
  OnIf = 8,
  OnAlloca = 16,
  OnAccess = 32,    ///< of memory, atomics and sums into adjoints included
  OnScalar = 64,    ///< all that compute scalars from scalars
  OnSum = 128,      ///< add, sub
  OnProduct = 256,  ///< mul
  OnAngle = 512,    ///< sin, cos
  OnStack = 1024,
  OnCheck = 2048,     ///< assert, status.raise
  OnFunction = 4096,  ///< of class Function, and rem
  OnAny = 8192,       ///< all but terminators
};

constexpr uint16_t PlacesOf(Op op) {
  if (IsAccess(op)) return OnAccess;
  if (op == Op::For) return OnFor;
  if (op == Op::While) return OnWhile;
  if (op == Op::Parallel || op == Op::ParallelOver) return OnParallel;
  if (op == Op::If) return OnIf;
  if (op == Op::Alloca) return OnAlloca;
  if (op == Op::Assert || op == Op::StatusRaise) return OnCheck;
  if (op == Op::Add || op == Op::Sub) return OnScalar | OnSum;
  if (op == Op::Mul) return OnScalar | OnProduct;
  if (op == Op::Sin || op == Op::Cos) return OnScalar | OnAngle | OnFunction;
  if (ClassOf(op) == OpClass::Function || op == Op::Rem) return OnScalar | OnFunction;
  if (ClassOf(op) == OpClass::Stack) return OnStack;
  return IsScalarOperation(op) ? OnScalar : 0;
}

struct WordInfo {
  Word word;
  std::string_view spelling;
  uint16_t places;  ///< of WordPlace
  Phase since;      ///< the first phase of modules that may have it
  std::string_view meaning;
};

inline constexpr WordInfo kWords[] = {
#define ADC_WORD(name, spelling, places, since, meaning) \
  {Word::name, spelling, places, Phase::since, meaning},
#include "ir/words.def"
#undef ADC_WORD
};

constexpr std::string_view Spelling(Word word) {
  return kWords[static_cast<size_t>(word)].spelling;
}

constexpr bool MayHave(Op op, const WordInfo& word) {
  return (PlacesOf(op) & word.places) != 0;
}

/// A word after the operands that a pass of raising writes: a printer of code reads it, and it changes
/// nothing of a kernel's results.
constexpr bool IsRaised(const WordInfo& word) {
  return word.since == Phase::Raised && (word.places & (OnCheck | OnAny)) == 0;
}

/// The word of that spelling that `op` may have and that no pass of raising writes, or nullptr.
constexpr const WordInfo* FindWord(Op op, std::string_view spelling) {
  for (const WordInfo& word : kWords) {
    if (word.spelling == spelling && MayHave(op, word) && !IsRaised(word)) return &word;
  }
  return nullptr;
}

class Words {
 public:
  constexpr Words() = default;
  constexpr Words(std::initializer_list<Word> words) {
    for (Word word : words) Add(word);
  }

  constexpr bool Has(Word word) const { return (bits_ & Bit(word)) != 0; }
  constexpr bool IsEmpty() const { return bits_ == 0; }
  constexpr void Add(Word word) { bits_ |= Bit(word); }
  constexpr void Add(Words others) { bits_ |= others.bits_; }
  constexpr void Remove(Word word) { bits_ &= ~Bit(word); }
  constexpr void Remove(Words others) { bits_ &= ~others.bits_; }
  constexpr Words With(Word word) const {
    Words with = *this;
    with.Add(word);
    return with;
  }
  /// Those of `others` that this set has.
  constexpr Words Of(Words others) const {
    others.bits_ &= bits_;
    return others;
  }
  friend constexpr bool operator==(Words, Words) = default;

 private:
  static constexpr uint64_t Bit(Word word) { return uint64_t{1} << static_cast<unsigned>(word); }

  uint64_t bits_ = 0;
};
static_assert(std::size(kWords) <= 64);

/// Those that passes of raising have written on an operation, each after a blank.
inline std::string RaisedText(Op op, Words words) {
  std::string text;
  for (const WordInfo& word : kWords) {
    if (words.Has(word.word) && IsRaised(word) && MayHave(op, word)) text.append(" ").append(word.spelling);
  }
  return text;
}

}  // namespace adc::ir
