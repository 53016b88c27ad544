#pragma once
// Accesses: positions of elements of buffers, layout fields, thread-local arrays and module constants, and
// the loads, stores and atomic updates of them.
//
// Memory is indexed by element: the offset of a layout's field is a multiple of its scalar, and so is every
// stride above it.

#include "codegen/common/questions.h"
#include "codegen/spirv/atomics.h"
#include "codegen/spirv/status.h"
#include "codegen/spirv/values.h"
#include "ir/module.h"

namespace adc::codegen::spirv {

class MemoryEmitter {
 public:
  MemoryEmitter(Environment& environment, ValueTable& values)
      : context_(environment.entry.context),
        m_(context_.module),
        kernel_(environment.entry.kernel),
        environment_(environment),
        f_(environment.entry.f),
        scalars_(environment.entry.scalars),
        values_(values),
        atomics_(f_, scalars_) {}

  void EmitAlloca(ir::Inst inst);
  /// The array of a team; how many elements it has, which the team clears.
  uint32_t EmitCommonArray(ir::Inst inst);
  void ClearCommon(ir::Inst inst, Id element);
  /// Memory of the workgroup for arrays of a team.
  uint32_t SharedBytes() const { return shared_bytes_; }
  /// Any access; binds its result where it has one.
  void EmitAccess(ir::Inst inst);
  /// The atomic update of the element of `access` by `value`.
  void EmitAtomic(ir::Inst access, ir::Op op, Id value);
  /// The number of the element of `access` in its buffer or layout, and its bits.
  std::pair<Id, uint32_t> NumberOf(ir::Inst access) {
    Cell cell = CellOf(access);
    return {cell.index, cell.width};
  }

  /// The parallel loop that is being emitted and its flat iteration in Entry::Wide()
  /// bits; 0: none.
  void SetIteration(ir::Inst loop, Id iteration) {
    loop_ = loop;
    iteration_ = iteration;
  }
  AtomicEmitter& atomics() { return atomics_; }

  /// Reads the value at `place` into a register, and writes it back.
  Id Read(const Place& place, ir::Scalar scalar);
  void Write(const Place& place, ir::Scalar scalar, Id value);

 private:
  /// An element: of a parameter by its number, of an array by its variable.
  struct Cell {
    BaseKind kind = BaseKind::Buffer;
    ir::Scalar scalar = ir::Scalar::F32;
    uint32_t param = 0;
    Id array = 0;
    Id index = 0;
    uint32_t width = 32;  ///< of the index
    uint32_t length = 0;  ///< elements of the array
    bool common = false;  ///< the array is one of a team
    bool summed = false;  ///< all that its task does with the memory around it is to add to it
    bool InArray() const { return kind == BaseKind::Local || kind == BaseKind::Constant; }
  };

  Cell CellOf(ir::Inst inst);
  Id LayoutPosition(const ir::LayoutField& field, ir::Inst inst, uint32_t width);
  Id ConstantArray(ir::Value base);
  /// An access of an image. The texel is read once for neighbours that want its numbers.
  Id TexelAccess(ir::Inst inst);
  /// The place of a texel: x first, the layer last.
  Id TexelPlace(ir::Inst inst);
  /// The access; its result in a register, or 0.
  Id Access(ir::Inst inst);
  /// The element of a parameter seen as `storage`.
  Place PlaceOf(const Cell& cell, Storage storage);
  /// A pointer to an element of an array that is no memory of the device's.
  Id InArray(const Cell& cell);
  Id Load(const Cell& cell);
  void Store(const Cell& cell, Id value);
  Id AtomicUpdate(const Cell& cell, ir::Op op, std::span<const Id> operands);
  Id SubWordUpdate(const Cell& cell, ir::Op op, std::span<const Id> operands);
  /// The address of an element; the number of its first byte where memory has no addresses.
  Id AddressOf(const Cell& cell);

  ModuleContext& context_;
  ModuleBuilder& m_;
  const ir::Function& kernel_;
  Environment& environment_;
  FunctionBuilder& f_;
  ScalarEmitter& scalars_;
  ValueTable& values_;
  AtomicEmitter atomics_;
  SideTable<ir::Value, Id> arrays_;
  ir::Inst texel_of_;  ///< the load that has read texel_, in texel_block_; invalid after a write
  Id texel_ = 0, texel_block_ = 0;
  ir::Inst loop_;
  Id iteration_ = 0;
  uint32_t shared_bytes_ = 0;
};

}  // namespace adc::codegen::spirv
