#!/usr/bin/env python3
# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times a compiled library beside flash-linear-attention on a GPU.

`larc bench --target=cuda --peers` runs this script, which is inside the driver;
it also runs alone. Both compute from the same tensors of PyTorch and take turns,
call by call, with an L2 cache that holds nothing of them; a single token
(T = 1) is replayed in a graph, as decoders do. Errors are those of smaller
inputs against larc's float64 reference. docs/gpu.md has the rest.
"""

import argparse
import ctypes
import importlib
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time

# Exit code where something is missing that the user can install.
MISSING = 3
SMALL = {"B": 1, "T": 320, "H": 2}
FLUSH_BYTES = 256 << 20


class Unavailable(Exception):
    """A peer that cannot run here, and why."""


# The peers ------------------------------------------------------------------------------------------
#
# By recurrence: the module, the operator for sequences and the one for single
# tokens (None: the same), what they are given, and the initial state. Whatever
# the lambdas compute is there before anything is timed.


def keys_of_gates(t):
    return -t["g"].float().expm1()


def folded(x):
    """[B, T, H, n, ...] becomes [B, T n, H, ...], the steps of a token in turn."""
    return x.transpose(2, 3).flatten(1, 2).contiguous()


def heads_first(x):
    return x.transpose(1, 2).contiguous()


def plain(*names, **others):
    return lambda t: {**{n: t[n] for n in names}, **{n: f(t) for n, f in others.items()}}


def rsqrt_scale(t):
    return t["q"].shape[-1] ** -0.5


def one(t):
    return 1.0


def single(t):
    return t["state.S"].float() if "state.S" in t else None


def slots(t):
    if "state.Kt" not in t:
        return None
    return t["state.Kt"].float().transpose(-1, -2).contiguous(), t["state.Vt"].float()


def entry(module, op, step, arguments, step_arguments=None, state=single, **extra):
    return dict(
        module="fla.ops." + module,
        op=op,
        step=step,
        arguments=arguments,
        step_arguments=step_arguments or arguments,
        state=state,
        **extra,
    )


PEERS = {
    "linear_attention": entry(
        "linear_attn",
        "chunk_linear_attn",
        "fused_recurrent_linear_attn",
        plain("q", "k", "v", scale=rsqrt_scale, normalize=lambda t: False),
    ),
    "retention": entry(
        "simple_gla",
        "chunk_simple_gla",
        "fused_recurrent_simple_gla",
        plain("q", "k", "v", scale=rsqrt_scale, g_gamma=lambda t: t["g"].float()),
    ),
    "simple_gla": entry(
        "simple_gla",
        "chunk_simple_gla",
        "fused_recurrent_simple_gla",
        plain("q", "k", "v", "g", scale=rsqrt_scale),
    ),
    "gla": entry(
        "gla",
        "chunk_gla",
        "fused_recurrent_gla",
        plain("q", "k", "v", "g", scale=rsqrt_scale),
        plain("q", "k", "v", scale=rsqrt_scale, gk=lambda t: t["g"]),
    ),
    "hgrn2": entry(
        "gla",
        "chunk_gla",
        "fused_recurrent_gla",
        plain("q", "v", "g", scale=one, k=lambda t: keys_of_gates(t).to(t["v"].dtype)),
        plain(
            "q",
            "v",
            scale=one,
            k=lambda t: keys_of_gates(t).to(t["v"].dtype),
            gk=lambda t: t["g"],
        ),
    ),
    "gsa": entry(
        "gsa",
        "chunk_gsa",
        "fused_recurrent_gsa",
        plain(
            "q", "k", "v", "g", scale=rsqrt_scale, s=lambda t: keys_of_gates(t).to(t["v"].dtype)
        ),
        state=slots,
        only={"link": "softmax"},
    ),
    "gsa_explicit": entry(
        "gsa",
        "chunk_gsa",
        "fused_recurrent_gsa",
        plain("q", "k", "v", "g", "s", scale=rsqrt_scale),
        state=slots,
        only={"link": "softmax"},
    ),
    "abc": entry(
        "abc",
        "chunk_abc",
        None,
        lambda t: {n: heads_first(t[n]) for n in ("q", "k", "v", "s")},
        state=lambda t: None,
        result=lambda x: x.transpose(1, 2),
    ),
    "rwkv6": entry(
        "rwkv6",
        "chunk_rwkv6",
        "fused_recurrent_rwkv6",
        plain("r", "k", "v", "w", "u", scale=one),
    ),
    "delta_net": entry(
        "delta_rule",
        "chunk_delta_rule",
        "fused_recurrent_delta_rule",
        plain("q", "k", "v", "beta", scale=rsqrt_scale),
    ),
    "gated_delta_net": entry(
        "gated_delta_rule",
        "chunk_gated_delta_rule",
        "fused_recurrent_gated_delta_rule",
        plain("q", "k", "v", "g", "beta", scale=rsqrt_scale),
    ),
    "kda": entry(
        "kda",
        "chunk_kda",
        "fused_recurrent_kda",
        plain("q", "k", "v", "g", "beta", scale=rsqrt_scale),
    ),
    "gdn2": entry(
        "gdn2",
        "chunk_gdn2",
        "fused_recurrent_gdn2",
        plain("q", "k", "v", "g", "b", "w", scale=rsqrt_scale),
    ),
    "rwkv7": entry(
        "rwkv7",
        "chunk_rwkv7",
        "fused_recurrent_rwkv7",
        plain("r", "w", "k", "v", "a", "b", scale=one),
    ),
    "gated_delta_product": entry(
        "gated_delta_product",
        "chunk_gated_delta_product",
        None,
        plain(
            "q",
            "g",
            scale=rsqrt_scale,
            k=lambda t: folded(t["k"]),
            v=lambda t: folded(t["v"]),
            beta=lambda t: folded(t["beta"][..., None])[..., 0],
            num_householder=lambda t: t["k"].shape[3],
        ),
    ),
}


# The library ---------------------------------------------------------------------------------------

# As include/larc/Runtime/Library.h has it.
VERSION, CUDA, AUTO = 1, 2, 0
i32, i64, pointer = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p


class Shape(ctypes.Structure):
    _fields_ = [("target", ctypes.c_int), ("form", ctypes.c_int)]
    _fields_ += [(n, i64) for n in ("sequences", "tokens", "heads")]
    _fields_ += [(n, i32) for n in ("packed", "discard_finals", "threads", "segments")]


class Functions(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32),
        ("tensors", ctypes.c_uint32),
        ("manifest", ctypes.c_char_p),
        ("message", ctypes.CFUNCTYPE(ctypes.c_char_p)),
        ("load", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)),
        ("unload", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)),
        ("plan", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Shape), pointer, ctypes.POINTER(pointer))),
        ("workspace", ctypes.CFUNCTYPE(ctypes.c_size_t, pointer)),
        ("describe", ctypes.CFUNCTYPE(None, pointer, pointer)),
        ("run", ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer, pointer, pointer, pointer)),
        ("release", ctypes.CFUNCTYPE(None, pointer)),
    ]


class Library:
    def __init__(self, path):
        handle = ctypes.CDLL(os.path.abspath(path))
        get = handle.larc_library_functions
        get.restype = ctypes.POINTER(Functions)
        self.functions = get().contents
        if self.functions.version != VERSION:
            raise Unavailable("the library is of another version of the interface")
        self.manifest = json.loads(self.functions.manifest)

    def check(self, status):
        if status:
            raise Unavailable(self.functions.message().decode())

    def bind(self, tensors, dims):
        """A call of the library's on `tensors`, by name."""
        import torch

        shape = Shape(target=CUDA, form=AUTO, sequences=dims["B"], tokens=dims["T"], heads=dims["H"])
        plan = pointer()
        self.check(self.functions.plan(ctypes.byref(shape), None, ctypes.byref(plan)))
        size = self.functions.workspace(plan)
        workspace = torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")
        names = [entry["name"] for entry in self.manifest["tensors"]]
        pointers = (pointer * len(names))(
            *[tensors[n].data_ptr() if n in tensors else None for n in names]
        )
        run, address = self.functions.run, workspace.data_ptr()

        def call(keep=(tensors, workspace)):
            stream = torch.cuda.current_stream().cuda_stream
            status = run(plan, pointers, None, address, stream)
            if status:
                self.check(status)

        return call


# Tensors -------------------------------------------------------------------------------------------

DOMAIN = re.compile(
    r"%(\w+)\s*(?:\[[^\]]*\])?\s*(?::\s*(data|gate|coefficient))?\s*(unit|softmax|interval|normal|log_decay)?"
)


def domains(spec):
    """What the numbers of each operand are, as the recurrence declares it."""
    header = spec[spec.index("larc.recurrence") :].split("->")[0]
    usual = {"gate": "log_decay", "coefficient": "interval"}
    return {n: d or usual.get(k, "normal") for n, k, d in DOMAIN.findall(header)}


def leading(entry, dims):
    role = entry["role"]
    if role in ("operand", "output"):
        return [dims["B"], dims["T"], dims["H"]]
    return [dims["H"]] if role == "constant" else [dims["B"], dims["H"]]


def draw(domain, shape, generator):
    import torch

    x = torch.randn(shape, device="cuda", generator=generator)
    if domain == "log_decay":
        return torch.nn.functional.logsigmoid(x)
    if domain == "interval":
        return x.sigmoid()
    if domain == "unit":
        return torch.nn.functional.normalize(x, dim=-1)
    if domain == "softmax":
        return x.softmax(-1)
    return x


def make_tensors(manifest, dims, with_states):
    """Random inputs and results of NaN, by the names of the interface."""
    import torch

    types = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
    generator = torch.Generator(device="cuda").manual_seed(0)
    kinds, tensors = domains(manifest["spec"]), {}
    for entry in manifest["tensors"]:
        name, role = entry["name"], entry["role"]
        shape = leading(entry, dims) + list(entry["sizes"])
        if role in ("operand", "constant"):
            x = draw(kinds.get(name, "normal"), shape, generator)
        elif role == "initial state" and (with_states or entry["required"]):
            x = torch.randn(shape, device="cuda", generator=generator)
        elif role in ("output", "final state", "final anchor"):
            x = torch.full(shape, float("nan"), device="cuda", dtype=types[entry["type"]])
        else:
            continue
        tensors[name] = x.to(types[entry["type"]])
    return tensors


def write_tensors(path, tensors):
    header, offset, data = {}, 0, []
    for name, x in tensors.items():
        bytes_ = x.float().cpu().contiguous().numpy().tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(x.shape),
            "data_offsets": [offset, offset + len(bytes_)],
        }
        offset += len(bytes_)
        data.append(bytes_)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def read_tensor(path, name):
    """A float64 tensor of a file that the reference wrote."""
    import torch

    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        entry = json.loads(file.read(size))[name]
        begin, end = entry["data_offsets"]
        file.seek(begin, os.SEEK_CUR)
        data = bytearray(file.read(end - begin))
    return torch.frombuffer(data, dtype=torch.float64).reshape(entry["shape"])


# Contenders ----------------------------------------------------------------------------------------


def attributes(spec):
    header = spec[spec.index("larc.recurrence") :].split("->")[0]
    return dict(re.findall(r"(\w+) = (\w+) of \[", header))


def make_peer(manifest, tensors, dims):
    """The peer's call, with its name. It returns the outputs."""
    peer = PEERS.get(manifest["name"])
    if not peer:
        raise Unavailable("flash-linear-attention has no operator for it in the table of peers")
    values = attributes(manifest["spec"])
    for name, value in peer.get("only", {}).items():
        if values.get(name, value) != value:
            raise Unavailable("its operator has no %s but %s" % (name, value))
    is_step = dims["T"] == 1
    if is_step and not peer["step"]:
        raise Unavailable("flash-linear-attention has no operator for one token of it")
    name = peer["step"] if is_step else peer["op"]
    try:
        function = getattr(importlib.import_module(peer["module"]), name)
    except (ImportError, AttributeError) as error:
        raise Unavailable(str(error))
    arguments = peer["step_arguments" if is_step else "arguments"](tensors)
    state = peer["state"](tensors)
    arguments["output_final_state"] = True
    if state is not None:
        arguments["initial_state"] = state
    result = peer.get("result", lambda x: x)
    return "fla " + name, lambda: result(function(**arguments)[0])


def relative_error(got, expected):
    rms = lambda x: x.square().mean().sqrt().item()
    return rms(got.double().cpu() - expected) / max(rms(expected), 0.01)


def measure_errors(options, library, folder):
    """Errors of larc and the peer on small inputs, by contender."""
    import torch

    manifest = library.manifest
    dims = {n: min(options.dims[n], SMALL[n]) for n in SMALL}
    tensors = make_tensors(manifest, dims, with_states=dims["T"] == 1)
    expected_of = lambda n: n.startswith(("out.", "final."))
    paths = [os.path.join(folder, n) for n in ("spec.mlir", "in.safetensors", "out.safetensors")]
    with open(paths[0], "w") as file:
        file.write(manifest["spec"])
    write_tensors(paths[1], {n: x for n, x in tensors.items() if not expected_of(n)})
    command = [options.larc, "run", paths[0], "--form=reference"]
    command += ["--inputs=" + paths[1], "--outputs=" + paths[2]]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable((done.stderr or done.stdout).strip().split("\n")[0])
    output = next(n for n in tensors if n.startswith("out."))
    expected = read_tensor(paths[2], output)
    errors = {}
    library.bind(tensors, dims)()
    torch.cuda.synchronize()
    errors["larc"] = relative_error(tensors[output], expected)
    try:
        name, call = make_peer(manifest, tensors, dims)
        errors[name] = relative_error(call(), expected)
    except Exception as error:  # whatever the peer raises
        print("note: %s" % first_line(error), file=sys.stderr)
    return errors


def first_line(error):
    lines = str(error).strip().split("\n")
    return lines[0] if isinstance(error, Unavailable) else "%s: %s" % (type(error).__name__, lines[0])


# Measuring -----------------------------------------------------------------------------------------


def capture(call, repeats):
    """A graph of `repeats` calls."""
    import torch

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            call()
    return graph.replay


def sample_in_turns(calls, seconds, flush):
    """Milliseconds of each call, by name, in turns for so many seconds."""
    import torch

    cold = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda") if flush else None
    times = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 9:
        for name, call in calls.items():
            events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            if flush:
                cold.zero_()
            events[0].record()
            call()
            events[1].record()
            torch.cuda.synchronize()
            times[name].append(events[0].elapsed_time(events[1]))
    return times


def measure(options, library):
    import torch

    dims, is_step = options.dims, options.dims["T"] == 1
    tensors = make_tensors(library.manifest, dims, with_states=is_step)
    calls, rows = {"larc": library.bind(tensors, dims)}, []
    try:
        name, call = make_peer(library.manifest, tensors, dims)
        with torch.no_grad():
            start = time.perf_counter()
            call()
            torch.cuda.synchronize()
        first = time.perf_counter() - start
        calls[name] = call
    except Exception as error:  # whatever the peer raises
        rows.append({"contender": "fla", "unavailable": first_line(error)})
    repeats = 1
    if is_step:
        repeats = 20
        calls = {name: capture(call, repeats) for name, call in calls.items()}
    with torch.no_grad():
        times = sample_in_turns(calls, options.seconds * len(calls), flush=not is_step)
    for name, samples in times.items():
        samples = [t / repeats for t in samples]
        row = {
            "contender": name,
            "median_ms": statistics.median(samples),
            "min_ms": min(samples),
            "max_ms": max(samples),
            "runs": len(samples),
        }
        if name != "larc":
            row["first_s"] = first
        rows.append(row)
    ours = next(row["median_ms"] for row in rows if row["contender"] == "larc")
    for row in rows:
        if "median_ms" in row:
            row["ratio"] = row["median_ms"] / ours
    return rows


def parse_dims(text):
    dims = {}
    for item in text.split(","):
        name, _, size = item.partition("=")
        if not size.isdigit():
            raise argparse.ArgumentTypeError("expected NAME=SIZE, found '%s'" % item)
        dims[name] = int(size)
    missing = [name for name in "BTH" if name not in dims]
    if missing:
        raise argparse.ArgumentTypeError("expected sizes of B, T and H, found none of " + ", ".join(missing))
    return dims


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog="docs/gpu.md has the rest")
    add = parser.add_argument
    add("library", help="a library that 'larc compile --emit=lib --target=cuda' made")
    add("--dims", type=parse_dims, required=True, help="sizes of a call, as B=1,T=8192,H=96")
    add("--larc", default="larc", help="the driver, for its reference")
    add("--seconds", type=float, default=1.0, help="to measure each contender for")
    add("--no-errors", action="store_true", help="leave the errors out")
    return parser.parse_args()


def require(*modules):
    missing = []
    for name in modules:
        try:
            importlib.import_module(name)
        except ImportError as error:
            missing.append("%s (%s)" % (name, first_line(Unavailable(error))))
    if missing:
        print("the python3 at %s lacks %s" % (sys.executable, ", ".join(missing)), file=sys.stderr)
        sys.exit(MISSING)


def main():
    options = parse_arguments()
    # Of several packages of the name, the one with the operators.
    require("torch", "fla.ops")
    import torch

    if not torch.cuda.is_available():
        print("PyTorch finds no GPU", file=sys.stderr)
        sys.exit(MISSING)
    torch.zeros(1, device="cuda")
    try:
        library = Library(options.library)
        rows = measure(options, library)
        if not options.no_errors:
            with tempfile.TemporaryDirectory() as folder:
                errors = measure_errors(options, library, folder)
            for row in rows:
                row["error"] = errors.get(row["contender"])
    except (Unavailable, OSError) as error:
        print(first_line(error), file=sys.stderr)
        sys.exit(1)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
