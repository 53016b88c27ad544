"""Memory of other libraries: DLPack and __cuda_array_interface__, by objects that offer nothing else."""

import ctypes
import unittest

from support import HERE, Raises, compiled, main, skip_unless_built, skip_without

skip_unless_built()
np = skip_without("numpy")
import adrt  # noqa: E402


class Tensor:
    """Offers an array by DLPack alone, as version 0 of it or as version 1."""

    def __init__(self, array, device=None):
        self.array, self.device, self.calls = array, device, []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, stream=None):
        self.calls.append(stream)
        return self.array.__dlpack__()


class Failing(Tensor):
    def __dlpack__(self, stream=None):
        raise BufferError("this tensor was deleted")


class DlTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_index", ctypes.c_int32),
                ("axes", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", DlTensor)]


class VersionedTensor:
    """DLPack 1.0 with its flags, made by hand."""

    def __init__(self, array, flags=0, code=2, device=(1, 0), major=1, strides=None):
        self.array, self.device = array, device
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.strides = (ctypes.c_int64 * array.ndim)(*strides) if strides else None
        tensor = DlTensor(array.ctypes.data, *device, array.ndim, code, 8 * array.itemsize, 1, self.shape,
                          self.strides, 0)
        self.managed = Versioned(major, 0, None, None, flags, tensor)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, max_version=None):
        assert max_version == (1, 0)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor_versioned", None)


class Both(np.ndarray):
    """Looks like a buffer, and refuses to be one, since none has dates; it has DLPack, as CuPy's arrays have."""

    def __dlpack__(self, stream=None):
        return self.numbers.__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)


class OnCuda:
    def __init__(self, **interface):
        self.__cuda_array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (64, False), "version": 3, **interface}


class Exchange(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scale = adrt.load(compiled(HERE / "kernels.ir"))["scale"]

    def test_dlpack_without_copies(self):
        x, y = np.linspace(0, 1, 5), np.zeros(5)
        for kind in Tensor, VersionedTensor:
            y[:] = 0
            given = kind(y)
            self.assertIs(self.scale(x=kind(x), s=2.0, y=given).y, given)
            np.testing.assert_allclose(y, 2 * np.sin(x), rtol=1e-12)
            with Raises(self, adrt.ArgumentError, "y", "shares memory with 'x'"):
                self.scale(x=kind(y), s=2.0, y=kind(y))

    def test_dlpack_offset(self):
        x = np.linspace(0, 1, 8)
        tensor = VersionedTensor(x[:5])
        tensor.managed.tensor.byte_offset = 24
        np.testing.assert_allclose(self.scale(x=tensor, s=1.0, y=np.zeros(5)).y, np.sin(x[3:]), rtol=1e-12)

    def test_buffers_that_refuse(self):
        x = np.linspace(0, 1, 5)
        both = np.zeros(5, "M8[s]").view(Both)
        both.numbers = x
        np.testing.assert_allclose(self.scale(x=both, s=1.0, y=np.zeros(5)).y, np.sin(x), rtol=1e-12)
        with Raises(self, adrt.ArgumentError, "x", "datetime64"):
            self.scale(x=np.zeros(5, "M8[s]"), s=1.0, y=np.zeros(5))

    def test_outputs_of_unknown_libraries(self):
        kernel = adrt.load(compiled(HERE / "kernels.ir"))["scale"]
        with Raises(self, adrt.ArgumentError, "y", "an array for buffer<f64, 1>") as raised:
            kernel(x=Tensor(np.zeros(3)), s=1.0, y=3)
        self.assertIn("makes no arrays of the library", str(raised.exception.__cause__))

    def test_tensors_are_released(self):
        x = np.linspace(0, 1, 5)
        import sys
        before = sys.getrefcount(x)
        for _ in range(10):
            self.scale(x=Tensor(x), s=1.0, y=np.zeros(5))
        self.assertEqual(sys.getrefcount(x), before)

    def test_mistakes(self):
        x, y = np.linspace(0, 1, 6), np.zeros(6)
        with Raises(self, adrt.ArgumentError, "y", "read-only"):
            self.scale(x=x, s=1.0, y=VersionedTensor(y, flags=1))
        self.scale(x=VersionedTensor(x, flags=1), s=1.0, y=y)
        with Raises(self, adrt.ArgumentError, "x", "float64"):
            self.scale(x=VersionedTensor(x, code=4), s=1.0, y=y)  # bfloat
        with Raises(self, adrt.ArgumentError, "x", "contiguous"):
            self.scale(x=VersionedTensor(x[:3], strides=(2,)), s=1.0, y=y)
        with Raises(self, adrt.ArgumentError, "x", "memory") as raised:
            self.scale(x=Failing(x), s=1.0, y=y)
        self.assertIn("was deleted", str(raised.exception.__cause__))
        with Raises(self, adrt.ArgumentError, "x") as raised:
            self.scale(x=VersionedTensor(x, device=(8, 0)), s=1.0, y=y)  # ROCm's pinned memory has another number
        self.assertIn("device type 8", str(raised.exception.__cause__))
        with Raises(self, adrt.ArgumentError, "x"):
            self.scale(x=VersionedTensor(x, major=2), s=1.0, y=y)

    def test_devices(self):
        x, y = np.linspace(0, 1, 3), np.zeros(3)
        with Raises(self, adrt.ArgumentError, "y", "memory of cuda:0", "'x'", "on cpu"):
            self.scale(x=VersionedTensor(x, device=(2, 0)), s=1.0, y=y)
        with Raises(self, adrt.ArgumentError, "y", "memory of cpu", "on cuda:1"):
            self.scale(x=x, s=1.0, y=VersionedTensor(y, device=(2, 1)))
        with Raises(self, adrt.ArgumentError, "y", "memory of cpu", "on cuda"):
            self.scale(x=x, s=1.0, y=OnCuda())
        with Raises(self, adrt.ArgumentError, "y", "read-only"):
            self.scale(x=x, s=1.0, y=OnCuda(data=(64, True)))
        with Raises(self, adrt.ArgumentError, "x", "float64"):
            self.scale(x=OnCuda(typestr="<f4"), s=1.0, y=OnCuda())
        with Raises(self, adrt.ArgumentError, "x", "contiguous"):
            self.scale(x=OnCuda(strides=(16,)), s=1.0, y=OnCuda())
        with Raises(self, adrt.ArgumentError, "x"):
            self.scale(x=OnCuda(shape=None), s=1.0, y=OnCuda())


if __name__ == "__main__":
    main()
