"""check_printable.py FILE: that a terminal shows the text of FILE and does nothing else."""

import sys

text = open(sys.argv[1], "rb").read().decode("utf-8")
hidden = {c for c in text if ord(c) < 0x20 and c not in "\n\t" or 0x7F <= ord(c) <= 0x9F or ord(c) in (0x61C, 0x200E, 0x200F)
          or 0x2028 <= ord(c) <= 0x202E or 0x2066 <= ord(c) <= 0x2069}
assert text and not hidden, f"{sys.argv[1]}: holds {sorted(hex(ord(c)) for c in hidden)}"
forged = [line for line in text.split("\n") if line.startswith("x.adcb: good")]
assert not forged, f"a line of a bundle's own: {forged[0]}"
