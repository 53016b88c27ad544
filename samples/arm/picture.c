#include "picture.h"

#include <math.h>
#include <stdio.h>

static const char* begin =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 540 460\" role=\"img\" aria-labelledby=\"title "
    "desc\">\n"
    "  <title id=\"title\">An arm of seven joints follows a path</title>\n"
    "  <desc id=\"desc\">A closed path in space, the way of the arm's tip on it, and the arm at some "
    "points.</desc>\n"
    "  <style>\n"
    "    polyline, polygon { fill: none; stroke-linecap: round; stroke-linejoin: round; }\n"
    "    .panel { fill: #f7f8fc; stroke: #c9cedf; } .base { fill: #5866a8; }\n"
    "    .path { stroke: #f3c98b; stroke-width: 9; } .tip { stroke: #b9770e; stroke-width: 2; }\n"
    "    .ghost { stroke: #5866a8; stroke-width: 3; opacity: 0.3; }\n"
    "    .arm { stroke: #3f51b5; stroke-width: 7; marker: url(#joint); } .joint { fill: #ffffff; stroke: "
    "#3f51b5; }\n"
    "    @media (prefers-color-scheme: dark) {\n"
    "      .panel { fill: #1b1e2b; stroke: #3a4060; } .base { fill: #8f9ce0; } .path { stroke: #6b4c1c; }\n"
    "      .tip { stroke: #e0a44a; } .ghost { stroke: #8f9ce0; } .arm { stroke: #9fa8da; }\n"
    "      .joint { fill: #262a3b; stroke: #9fa8da; }\n"
    "    }\n"
    "  </style>\n"
    "  <marker id=\"joint\" viewBox=\"-2 -2 4 4\" markerWidth=\"2\" markerHeight=\"2\"><circle "
    "class=\"joint\" r=\"1.3\"/></marker>\n"
    "  <rect class=\"panel\" x=\"0.5\" y=\"0.5\" width=\"539\" height=\"459\" rx=\"10\"/>\n"
    "  <ellipse class=\"base\" cx=\"130\" cy=\"430\" rx=\"34\" ry=\"11\"/>\n";

/* Where a point in space is seen, from the right of the arm and from above it. */
static void put(FILE* file, const double at[3], const char* behind) {
  const double turn = -0.75, lift = 0.3, away = cos(turn) * at[0] + sin(turn) * at[1];
  double right = cos(turn) * at[1] - sin(turn) * at[0], up = cos(lift) * at[2] - sin(lift) * away;
  fprintf(file, "%.1f,%.1f%s", 130 + 560 * right, 430 - 480 * up, behind);
}

static void put_arm(FILE* file, const double ends[JOINTS][3], const char* behind) {
  const double base[3] = {0, 0, 0};
  put(file, base, " ");
  for (int j = 0; j < JOINTS; ++j) put(file, ends[j], j + 1 < JOINTS ? " " : behind);
}

static void put_moving(FILE* file, const char* kind, int points, const double joint[][JOINTS][3]) {
  fprintf(file, "  <polyline class=\"%s\" points=\"", kind);
  put_arm(file, joint[0],
          "\">\n    <animate attributeName=\"points\" dur=\"8s\" repeatCount=\"indefinite\" values=\"");
  for (int t = 0; t < points; ++t) put_arm(file, joint[t], ";");
  put_arm(file, joint[0], "\"/>\n  </polyline>\n");
}

int write_picture(const char* name, int points, const double path[][3], const double joint[][JOINTS][3]) {
  FILE* file = fopen(name, "w");
  if (!file) return 0;
  fputs(begin, file);
  fprintf(file, "  <polygon class=\"path\" points=\"");
  for (int t = 0; t < points; ++t) put(file, path[t], t + 1 < points ? " " : "\"/>\n");
  fprintf(file, "  <polygon class=\"tip\" points=\"");
  for (int t = 0; t < points; ++t) put(file, joint[t][JOINTS - 1], t + 1 < points ? " " : "\"/>\n");
  for (int pose = 1; pose < 10; ++pose) {
    fprintf(file, "  <polyline class=\"ghost\" points=\"");
    put_arm(file, joint[pose * points / 10], "\"/>\n");
  }
  put_moving(file, "arm", points, joint);
  fprintf(file, "</svg>\n");
  return fclose(file) == 0;
}
