"""What a kernel and its gradient in PyTorch's autograd take beyond two launches in C (no test: it prints).

    measure_torch.py MICROSECONDS    # what measure_call.py prints of C

PYTHONPATH has the package and PyTorch, ADC names adc. "Nothing" is a function of autograd that launches nothing.
"""

import sys

from measure_call import python_time
from support import sample, skip_unless_built, skip_without

skip_unless_built()
torch = skip_without("torch")
import adrt  # noqa: E402
import adrt.torch  # noqa: E402


class Nothing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.new_empty(())

    @staticmethod
    def backward(ctx, seed):
        return seed.expand(1)


def main(in_c):
    torch.set_num_threads(1)
    kernel = adrt.load(sample("relax", "--derive=grad"))["relax"]
    relax, x = adrt.torch.function(kernel), torch.full((1,), 0.5, requires_grad=True)
    plain = x.detach()

    def both(function):
        x.grad = None
        function().backward()

    nothing = python_time(lambda: both(lambda: Nothing.apply(x)), count=2000)
    forward = python_time(lambda: relax(x=plain, n=1), count=2000)
    whole = python_time(lambda: both(lambda: relax(x=x, n=1).loss), count=2000)
    print(f"one element, PyTorch {torch.__version__}: forward {forward:.2f} us, {forward - in_c:.2f} more than in C; forward and "
          f"backward {whole:.2f} us, {whole - 2 * in_c:.2f} more than two launches in C, "
          f"{whole - nothing - 2 * in_c:.2f} more than these and a function that launches nothing")


if __name__ == "__main__":
    main(float(sys.argv[1]))
