#include "picture.h"

enum { SIDE = 2400 }; /* of a panel, in tenths of a unit of the picture */

static const char* head =
    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 300\" role=\"img\" aria-labelledby=\"title "
    "desc\">\n"
    "  <title id=\"title\">A neural field learns a shape</title>\n"
    "  <desc id=\"desc\">Contour lines of the field before, during and after training, over the outline of "
    "the shape.</desc>\n"
    "  <style>\n"
    "    path { fill: none; stroke-linecap: round; }\n"
    "    .panel { fill: #f7f8fc; stroke: #c9cedf; }\n"
    "    .shape { stroke: #f3c98b; stroke-width: 70; } .edge { stroke: #3f51b5; stroke-width: 20; }\n"
    "    .level { stroke: #5866a8; stroke-width: 10; opacity: 0.35; }\n"
    "    text { fill: #1d2233; font: 140px system-ui, sans-serif; text-anchor: middle; }\n"
    "    @media (prefers-color-scheme: dark) {\n"
    "      .panel { fill: #1b1e2b; stroke: #3a4060; } .shape { stroke: #6b4c1c; } .edge { stroke: #9fa8da; "
    "}\n"
    "      .level { stroke: #8f9ce0; } text { fill: #e6e9f5; }\n"
    "    }\n"
    "  </style>\n"
    "  <rect class=\"panel\" x=\"0.5\" y=\"0.5\" width=\"799\" height=\"299\" rx=\"10\"/>\n";

/* Where the line crosses the sides of the cell whose first corner is `at`: twice, or four times. */
static void put_cell(FILE* file, const float* field, float level, int at) {
  const int corner[] = {at, at + 1, at + SEEN + 1, at + SEEN, at};
  int x[4], y[4], count = 0;
  for (int k = 0; k < 4; ++k) {
    int from = corner[k], to = corner[k + 1], row = from / SEEN, next_row = to / SEEN;
    double a = field[from] - level, b = field[to] - level;
    if ((a < 0) == (b < 0)) continue;
    double part = a / (a - b), scale = (double)SIDE / (SEEN - 1);
    x[count] = (int)(scale * (from % SEEN + part * (to % SEEN - from % SEEN)));
    y[count++] = (int)(scale * (row + part * (next_row - row)));
  }
  for (int k = 0; k + 1 < count; k += 2)
    fprintf(file, "M%d %dl%d %d", x[k], y[k], x[k + 1] - x[k], y[k + 1] - y[k]);
}

static void put_contour(FILE* file, const char* kind, const float* field, float level) {
  fprintf(file, "    <path class=\"%s\" d=\"", kind);
  for (int i = 0; i + SEEN < SEEN * SEEN; ++i)
    if (i % SEEN < SEEN - 1) put_cell(file, field, level, i);
  fprintf(file, "\"/>\n");
}

FILE* begin_picture(const char* name) {
  FILE* file = fopen(name, "w");
  if (file) fputs(head, file);
  return file;
}

void put_panel(FILE* file, int panel, int steps, const float* field, const float* shape) {
  fprintf(file, "  <g transform=\"translate(%d 20) scale(0.1)\">\n", 20 + panel * 260);
  put_contour(file, "shape", shape, 0);
  for (int level = 1; level <= 2; ++level) put_contour(file, "level", field, 0.2f * (float)level);
  put_contour(file, "edge", field, 0);
  fprintf(file, "    <text x=\"%d\" y=\"%d\">after %d steps</text>\n  </g>\n", SIDE / 2, SIDE + 280, steps);
}

int end_picture(FILE* file) {
  fprintf(file, "</svg>\n");
  return fclose(file) == 0;
}
