"""Kernels and their gradients as operators of PyTorch, which torch.compile takes into its graphs.

There are two operators for all kernels. They take the key of a function, and tensors as a list. What is no tensor comes beside
it: numbers, whose count is -1 where they are no sequence, and shapes, whose extents may be symbols.
"""

import functools
import itertools
import weakref

import torch

# Without it (before PyTorch 2.4) torch.compile runs a function between its graphs.
IS_KNOWN = hasattr(torch, "library") and hasattr(torch.library, "custom_op")
_FIXED = "str[] numbered, int[] counts, Scalar[] numbers, str[] shaped, int[] ranks, SymInt[] extents"
_SCHEMA = f"(str key, Tensor[] tensors, str[] names, {_FIXED}) -> Tensor[]"
_GRADIENT_SCHEMA = (f"(str key, Tensor[] tensors, Tensor[] inputs, str[] names, str[] left, str[] needed, {_FIXED}) -> Tensor[]")
_functions = weakref.WeakValueDictionary()  # by key


def key_of(functional):
    """A new key for a function. PyTorch stores compiled graphs, which have it in them: equal keys are of equal kernels."""
    kernel = functional.kernel
    for serial in itertools.count():
        key = f"{kernel.bundle.content_id}:{kernel.name}:{serial}"
        if key not in _functions:
            _functions[key] = functional
            return key


def call(key, arguments, shapes):
    """Calls the operator; None where an argument is neither tensor, shape, number nor sequence of numbers. `shapes`: names of
    parameters that may be given as shapes."""
    tensors, names, numbered, counts, numbers, shaped, ranks, extents = [], [], [], [], [], [], [], []
    for name, value in arguments.items():
        is_sequence = isinstance(value, (tuple, list))
        if isinstance(value, torch.Tensor):
            names.append(name)
            tensors.append(value)
        elif name in shapes and (is_sequence or isinstance(value, (int, torch.SymInt))):
            shaped.append(name)
            ranks.append(len(value) if is_sequence else -1)
            extents.extend(value if is_sequence else (value,))
        else:
            items = value if is_sequence else (value,)
            if not all(isinstance(item, (int, float)) for item in items):
                return None
            numbered.append(name)
            counts.append(len(items) if is_sequence else -1)
            numbers.extend(items)
    return _call(key, tensors, names, numbered, counts, numbers, shaped, ranks, extents)


def _fixed(numbered, counts, numbers, shaped, ranks, extents):
    """What is no tensor, by name."""
    fixed = {}
    for keys, lengths, items in (numbered, counts, iter(numbers)), (shaped, ranks, iter(extents)):
        for key, length in zip(keys, lengths):
            fixed[key] = next(items) if length < 0 else tuple(itertools.islice(items, length))
    return fixed


def _launch(key, tensors, names, *fixed):
    functional, fixed = _functions[key], _fixed(*fixed)
    functional.check({**dict(zip(names, tensors)), **fixed})
    return list(functional.launch(names, fixed, *tensors))


def _outputs(key, tensors, names, *fixed):
    """Tensors without memory, of the shapes that a call gives."""
    functional, given, sizes, shaped = _functions[key], dict(zip(names, tensors)), _fixed(*fixed), fixed[3]
    functional.check({**given, **sizes, **dict.fromkeys(shaped, 0)})  # extents may be symbols
    somewhere = next((tensor for name, tensor in given.items() if name not in functional.scalars), torch.empty(0))
    made = []
    for name in functional.left:
        if name in given:
            made.append(torch.empty_like(given[name], memory_format=torch.contiguous_format))
            continue
        axes = sizes.get(name, ()) if name in shaped else ()
        shape = (*(axes if isinstance(axes, tuple) else (axes,)), *functional.params[name].element_shape)
        made.append(somewhere.new_empty(shape, dtype=functional.dtypes[name]))
    return made


def _setup_context(ctx, inputs, output):
    ctx.key, tensors, ctx.names, *ctx.fixed = inputs
    functional = _functions[ctx.key]
    ctx.left = [*(name for name in ctx.names if name not in functional.left), *functional.left]
    ctx.save_for_backward(*(tensor for name, tensor in zip(ctx.names, tensors) if name not in functional.left), *output, *tensors)


def _backward(ctx, seeds):
    functional, count = _functions[ctx.key], len(ctx.left)
    given = [seed for name, seed in zip(functional.left, seeds) if name in functional.seeded]
    needed = [name for name, is_needed in zip(ctx.names, ctx.needs_input_grad[1]) if is_needed]
    made = _gradient(ctx.key, [*ctx.saved_tensors[:count], *given], list(ctx.saved_tensors[count:]), ctx.names, ctx.left, needed,
                     *ctx.fixed)
    found = dict(zip(needed, made))
    # PyTorch takes an empty list for one of tensors, and wants as many adjoints.
    return None, [found.get(name) for name in ctx.names], *(None if items else [] for items in (ctx.names, *ctx.fixed))


def _differentiate(key, tensors, inputs, names, left, needed, *fixed):
    of_inputs = {name: (tensor.dtype, tensor.device) for name, tensor in zip(names, inputs)}
    return list(_functions[key].differentiate(left, needed, of_inputs, _fixed(*fixed), tensors))


def _adjoints(key, tensors, inputs, names, left, needed, *fixed):
    by_name = dict(zip(names, inputs))
    return [torch.empty_like(by_name[name], memory_format=torch.contiguous_format) for name in needed]


def _of_each(operator, info, in_dims, *inputs):
    """The operator under vmap: once for each element. Axes are those of its lists of tensors."""
    def of_one(items, dims, at):
        if not isinstance(dims, (tuple, list)):
            return items
        return [item if dim is None else item.select(dim, at) for item, dim in zip(items, dims)]

    made = [operator(*(of_one(items, dims, at) for items, dims in zip(inputs, in_dims))) for at in range(info.batch_size)]
    return [torch.stack(of_output) for of_output in zip(*made)], [0] * len(made[0])


if IS_KNOWN:
    _call = torch.library.custom_op("adrt::call", _launch, mutates_args=(), schema=_SCHEMA)
    _call.register_fake(_outputs)
    _call.register_autograd(_backward, setup_context=_setup_context)
    _gradient = torch.library.custom_op("adrt::gradient", _differentiate, mutates_args=(), schema=_GRADIENT_SCHEMA)
    _gradient.register_fake(_adjoints)
    for _operator in (_call, _gradient) if hasattr(_call, "register_vmap") else ():
        _operator.register_vmap(functools.partial(_of_each, _operator))
