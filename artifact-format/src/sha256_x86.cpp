#include "sha256_x86.h"

#include "artifact/processor.h"

#if defined(ADC_X86_64)
#include <immintrin.h>

namespace adc::artifact {

bool HasSha256Instructions() {
  constexpr uint32_t kShuffles = 1u << 9, kBlends = 1u << 19, kSha = 1u << 29;
  return (~AskProcessor(1).c & (kShuffles | kBlends)) == 0 && (AskProcessor(7).b & kSha) != 0;
}

namespace {

// Four rounds; the state lies as the instructions want it, a b e f in one register and c d g h in the other.
ADC_ALWAYS_INLINE ADC_FOR_PROCESSOR("sha,sse4.1") void FourRounds(__m128i& abef, __m128i& cdgh,
                                                                  __m128i added) {
  cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
  abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0E));
}

// The next four words of the schedule in the place of the oldest of the last sixteen.
ADC_ALWAYS_INLINE ADC_FOR_PROCESSOR("sha,sse4.1") __m128i
    Next(__m128i oldest, __m128i second, __m128i third, __m128i newest) {
  __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(oldest, second), _mm_alignr_epi8(newest, third, 4));
  return _mm_sha256msg2_epu32(sum, newest);
}

ADC_ALWAYS_INLINE __m128i Load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

}  // namespace

ADC_FOR_PROCESSOR("sha,sse4.1")
void Sha256Blocks(uint32_t (&state)[8], const uint32_t (&rounds)[64], const uint8_t* blocks, size_t count) {
  const __m128i order = _mm_set_epi64x(0x0C0D0E0F08090A0B, 0x0405060700010203);  // words are big-endian
  __m128i badc = _mm_shuffle_epi32(Load(state), 0xB1), hgfe = _mm_shuffle_epi32(Load(state + 4), 0x1B);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xF0);
  for (; count > 0; --count, blocks += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w0 = _mm_shuffle_epi8(Load(blocks), order), w1 = _mm_shuffle_epi8(Load(blocks + 16), order);
    __m128i w2 = _mm_shuffle_epi8(Load(blocks + 32), order), w3 = _mm_shuffle_epi8(Load(blocks + 48), order);
    for (int round = 0;; round += 16) {
      FourRounds(abef, cdgh, _mm_add_epi32(w0, Load(rounds + round)));
      FourRounds(abef, cdgh, _mm_add_epi32(w1, Load(rounds + round + 4)));
      FourRounds(abef, cdgh, _mm_add_epi32(w2, Load(rounds + round + 8)));
      FourRounds(abef, cdgh, _mm_add_epi32(w3, Load(rounds + round + 12)));
      if (round == 48) break;
      w0 = Next(w0, w1, w2, w3);
      w1 = Next(w1, w2, w3, w0);
      w2 = Next(w2, w3, w0, w1);
      w3 = Next(w3, w0, w1, w2);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

}  // namespace adc::artifact

#else

namespace adc::artifact {

bool HasSha256Instructions() {
  return false;
}
void Sha256Blocks(uint32_t (&)[8], const uint32_t (&)[64], const uint8_t*, size_t) {}

}  // namespace adc::artifact

#endif
