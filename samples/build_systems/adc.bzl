"""adc_kernels: a bundle and its C header from kernels. Every file that adc reads is a declared input, nothing of the
environment is passed on, and the outputs depend on nothing else: actions can be cached and run on other machines."""

def _adc_kernels(ctx):
    bundle = ctx.actions.declare_file((ctx.attr.out or ctx.label.name) + ".adcb")
    header = ctx.actions.declare_file((ctx.attr.out or ctx.label.name) + ".h")
    arguments = ctx.actions.args()
    arguments.add_all(ctx.files.srcs)
    arguments.add_all(ctx.attr.targets, format_each = "--target=%s")
    arguments.add_all(ctx.attr.options)
    arguments.add("--jobs=1")
    arguments.add("-o", bundle)
    arguments.add(header, format = "--header=%s")
    ctx.actions.run(
        executable = ctx.file._compiler,
        arguments = [arguments],
        inputs = ctx.files.srcs + ctx.files.imports,
        tools = ctx.files._compiler_files,
        outputs = [bundle, header],
        env = {},
        mnemonic = "AdcKernels",
        progress_message = "Compiling kernels %s" % ctx.label,
    )
    return [
        DefaultInfo(files = depset([bundle, header])),
        OutputGroupInfo(header = depset([header]), bundle = depset([bundle])),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = depset([header]),
            includes = depset([header.dirname]),
        )),
    ]

adc_kernels = rule(
    implementation = _adc_kernels,
    attrs = {
        "srcs": attr.label_list(allow_files = [".ir", ".cpp", ".comp", ".hlsl", ".spv"], mandatory = True),
        "imports": attr.label_list(allow_files = True),
        "out": attr.string(doc = "name of bundle and header; default: that of the rule"),
        "targets": attr.string_list(),
        "options": attr.string_list(),
        "_compiler": attr.label(default = "@adc//:compiler", allow_single_file = True),
        "_compiler_files": attr.label(default = "@adc//:compiler_files"),
    },
)
