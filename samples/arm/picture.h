/* picture.h: the arm and its path as an SVG. The arm moves where the viewer plays animations. */
#ifndef ARM_PICTURE_H
#define ARM_PICTURE_H

enum { JOINTS = 7, FEWEST_POINTS = 12, MOST_POINTS = 240 };

/* Whether the file was written. `joint` are the ends of the links at each point of the path. */
int write_picture(const char* file, int points, const double path[][3], const double joint[][JOINTS][3]);

#endif
