// Constants that Clang has evaluated, as values and objects.

#include "diag/errors/cpp.h"
#include "frontend/cpp/lowering.h"

namespace adc::frontend {

using clang::QualType;
using clang::SourceRange;
using ir::Op;
using ir::Type;
using ir::Value;

std::optional<Value> Lowering::ConstantValue(const clang::APValue& value, QualType type) {
  std::optional<Type> leaf = ScalarOf(type);
  return leaf ? ConstantValue(value, *leaf) : std::nullopt;
}

std::optional<Value> Lowering::ConstantValue(const clang::APValue& value, Type type) {
  if (value.isInt()) return writer_.builder().Int(type, value.getInt().getExtValue());
  if (!value.isFloat()) return std::nullopt;
  llvm::APInt bits = value.getFloat().bitcastToAPInt();
  return writer_.builder().Bits(type, bits.getZExtValue());
}

ObjectPtr Lowering::FromConstant(const clang::APValue& value, QualType type, SourceRange range) {
  ObjectPtr object = NewObject(type, {}, range);
  std::function<void(const ObjectPtr&, const clang::APValue&, QualType)> fill =
      [&](const ObjectPtr& to, const clang::APValue& from, QualType of) {
        QualType element;
        uint64_t count = 0;
        if (std::optional<ir::Value> number = ConstantValue(from, of)) return Store(to, *number, range);
        if (std::optional<Type> leaf = RegisterType(of)) {
          // adc::vec and adc::mat: fields, or an array of them.
          std::vector<ir::Value> parts;
          std::function<void(const clang::APValue&)> collect = [&](const clang::APValue& part) {
            if (part.isStruct()) {
              for (unsigned n = 0; n < part.getStructNumFields(); ++n) collect(part.getStructField(n));
            } else if (part.isArray()) {
              for (unsigned n = 0; n < part.getArraySize(); ++n)
                collect(n < part.getArrayInitializedElts() ? part.getArrayInitializedElt(n)
                                                           : part.getArrayFiller());
            } else if (std::optional<ir::Value> one = ConstantValue(part, leaf->ScalarType())) {
              parts.push_back(*one);
            }
          };
          collect(from);
          if (parts.size() != leaf->Components()) Refuse(range, "a constant that cannot be evaluated");
          return Store(to,
                       function_.Result(writer_.builder().Create(leaf->IsVec() ? Op::VecMake : Op::MatMake,
                                                                 parts, {&*leaf, 1})),
                       range);
        }
        if (from.isComplexFloat()) {
          auto part = [&](const llvm::APFloat& v) {
            return *ConstantValue(clang::APValue(v), of->getAs<clang::ComplexType>()->getElementType());
          };
          return StoreComplex(to, {part(from.getComplexFloatReal()), part(from.getComplexFloatImag())},
                              range);
        }
        if (from.isArray() && ArrayOf(of, &element, &count)) {
          for (unsigned n = 0; n < from.getArraySize(); ++n)
            fill(Element(to, writer_.builder().I32(static_cast<int32_t>(n)), range),
                 n < from.getArrayInitializedElts() ? from.getArrayInitializedElt(n) : from.getArrayFiller(),
                 element);
          return;
        }
        const clang::CXXRecordDecl* record = RecordOf(of);
        if (from.isUnion() && record != nullptr) {
          const clang::FieldDecl* field = from.getUnionField();
          if (field == nullptr) return Zero(to, range);
          return fill(to->members[field->getFieldIndex()], from.getUnionValue(), field->getType());
        }
        if (!from.isStruct() || record == nullptr) Refuse(range, "a constant that cannot be evaluated");
        std::vector<QualType> types = MembersOf(record, range);
        unsigned bases = record->getNumBases();
        for (unsigned n = 0; n < types.size(); ++n)
          fill(to->members[n], n < bases ? from.getStructBase(n) : from.getStructField(n - bases), types[n]);
      };
  fill(object, value, type);
  return object;
}

/// The value of an expression that Clang can evaluate: a number that reads nothing of the kernel.
std::optional<Value> Lowering::TryConstant(const clang::Expr* expression) {
  if (!ScalarOf(expression->getType()) || expression->isValueDependent()) return std::nullopt;
  clang::Expr::EvalResult result;
  if (!expression->EvaluateAsRValue(result, context_) || result.HasSideEffects) return std::nullopt;
  return ConstantValue(result.Val, expression->getType());
}

}  // namespace adc::frontend
