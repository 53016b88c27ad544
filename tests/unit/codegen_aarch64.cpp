// What is written for AArch64, without a machine that runs it.

#include <catch2/catch.hpp>

#include "codegen/cpu/exclusive_stores.h"
#include "codegen_support.h"

using namespace adc;
using namespace adc::codegen_tests;
using ir::Op, ir::Scalar;

namespace {

/// parallel %i in 0..%n { %old = atomic OP %x[%i], (load %y[%i])  store %y[%i], %old }
std::vector<uint8_t> AtomicObject(Op op, Scalar scalar, uint32_t optimise) {
  Kernels kernels;
  ir::Function& kernel = kernels.Add("update");
  ir::Type buffer = ir::Type::Buffer(ir::Type::Of(scalar), 1);
  ir::Value x = kernels.Param(kernel, buffer, "x");
  ir::Value y = kernels.Param(kernel, buffer, "y");
  ir::Value n = kernels.Param(kernel, ir::kI32, "n");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value bounds[] = {b.I32(0), n};
  ir::Inst loop = b.Parallel(bounds, 0);
  b.SetBlock(kernel[loop].regions[0]);
  ir::Value i = kernel[kernel[loop].regions[0]].params[0];
  ir::Value value = b.Load(y, {&i, 1});
  ir::Value old = b.Access(op, x, {&i, 1}, {&value, 1});
  b.Access(Op::Store, y, {&i, 1}, {&old, 1});
  b.Yield({});
  codegen::CodeConfig config = ConfigFor(*target::FindTarget("cpu:aarch64"), optimise);
  return test::EmitRaised(codegen::EmitCpu, kernels.module, kernels.All(), config)
      ->Find(codegen::PayloadKind::Object)
      ->bytes;
}

/// The object with the status of every exclusive store thrown away, as LLVM 19 does with `atomicrmw fadd`.
std::vector<uint8_t> WithUnseenStores(std::vector<uint8_t> object, uint32_t* count) {
  for (size_t at = 0; at + 4 <= object.size(); at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, &object[at], 4);
    if ((word & 0xBFE07C00) != 0x88007C00) continue;  // stxr, stlxr of 32 or 64 bits
    word |= 31u << 16;
    std::memcpy(&object[at], &word, 4);
    ++*count;
  }
  return object;
}

}  // namespace

TEST_CASE("on AArch64 every atomic update sees whether its exclusive store failed") {
  for (uint32_t optimise = 0; optimise <= 3; ++optimise) {
    for (Scalar scalar :
         {Scalar::F16, Scalar::F32, Scalar::F64, Scalar::I32, Scalar::U64, Scalar::I8, Scalar::I1}) {
      for (Op op : {Op::AtomicAdd, Op::AtomicSub, Op::AtomicMin, Op::AtomicMax, Op::AtomicExchange}) {
        INFO(ir::Spelling(scalar) << " " << ir::InfoOf(op).spelling << " -O" << optimise);
        CHECK(codegen::CountUnseenExclusiveStores(AtomicObject(op, scalar, optimise)) == 0);
      }
    }
  }
}

TEST_CASE("an exclusive store whose status is thrown away is found") {
  for (Scalar scalar : {Scalar::F32, Scalar::F64}) {
    uint32_t made = 0;
    std::vector<uint8_t> object = WithUnseenStores(AtomicObject(Op::AtomicAdd, scalar, 2), &made);
    REQUIRE(made > 0);
    CHECK(codegen::CountUnseenExclusiveStores(object) == made);
  }
}
