/* picture.h: fields as contour lines in an SVG. */
#ifndef FIELD_PICTURE_H
#define FIELD_PICTURE_H

#include <stdio.h>

enum { SEEN = 49, PANELS = 3 };

FILE* begin_picture(const char* name);
/* Contours of a field on a grid of SEEN by SEEN points, over the outline of the shape that it is to have. */
void put_panel(FILE* file, int panel, int steps, const float* field, const float* shape);
/* Whether the file was written. */
int end_picture(FILE* file);

#endif
