#!/bin/sh
# The gradients of bench/device, against forward mode, central differences and the interpreter.
#   check_bench.sh ADC FOLDER
set -eu
check() { # FILE KERNEL [--shape=...]...
  file=$1 kernel=$2
  shift 2
  "$adc" gradcheck "$folder/$file.ir" -D real=f64 --kernel="$kernel" "$@"
}
adc=$1 folder=$2
check sums squares --shape=x=50
check sums scaled --shape=x=50 --shape=y=50
check nbody nbody --shape=p=9 --shape=m=9 --shape=a=9
check dense matvec --shape=w=6,7 --shape=x=7 --shape=y=6
check dense mlp --shape=x=5,16 --shape=w1=32,16 --shape=w2=32,32 --shape=w3=32 --shape=y=5
check sorted cross --shape=material=9 --shape=energy=9 --shape=table=1,8 --shape=sigma=9
check sorted coarse --shape=x=300 --shape=a=3 --shape=y=300
check scatter p2g --shape=x=5 --shape=v=5 --shape=grid=6,6,6
check scatter g2p --shape=x=5 --shape=v=5 --shape=grid=6,6,6
check scatter hash_grid --shape=points=3 --shape=table=2,16 --shape=features=3,2
