"""Kernels on tensors of a CUDA device, in its streams. Bundles may be compiled elsewhere: ADC_TEST_FOLDER has them then."""

import sys
import unittest

from support import HERE, ROOT, Raises, SKIPPED, compiled, main, run_snippets, sample, skip_unless_built, skip_without

TARGETS = ("--target=cpu", "--target=cuda", "--derive=grad,jvp,jvp(grad)")
BUNDLES = {"kernels": lambda: compiled(HERE / "kernels.ir", *TARGETS), "relax": lambda: sample("relax", *TARGETS),
           "asserts": lambda: compiled(HERE / "kernels.ir", *TARGETS, "--asserts"), "on_cpu": lambda: sample("relax"), "page": lambda: sample("relax", "--derive=grad,jvp")}
if "--prepare" in sys.argv:  # for a machine without a compiler
    print(*[make() for make in BUNDLES.values()])
    sys.exit(0)

skip_unless_built()
torch = skip_without("torch")
if not torch.cuda.is_available():
    print("NOTHING IS TESTED: PyTorch sees no CUDA device", file=sys.stderr)
    sys.exit(SKIPPED)
import adrt  # noqa: E402
import adrt.torch  # noqa: E402


class Interface:
    """Offers a tensor by __cuda_array_interface__ alone."""

    def __init__(self, tensor, **changes):
        self.tensor = tensor
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, **changes}


class Cuda(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels, cls.relax, cls.asserts, cls.on_cpu, _ = (adrt.load(make()) for make in BUNDLES.values())
        cls.x = torch.linspace(0, 1, 100000, dtype=torch.float64, device="cuda")
        torch.manual_seed(1)

    def test_without_copies(self):
        y = torch.zeros_like(self.x)
        address = y.data_ptr()
        self.assertIs(self.kernels["scale"](x=self.x, s=2.0, y=y).y, y)
        self.assertEqual(y.data_ptr(), address)
        torch.testing.assert_close(y, 2 * torch.sin(self.x))
        with Raises(self, adrt.ArgumentError, "y", "shares memory with 'x'"):
            self.kernels["scale"](x=y[:4], s=2.0, y=y[1:5])
        made = self.kernels["scale"](x=self.x, s=2.0, y=tuple(y.shape)).y
        self.assertEqual(made.device, y.device)
        torch.testing.assert_close(made, y)

    def test_interface(self):
        y = torch.zeros_like(self.x)
        given = Interface(y)
        self.assertIs(self.kernels["scale"](x=Interface(self.x), s=2.0, y=given).y, given)
        torch.testing.assert_close(y, 2 * torch.sin(self.x))
        self.kernels["scale"](x=Interface(self.x), s=3.0, y=y)  # beside DLPack
        torch.testing.assert_close(y, 3 * torch.sin(self.x))
        other = torch.cuda.Stream()
        with torch.cuda.stream(other):
            torch.cuda._sleep(200000000)
            late = self.x * 2
        self.kernels["scale"](x=Interface(late, stream=other.cuda_stream), s=1.0, y=y)
        torch.testing.assert_close(y, torch.sin(2 * self.x))
        host = torch.zeros(3, dtype=torch.float64)
        with Raises(self, adrt.ArgumentError, "x", "CUDA's driver knows"):
            self.kernels["scale"](x=Interface(self.x[:3], data=(host.data_ptr(), False)), s=1.0, y=y[:3])

    def test_gradients(self):
        x = torch.linspace(-1, 1, 1000, device="cuda")
        loss, = self.relax["relax"](x=x, n=2)
        gradient = self.relax["relax"].grad(x=x, loss=loss, n=2, loss_adj=1.0).x_adj
        torch.testing.assert_close(gradient, torch.cos(x) * torch.cos(torch.sin(x) + 0.1), rtol=1e-4, atol=1e-5)
        tangent = self.relax["relax"].jvp(x=x, n=2, x_tan=torch.ones_like(x)).loss_tan
        torch.testing.assert_close(tangent, gradient.sum(), rtol=1e-4, atol=1e-4)
        big = torch.tensor([0.5, 3.0, 100.0], dtype=torch.float64, device="cuda")  # counted before the launch
        got = self.kernels["halve"].grad(x=big, y=big, y_adj=torch.ones_like(big)).x_adj
        on_cpu = self.kernels["halve"].grad(x=big.cpu(), y=big.cpu(), y_adj=torch.ones(3, dtype=torch.float64)).x_adj
        torch.testing.assert_close(got.cpu(), on_cpu)

    def test_autograd(self):
        scale = adrt.torch.function(self.kernels["scale"])
        x = torch.rand(6, dtype=torch.float64, device="cuda", requires_grad=True)
        s = torch.tensor(1.5, dtype=torch.float64, device="cuda", requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda x, s: scale(x=x, s=s, y=6).y, (x, s)))
        self.assertTrue(torch.autograd.gradgradcheck(lambda x, s: scale(x=x, s=s, y=6).y, (x, s)))
        on_host = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)  # a scalar may be anywhere
        self.assertTrue(torch.autograd.gradcheck(lambda s: scale(x=x.detach(), s=s, y=6).y.cpu(), (on_host,)))
        self.assertTrue(torch.autograd.gradgradcheck(lambda s: scale(x=x.detach(), s=s, y=6).y.cpu(), (on_host,)))

    def test_autograd_in_the_current_stream(self):
        stream = torch.cuda.Stream()
        x = torch.rand(6, dtype=torch.float64, device="cuda", requires_grad=True)
        scale, halve = (adrt.torch.function(self.kernels[name]) for name in ("scale", "halve"))

        def in_stream(call):
            for cycles in 1, 1000000000:  # CUDA waits where it loads code for the first launch
                torch.cuda.synchronize()
                with torch.cuda.stream(stream):
                    torch.cuda._sleep(cycles)
                    y = call(x * 2)
                    gradient, = torch.autograd.grad(y.sum(), x)
                waited = stream.query()
            stream.synchronize()
            return waited, y.detach(), gradient

        waited, y, gradient = in_stream(lambda late: scale(x=late, s=3.0, y=6).y)
        self.assertFalse(waited)
        torch.testing.assert_close(y, 3 * torch.sin(2 * x.detach()))
        torch.testing.assert_close(gradient, 6 * torch.cos(2 * x.detach()))
        waited, y, gradient = in_stream(lambda late: halve(x=late, y=6).y)  # data decides how much memory the gradient takes
        self.assertTrue(waited)
        on_cpu = x.detach().cpu().requires_grad_()
        halved = halve(x=on_cpu * 2, y=6).y
        halved.sum().backward()
        torch.testing.assert_close(y.cpu(), halved.detach())
        torch.testing.assert_close(gradient.cpu(), on_cpu.grad)
        checked = adrt.torch.function(self.asserts["checked"])
        with torch.cuda.stream(stream):
            self.assertEqual(checked(x=torch.ones(4, device="cuda"), y=torch.zeros((), device="cuda")).y.item(), 4)
            with Raises(self, adrt.Error, None, "x is positive"):  # it waits for what the kernel reports
                checked(x=torch.zeros(4, device="cuda"), y=torch.zeros((), device="cuda"))

    def test_stream_of_the_caller(self):
        stream = torch.cuda.Stream()
        kernel = self.kernels["scale"].on(stream=stream)
        y = torch.zeros_like(self.x)
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(2000000000)
            late = self.x * 2
            kernel(x=late, s=2.0, y=y)
        self.assertFalse(stream.query())  # the call does not wait
        stream.synchronize()
        kernel.check()
        torch.testing.assert_close(y, 2 * torch.sin(2 * self.x))
        long = self.kernels["long"].on(stream=stream.cuda_stream)
        result = torch.zeros((), dtype=torch.float64, device="cuda")
        long(n=2000000, y=result)
        self.assertFalse(stream.query())
        stream.synchronize()
        expected = self.kernels["long"](n=2000000, y=torch.zeros((), dtype=torch.float64)).y
        torch.testing.assert_close(result.cpu(), expected)

    def test_gradient_in_a_stream(self):
        stream = torch.cuda.Stream()
        x = torch.linspace(-1, 1, 4096, device="cuda")
        one, loss = torch.ones((), device="cuda"), torch.zeros((), device="cuda")
        torch.cuda.synchronize()
        kernel = self.relax["relax"].on(stream=stream).grad
        held = []

        def allocate(count):
            with torch.cuda.stream(stream):
                held.append(torch.empty(count, dtype=torch.uint8, device="cuda"))
            return held[-1]

        for n, launch in (3, kernel), (30, kernel), (3, kernel.on(heap=allocate)), (30, kernel.on(heap=allocate)):
            with torch.cuda.stream(stream):
                adjoint = torch.zeros_like(x)
                launch(x=x, loss=loss, n=n, x_adj=adjoint, loss_adj=one)
            stream.synchronize()
            launch.check()
            expected = self.relax["relax"].grad(x=x.cpu(), loss=0, n=n, loss_adj=1.0).x_adj
            torch.testing.assert_close(adjoint.cpu(), expected, rtol=1e-4, atol=1e-5)
        self.assertEqual(len(held), 2)
        with Raises(self, adrt.Error, None, "call the kernel without one"):
            big = torch.tensor([0.5, 3.0], dtype=torch.float64, device="cuda")
            self.kernels["halve"].on(stream=stream).grad(x=big, y=big, y_adj=torch.ones_like(big))

    def test_reports_of_launches_in_a_stream(self):
        stream = torch.cuda.Stream()
        kernel = self.asserts["checked"].on(stream=stream)
        good, bad = torch.ones(4, device="cuda"), torch.zeros(4, device="cuda")
        sums = [torch.zeros((), device="cuda") for _ in range(3)]
        torch.cuda.synchronize()
        for x, y in zip((good, bad, good), sums):
            kernel(x=x, y=y)
        stream.synchronize()
        with Raises(self, adrt.Error, None, "x is positive"):
            kernel.check()
        kernel.check()  # read
        kernel(x=good, y=sums[0])
        stream.synchronize()
        kernel.check()
        with Raises(self, adrt.Error, None, "x is positive"):
            self.asserts["checked"](x=bad, y=sums[0])

    def test_work_in_other_streams_is_waited_for(self):
        y, other = torch.zeros_like(self.x), torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.cuda.stream(other):
            torch.cuda._sleep(1000000000)
            late = self.x * 3
            self.kernels["scale"](x=late, s=1.0, y=y)
        torch.testing.assert_close(y, torch.sin(3 * self.x))

    @unittest.skipUnless((ROOT / "docs/python.md").exists(), "the page is not here")
    def test_page(self):
        x, loss = torch.linspace(-1, 1, 100, device="cuda"), torch.zeros((), device="cuda")
        torch.cuda.synchronize()
        self.assertEqual(run_snippets("cuda", torch=torch, kernel=self.relax["relax"], x=x, loss=loss), 1)
        self.assertNotEqual(loss.item(), 0)

    def test_mistakes(self):
        x = torch.zeros(3, device="cuda")
        with Raises(self, adrt.NoTargetError, None, "cuda:0", "has code for: cpu:", "adc --target=cuda"):
            self.on_cpu["relax"](x=x, n=1)
        with Raises(self, adrt.ArgumentError, "loss", "memory of cuda:0", "'x'", "on cpu"):
            self.relax["relax"](x=x, loss=torch.zeros(()), n=1)
        with Raises(self, adrt.ArgumentError, "stream", "on the CPU"):
            self.relax["relax"].on(stream=torch.cuda.Stream())(x=x.cpu(), n=1)
        with Raises(self, adrt.ArgumentError, "stream", "given str"):
            self.relax["relax"].on(stream="first")
        with Raises(self, adrt.ArgumentError, "heap", "bytes on cuda:0"):
            self.relax["relax"].grad.on(heap=lambda count: torch.empty(count, dtype=torch.uint8))(
                x=x, loss=torch.zeros((), device="cuda"), n=3, loss_adj=1.0)

    def test_other_libraries(self):
        """CuPy and JAX, whose arrays are not buffers although they look it, and Numba."""
        relax, host = self.relax["relax"], torch.linspace(-1, 1, 100).numpy()
        tested = 0
        for library in "cupy", "jax", "numba.cuda":
            try:
                module = __import__(library, fromlist=["x"])
            except ImportError:
                continue
            tested += 1
            to_device = {"cupy": lambda array: module.asarray(array), "jax": lambda array: module.numpy.asarray(array),
                         "numba.cuda": lambda array: module.to_device(array)}[library]
            x, one, zero = to_device(host), to_device(host[:1].reshape(()) * 0 + 1), to_device(host[:1].reshape(()) * 0)
            adjoint = torch.zeros(100, device="cuda")
            relax.grad(x=x, loss=zero, n=1, loss_adj=one, x_adj=adjoint)
            torch.testing.assert_close(adjoint.cpu(), torch.cos(torch.from_numpy(host)), rtol=1e-5, atol=1e-6)
            if library == "cupy":
                made = relax.grad(x=x, loss=zero, n=1, loss_adj=1.0).x_adj
                self.assertIsInstance(made, module.ndarray)
                stream = module.cuda.Stream(non_blocking=True)
                given = module.zeros(100, "float32")
                module.cuda.Device().synchronize()
                relax.on(stream=stream).grad(x=x, loss=zero, n=1, loss_adj=one, x_adj=given)
                stream.synchronize()
                self.assertEqual(float(abs(given - made).max()), 0)
        print(f"{tested} of 3 other libraries are here")

    def test_cost_of_a_call(self):
        import time
        stream = torch.cuda.Stream()
        kernel, y = self.kernels["scale"].on(stream=stream), torch.zeros(1, dtype=torch.float64, device="cuda")
        x = torch.zeros(1, dtype=torch.float64, device="cuda")
        for _ in range(2):
            begin = time.perf_counter()
            for _ in range(1000):
                kernel(x=x, s=1.0, y=y)
            took = time.perf_counter() - begin
            stream.synchronize()
        kernel.check()
        print(f"recording a launch of two tensors in a stream: {took * 1e3:.1f} us")


if __name__ == "__main__":
    main()
