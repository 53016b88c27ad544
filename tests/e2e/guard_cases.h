#pragma once
// The guard in front of every tape, on a device.

#include "guard_at_once.h"
#include "guard_canaries.h"
#include "guard_moved.h"
#include "guard_random.h"
#include "guard_report.h"
