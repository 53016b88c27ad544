#pragma once
// Objects and their parts: members, elements, components, and unions (unions.cpp), whose parts are the same
// numbers under other names. Nothing is read or written here, and no expression is known.

#include "frontend/cpp/numbers.h"

namespace adc::frontend {

/// Elements of an array that are copied one by one; longer ones in a loop.
inline constexpr uint64_t kCopiedElements = 64;

class Objects : protected Numbers {
 protected:
  using Numbers::Numbers;
  ~Objects();

  ObjectPtr NewObject(QualType type, std::string_view name, SourceRange range);
  ObjectPtr NewSlot(Type type, QualType cpp, std::string_view name);
  ObjectPtr NewPointer(QualType type, SourceRange range);
  ObjectPtr View(QualType type, Storage storage, SourceRange range);
  ObjectPtr Member(const ObjectPtr& object, const clang::FieldDecl* field, SourceRange range);
  /// Makes a reference, a buffer or a captured `this` the member `n` of an object. Refuses another one than
  /// before: which of them it is would be known at run time alone.
  void BindMember(const ObjectPtr& owner, size_t n, ObjectPtr place, SourceRange range);
  ObjectPtr DerivedOf(const ObjectPtr& object, const clang::CXXRecordDecl* derived, SourceRange range);
  ObjectPtr BaseOf(const ObjectPtr& object, const clang::CXXRecordDecl* base, SourceRange range);
  ObjectPtr Element(const ObjectPtr& array, Value index, SourceRange range);
  ObjectPtr BufferElement(const ObjectPtr& buffer, std::vector<Value> indices, SourceRange range);
  ObjectPtr ComponentOf(const ObjectPtr& object, Value at, QualType type);
  ObjectPtr SpreadPart(const Object& spread, uint32_t component);
  ObjectPtr ChoiceOf(Value condition, const ObjectPtr& yes, const ObjectPtr& no);
  ObjectPtr FlatArray(const ObjectPtr& of, QualType number);
  ObjectPtr RunOf(std::vector<ObjectPtr> members, QualType element);
  static bool InBuffer(const Object& array) {
    return array.of != nullptr ? InBuffer(*array.of) : array.kind == ObjectKind::Buffer;
  }
  Born Here() const {
    return {writer_.Depth(), function_.ValueCount(), writer_.SlotCount(), writer_.LoopCount(),
            writer_.ScopeCount()};
  }
  ObjectPtr Overlay(QualType type, uint64_t offset, const std::map<uint64_t, ObjectPtr>& numbers);
  void NumbersIn(const ObjectPtr& object, uint64_t offset, SourceRange range,
                 std::map<uint64_t, ObjectPtr>* numbers);
  std::vector<ObjectPtr> PartsOf(const Object& object, SourceRange range);
  /// Calls `visit` on each number, vector and matrix of an object.
  void EachLeaf(const ObjectPtr& object, SourceRange range,
                const std::function<void(const ObjectPtr&)>& visit);

  /// Whether the base of a local array was made outside of the parallel that is open.
  bool IsOutside(Value base) const { return !parallel_.empty() && outside_.contains(base); }
  ObjectPtr Alone(const ObjectPtr& object);

  std::string parallel_;  ///< the word for the parallel that is open

 private:
  ObjectPtr LeafIn(const Storage& storage, Type leaf, QualType type);
  ObjectPtr ElementOfStorage(const ObjectPtr& array, Value index, SourceRange range);
  ObjectPtr BitsOf(const ObjectPtr& number, QualType type);
  uint32_t WordBytes(const Storage& storage) const;
  static Storage WordsFrom(const Object& word);
  Storage Shifted(Storage storage, uint64_t bytes);
  ObjectPtr FlatElement(const ObjectPtr& array, Value index, SourceRange range);
  ObjectPtr MemberAt(const ObjectPtr& run, Value index, SourceRange range);
  ObjectPtr GroupedElement(const ObjectPtr& array, Value index, SourceRange range);
  ObjectPtr UnionOf(QualType type, SourceRange range, const std::function<ObjectPtr(QualType number)>& make);
  ObjectPtr UnionIn(const Storage& storage, QualType type, SourceRange range);

  std::vector<ObjectPtr> parts_;  ///< objects that know what they are part of, and pointers
  std::set<Value> outside_;       ///< bases of local arrays made outside of a parallel
};

}  // namespace adc::frontend
