#pragma once

inline float Half(float v) {
  return v * 0.5f;
}
