// Two accesses with equal uniform terms differ by the digits of a mixed-radix number, as in
//
//   x[(i*R + r)*C + c]      r in 0..R, c in 0..C      strides: c 1, r C, i R*C
//
// and such a number can be read back: digit k is determined when its stride is at least the size of the
// window that all lower digits fill. Window and stride are compared as polynomials, so that symbolic extents
// work: window 1 -> stride 1 of c -> window C -> stride C of r -> window R*C -> stride R*C of i. A constant
// that the two differ by widens the first window.
//
// Polynomials are numbers over the integers, indices wrap: i * 2^30 is 0 for every fourth i, and with R = C =
// 2^16 so is every stride of i above. Let the index have w bits. There are two ways to a proof.
//
// *By size.* The difference over the integers is smaller than the last window. If that one is at most 2^w,
// the difference is no multiple of 2^w but 0. This needs extents that are true over the integers (`n + 1` of
// 32 bits may be -2^31) and a bound of the last window, from the types of what it is made of.
//
// *By range.* An index that is executed is in range: at least 0 and below 2^(w-1). Where an access is
// executed at every value of its digits, one step of one digit changes an index by its stride modulo 2^w,
// from one number in range to another: by the stride's residue s between -2^(w-1) and 2^(w-1), exactly. So
// the index is an exact sum of s_k * d_k, no sum of s_k * (E_k - 1) reaches 2^(w-1), and strides may be taken
// for their residues. It remains to show that these, too, clear their windows. With T_k the residue of window
// k in [0, 2^w), and the claim that T_k is at least the window:
//
//   T_k + slack < 2^(w-1)   the stride is s_k = T_k + slack, it clears the window, and the next one is
//                           T = s_k * E_k, which s_k * (E_k - 1) < 2^(w-1) leaves below 2^w.
//   otherwise               let j be the last digit below with E_j > 1 (or a constant stride):
//                           T_k = s_j * E_j
//                           + slacks. If E_k > 1 the stride is negative, 2^w - T_k - slack steps of 1 in
//                           magnitude, and with s_j * (E_j - 1) must stay below 2^(w-1): s_j > 2^(w-1) -
//                           slacks, so E_j = 2, and the digits below j are a window of the size of the
//                           slacks. But s_j came from that window, or is a constant. With slacks up to
//                           2^(w/2), constants up to 2^(w-2) that cannot be. So E_k = 1: the digit tells
//                           nothing, and T stays as it is.
//
// Both digits of a pair j, k must belong to one access for their sum to be in range; with constants alone,
// where the first case always holds, they need not.

#include "analysis/digits.h"

#include <algorithm>
#include <cstdlib>

namespace adc::analysis {

using ir::Value;

namespace {

/// Beyond this nothing is told apart.
constexpr Wide kUnbounded = Wide{1} << 120;

Wide Times(Wide a, Wide b) {
  Wide product;
  return __builtin_mul_overflow(a, b, &product) ? kUnbounded : std::min(product, kUnbounded);
}

AffineForm Constant(int64_t value) {
  return {value, {}};
}

uint32_t TrailingZeros(int64_t value, uint32_t bits) {
  uint32_t count = 0;
  while (count < bits && count < 63 && ((value >> count) & 1) == 0) ++count;
  return value == 0 ? bits : count;
}

/// Reads the digits back, from the lowest to the highest.
std::vector<Value> ReadBack(const Difference& difference, IndexWord word, bool by_range,
                            const Executed& executed, std::span<const Value> own, const AffineForms& forms) {
  if (word.bits == 0) return {};
  Wide half = Wide{1} << (word.bits - 1), quarter = half / 2, slack_limit = Wide{1} << (word.bits / 2);
  Wide offset = difference.constant < 0 ? -Wide{difference.constant} : Wide{difference.constant};
  if (by_range && offset >= quarter) return {};
  std::vector<Digit> left = difference.digits;
  AffineForm window = Constant(static_cast<int64_t>(1 + offset));
  std::vector<Value> found;
  Wide slacks = 0;
  bool constants = true;
  while (!left.empty()) {
    // The lowest digit whose stride is known to clear the window of those below it.
    auto best = left.end();
    int64_t best_slack = 0;
    for (auto digit = left.begin(); digit != left.end(); ++digit) {
      std::optional<AffineForm> slack = Add(digit->stride, window, -1);
      if (!slack || !slack->IsConstant() || slack->constant < 0) continue;
      if (best != left.end() && slack->constant >= best_slack) continue;
      best = digit;
      best_slack = slack->constant;
    }
    if (best == left.end()) return {};
    Digit digit = *best;
    left.erase(best);
    if (std::find(own.begin(), own.end(), digit.index) != own.end()) found.push_back(digit.index);
    if (by_range && !digit.contiguous) return {};
    if (digit.stride.IsConstant()) {
      if (by_range && digit.stride.constant > quarter) return {};
    } else {
      constants = false;
      slacks += best_slack;
      if (by_range && slacks > slack_limit) return {};
    }
    if (left.empty()) {
      if (!by_range) {
        Wide filled = Times(MagnitudeOf(digit.stride, forms), digit.most);
        return filled <= Wide{1} << word.bits ? found : std::vector<Value>();
      }
      // A gate that leaves an interval of the highest digit leaves every step to it.
      for (Value gated : executed.gated)
        if (gated != digit.index) return {};
      break;
    }
    if (!(by_range ? digit.congruent : digit.exact)) return {};
    if (digit.extent.IsConstant() && digit.extent.constant < 1) return {};
    std::optional<AffineForm> filled = Multiply(digit.stride, digit.extent);
    if (!filled) return {};
    window = std::move(*filled);
    constants = constants && window.IsConstant();
  }
  if (!constants && !difference.a_holds_b && !difference.b_holds_a) return {};
  return found;
}

}  // namespace

bool AllNegative(const AffineForm& form) {
  return form != AffineForm{} && form.constant <= 0 &&
         std::ranges::all_of(form.terms, [](const AffineTerm& term) { return term.coefficient <= 0; });
}

Wide MagnitudeOf(const AffineForm& form, const AffineForms& forms) {
  Wide sum = form.constant < 0 ? -Wide{form.constant} : Wide{form.constant};
  for (const AffineTerm& term : form.terms) {
    Wide product = term.coefficient < 0 ? -Wide{term.coefficient} : Wide{term.coefficient};
    for (Value atom : term.monomial.Atoms()) product = Times(product, Wide{1} << (forms.BitsOf(atom) - 1));
    sum = std::min(sum + product, kUnbounded);
  }
  return sum;
}

std::optional<Wide> FirstMeeting(int64_t constant, int64_t step, uint32_t bits) {
  uint32_t zeros = TrailingZeros(step, bits);
  if (TrailingZeros(constant, bits) < zeros) return std::nullopt;
  // The modulus, the constant and the step without their common power of two; the step is odd now.
  uint32_t rest = bits - zeros;
  __extension__ using Bits = unsigned __int128;
  Bits mask = (Bits{1} << rest) - 1;
  if (rest == 0) return 1;
  Bits odd = static_cast<Bits>(Wide{step} >> zeros) & mask;
  Bits target = static_cast<Bits>(-(Wide{constant} >> zeros)) & mask;
  Bits inverse = 1;
  for (int n = 0; n < 7; ++n) inverse = (inverse * (2 - odd * inverse)) & mask;
  Bits first = (target * inverse) & mask;
  return static_cast<Wide>(first == 0 ? mask + 1 : first);
}

std::vector<Value> EqualDigits(const Difference& difference, IndexWord word, const Executed& executed,
                               std::span<const Value> own, const AffineForms& forms) {
  std::vector<Value> all(own.begin(), own.end());
  const std::vector<Digit>& digits = difference.digits;
  bool constants =
      std::all_of(digits.begin(), digits.end(), [](const Digit& digit) { return digit.stride.IsConstant(); });
  if (constants) {
    // A constant that the strides do not divide, as far as powers of two go.
    uint32_t zeros = word.bits;
    for (const Digit& digit : digits)
      zeros = std::min(zeros, TrailingZeros(digit.stride.constant, word.bits));
    if (TrailingZeros(difference.constant, word.bits) < zeros) return all;
  }
  if (constants && digits.size() == 1) {
    int64_t stride = digits[0].stride.constant;
    std::optional<Wide> up = FirstMeeting(difference.constant, stride, word.bits);
    std::optional<Wide> down = FirstMeeting(-difference.constant, stride, word.bits);
    bool apart = (!up || *up >= digits[0].most) && (!down || *down >= digits[0].most);
    // Equal digits make equal indices only where nothing else differs.
    if (apart && TrailingZeros(difference.constant, word.bits) < word.bits) return all;
    bool is_own = std::find(own.begin(), own.end(), digits[0].index) != own.end();
    if (apart && is_own) return {digits[0].index};
  }
  std::vector<Value> found = ReadBack(difference, word, false, executed, own, forms);
  if (found.empty() && word.whole && executed.everywhere)
    found = ReadBack(difference, word, true, executed, own, forms);
  return found;
}

}  // namespace adc::analysis
