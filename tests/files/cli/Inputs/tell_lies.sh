# tell_lies.sh LIE_BUNDLE [mute]: each lie about the bundles TARGET.adcb of this folder, and what `adc verify` makes of
# it; with `mute` of code without the compiler's note.
for lie in $("$1" --list); do
  line=$lie:
  for target in cpu cuda hip vulkan metal; do
    "$1" $target.adcb lie.adcb "$lie" $2 2>/dev/null
    case $? in
      0) if adc verify lie.adcb >>good 2>>errors; then verdict=believed; else verdict=seen; fi ;;
      6) verdict=refused ;;
      7) verdict=- ;;
      *) verdict=broken ;;
    esac
    line="$line $verdict"
  done
  echo "$line"
done
