/* picture.h: cloths side by side in an SVG. */
#ifndef CLOTH_PICTURE_H
#define CLOTH_PICTURE_H

#include <stdio.h>

enum { PANELS = 3 };

FILE* begin_picture(const char* name);
/* A cloth of `side` by `side` masses, in the colours of its stiffness, whose logarithms are given. Of a state
 * the first three of eight numbers are a place. Over it, the edge of another one. */
void put_panel(FILE* file, int panel, const char* text, int side, const float (*state)[8],
               const float* stiffness, const float (*wanted)[8]);
/* Whether the file was written. */
int end_picture(FILE* file);

#endif
