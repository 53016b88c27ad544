#pragma once
// Memory of the artifact format: everything goes through an Allocator that may refuse, because the loader
// runs in the caller's memory and must report a refusal instead of ending the process. Two ways in: the Try*
// calls report, and are what readers use; the others end the process when the machine is out of memory, and
// are for the compiler.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace adc::artifact {

/// The source of memory. `allocate` returns null when it refuses; `alignment` is a power of two.
struct Allocator {
  void* (*allocate)(void* user, size_t size, size_t alignment) = nullptr;
  void (*release)(void* user, void* memory, size_t size, size_t alignment) = nullptr;
  void* user = nullptr;
};

/// `size` bytes from `allocator`, or from the C library where it is null; null when refused.
void* Allocate(const Allocator* allocator, size_t size, size_t alignment);
void Release(const Allocator* allocator, void* memory, size_t size, size_t alignment);

// If the compiler can tell that a type may be moved as bytes, arrays of all such types grow by the same
// code. Otherwise each element of a type that is not trivially copyable is moved by its own constructor.
#if defined(__clang__)
#define ADC_MOVES_AS_BYTES [[clang::trivial_abi]]
template <class T>
inline constexpr bool kMovesAsBytes = __is_trivially_relocatable(T);
#else
#define ADC_MOVES_AS_BYTES
template <class T>
inline constexpr bool kMovesAsBytes = std::is_trivially_copyable_v<T>;
#endif

/// The part of a Vector that does not depend on the type of its elements.
class VectorBytes {
 protected:
  /// Reserves memory for `count` elements of `each` bytes that move as bytes.
  [[nodiscard]] bool Grow(size_t count, size_t each, size_t alignment);
  /// The capacity to reserve for `count` elements in all, more than there is.
  size_t Grown(size_t count) const {
    size_t grown = capacity_ < 4 ? 4 : capacity_ * 2;
    return grown < count ? count : grown;
  }
  /// Makes the size `count`; new elements are zeros, dropped ones need nothing.
  [[nodiscard]] bool ResizeZeros(size_t count, size_t each, size_t alignment);
  /// Gives the memory back, whose elements are destroyed already.
  void Free(size_t each, size_t alignment);

  void* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  const Allocator* allocator_ = nullptr;
};

/// A growable array. Elements are moved when it grows; copies always use the C library's memory.
template <class T>
class ADC_MOVES_AS_BYTES Vector : private VectorBytes {
 public:
  using value_type = T;

  Vector() = default;
  explicit Vector(const Allocator* allocator) { allocator_ = allocator; }
  Vector(std::initializer_list<T> items) { Assign(items.begin(), items.end()); }
  Vector(const T* first, const T* last) { Assign(first, last); }
  Vector(const Vector& other) { Assign(other.begin(), other.end()); }
  Vector(Vector&& other) noexcept { Swap(other); }
  Vector& operator=(const Vector& other) {
    if (this != &other) {
      Vector copy(other);
      Swap(copy);
    }
    return *this;
  }
  Vector& operator=(Vector&& other) noexcept {
    if (this != &other) {
      Vector taken(std::move(other));
      Swap(taken);
    }
    return *this;
  }
  ~Vector() { Reset(); }

  /// Drops the content and takes its memory from `allocator` from now on.
  void Bind(const Allocator* allocator) {
    Reset();
    allocator_ = allocator;
  }
  const Allocator* allocator() const { return allocator_; }

  /// Reserves memory for `count` elements; false when refused, the content is then unchanged.
  [[nodiscard]] bool TryReserve(size_t count) {
    if (count <= capacity_) return true;
    if constexpr (kMovesAsBytes<T>) {
      return Grow(count, sizeof(T), alignof(T));
    } else {
      size_t grown = Grown(count);
      if (grown > SIZE_MAX / sizeof(T)) return false;
      T* memory = static_cast<T*>(Allocate(allocator_, grown * sizeof(T), alignof(T)));
      if (!memory) return false;
      for (size_t index = 0; index < size_; ++index) {
        new (static_cast<void*>(memory + index)) T(std::move(data()[index]));
        data()[index].~T();
      }
      Free(sizeof(T), alignof(T));
      data_ = memory;
      capacity_ = grown;
      return true;
    }
  }
  /// Adds a default element and returns it; null when refused.
  [[nodiscard]] T* TryAppend() {
    if (!TryReserve(size_ + 1)) return nullptr;
    return new (static_cast<void*>(data() + size_++)) T();
  }
  [[nodiscard]] bool TryPush(T item) {
    if (!TryReserve(size_ + 1)) return false;
    new (static_cast<void*>(data() + size_++)) T(std::move(item));
    return true;
  }
  /// Makes the size `count`; new elements are value-initialised. False when refused.
  [[nodiscard]] bool TryResize(size_t count) {
    if constexpr (std::is_trivial_v<T>) {
      return ResizeZeros(count, sizeof(T), alignof(T));
    } else {
      if (!TryReserve(count)) return false;
      while (size_ > count) data()[--size_].~T();
      for (size_t index = size_; index < count; ++index) new (static_cast<void*>(data() + index)) T();
      size_ = count;
      return true;
    }
  }

  void reserve(size_t count) {
    if (!TryReserve(count)) std::abort();
  }
  void push_back(T item) {
    if (!TryPush(std::move(item))) std::abort();
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    push_back(T{std::forward<Args>(args)...});
    return back();
  }
  void resize(size_t count) {
    if (!TryResize(count)) std::abort();
  }
  void pop_back() { data()[--size_].~T(); }
  void clear() {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for (size_t index = size_; index > 0; --index) data()[index - 1].~T();
    }
    size_ = 0;
  }
  void Assign(const T* first, const T* last) {
    clear();
    reserve(static_cast<size_t>(last - first));
    for (; first != last; ++first) push_back(*first);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return static_cast<T*>(data_); }
  const T* data() const { return static_cast<const T*>(data_); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t index) { return data()[index]; }
  const T& operator[](size_t index) const { return data()[index]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  T& front() { return data()[0]; }
  const T& front() const { return data()[0]; }

  friend bool operator==(const Vector& left, const Vector& right) {
    if (left.size_ != right.size_) return false;
    for (size_t index = 0; index < left.size_; ++index) {
      if (!(left[index] == right[index])) return false;
    }
    return true;
  }

 private:
  void Reset() {
    clear();
    Free(sizeof(T), alignof(T));
  }
  void Swap(Vector& other) noexcept {
    std::swap(static_cast<VectorBytes&>(*this), static_cast<VectorBytes&>(other));
  }
};

/// Text of known length with a zero after it. Converts from and to std::string_view.
class String {
 public:
  String() = default;
  explicit String(const Allocator* allocator) : bytes_(allocator) {}
  String(std::string_view text) { Append(text); }
  String(const char* text) { Append(text); }
  String& operator=(std::string_view text) {
    String copy(text);
    bytes_ = std::move(copy.bytes_);
    return *this;
  }
  String& operator=(const char* text) { return *this = std::string_view(text); }

  void Bind(const Allocator* allocator) { bytes_.Bind(allocator); }
  [[nodiscard]] bool TryAppend(std::string_view text) {
    if (text.empty()) return true;
    size_t old_size = size();
    if (!bytes_.TryResize(old_size + text.size() + 1)) return false;
    std::memcpy(bytes_.data() + old_size, text.data(), text.size());
    bytes_.back() = 0;
    return true;
  }
  void Append(std::string_view text) {
    if (!TryAppend(text)) std::abort();
  }

  operator std::string_view() const { return view(); }
  std::string_view view() const { return {c_str(), size()}; }
  const char* c_str() const { return bytes_.empty() ? "" : bytes_.data(); }
  const char* data() const { return c_str(); }
  size_t size() const { return bytes_.empty() ? 0 : bytes_.size() - 1; }
  bool empty() const { return size() == 0; }
  void clear() { bytes_.clear(); }

  friend bool operator==(const String& left, const String& right) { return left.view() == right.view(); }
  friend bool operator==(const String& left, std::string_view right) { return left.view() == right; }
  friend bool operator==(const String& left, const char* right) {
    return left.view() == std::string_view(right);
  }

 private:
  Vector<char> bytes_;
};

}  // namespace adc::artifact
