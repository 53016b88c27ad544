// Instructions of RDNA3 whose meaning is easily got wrong, assembled by LLVM and run by the interpreter,
// against closed forms.

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "assemble.h"
#include "decode.h"
#include "machine.h"
#include "number.h"

namespace {

using namespace adc::rdna3;

/// A wave that runs some text. All lanes are active, registers are 0, denormals count.
class Run {
 public:
  explicit Run(const std::string& text)
      : bytes_(Assemble(text + "\ns_endpgm\n")), code_(decoder(), bytes_, kAddress) {
    wave.group = &group;
    wave.memory = &memory;
    wave.mode = 0xF0;
    wave.s[kExec] = ~0u;
  }
  /// To the end of the program.
  Run& Go() {
    wave.pc = kAddress;
    wave.ended = false;
    while (!wave.ended) {
      const Instruction& instruction = code_.At(wave.pc);
      wave.pc += instruction.bytes;
      instruction.run(wave, instruction);
    }
    return *this;
  }
  void Set(uint32_t number, uint32_t lane, float x) { wave.v[number][lane] = std::bit_cast<uint32_t>(x); }
  void Set(uint32_t number, uint32_t lane, double x) {
    auto bits = std::bit_cast<uint64_t>(x);
    wave.v[number][lane] = static_cast<uint32_t>(bits);
    wave.v[number + 1][lane] = static_cast<uint32_t>(bits >> 32);
  }
  float F32(uint32_t number, uint32_t lane = 0) const { return std::bit_cast<float>(wave.v[number][lane]); }
  uint64_t U64(uint32_t number, uint32_t lane = 0) const {
    return wave.v[number][lane] | static_cast<uint64_t>(wave.v[number + 1][lane]) << 32;
  }
  double F64(uint32_t number, uint32_t lane = 0) const { return std::bit_cast<double>(U64(number, lane)); }

  Wave wave;
  WorkGroup group;
  Memory memory;

 private:
  static constexpr uint64_t kAddress = 0x10000;
  static Decoder& decoder() {
    static Decoder one("gfx1100");
    return one;
  }
  std::vector<uint8_t> bytes_;
  Code code_;
};

/// Bits of any float, with exponents from everywhere.
template <class T>
T Anything(std::mt19937_64& random) {
  T special[] = {T(0),
                 -T(0),
                 T(1),
                 std::numeric_limits<T>::infinity(),
                 std::numeric_limits<T>::quiet_NaN(),
                 std::numeric_limits<T>::max(),
                 std::numeric_limits<T>::min(),
                 std::numeric_limits<T>::denorm_min()};
  if (random() % 8 == 0) return special[random() % std::size(special)];
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<uint32_t>(random()));
  else
    return std::bit_cast<T>(uint64_t{random()});
}

template <class T>
void CheckSame(T got, T want) {
  if (std::isnan(want)) {
    CHECK(std::isnan(got));
  } else {
    CHECK(got == want);
    CHECK(std::signbit(got) == std::signbit(want));
  }
}

}  // namespace

// The sequences are those that LLVM emits; a reciprocal that is off by what the ISA allows must not show.
TEST_CASE("div_scale, div_fmas and div_fixup make a correctly rounded quotient of f32", "[rdna3]") {
  Run run(R"(
    v_div_scale_f32 v2, null, v1, v1, v0
    v_rcp_f32 v3, v2
    v_fma_f32 v4, -v2, v3, 1.0
    v_fmac_f32 v3, v4, v3
    v_div_scale_f32 v5, vcc_lo, v0, v1, v0
    v_mul_f32 v6, v5, v3
    v_fma_f32 v7, -v2, v6, v5
    v_fmac_f32 v6, v7, v3
    v_fma_f32 v7, -v2, v6, v5
    v_div_fmas_f32 v8, v7, v3, v6
    v_div_fixup_f32 v9, v8, v1, v0)");
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      run.Set(0, lane, Anything<float>(random));
      run.Set(1, lane, Anything<float>(random));
    }
    run.Go();
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      INFO(std::hexfloat << run.F32(0, lane) << " / " << run.F32(1, lane));
      CheckSame(run.F32(9, lane), run.F32(0, lane) / run.F32(1, lane));
    }
  }
}

TEST_CASE("div_scale, div_fmas and div_fixup make a correctly rounded quotient of f64", "[rdna3]") {
  Run run(R"(
    v_div_scale_f64 v[4:5], null, v[2:3], v[2:3], v[0:1]
    v_rcp_f64 v[6:7], v[4:5]
    v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0
    v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]
    v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0
    v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]
    v_div_scale_f64 v[10:11], vcc_lo, v[0:1], v[2:3], v[0:1]
    v_mul_f64 v[12:13], v[10:11], v[6:7]
    v_fma_f64 v[4:5], -v[4:5], v[12:13], v[10:11]
    v_div_fmas_f64 v[14:15], v[4:5], v[6:7], v[12:13]
    v_div_fixup_f64 v[16:17], v[14:15], v[2:3], v[0:1])");
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      run.Set(0, lane, Anything<double>(random));
      run.Set(2, lane, Anything<double>(random));
    }
    run.Go();
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      INFO(std::hexfloat << run.F64(0, lane) << " / " << run.F64(2, lane));
      CheckSame(run.F64(16, lane), run.F64(0, lane) / run.F64(2, lane));
    }
  }
}

TEST_CASE("DPP moves lanes within rows, and leaves out lanes that have nobody to read from", "[rdna3]") {
  Run run(R"(
    v_mov_b32_dpp v1, v0 row_shr:1 row_mask:0xf bank_mask:0xf
    v_mov_b32_dpp v2, v0 row_shl:2 row_mask:0xf bank_mask:0xf bound_ctrl:1
    v_mov_b32_dpp v3, v0 row_share:5 row_mask:0xf bank_mask:0xf
    v_mov_b32_dpp v4, v0 row_ror:3 row_mask:0xf bank_mask:0xf
    v_mov_b32_dpp v5, v0 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf
    v_mov_b32_dpp v6, v0 row_mirror row_mask:0xf bank_mask:0xf
    v_mov_b32_dpp v7, v0 row_half_mirror row_mask:0xf bank_mask:0xf
    v_mov_b32_dpp v8, v0 row_xmask:6 row_mask:0x1 bank_mask:0xf
    v_mov_b32_dpp v9, v0 dpp8:[7,6,5,4,3,2,1,0]
    v_add_nc_u32_dpp v10, v0, v0 row_shr:4 row_mask:0xf bank_mask:0xf)");
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    run.wave.v[0][lane] = 100 + lane;
    for (uint32_t number = 1; number < 11; ++number) run.wave.v[number][lane] = 7;
  }
  run.Go();
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    INFO(lane);
    uint32_t row = lane / 16 * 16, place = lane % 16;
    CHECK(run.wave.v[1][lane] == (place >= 1 ? 100 + lane - 1 : 7));
    CHECK(run.wave.v[2][lane] == (place + 2 < 16 ? 100 + lane + 2 : 0));
    CHECK(run.wave.v[3][lane] == 100 + row + 5);
    CHECK(run.wave.v[4][lane] == 100 + row + (place + 13) % 16);
    CHECK(run.wave.v[5][lane] == 100 + (lane ^ 3));
    CHECK(run.wave.v[6][lane] == 100 + (lane ^ 15));
    CHECK(run.wave.v[7][lane] == 100 + (lane ^ 7));
    CHECK(run.wave.v[8][lane] == (row == 0 ? 100 + (lane ^ 6) : 7));
    CHECK(run.wave.v[9][lane] == 100 + (lane ^ 7));
    CHECK(run.wave.v[10][lane] == (place >= 4 ? 200 + 2 * lane - 4 : 7));
  }
}

TEST_CASE("lanes read each other: bpermute, swizzle, permlane, readlane, inactive ones give 0", "[rdna3]") {
  Run run(R"(
    ds_bpermute_b32 v2, v1, v0
    ds_swizzle_b32 v3, v0 offset:swizzle(SWAP,16)
    ds_swizzle_b32 v4, v0 offset:swizzle(BITMASK_PERM,"0000p")
    ds_permute_b32 v5, v1, v0
    v_permlanex16_b32 v6, v0, s2, s3
    v_readfirstlane_b32 s0, v0
    v_readlane_b32 s1, v0, 31
    v_writelane_b32 v7, 42, 3
    v_mbcnt_lo_u32_b32 v8, -1, 0)");
  run.wave.s[2] = 0x76543210;
  run.wave.s[3] = 0xFEDCBA98;
  run.wave.s[kExec] = 0xFFFFFF0F;  // 4 to 7 rest
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    run.wave.v[0][lane] = 100 + lane;
    run.wave.v[1][lane] = 4 * ((lane * 5 + 1) % kLanes);
  }
  run.Go();
  auto active = [&](uint32_t lane) { return run.wave.Active(lane); };
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    INFO(lane);
    if (!active(lane)) {
      CHECK(run.wave.v[2][lane] == 0);
      continue;
    }
    uint32_t from = (lane * 5 + 1) % kLanes;
    CHECK(run.wave.v[2][lane] == (active(from) ? 100 + from : 0));
    CHECK(run.wave.v[3][lane] == (active(lane ^ 16) ? 100 + (lane ^ 16) : 0));
    CHECK(run.wave.v[4][lane] == 100 + lane % 2);
    uint32_t sender = (lane + kLanes - 1) * 13 % kLanes;  // 5 * 13 = 1 mod 32
    CHECK(run.wave.v[5][lane] == (active(sender) ? 100 + sender : 0));
    if (active(lane ^ 16)) CHECK(run.wave.v[6][lane] == 100 + (lane ^ 16));
    CHECK(run.wave.v[8][lane] == lane);
  }
  CHECK(run.wave.s[0] == 100);
  CHECK(run.wave.s[1] == 131);
  CHECK(run.wave.v[7][3] == 42);
  CHECK(run.wave.v[7][4] == 0);
}

TEST_CASE("ldexp and frexp, into subnormal numbers and over the top", "[rdna3]") {
  Run run(R"(
    v_ldexp_f32 v2, v0, v1
    v_frexp_mant_f32 v3, v0
    v_frexp_exp_i32_f32 v4, v0
    v_cvt_f64_f32 v[6:7], v0
    v_ldexp_f64 v[8:9], v[6:7], v1
    v_frexp_mant_f64 v[10:11], v[8:9]
    v_frexp_exp_i32_f64 v12, v[8:9])");
  const float kNumbers[] = {1, -3.75f, 0x1.FFFFFEp127f, 0x1p-149f, 0x1.8p-130f, 0, -0.0f, 0x1.ABCDEFp0f};
  const int kExponents[] = {0, 5, -5, 200, -149, -126, 2000, -2000};
  for (float x : kNumbers) {
    for (int e : kExponents) {
      run.Set(0, 0, x);
      run.wave.v[1][0] = static_cast<uint32_t>(e);
      run.Go();
      INFO(std::hexfloat << x << ", " << e);
      CheckSame(run.F32(2), std::ldexp(x, e));
      CheckSame(run.F64(8), std::ldexp(double{x}, e));
      int exponent = 0;
      CheckSame(run.F32(3), std::frexp(x, &exponent));
      CHECK(run.wave.v[4][0] == static_cast<uint32_t>(exponent));
      CheckSame(run.F64(10), std::frexp(std::ldexp(double{x}, e), &exponent));
      if (std::isfinite(run.F64(8))) CHECK(run.wave.v[12][0] == static_cast<uint32_t>(exponent));
    }
  }
  run.Set(0, 0, std::numeric_limits<float>::infinity());
  run.Go();
  CHECK(std::isinf(run.F32(3)));
  CHECK(run.wave.v[4][0] == 0);
}

TEST_CASE("both halves of a dual instruction read before either writes", "[rdna3]") {
  Run run(R"(
    v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0
    v_dual_fmac_f32 v2, v4, v5 :: v_dual_add_f32 v3, v2, v10
    v_dual_cndmask_b32 v6, v0, v1 :: v_dual_fmaak_f32 v7, v5, v10, 0x40400000
    v_dual_mov_b32 v8, 1.0 :: v_dual_lshlrev_b32 v9, 4, v4)");
  run.Set(0, 0, 10.0f);
  run.Set(1, 0, 20.0f);
  run.Set(2, 0, 3.0f);
  run.Set(4, 0, 5.0f);
  run.Set(5, 0, 7.0f);
  run.Set(10, 0, 11.0f);
  run.wave.s[kVcc] = 1;
  run.Go();
  CHECK(run.F32(0) == 20);
  CHECK(run.F32(1) == 10);
  CHECK(run.F32(2) == 38);
  CHECK(run.F32(3) == 3 + 11);
  CHECK(run.F32(6) == 10);
  CHECK(run.F32(7) == 7 * 11 + 3);
  CHECK(run.F32(8) == 1);
  CHECK(run.wave.v[9][0] == std::bit_cast<uint32_t>(5.0f) << 4);
}

TEST_CASE("a comparison's bits of inactive lanes are 0, and v_cmpx narrows EXEC", "[rdna3]") {
  Run run(R"(
    v_cmp_lt_f32 vcc_lo, v0, v1
    v_cmp_nlt_f32 s5, v0, v1
    v_cmp_class_f32 s6, v0, 3
    v_cmpx_lt_u32 7, v2
    v_mov_b32 v3, 1)");
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    run.Set(0, lane, lane % 4 == 3 ? NAN : static_cast<float>(lane));
    run.Set(1, lane, 16.0f);
    run.wave.v[2][lane] = lane;
  }
  run.wave.s[kExec] = 0x00FFFFF0;
  run.Go();
  CHECK(run.wave.s[kVcc] == 0x00007770);
  CHECK(run.wave.s[5] == (0x00FFFFF0 & ~0x00007770u));
  CHECK(run.wave.s[6] == 0x00888880);
  CHECK(run.wave.exec() == 0x00FFFF00);
  for (uint32_t lane = 0; lane < kLanes; ++lane) CHECK(run.wave.v[3][lane] == (lane >= 8 && lane < 24));
}

TEST_CASE("carries go from lane to lane of a chain, also where the destination is a source", "[rdna3]") {
  Run run(R"(
    v_add_co_u32 v0, vcc_lo, v0, v2
    v_add_co_ci_u32 v1, vcc_lo, v1, v3, vcc_lo
    v_sub_co_u32 v4, s8, v4, v6
    v_sub_co_ci_u32 v5, null, v5, v7, s8
    v_subrev_co_u32 v8, s9, v6, v9
    v_mad_u64_u32 v[10:11], s10, v2, v6, v[10:11]
    v_mad_i64_i32 v[12:13], null, v2, v6, v[12:13])");
  std::mt19937_64 random(3);
  uint64_t before[14][kLanes];
  for (auto& row : before) {
    for (uint64_t& word : row) word = random() % 4 == 0 ? ~0u : static_cast<uint32_t>(random());
  }
  for (uint32_t number = 0; number < 14; ++number) {
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      run.wave.v[number][lane] = static_cast<uint32_t>(before[number][lane]);
  }
  run.Go();
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    auto pair = [&](uint32_t number) { return before[number][lane] | before[number + 1][lane] << 32; };
    uint64_t sum = pair(0) + pair(2);
    CHECK(run.U64(0, lane) == sum);
    CHECK((run.wave.s[kVcc] >> lane & 1) == (sum < pair(0)));
    CHECK(run.U64(4, lane) == pair(4) - pair(6));
    CHECK(run.wave.v[8][lane] == static_cast<uint32_t>(before[9][lane] - before[6][lane]));
    CHECK((run.wave.s[9] >> lane & 1) == (before[6][lane] > before[9][lane]));
    uint64_t product = before[2][lane] * before[6][lane];
    CHECK(run.U64(10, lane) == product + pair(10));
    CHECK((run.wave.s[10] >> lane & 1) == (product + pair(10) < product));
    int64_t signed_product =
        int64_t{static_cast<int32_t>(before[2][lane])} * static_cast<int32_t>(before[6][lane]);
    CHECK(run.U64(12, lane) == static_cast<uint64_t>(signed_product) + pair(12));
  }
}

TEST_CASE("bit fields, scalar and vector", "[rdna3]") {
  Run run(R"(
    s_bfe_u32 s1, s0, 0x80004
    s_bfe_i32 s2, s0, 0x8001c
    s_bfe_i64 s[4:5], s[6:7], 0x10003f
    s_bfe_u32 s3, s0, 0x200000
    v_bfe_i32 v1, v0, 4, 5
    v_bfe_u32 v2, v0, 28, 8
    v_bfi_b32 v3, 0xff00, v0, -1
    v_alignbit_b32 v4, v0, -1, 12
    s_addk_i32 s0, 0x8000
    s_cmpk_gt_u32 s8, 0xfffe)");
  constexpr uint32_t kWord = 0xF2345678;
  run.wave.s[0] = run.wave.v[0][0] = kWord;
  run.wave.s[6] = 0;
  run.wave.s[7] = 0x80000000;
  run.wave.s[8] = 0xFFFF;
  run.Go();
  CHECK(run.wave.s[1] == 0x67);
  CHECK(run.wave.s[2] == ~0u);  // the word is extended by its sign before it is shifted
  CHECK(run.wave.s[3] == kWord);
  CHECK(run.wave.s[4] == ~0u);
  CHECK(run.wave.s[5] == ~0u);
  CHECK(run.wave.v[1][0] == 0x7);
  CHECK(run.wave.v[2][0] == 0xF);
  CHECK(run.wave.v[3][0] == 0xFFFF56FF);
  CHECK(run.wave.v[4][0] == (kWord << 20 | 0xFFFFF));
  CHECK(run.wave.s[0] == kWord - 0x8000);
  CHECK(run.wave.scc);
}

TEST_CASE("conversions to integers saturate, NaN becomes 0", "[rdna3]") {
  Run run(R"(
    v_cvt_i32_f32 v1, v0
    v_cvt_u32_f32 v2, v0
    v_cvt_f64_f32 v[4:5], v0
    v_cvt_i32_f64 v6, v[4:5]
    v_cvt_u32_f64 v7, v[4:5]
    v_cvt_f16_f32 v8, v0
    v_cvt_i16_f16 v9, v8
    v_cvt_u16_f16 v10, v8)");
  struct Row {
    float x;
    uint32_t i32, u32, i16, u16;
  };
  const Row kRows[] = {{1.9f, 1, 1, 1, 1},
                       {-1.9f, ~0u, 0, 0xFFFF, 0},
                       {3e9f, 0x7FFFFFFF, 3000000000u, 0x7FFF, 0xFFFF},
                       {-3e9f, 0x80000000, 0, 0x8000, 0},
                       {1e20f, 0x7FFFFFFF, ~0u, 0x7FFF, 0xFFFF},
                       {-INFINITY, 0x80000000, 0, 0x8000, 0},
                       {NAN, 0, 0, 0, 0},
                       {-0.5f, 0, 0, 0, 0}};
  for (const Row& row : kRows) {
    run.Set(0, 0, row.x);
    run.Go();
    INFO(row.x);
    CHECK(run.wave.v[1][0] == row.i32);
    CHECK(run.wave.v[2][0] == row.u32);
    CHECK(run.wave.v[6][0] == row.i32);
    CHECK(run.wave.v[7][0] == row.u32);
    CHECK((run.wave.v[9][0] & 0xFFFF) == row.i16);
    CHECK((run.wave.v[10][0] & 0xFFFF) == row.u16);
  }
}

TEST_CASE("numbers of 16 bits: every one goes to f32 and returns, and rounding is to even", "[rdna3]") {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half half = Half::OfBits(static_cast<uint16_t>(bits));
    float x = half;
    if (std::isnan(x)) continue;
    REQUIRE(Half(double{x}).bits == bits);
    if ((bits & 0x7FFF) >= 0x7BFF) continue;
    float next = Half::OfBits(static_cast<uint16_t>(bits + 1));
    REQUIRE(Half((double{x} + next) / 2).bits == bits + (bits & 1));
  }
  CHECK(Half(65519.99).bits == 0x7BFF);
  CHECK(Half(65520.0).bits == 0x7C00);
}

TEST_CASE("16-bit operands lie in halves of registers, and a result leaves the other half", "[rdna3]") {
  Run run(R"(
    v_add_nc_u16 v1, v0, v0 op_sel:[1,0,1]
    v_mad_u16 v2, v0, v0, 3 op_sel:[0,1,0,0]
    v_pk_add_f16 v5, v3, v4 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1]
    v_fma_mix_f32 v6, v3, v4, 1.0 op_sel:[1,0,0] op_sel_hi:[1,1,0])");
  run.wave.v[0][0] = 0x00050003;
  run.wave.v[1][0] = run.wave.v[2][0] = 0xAAAABBBB;
  auto pack = [](double low, double high) {
    return Half(low).bits | static_cast<uint32_t>(Half(high).bits) << 16;
  };
  run.wave.v[3][0] = pack(1.5, 8);
  run.wave.v[4][0] = pack(3, 5);
  run.Go();
  CHECK(run.wave.v[1][0] == 0x0008BBBB);
  CHECK(run.wave.v[2][0] == 0xAAAA0012);
  CHECK(run.wave.v[5][0] == pack(8 - 3, 1.5 + 5));
  CHECK(run.F32(6) == 8 * 3 + 1);
}

TEST_CASE("modifiers and constants: sign, scale, clamp, literals of 64 bits", "[rdna3]") {
  Run run(R"(
    v_add_f32 v1, -|v0|, v0 mul:2
    v_mul_f32 v2, v0, 4.0 clamp
    v_add_f64 v[4:5], 0.5, 0x40080000
    v_cndmask_b32 v6, -v0, |v0|, s4
    v_add_nc_u32 v7, v9, v9 clamp
    v_cmp_gt_u64 s5, v[8:9], 0x80000000
    v_mul_f64 v[10:11], 0.15915494309189532, 2.0
    v_add_nc_i32 v12, v9, v9 clamp)");
  run.wave.s[4] = 1;
  run.Set(0, 0, -3.0f);
  run.Set(0, 1, 0.125f);
  run.wave.v[9][0] = 0x80000001;
  run.Go();
  CHECK(run.F32(1) == -12);
  CHECK(run.F32(2) == 0);
  CHECK(run.F32(2, 1) == 0.5f);
  CHECK(run.F64(4) == 3.5);
  CHECK(run.F32(6) == 3);
  CHECK(run.F32(6, 1) == -0.125f);
  CHECK(run.wave.v[7][0] == ~0u);
  CHECK((run.wave.s[5] & 1) == 1);
  CHECK(run.F64(10) == 2 * 0.15915494309189532);
  CHECK(run.wave.v[12][0] == 0x80000000);
}

TEST_CASE("MODE decides about denormals and rounding", "[rdna3]") {
  Run run(R"(
    v_mul_f32 v2, v0, v1
    v_add_f32 v3, v4, v5
    s_denorm_mode 0
    v_mul_f32 v6, v0, v1
    v_mul_f32 v7, v6, 1.0
    s_round_mode 1
    v_add_f32 v8, v4, v5
    s_round_mode 3
    v_add_f32 v9, -v4, v5
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xf0
    s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 4))");
  run.Set(0, 0, 0x1p-100f);
  run.Set(1, 0, 0x1.8p-30f);
  run.Set(4, 0, 1.0f);
  run.Set(5, 0, 0x1p-30f);
  run.Go();
  CHECK(run.F32(2) == 0x1.8p-130f);
  CHECK(run.F32(3) == 1);
  CHECK(run.F32(6) == 0);
  CHECK(run.F32(7) == 0);
  CHECK(run.F32(8) == 0x1.000002p0f);
  CHECK(run.F32(9) == -0x1.fffffep-1f);
  CHECK(run.wave.s[0] == 0xF);
}

TEST_CASE("min and max order -0 before +0 and pass over NaN", "[rdna3]") {
  Run run(R"(
    v_min_f32 v2, v0, v1
    v_max_f32 v3, v0, v1
    v_med3_f32 v4, v0, v1, 1.0)");
  run.Set(0, 0, 0.0f);
  run.Set(1, 0, -0.0f);
  run.Set(0, 1, NAN);
  run.Set(1, 1, 5.0f);
  run.Set(0, 2, 4.0f);
  run.Set(1, 2, -5.0f);
  run.Go();
  CheckSame(run.F32(2), -0.0f);
  CheckSame(run.F32(3), 0.0f);
  CHECK(run.F32(2, 1) == 5);
  CHECK(run.F32(3, 1) == 5);
  CHECK(run.F32(4, 2) == 1);
}

TEST_CASE("memory: offsets, scalar bases, LDS pairs, scratch of each lane, atomics that return", "[rdna3]") {
  Run run(R"(
    global_load_b64 v[2:3], v0, s[2:3] offset:-8
    global_load_u8 v4, v[6:7], off offset:3
    global_atomic_add_u32 v5, v0, v1, s[2:3] offset:64 glc
    global_atomic_cmpswap_b32 v8, v0, v[10:11], s[2:3] offset:68 glc
    ds_store_2addr_b32 v9, v1, v0 offset0:1 offset1:3
    ds_load_2addr_b32 v[12:13], v9 offset0:3 offset1:1
    ds_add_rtn_u32 v14, v9, v1 offset:4
    scratch_store_b64 off, v[0:1], off offset:8
    scratch_load_b32 v15, off, off offset:12
    s_load_b64 s[4:5], s[2:3], 0x8)");
  uint64_t address = run.memory.Allocate(256, "a test's buffer");
  uint8_t* bytes = run.memory.ForHost(address, 256);
  for (uint32_t at = 0; at < 256; at += 4) std::memcpy(bytes + at, &at, 4);
  run.wave.s[2] = static_cast<uint32_t>(address);
  run.wave.s[3] = static_cast<uint32_t>(address >> 32);
  run.group.shared.resize(kLanes * 16);
  run.wave.private_bytes = 16;
  run.wave.scratch.resize(kLanes * 16);
  run.wave.s[kExec] = 3;
  for (uint32_t lane = 0; lane < 2; ++lane) {
    run.wave.v[0][lane] = 16;
    run.wave.v[1][lane] = 5 + lane;
    run.wave.v[6][lane] = static_cast<uint32_t>(address) + 32;
    run.wave.v[7][lane] = static_cast<uint32_t>(address >> 32);
    run.wave.v[9][lane] = 16 * lane;
    run.wave.v[10][lane] = 1000 + lane;  // what it becomes
    run.wave.v[11][lane] = 84;           // where it is this
  }
  run.Go();
  uint32_t cell = 0;
  CHECK(run.U64(2) == (8 | uint64_t{12} << 32));
  CHECK(run.wave.v[4][0] == 0);
  CHECK(run.wave.v[5][0] == 80);
  CHECK(run.wave.v[5][1] == 85);
  std::memcpy(&cell, bytes + 80, 4);
  CHECK(cell == 91);
  CHECK(run.wave.v[8][0] == 84);
  CHECK(run.wave.v[8][1] == 1000);
  std::memcpy(&cell, bytes + 84, 4);
  CHECK(cell == 1000);
  CHECK(run.wave.v[12][1] == 16);
  CHECK(run.wave.v[13][1] == 6);
  CHECK(run.wave.v[14][1] == 6);
  CHECK(run.wave.v[15][1] == 6);
  CHECK(run.wave.s[4] == 8);
  CHECK(run.wave.s[5] == 12);
}

TEST_CASE("an access outside of its allocation is a fault that names it", "[rdna3]") {
  Run run("global_load_b64 v[2:3], v0, s[2:3]");
  uint64_t address = run.memory.Allocate(100, "a test's buffer");
  run.wave.s[2] = static_cast<uint32_t>(address);
  run.wave.s[3] = static_cast<uint32_t>(address >> 32);
  for (uint32_t lane = 0; lane < kLanes; ++lane) run.wave.v[0][lane] = 92;
  CHECK_NOTHROW(run.Go());
  run.wave.v[0][17] = 96;
  CHECK_THROWS_WITH(run.Go(), Catch::Contains("8 bytes") && Catch::Contains("a test's buffer, 100 bytes") &&
                                  Catch::Contains("byte 96"));
  run.wave.s[kExec] = ~(1u << 17);
  CHECK_NOTHROW(run.Go());
  Run unknown("s_ttracedata");
  CHECK_THROWS_WITH(unknown.Go(), Catch::Contains("no row of a table has s_ttracedata"));
  Run aside("v_movrels_b32 v0, v1");
  aside.wave.vector_registers = 8;
  aside.wave.s[kM0] = 7;
  CHECK_THROWS_WITH(aside.Go(), Catch::Contains("VGPR 8 of 8"));
}

TEST_CASE("scalar carries and calls", "[rdna3]") {
  Run run(R"(
    s_add_u32 s0, s0, s2
    s_addc_u32 s1, s1, s3
    s_getpc_b64 s[4:5]
after:
    s_add_u32 s4, s4, target-after
    s_swappc_b64 s[6:7], s[4:5]
    s_mov_b32 s9, 1
    s_endpgm
    s_nop 0
target:
    s_cselect_b32 s8, 5, 6
    s_min_i32 s10, s11, -3
    s_cselect_b32 s12, 5, 6
    s_setpc_b64 s[6:7])");
  run.wave.s[0] = ~0u;
  run.wave.s[1] = 7;
  run.wave.s[2] = 1;
  run.wave.s[3] = 0;
  run.wave.s[11] = static_cast<uint32_t>(-4);
  run.wave.s[9] = 0;
  run.Go();
  CHECK(run.wave.s[0] == 0);
  CHECK(run.wave.s[1] == 8);
  CHECK(run.wave.s[9] == 1);
  CHECK(run.wave.s[10] == static_cast<uint32_t>(-4));
  CHECK(run.wave.s[12] == 5);
}
