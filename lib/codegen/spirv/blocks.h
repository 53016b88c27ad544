#pragma once
// The blocks of memory that an entry reaches, by descriptors and by device addresses, and pointers into them.

#include "codegen/spirv/entry.h"

namespace adc::codegen::spirv {

/// Memory that can be read and written: a pointer, and the operands that its accesses must state.
struct Place {
  Id pointer = 0;
  uint32_t alignment = 0;  ///< 0: nothing to say
  Storage storage = Storage::U32;
};

class Blocks {
 public:
  /// Binds the parameters that the entry reaches by descriptors.
  explicit Blocks(Entry& entry);

  /// The variable of a binding.
  Id Bound(BindingOf of, uint32_t param, Storage storage, bool writable, bool aliased);
  /// Some variable of the buffer `param`, and how it is seen.
  std::pair<Id, Storage> AnyOf(uint32_t param);
  const std::vector<Binding>& bindings() const { return bindings_; }
  /// Element `index` of the buffer `param`, which is bound as `storage`.
  Place BoundElement(uint32_t param, Storage storage, Id index);
  /// Without device addresses: element `index` of the heap.
  Place HeapElement(Storage storage, Id index) {
    return In(Bound(BindingOf::Heap, 0, storage, true, true), spv::StorageClassStorageBuffer, storage, index);
  }
  /// Without device addresses: the variable that is the status block, an array of words.
  Id StatusBlock() { return Bound(BindingOf::Status, 0, Storage::U32, true, false); }

  /// A pointer to a block that holds an array of `storage`, at a device address; made in the head.
  Id At(Id address, Storage storage, bool writable);
  /// Element `index` of a block.
  Place In(Id block, spv::StorageClass memory, Storage storage, Id index);
  /// With device addresses: a single element at a device address.
  Place AtAddress(Storage storage, Id address);
  /// With device addresses: a pointer to elements that lie `stride` bytes apart from a device address on, and
  /// one of them.
  Id ArrayAt(Storage storage, uint32_t stride, Id address);
  Place InArray(Id array, Storage storage, Id index) {
    return In(array, spv::StorageClassPhysicalStorageBuffer, storage, index);
  }

 private:
  /// The names that tools show for the block of a binding, and for its variable and member.
  BlockNames NamesOf(BindingOf of, uint32_t param) const;

  Entry& entry_;
  ModuleBuilder& m_;
  FunctionBuilder& f_;
  std::map<std::tuple<Id, Storage, bool>, Id> at_addresses_;
  std::map<std::tuple<BindingOf, uint32_t, Storage>, Id> bound_;
  std::vector<Binding> bindings_;
};

}  // namespace adc::codegen::spirv
