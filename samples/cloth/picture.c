#include "picture.h"

#include <math.h>

enum { COLOURS = 6 };

static const char* head =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 270\" role=\"img\" aria-labelledby=\"title "
    "desc\">\n"
    "  <title id=\"title\">The stiffness of a cloth is found from its shape</title>\n"
    "  <desc id=\"desc\">Three cloths that hang in wind: as stiff everywhere, the wanted one with a soft "
    "disc, and "
    "the fitted one, whose soft disc was found. Soft is orange, stiff is blue.</desc>\n"
    "  <style>\n"
    "    path { stroke: #fff; stroke-width: 3; stroke-linejoin: round; }\n"
    "    .c0 { fill: #d9601a; } .c1 { fill: #ee9a4d; } .c2 { fill: #f6cf9d; }\n"
    "    .c3 { fill: #b5cbe8; } .c4 { fill: #6f97cf; } .c5 { fill: #3556a3; }\n"
    "    .edge { fill: none; stroke: #1d2233; stroke-width: 14; stroke-dasharray: 40 30; }\n"
    "    text { fill: #1d2233; font: 140px system-ui, sans-serif; text-anchor: middle; }\n"
    "    @media (prefers-color-scheme: dark) {\n"
    "      path { stroke: #1b1e2b; } .edge { stroke: #e6e9f5; } text { fill: #e6e9f5; }\n"
    "    }\n"
    "  </style>\n";

/* A place as seen from the side and a little from above, a cloth's width being 1,700. */
static void project(const float* place, int side, int* x, int* y) {
  double scale = 1700.0 / (side - 1);
  *x = 250 + (int)(scale * ((double)place[0] + 0.3 * (double)place[2]));
  *y = 200 + (int)(scale * (0.2 * (double)place[2] - (double)place[1]));
}

/* The one of COLOURS that stands for a stiffness: the first below 16, the last above 80. */
static int colour(double stiffness) {
  int step = 1 + (int)floor((COLOURS - 2) * (stiffness - log(16.0)) / log(80.0 / 16.0));
  return step < 0 ? 0 : step >= COLOURS ? COLOURS - 1 : step;
}

/* From mass to mass: a pen that moves by lines. */
static void put_line(FILE* file, const float (*state)[8], int side, const int* masses, int count) {
  int x = 0, y = 0;
  for (int n = 0; n < count; ++n) {
    int next_x, next_y;
    project(state[masses[n]], side, &next_x, &next_y);
    fprintf(file, "%c%d %d", n == 0 ? 'M' : 'l', next_x - x, next_y - y);
    x = next_x, y = next_y;
  }
  fputc('z', file);
}

static void put_edge(FILE* file, const float (*state)[8], int side) {
  fprintf(file, "    <path class=\"edge\" d=\"");
  int masses[4 * 64], count = 0;
  for (int n = 0; n < side - 1; ++n) {
    masses[n] = n;
    masses[side - 1 + n] = n * side + side - 1;
    masses[2 * (side - 1) + n] = side * side - 1 - n;
    masses[3 * (side - 1) + n] = (side - 1 - n) * side;
    count += 4;
  }
  put_line(file, state, side, masses, count);
  fprintf(file, "\"/>\n");
}

FILE* begin_picture(const char* name) {
  FILE* file = fopen(name, "w");
  if (file) fputs(head, file);
  return file;
}

void put_panel(FILE* file, int panel, const char* text, int side, const float (*state)[8],
               const float* stiffness, const float (*wanted)[8]) {
  fprintf(file, "  <g transform=\"translate(%d 5) scale(0.1)\">\n", 10 + panel * 265);
  for (int kind = 0; kind < COLOURS; ++kind) {
    fprintf(file, "    <path class=\"c%d\" d=\"", kind);
    for (int i = 0; i + side < side * side; ++i) {
      if (i % side == side - 1) continue;
      const int corners[] = {i, i + 1, i + side + 1, i + side};
      double mean = 0;
      for (int k = 0; k < 4; ++k) mean += (double)stiffness[corners[k]] / 4;
      if (colour(mean) == kind) put_line(file, state, side, corners, 4);
    }
    fprintf(file, "\"/>\n");
  }
  put_edge(file, wanted, side);
  fprintf(file, "    <text x=\"1250\" y=\"2550\">%s</text>\n  </g>\n", text);
}

int end_picture(FILE* file) {
  fprintf(file, "</svg>\n");
  return fclose(file) == 0;
}
