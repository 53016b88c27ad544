#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "artifact/error.h"
#include "artifact/memory.h"
#include "artifact/metadata.h"

// Arrays that move as bytes and arrays that do not hold the same, and give back what they took.

namespace {

using namespace adc::artifact;

/// What the allocator below has given and not got back, and how many more times it gives.
struct Account {
  size_t live = 0;
  int gives = 1 << 20;
};

Allocator Counting(Account* account) {
  Allocator allocator;
  allocator.user = account;
  allocator.allocate = [](void* user, size_t size, size_t) -> void* {
    Account& own = *static_cast<Account*>(user);
    if (own.gives-- <= 0) return nullptr;
    own.live += size;
    return std::malloc(size);
  };
  allocator.release = [](void* user, void* memory, size_t size, size_t) {
    static_cast<Account*>(user)->live -= size;
    std::free(memory);
  };
  return allocator;
}

/// Knows where it is, so that it must not move as bytes.
struct Placed {
  Placed() : self(this) {}
  Placed(int given) : self(this), value(given) {}
  Placed(Placed&& other) noexcept : self(this), value(other.value) {}
  Placed& operator=(Placed&&) = delete;
  Placed* self;
  int value = 7;
};
static_assert(!kMovesAsBytes<Placed> && !kMovesAsBytes<std::string>);
#if defined(__clang__) && !__has_feature(address_sanitizer)
static_assert(kMovesAsBytes<String> && kMovesAsBytes<KernelMeta> && kMovesAsBytes<Vector<KernelMeta>>);
#endif

}  // namespace

TEST_CASE("a vector grows, shrinks and gives its memory back", "[memory]") {
  Account account;
  Allocator allocator = Counting(&account);
  {
    Vector<String> texts(&allocator);
    Vector<Placed> placed(&allocator);
    Vector<uint16_t> numbers(&allocator);
    for (int index = 0; index < 100; ++index) {
      REQUIRE(texts.TryPush(String(std::to_string(index))));
      REQUIRE(placed.TryPush(Placed(index)));
      REQUIRE(numbers.TryPush(uint16_t(index)));
    }
    REQUIRE((texts.TryResize(70) && placed.TryResize(70) && numbers.TryResize(70)));
    // What was there before is not seen again.
    REQUIRE((texts.TryResize(200) && placed.TryResize(200) && numbers.TryResize(200)));
    for (size_t index = 0; index < 200; ++index) {
      INFO(index);
      CHECK(texts[index] == (index < 70 ? std::to_string(index) : std::string()));
      CHECK(placed[index].self == &placed[index]);
      CHECK(placed[index].value == (index < 70 ? int(index) : 7));
      CHECK(numbers[index] == (index < 70 ? index : 0));
    }
    CHECK(account.live > 0);
  }
  CHECK(account.live == 0);
}

TEST_CASE("a vector that gets no memory stays as it is", "[memory]") {
  Account account;
  Allocator allocator = Counting(&account);
  Vector<uint32_t> numbers(&allocator);
  REQUIRE(numbers.TryResize(3));
  numbers[2] = 5;
  account.gives = 0;
  CHECK(!numbers.TryResize(1000));
  CHECK(!numbers.TryReserve(SIZE_MAX / 2));
  CHECK(numbers.TryPush(8));  // has memory for four
  CHECK(!numbers.TryPush(9));
  CHECK(numbers == Vector<uint32_t>{0, 0, 5, 8});
  numbers.Bind(nullptr);
  CHECK(account.live == 0);
}

TEST_CASE("a message has its literals, texts without a zero at their end, and numbers", "[memory]") {
  Error error;
  std::string_view inside = std::string_view("abcdef").substr(1, 2);
  CHECK(!Fail(&error, Code::kArgument, Rule::kNone, "<", inside, inside.substr(2), std::string_view(), "",
              "> ", uint64_t{18446744073709551615u}, " ", int64_t{-5}));
  CHECK(error.message() == "<bc> 18446744073709551615 -5");
}
