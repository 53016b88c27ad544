"""check_signature.py BUNDLE KEY.pub: whether OpenSSL finds the bundle's first signature good, and not with a bit changed.
"""

import struct
import subprocess
import sys
import tempfile


def rows(file):
    return range(128, 128 + 64 * struct.unpack_from("<I", file, 24)[0], 64)


def signature_row(file):
    return next(row for row in rows(file) if file[row:row + 4] == b"SIGN")


def signature(file):
    """Key, signature and what is signed."""
    begin, size = struct.unpack_from("<QQ", file, signature_row(file) + 8)
    row = file[begin:begin + size]
    message = b"ADCSIGN1" + file[8:12] + file[44:48] + file[56:88]
    return row[:32], row[32:96], message


def openssl(key, signed, message):
    # A public key as RFC 8410 writes it.
    der = bytes.fromhex("302a300506032b6570032100") + key
    with tempfile.TemporaryDirectory() as folder:
        names = [f"{folder}/{name}" for name in ("key", "signature", "message")]
        for name, content in zip(names, (der, signed, message)):
            with open(name, "wb") as file:
                file.write(content)
        words = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", names[0], "-sigfile", names[1],
                 "-rawin", "-in", names[2]]
        return subprocess.run(words, capture_output=True).returncode == 0


def main():
    with open(sys.argv[1], "rb") as file:
        key, signed, message = signature(file.read())
    with open(sys.argv[2]) as file:
        stated = bytes.fromhex(file.read().split()[1])
    changed = signed[:5] + bytes([signed[5] ^ 1]) + signed[6:]
    if key == stated and openssl(key, signed, message) and not openssl(key, changed, message):
        print("the signature is good, a changed one is not")


main()
