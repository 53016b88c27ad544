#pragma once
// A HIP runtime that runs on the host: device numbers and code objects; the rest is in fake_streams.h.

#include <adrt/adrt_hip.h>

#include <string>

#include "fake_streams.h"

namespace fixture {

struct FakeHip : FakeStreams {
  std::string arch = "gfx90a:sramecc+:xnack-";
  int device = 0;   ///< the one that the test is about
  int current = 0;  ///< of the calling thread: there is one

  FakeHip();
  ~FakeHip() override;

  bool IsCurrent() const override { return current == device; }
  adrt_hip_desc Desc();
  /// Nothing that the loader made is alive.
  bool IsClean() const { return NothingAlive(); }
};

}  // namespace fixture
