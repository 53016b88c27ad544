#pragma once
// The attributes of a parameter that a user writes, in the order in which texts have them.

#include <array>
#include <string_view>

#include "ir/function.h"

namespace adc::ir {

struct ParamWord {
  std::string_view text;
  bool ParamInfo::* flag;
};
inline constexpr std::array kParamWords = {
    ParamWord{"diff", &ParamInfo::diff},       ParamWord{"readonly", &ParamInfo::readonly},
    ParamWord{"alias", &ParamInfo::alias},     ParamWord{"writeonce", &ParamInfo::writeonce},
    ParamWord{"settled", &ParamInfo::settled}, ParamWord{"disjoint", &ParamInfo::disjoint},
    ParamWord{"checked", &ParamInfo::checked}, ParamWord{"save", &ParamInfo::save},
    ParamWord{"if_read", &ParamInfo::if_read}};

}  // namespace adc::ir
