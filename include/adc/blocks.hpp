#pragma once
// Blocks of invocations that share memory and wait for each other, in kernels in C++: a part of adc/kernel.hpp, which
// includes it. On the host each invocation of a block is a thread, and one runs at a time, from barrier to barrier.
//
//   adc::blocks<64>(x.extent(0) / 64, [&](auto b) {
//     adc::shared<float, 64> tile(b);
//     tile(b.thread()) = x[b.index()];
//     b.barrier();
//     y[b.index()] = tile(63 - b.thread());
//   });

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#if !defined(__ADC__)
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>
#endif

namespace adc {

namespace detail {

/// The invocations of a block on the host. Each has a thread, and one runs at a time: from barrier to barrier,
/// in the order of their numbers.
class team {
#if defined(__ADC__)
 public:
  explicit team(int size);
  template <class F>
  void run(const F&) {}
  void barrier(int number);
  template <class T>
  T* array(int n, int count);
#else
  struct turn {
    std::binary_semaphore mine{0};
    bool ended = false;
  };

 public:
  explicit team(int size) : size_(size), turns_(std::make_unique<turn[]>(static_cast<std::size_t>(size))) {}

  template <class F>
  void run(const F& body) {
    std::vector<std::thread> threads;
    for (int k = 0; k < size_; ++k)
      threads.emplace_back([this, k, &body] {
        of(k).mine.acquire();
        body(k);
        of(k).ended = true;
        pass(k);
      });
    of(0).mine.release();
    for (std::thread& one : threads) one.join();
  }
  void barrier(int number) {
    pass(number);
    of(number).mine.acquire();
  }
  /// The n-th array that an invocation declares is the n-th of all of them.
  template <class T>
  T* array(int n, int count) {
    if (n == static_cast<int>(arrays_.size()))
      arrays_.emplace_back(new T[static_cast<std::size_t>(count)](), std::default_delete<T[]>());
    return static_cast<T*>(arrays_[static_cast<std::size_t>(n)].get());
  }

 private:
  turn& of(int number) { return turns_[static_cast<std::size_t>(number)]; }
  /// The turn goes to the next one that has not ended.
  void pass(int number) {
    for (int step = 1; step <= size_; ++step) {
      turn& next = of((number + step) % size_);
      if (!next.ended) return next.mine.release();
    }
  }

  int size_;
  std::unique_ptr<turn[]> turns_;
  std::vector<std::shared_ptr<void>> arrays_;
#endif
};

/// The limits of a block: 1 to 65536 invocations.
template <int... Sizes>
concept block_size = ((Sizes > 0) && ...) && (std::int64_t{Sizes} * ...) <= 65536;

struct invocation {
  team* of = nullptr;
  int group[3] = {}, number = 0, arrays = 0;
};

}  // namespace detail

/// One invocation of a block of `Sizes` invocations: the argument of adc::blocks' lambda.
template <int... Sizes>
class block {
 public:
  static constexpr int rank = sizeof...(Sizes);
  static constexpr int size = (Sizes * ...);
  static constexpr int sizes[] = {Sizes...};

  explicit block(detail::invocation& made) : invocation_(made) {}

  /// Its number in the block, from 0 to size - 1, the last axis fastest; and that along an axis.
  int thread() const { return invocation_.number; }
  int thread(int axis) const {
    int rest = invocation_.number;
    for (int k = rank - 1; k > axis; --k) rest /= sizes[k];
    return rest % sizes[axis];
  }
  /// The number of the block.
  int group() const
    requires(rank == 1)
  {
    return invocation_.group[0];
  }
  int group(int axis) const { return invocation_.group[axis]; }
  /// Its number among the invocations of all blocks: group * size + thread.
  int index() const
    requires(rank == 1)
  {
    return index(0);
  }
  int index(int axis) const { return group(axis) * sizes[axis] + thread(axis); }
  /// Waits until all invocations of the block have come here; after it, all see the values that they stored
  /// before.
  void barrier() const { invocation_.of->barrier(invocation_.number); }
  /// The memory of an adc::shared.
  template <class T, int Count>
  T (&cells() const)[Count] {
    T* first = invocation_.of->template array<T>(invocation_.arrays++, Count);
    return *reinterpret_cast<T(*)[Count]>(first);
  }

 private:
  detail::invocation& invocation_;
};

/// One array for all invocations of a block, zero at first: `adc::shared<float, 8, 8> tile(b)` in front of
/// all branches and loops of the lambda. `s[i]` for one axis, `s(i, j)` for any.
template <class T, int... Extents>
class shared {
 public:
  static constexpr int rank = sizeof...(Extents);
  static constexpr int size = (Extents * ...);

  template <int... Sizes>
  explicit shared(const block<Sizes...>& b) : cells_(b.template cells<T, size>()) {}

  template <std::integral Index>
    requires(rank == 1)
  T& operator[](Index i) const {
    return cells_[i];
  }
  template <std::integral... Indices>
    requires(sizeof...(Indices) == rank)
  T& operator()(Indices... indices) const {
    int at = 0;
    ((at = at * Extents + static_cast<int>(indices)), ...);
    return cells_[at];
  }

 private:
  T (&cells_)[size];
};

namespace detail {

template <class Block, class F>
void run_block(invocation place, F& f) {
  team all(Block::size);
  all.run([&](int number) {
    invocation mine = place;
    mine.of = &all;
    mine.number = number;
    f(Block(mine));
  });
}

}  // namespace detail

/// f(b) for all invocations b of n blocks, of n times m, ...; blocks run in any order. At the top level of a
/// kernel. On the host each invocation is a thread.
template <int X, std::integral N, class F>
  requires detail::block_size<X>
void blocks(N n, F&& f) {
  for (int i = 0; i < static_cast<int>(n); ++i) detail::run_block<block<X>>({nullptr, {i}}, f);
}
template <int X, int Y, std::integral N, std::integral M, class F>
  requires detail::block_size<X, Y>
void blocks(N n, M m, F&& f) {
  for (int i = 0; i < static_cast<int>(n); ++i)
    for (int j = 0; j < static_cast<int>(m); ++j) detail::run_block<block<X, Y>>({nullptr, {i, j}}, f);
}
template <int X, int Y, int Z, std::integral N, std::integral M, std::integral K, class F>
  requires detail::block_size<X, Y, Z>
void blocks(N n, M m, K k, F&& f) {
  for (int i = 0; i < static_cast<int>(n); ++i)
    for (int j = 0; j < static_cast<int>(m); ++j)
      for (int l = 0; l < static_cast<int>(k); ++l) detail::run_block<block<X, Y, Z>>({nullptr, {i, j, l}}, f);
}

}  // namespace adc
