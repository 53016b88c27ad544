#pragma once
// The bounds record of a launch: a kernel writes the bounds of its loops, its gradient compares.

#include "core/launch.h"

namespace adrt {

/// The parts that a plan with a record keeps: the plan of the kernel that counts, and the place of the
/// record.
struct BoundsRecord {
  explicit BoundsRecord(const Host& host) : plan(host) {}

  adrt_launch_plan plan;
  Place record;
  bool compares = false;    ///< the served plan is a gradient's
  bool by_content = false;  ///< extents of counting tasks lie in buffers
  uint64_t offset = 0;      ///< of counting's memory in the heap of a recorded launch
  uint64_t bytes = 0;       ///< of that memory
  Memory memory;            ///< adrt_run's own, in its place
};

/// Bytes of the kernel's record; 0 where there is nothing to record.
uint64_t BoundsBytes(const adrt_kernel& kernel);

/// Takes the caller's record, if there is one. The arguments must be bound.
bool BindRecord(const adrt_plan_desc& desc, adrt_launch_plan& plan, adrt_error* error);
/// Whether arguments that were given now leave the record its memory.
bool RecordIsApart(const adrt_launch_plan& plan, adrt_error* error);
/// The arguments are others now.
void RebindRecord(adrt_launch_plan& plan);
/// Gives counting its part of the heap, after scratch and words. Nothing where there is no record.
bool PlaceRecord(adrt_launch_plan& plan, adrt_error* error);
void ReleaseRecord(adrt_launch_plan& plan);

/// Settles what sizes of the counting tasks lie in buffers: reads them, which must be written, or with
/// `recorded` takes the contents that the plan has been resolved with.
bool SettleRecord(adrt_launch_plan& plan, bool recorded, adrt_error* error);
/// Whether RecordBounds can be; before anything is recorded.
bool CanRecordBounds(adrt_launch_plan& plan, const Place& memory, const Place& status, adrt_error* error);
/// Records the writing of the record, or the comparison with it, which fills `status` where something
/// differs. `memory`: for counting. Settled before.
bool RecordBounds(adrt_launch_plan& plan, void* queue, const Place& memory, const Place& status,
                  adrt_error* error);

}  // namespace adrt
