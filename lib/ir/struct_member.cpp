#include "ir/struct_member.h"

namespace adc::ir {

bool StructMember::operator==(const StructMember&) const = default;

}  // namespace adc::ir
