// Size expressions for people: names for what is shared say the same as the expression written out.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "formulas/formulas.h"

using namespace adc::formulas;
using adc::artifact::kNoNode, adc::artifact::NodeId, adc::artifact::SizeExprPool;
namespace artifact = adc::artifact;

namespace {

/// The text with names replaced by what they stand for, last name first; bracketed as operands are.
std::string WrittenOut(std::string text, const std::vector<std::string>& terms) {
  for (size_t at = terms.size(); at-- > 0;) {
    size_t sign = terms[at].find(" = ");
    std::string name = terms[at].substr(0, sign), meaning = terms[at].substr(sign + 3);
    for (size_t found = 0; (found = text.find(name, found)) != std::string::npos; found += 1)
      text.replace(found, name.size(), "{" + meaning + "}");
  }
  return text;
}

/// A sum of `count` different reads.
NodeId Reads(SizeExprPool& pool, int64_t first, int64_t count) {
  NodeId sum = pool.Const(0);
  for (int64_t at = 0; at < count; ++at) {
    NodeId index = pool.Const(first + at);
    sum = pool.Add(sum, pool.Read(0, {&index, 1}));
  }
  return sum;
}

}  // namespace

TEST_CASE("What is short or stands alone has no name", "[formulas]") {
  SizeExprPool pool;
  NodeId n = pool.Clamp0(pool.Arg(0));
  NodeId alone = Reads(pool, 100, 6);
  NodeId roots[] = {n, n, n, alone, kNoNode};
  Formulas formulas(pool, {"n"}, roots);
  CHECK(formulas.Terms().empty());
  CHECK(formulas.Text(n) == "max(n, 0)");
  CHECK(formulas.Text(alone).find("n[105]") != std::string::npos);
}

TEST_CASE("What is shared is written once", "[formulas]") {
  SizeExprPool pool;
  NodeId shared = Reads(pool, 10, 6);
  NodeId first = pool.Max(shared, pool.Arg(1)), second = pool.Min(shared, pool.Arg(1));
  NodeId roots[] = {first, second, first};
  Formulas formulas(pool, {"table", "e1"}, roots);
  std::vector<std::string> terms = formulas.Terms();
  REQUIRE(terms.size() == 1);
  // A parameter is called e1.
  CHECK(terms[0].substr(0, 5) == "e2 = ");
  CHECK(terms[0].find("table[15]") != std::string::npos);
  CHECK(formulas.Text(first) == "max(e2, e1)");
  CHECK(formulas.Text(second) == "min(e2, e1)");
}

TEST_CASE("No expression is cut, and names say all of it", "[formulas]") {
  SizeExprPool pool;
  NodeId tall = Reads(pool, 1000, 80);
  NodeId roots[] = {tall};
  Formulas formulas(pool, {"table"}, roots);
  std::vector<std::string> terms = formulas.Terms();
  for (const std::string& term : terms) {
    CHECK(term.size() < 250);
    CHECK(term.find("...") == std::string::npos);
  }
  std::string whole = WrittenOut(formulas.Text(tall), terms);
  CHECK(whole.find("...") == std::string::npos);
  for (int at = 1000; at < 1080; ++at) {
    CAPTURE(at);
    CHECK(whole.find("table[" + std::to_string(at) + "]") != std::string::npos);
  }
}
