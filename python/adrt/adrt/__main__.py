"""python -m adrt: prints this machine's devices."""

import adrt


def main():
    for found in adrt.devices():
        if "absent" in found:
            print(f"{found['device']}: none ({found['absent']})")
            continue
        name = f"{found['name']}, " if found["name"] else ""
        threads = "workers" if found["kind"] == "cpu" else "threads at once"
        print(f"{found['device']}: {name}{found['arch']}, {found['threads']} {threads}")


if __name__ == "__main__":
    main()
