"""An elastic bar as material points in one dimension (MLS-MPM, Hu et al. 2018), once for each scene of a batch: all that a
worker of fit.py launches.

    python bar.py bar.adcb [TARGET...]      # cpu, or cpu cuda

One end of the bar is held, and the bar starts with a velocity that grows towards the other end, its tip. `material` is the
stiffness and the damping of each scene, `seen` where its tip was after each step.
"""

import sys

import adc

POINTS, NODES, WALL = 8, 16, 4  # cells are 1 wide, and the bar begins at the wall
MASS, VOLUME, DT = 0.5, 0.5, 0.04


@adc.function
def spline(distance):
    d = abs(distance)
    return 0.75 - d * d if d < 0.5 else 0.5 * (1.5 - d) * (1.5 - d)


@adc.kernel(derive="grad,jvp")
def bar(material: adc.buffer[adc.f64, 2, adc.diff], pull: adc.buffer[adc.f64, 1], seen: adc.buffer[adc.f64, 2],
        tip: adc.buffer[adc.f64, 2, adc.diff], loss: adc.buffer[adc.f64, 1, adc.diff]):
    for s in adc.parallel(pull.shape[0]):
        stiffness, damping, total = material[s, 0], material[s, 1], 0.0
        x = adc.array(adc.f64, POINTS)
        v = adc.array(adc.f64, POINTS)
        slope = adc.array(adc.f64, POINTS)  # of the velocity
        stretch = adc.array(adc.f64, POINTS)
        for p in range(POINTS):
            x[p] = WALL + 0.25 + 0.5 * adc.f64(p)
            v[p] = pull[s] * (x[p] - WALL)
            stretch[p] = 1.0
        for t in range(seen.shape[1]):
            mass = adc.array(adc.f64, NODES)
            momentum = adc.array(adc.f64, NODES)
            for p in range(POINTS):
                stretch[p] *= 1.0 + DT * slope[p]
                force = -4.0 * DT * VOLUME * stiffness * (stretch[p] - 1.0) * stretch[p] + MASS * slope[p]
                first = int(x[p] - 0.5)
                for k in range(3):
                    away = adc.f64(first + k) - x[p]
                    w = spline(away)
                    mass[first + k] += w * MASS
                    momentum[first + k] += w * (MASS * v[p] + force * away)
            for p in range(POINTS):
                first = int(x[p] - 0.5)
                speed, change = 0.0, 0.0
                for k in range(3):
                    if first + k > WALL:
                        away = adc.f64(first + k) - x[p]
                        moved = spline(away) * momentum[first + k] / mass[first + k] * (1.0 - DT * damping)
                        speed += moved
                        change += 4.0 * moved * away
                v[p], slope[p] = speed, change
            for p in range(POINTS):
                x[p] += DT * v[p]
            tip[s, t] = x[POINTS - 1]
            miss = x[POINTS - 1] - seen[s, t]
            total += miss * miss
        loss[s] = total


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: bar.py BUNDLE [TARGET...]")
    bar.save(sys.argv[1], targets=sys.argv[2:] or ["cpu"])
