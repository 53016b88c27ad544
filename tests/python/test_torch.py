"""adrt.torch: autograd by the gradients of kernels, against differences, closed forms and forward mode."""

import collections
import os
import sys
import unittest

from support import HERE, WORK, Counted, Raises, compiled, main, run_snippets, sample, skip_unless_built, skip_without

skip_unless_built()
torch = skip_without("torch")
import adrt  # noqa: E402
import adrt.torch  # noqa: E402
import torch.distributed  # noqa: E402
import torch.multiprocessing  # noqa: E402


def slope_of_relax(at, turns):
    """The derivative of what one element adds to the loss, in closed form."""
    slope = torch.ones_like(at)
    for _ in range(turns):
        slope, at = slope * torch.cos(at), torch.sin(at) + 0.1
    return slope


def data_of(rank):
    return torch.linspace(0.2, 0.9, 8, dtype=torch.float64) * (rank + 1)


class Weighted(torch.nn.Module):
    """The kernel of weighted data."""

    def __init__(self, kernel):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(0.5, 1.5, 8))
        self.relax = adrt.torch.function(kernel)

    def forward(self, data):
        return self.relax(x=self.weight * data, n=3).loss


def in_parallel(rank, meeting, bundle):
    """One process of test_data_parallel; leaves its gradient in a file."""
    torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    module = Weighted(adrt.load(bundle)["relax"])
    parallel = torch.nn.parallel.DistributedDataParallel(module)  # sums gradients for as long as it lives
    parallel(data_of(rank).float()).backward()
    torch.save(module.weight.grad, f"{meeting}.{rank}")
    torch.distributed.barrier()
    os._exit(0)  # gloo of PyTorch 1.13 may wait for itself when it is destroyed


class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kernels = adrt.load(compiled(HERE / "kernels.ir", "--derive=grad,jvp"))
        cls.relax = adrt.load(sample("relax", "--derive=grad,jvp"))["relax"]
        torch.manual_seed(1)

    def test_tensors_in_calls(self):
        x, y = torch.rand(5, dtype=torch.float64), torch.zeros(5, dtype=torch.float64)
        address = y.data_ptr()
        self.assertIs(self.kernels["scale"](x=x, s=2.0, y=y).y, y)
        self.assertEqual(y.data_ptr(), address)
        torch.testing.assert_close(y, 2 * torch.sin(x))
        made = self.kernels["scale"](x=x, s=2.0, y=5).y
        self.assertIsInstance(made, torch.Tensor)
        torch.testing.assert_close(made, y)
        with Raises(self, adrt.ArgumentError, "y", "shares memory with 'x'"):
            self.kernels["scale"](x=y[:4], s=2.0, y=y[1:])
        with Raises(self, adrt.ArgumentError, "x", "memory") as raised:
            self.kernels["scale"](x=x.clone().requires_grad_(), s=2.0, y=y)
        self.assertIn("require", str(raised.exception.__cause__))
        for kind, name in (torch.float32, "float32"), (torch.bfloat16, "bfloat16"), (torch.int64, "int64"):
            with Raises(self, adrt.ArgumentError, "x", name, "float64"):
                self.kernels["scale"](x=torch.zeros(5, dtype=kind), s=2.0, y=y)

    def test_gradcheck(self):
        scale, halve = (adrt.torch.function(self.kernels[name]) for name in ("scale", "halve"))
        x = torch.rand(6, dtype=torch.float64, requires_grad=True)
        s = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda x, s: scale(x=x, s=s, y=6).y, (x, s)))
        self.assertTrue(torch.autograd.gradcheck(lambda x: scale(x=x, s=2.0, y=6).y, (x,)))
        self.assertTrue(torch.autograd.gradcheck(lambda s: scale(x=x.detach(), s=s, y=6).y, (s,)))
        big = torch.tensor([0.5, 3.0, 50.0], dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(lambda x: halve(x=x, y=3).y, (big,)))

    def test_through_a_chain(self):
        relax = adrt.torch.function(self.relax)
        x = torch.rand(2, 500, requires_grad=True)
        (relax(x=(2 * x).t()[:, 0].contiguous(), n=3).loss ** 2).backward()
        at = (2 * x.detach()[0]).double()
        slope = slope_of_relax(at, 3)
        for _ in range(3):
            at = torch.sin(at) + 0.1
        torch.testing.assert_close(x.grad[0].double(), 4 * at.sum() * slope, rtol=1e-4, atol=0)
        self.assertEqual(x.grad[1].abs().sum(), 0)
        # Forward mode agrees.
        direction = torch.rand(500)
        tangent = self.relax.jvp(x=2 * x.detach()[0], n=3, x_tan=direction).loss_tan
        torch.testing.assert_close((slope.float() * direction).sum(), tangent, rtol=1e-4, atol=0)

    def test_strided_tensors_and_seeds(self):
        scale = adrt.torch.function(self.kernels["scale"])
        x = torch.rand(12, dtype=torch.float64, requires_grad=True)
        scale(x=x[::2], s=1.0, y=6).y.sum().backward()  # the seed is one number, expanded
        torch.testing.assert_close(x.grad[::2], torch.cos(x.detach()[::2]))

    def test_in_place_is_a_copy(self):
        twice = adrt.torch.function(self.kernels["twice"])
        x = torch.rand(4, requires_grad=True)
        before = x.detach().clone()
        (twice(x=x).x ** 2).sum().backward()
        torch.testing.assert_close(x.detach(), before)
        torch.testing.assert_close(x.grad, 8 * before)
        seed = torch.rand(4)
        given = seed.clone()
        twice(x=x).x.backward(seed)  # the kernel's gradient consumes the adjoint of what it overwrites: a copy
        torch.testing.assert_close(seed, given, rtol=0, atol=0)

    def test_saved_values(self):
        squares = adrt.torch.function(adrt.load(compiled(HERE / "saved.ir", "--save-overwritten"))["squares"])
        x = torch.rand(4, dtype=torch.float64, requires_grad=True)
        self.assertEqual(squares(x=x, n=2)._fields, ("x",))
        self.assertTrue(torch.autograd.gradcheck(lambda x: squares(x=x, n=3).x, (x,)))

    def test_training(self):
        relax = adrt.torch.function(self.relax)
        x = torch.full((100,), 0.9, requires_grad=True)
        optimiser = torch.optim.SGD([x], lr=0.1)
        losses = []
        for _ in range(50):
            optimiser.zero_grad()
            loss = relax(x=x, n=2).loss
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], losses[0] - 50)

    def test_twice(self):
        bundle = adrt.load(compiled(HERE / "kernels.ir", "--derive=grad,jvp,jvp(grad)"))
        scale, halve = adrt.torch.function(bundle["scale"]), adrt.torch.function(bundle["halve"])
        x = torch.rand(5, dtype=torch.float64, requires_grad=True)
        s = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
        big = torch.tensor([0.5, 3.0, 50.0], dtype=torch.float64, requires_grad=True)
        for run, inputs in ((lambda x, s: scale(x=x, s=s, y=5).y, (x, s)), (lambda x: scale(x=x, s=2.0, y=5).y, (x,)),
                            (lambda s: scale(x=x.detach(), s=s, y=5).y, (s,)), (lambda x: halve(x=x, y=3).y, (big,))):
            self.assertTrue(torch.autograd.gradgradcheck(run, inputs))
        relax = adrt.torch.function(adrt.load(sample("relax", "--derive=grad,jvp,jvp(grad)"))["relax"])
        x = torch.rand(9, requires_grad=True)
        gradient, = torch.autograd.grad(relax(x=x, n=1).loss, x, create_graph=True)
        (gradient ** 2).sum().backward()
        torch.testing.assert_close(x.grad, -2 * torch.cos(x.detach()) * torch.sin(x.detach()))
        twice = adrt.torch.function(bundle["twice"])
        gradient, = torch.autograd.grad((twice(x=x).x ** 2).sum(), x, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "overwrites an input"):
            gradient.sum().backward()

    def test_vmap(self):
        """One launch for each element, and, with axes of a batch, one of all: values and gradients equal to the bit."""
        if not hasattr(torch, "vmap"):
            print("VMAP IS NOT TESTED: it takes PyTorch 2", file=sys.stderr)
            self.skipTest("no torch.vmap")
        rows = self.kernels["rows"]
        batched = adrt.torch.function(rows, batch=("x", "s", "y", "total"))
        sequential = adrt.torch.function(rows)

        def by_batch(x, s, common):
            made = batched(x=x, s=s, common=common, n=2, y=tuple(x.shape))
            return made.y.sum() + made.total

        def by_element(x, s, common):
            made = sequential(x=x[None], s=s[None], common=common, n=2, y=(1, *x.shape), total=1)
            return made.y.sum() + made.total[0]

        x, s = torch.linspace(0.1, 1.4, 12, dtype=torch.float64).reshape(3, 4), torch.tensor([0.5, 1, 1.5], dtype=torch.float64)
        common = torch.linspace(0, 0.3, 4, dtype=torch.float64)
        for axes in (0, 0, None), (0, None, None), (None, 0, None), (1, 0, None):
            given = (x.T if axes[0] == 1 else x if axes[0] == 0 else x[0]), (s if axes[1] == 0 else s[1]), common
            for transform in lambda f: f, lambda f: torch.func.grad(f, (0, 1)):
                got, wanted = (torch.vmap(transform(f), axes)(*given) for f in (by_batch, by_element))
                torch.testing.assert_close(got, wanted, rtol=0, atol=0)
            leaves = [tensor.clone().requires_grad_() for tensor in given[:2]]
            got, wanted = (torch.autograd.grad((torch.vmap(f, axes)(*leaves, common) ** 2).sum(), leaves)
                           for f in (by_batch, by_element))
            torch.testing.assert_close(got, wanted, rtol=1e-13, atol=0)
        columns = adrt.torch.function(self.kernels["columns"], batch={"x": 1, "s": 0, "y": 1})
        shared = torch.linspace(1, 2, 4, dtype=torch.float64)
        twice = torch.vmap(torch.vmap(lambda x: columns(x=x, s=0.5, shared=shared, y=4).y))
        both = torch.stack([x, 2 * x])
        torch.testing.assert_close(twice(both), torch.sin(both * 0.5) * shared, rtol=1e-12, atol=0)
        with Raises(self, adrt.ArgumentError, "common", "it is not in 'batch'"):
            torch.vmap(by_batch)(x, s, common.expand(3, 4))
        with Raises(self, adrt.ArgumentError, "shared", "adds up its adjoint over all elements"):
            torch.vmap(torch.func.grad(lambda shared, x: columns(x=x, s=0.5, shared=shared, y=4).y.sum()), (None, 0))(shared, x)

    def test_jacobian(self):
        """torch.func maps over the seeds of one gradient."""
        if not hasattr(torch, "vmap"):
            self.skipTest("no torch.vmap")
        scale, x = adrt.torch.function(self.kernels["scale"]), torch.rand(5, dtype=torch.float64)
        jacobian = torch.func.jacrev(lambda x: scale(x=x, s=1.5, y=5).y)(x)
        torch.testing.assert_close(jacobian, torch.diag(1.5 * torch.cos(x)))

    def test_batch_without_vmap(self):
        """One element, with any version of PyTorch."""
        columns = adrt.torch.function(self.kernels["columns"], batch={"x": 1, "s": 0, "y": 1})
        x, s, shared = (torch.rand(shape, dtype=torch.float64, requires_grad=True) for shape in ((4,), (), (4,)))
        torch.testing.assert_close(columns(x=x, s=s, shared=shared, y=4).y, torch.sin(x * s) * shared)
        self.assertTrue(torch.autograd.gradcheck(lambda *given: columns(**dict(zip(("x", "s", "shared"), given)), y=4).y,
                                                 (x, s, shared)))

    def test_launches_of_a_batch_are_counted(self):
        if not hasattr(torch, "vmap"):
            self.skipTest("no torch.vmap")
        launches = collections.Counter()

        x, common = torch.rand(5, 4, dtype=torch.float64), torch.rand(4, dtype=torch.float64)
        for batch, count in ((("x", "s", "y", "total"), 1), (None, 5)):
            rows = adrt.torch.function(Counted(self.kernels["rows"], launches), batch=batch)
            lead = () if batch else (1,)
            launches.clear()
            torch.vmap(torch.func.grad(lambda x: rows(x=x.reshape(*lead, 4), s=torch.ones(lead, dtype=torch.float64), n=2,
                                                      common=common, y=(*lead, 4), total=lead).total.sum()))(x)
            self.assertEqual(launches, {"rows": count, "rows.grad": count})

    def test_compile(self):
        """torch.compile takes the function into its graphs: values and gradients are those of plain PyTorch."""
        if not hasattr(torch, "compile"):
            print("TORCH.COMPILE IS NOT TESTED: it takes PyTorch 2", file=sys.stderr)
            self.skipTest("no torch.compile")
        relax, bundle = adrt.torch.function(self.relax), self.kernels
        scale, twice, rows = (adrt.torch.function(bundle[name]) for name in ("scale", "twice", "rows"))
        is_whole = hasattr(torch.library, "custom_op")

        def loss(x):
            return relax(x=2 * torch.cos(x), n=4).loss ** 2 + x.sum()

        def many(x):
            scaled = scale(x=x.double(), s=x[0].double() + 1, y=x.shape[0]).y  # a scalar that is a tensor, a shape
            return (scaled.float() * twice(x=x).x).sum() + loss(x)  # one that the kernel overwrites

        graphs = []
        for function in loss, many:
            for compiler in lambda graph, _: graphs.append(graph) or graph.forward, "aot_eager":
                torch._dynamo.reset()
                graphs.clear()
                program = torch.compile(function, fullgraph=is_whole, backend=compiler)
                for size in 5, 100, 101:  # from the second one on its shape is a symbol
                    x = torch.rand(size, requires_grad=True)
                    wanted = torch.autograd.grad(function(x), x)[0]
                    torch.testing.assert_close(program(x), function(x), rtol=1e-6, atol=0)
                    torch.testing.assert_close(torch.autograd.grad(program(x), x)[0], wanted, rtol=1e-6, atol=1e-7)
                self.assertIn(len(graphs), (0, 1, 2) if is_whole else range(2, 100))
        torch._dynamo.reset()
        program = torch.compile(lambda x: rows(x=x, s=x[:, 0], n=2, common=torch.ones(4, dtype=torch.float64), y=tuple(x.shape), total=x.shape[0]).total.sum(),
                                backend="eager", fullgraph=is_whole)
        x = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)
        self.assertTrue(torch.autograd.gradcheck(program, (x,)))
        with self.assertRaisesRegex(Exception, "one of x, s, y"):
            torch.compile(lambda x: scale(x=x, z=1.0).y, backend="eager")(x[0])

    def test_data_parallel(self):
        """DistributedDataParallel: each of two processes has data of its own, and the gradient of their mean."""
        if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
            print("DISTRIBUTEDDATAPARALLEL IS NOT TESTED: this PyTorch has no gloo", file=sys.stderr)
            self.skipTest("no gloo")
        meeting = WORK / "meeting"
        meeting.unlink(missing_ok=True)
        torch.multiprocessing.spawn(in_parallel, (str(meeting), str(sample("relax", "--derive=grad,jvp"))), nprocs=2)
        gradients = [torch.load(f"{meeting}.{rank}") for rank in range(2)]
        at = torch.linspace(0.5, 1.5, 8, dtype=torch.float64)
        mean = sum(data * slope_of_relax(at * data, 3) for data in map(data_of, range(2))) / 2
        for gradient in gradients:
            torch.testing.assert_close(gradient.double(), mean, rtol=1e-5, atol=0)

    def test_page(self):
        self.assertEqual(run_snippets("torch", bundle=self.relax.bundle), 1)

    def test_forward_mode_is_refused(self):
        relax = adrt.torch.function(self.relax)
        with torch.autograd.forward_ad.dual_level():
            x = torch.autograd.forward_ad.make_dual(torch.rand(3), torch.ones(3))
            with self.assertRaisesRegex(Exception, "forward mode"):
                relax(x=x, n=1)

    def test_mistakes(self):
        relax = adrt.torch.function(self.relax)
        x = torch.rand(3, requires_grad=True)
        gradient, = torch.autograd.grad(relax(x=x, n=1).loss, x, create_graph=True)
        with Raises(self, adrt.NotFoundError, None, "'relax.grad' has no forward mode", "--derive='jvp(grad)'"):
            gradient.sum().backward()
        with Raises(self, adrt.ArgumentError, "x", "float64", "float32"):
            relax(x=x.double(), n=1)
        with Raises(self, adrt.ArgumentError, "m", "one of x, loss, n"):
            relax(x=x, n=1, m=2)
        with Raises(self, adrt.ArgumentError, "y", "its shape"):
            adrt.torch.function(self.kernels["scale"])(x=x, s=1.0, y=torch.zeros(3, dtype=torch.float64))
        with Raises(self, adrt.NotFoundError, None, "'count' has no gradient"):
            adrt.torch.function(self.kernels["count"])
        with Raises(self, ValueError, None, "derived from 'relax'"):
            adrt.torch.function(self.relax.grad)
        active = adrt.load(compiled(HERE / "kernels.ir", "--active=x,y"))["scale"]
        s = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
        with Raises(self, adrt.ArgumentError, "s", "no adjoint"):
            adrt.torch.function(active)(x=torch.zeros(3, dtype=torch.float64), s=s, y=3)


if __name__ == "__main__":
    main()
