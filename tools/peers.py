#!/usr/bin/env python3
# Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times larc beside what else computes the same recurrences on a CPU.

Each recurrence is computed by PyTorch, eager and compiled, in a chunkwise form
written here in plain tensor operations, by the operator
com.microsoft::LinearAttention of ONNX Runtime where it has the recurrence, and
by `larc bench`. All must agree with larc's reference first. Then they take
turns, round by round. docs/benchmarks.md says how to run it and what it
measures.
"""

import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    np = None

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Operands by recurrence: name, axes, what the numbers are. The flops are those
# of one token of one head that a share of the peak counts: of the diagonal
# class what chunks of 16 take, of the delta rules the token's own.
NORMAL, UNIT, DECAY, STEP = "normal", "unit", "decay", "step"
QKV = [("q", "K", NORMAL), ("k", "K", NORMAL), ("v", "V", NORMAL)]
DELTA = [("q", "K", NORMAL), ("k", "K", UNIT), ("v", "V", NORMAL)]
BETA = ("beta", "", STEP)


def diagonal_flops(d):
    return 4 * d["K"] * d["V"] + 32 * (d["K"] + d["V"])


def delta_flops(d):
    return 7 * d["K"] * d["V"]


def slot_flops(d):
    return 4 * d["M"] * (d["K"] + d["V"]) + 32 * (d["K"] + 2 * d["M"] + d["V"])


SPECS = {
    "simple_gla": (QKV + [("g", "", DECAY)], "gated", diagonal_flops),
    "gla": (QKV + [("g", "K", DECAY)], "gated", diagonal_flops),
    "gsa": (QKV + [("g", "M", DECAY)], None, slot_flops),
    "delta_net": (DELTA + [BETA], "delta", delta_flops),
    "gated_delta_net": (DELTA + [("g", "", DECAY), BETA], "gated_delta", delta_flops),
    "kda": (DELTA + [("g", "K", DECAY), BETA], "gated_delta", delta_flops),
}
AXES = {"gsa": "KVM"}
# Largest relative error of a contender that is timed.
LIMIT = 1e-3


class Unavailable(Exception):
    """A contender that cannot run here, and why."""


def make_tensors(spec, dims, seed):
    """Random operands, [B, T, H, axis], distributed as larc's own."""
    tensors = {}
    for index, (name, axis, kind) in enumerate(SPECS[spec][0]):
        random = np.random.default_rng([seed, index])
        shape = [dims["B"], dims["T"], dims["H"]] + [dims[a] for a in axis]
        x = random.random(shape) if kind == STEP else random.standard_normal(shape)
        if kind == UNIT:
            x /= np.sqrt(np.square(x).sum(-1, keepdims=True))
        elif kind == DECAY:
            x = -np.log1p(np.exp(1.5 * x - 2))
        tensors[name] = x.astype(np.float32)
    return tensors


# Files of tensors --------------------------------------------------------------------------------

TYPES = {"F64": "<f8", "F32": "<f4"}


def write_tensors(path, tensors):
    header, offset = {}, 0
    for name, x in tensors.items():
        end = offset + x.nbytes
        header[name] = {"dtype": "F32", "shape": x.shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for x in tensors.values():
            file.write(np.ascontiguousarray(x).tobytes())


def read_tensor(path, name):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        entry = json.loads(file.read(size))[name]
        begin, end = entry["data_offsets"]
        file.seek(begin, os.SEEK_CUR)
        data = file.read(end - begin)
    if entry["dtype"] == "BF16":
        bits = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).reshape(entry["shape"])
    return np.frombuffer(data, TYPES[entry["dtype"]]).reshape(entry["shape"])


def relative_error(got, expected):
    rms = lambda x: np.sqrt(np.mean(np.square(x, dtype=np.float64)))
    error = rms(got.astype(np.float64) - expected)
    return float(error / max(rms(expected), 0.01))


# larc ----------------------------------------------------------------------------------------------


class Larc:
    """The driver, for one recurrence and its tensors."""

    def __init__(self, options, spec, tensors, folder):
        self.options, self.spec = options, spec
        self.inputs = os.path.join(folder, spec + ".safetensors")
        self.outputs = os.path.join(folder, spec + ".out.safetensors")
        write_tensors(self.inputs, tensors)

    def call(self, *arguments):
        command = [self.options.larc, *arguments, "--threads=%d" % self.options.threads]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Unavailable((done.stderr or done.stdout).strip().split("\n")[0])
        return done.stdout

    def compute(self, form, *arguments):
        self.call("run", self.spec, "--inputs=" + self.inputs, "--outputs=" + self.outputs,
                  "--form=" + form, *arguments)
        return read_tensor(self.outputs, "out.o")

    def bench(self, form, dims):
        sizes = ",".join("%s=%d" % item for item in dims.items())
        return json.loads(self.call("bench", self.spec, "--dims=" + sizes, "--form=" + form, "--json"))


# PyTorch -------------------------------------------------------------------------------------------
#
# Chunks of C tokens: x of shape [B, T, H, n] becomes [B H, N, C, n]. G is the
# sum of the gates from the chunk's start up to and with a token.

SUBCHUNK = 16


def chunks(x, size):
    import torch

    b, t, h, n = x.shape
    x = x.transpose(1, 2).reshape(b * h, t, n)
    pad = -t % size
    if pad:
        x = torch.nn.functional.pad(x, (0, 0, 0, pad))
    return x.reshape(b * h, -1, size, n)


def unchunk(x, like):
    b, t, h, _ = like.shape
    return x.reshape(b, h, -1, x.shape[-1])[:, :, :t].transpose(1, 2)


def each_subchunk(G):
    """Rows of 16 tokens, with the factors that take both sides to the boundary
    before them: e^(G_i - R) of the rows, e^(R - G_j) of all rows up to them."""
    R = None
    for start in range(0, G.shape[-2], SUBCHUNK):
        rows = slice(start, start + SUBCHUNK)
        R = G[..., start - 1 : start, :] if start else 0
        left = (G[..., rows, :] - R).exp()
        # Only gates below -5 a token are cut short, within a subchunk.
        right = (R - G[..., : start + SUBCHUNK, :]).clamp(max=80).exp()
        yield rows, left, right


def decayed_scores(x, y, G, strict=False):
    """sum_n x_i y_j e^(G_i - G_j) for j <= i (j < i if strict)."""
    import torch

    size, parts = G.shape[-2], []
    for rows, left, right in each_subchunk(G):
        part = (x[..., rows, :] * left) @ (y[..., : rows.stop, :] * right).transpose(-1, -2)
        parts.append(torch.nn.functional.pad(part, (0, size - part.shape[-1])))
    return torch.cat(parts, -2).tril(-1 if strict else 0)


def decayed_mix(A, y, G):
    """sum_j A_ij y_j e^(G_i - G_j) for a lower triangular A."""
    import torch

    parts = []
    for rows, left, right in each_subchunk(G):
        parts.append(left * (A[..., rows, : rows.stop] @ (y[..., : rows.stop, :] * right)))
    return torch.cat(parts, -2)


def scalar_decay(G):
    """e^(G_i - G_j) for j <= i, of one gate a token."""
    difference = G - G.transpose(-1, -2)
    return difference.tril().exp().tril()


def states(decay, writes):
    """The state before each chunk: S = decay S + write."""
    import torch

    S, before = torch.zeros_like(writes[:, 0]), []
    for n in range(writes.shape[1]):
        before.append(S)
        S = decay[:, n] * S + writes[:, n]
    return torch.stack(before, 1)


def torch_gla(q, k, v, g, scale=None, size=64):
    like, scale = v, scale or q.shape[-1] ** -0.5
    q, k, v, g = (chunks(x, size) for x in (q, k, v, g))
    return unchunk(gla_chunks(q * scale, k, v, g.cumsum(-2)), like)


def gla_chunks(q, k, v, G):
    last = G[..., -1:, :]
    A = decayed_scores(q, k, G)
    S = states(last.exp().transpose(-1, -2), (k * (last - G).exp()).transpose(-1, -2) @ v)
    return A @ v + (q * G.exp()) @ S


def torch_simple_gla(q, k, v, g, size=64):
    like, scale = v, q.shape[-1] ** -0.5
    q, k, v, g = (chunks(x, size) for x in (q, k, v, g[..., None]))
    G = g.cumsum(-2)
    last = G[..., -1:, :]
    A = (q @ k.transpose(-1, -2)) * scalar_decay(G)
    S = states(last.exp(), (k * (last - G).exp()).transpose(-1, -2) @ v)
    return unchunk((A @ v + (q * G.exp()) @ S) * scale, like)


def torch_gsa(q, k, v, g, size=64):
    like, scale = v, q.shape[-1] ** -0.5
    q, k, v, g = (chunks(x, size) for x in (q, k, v, g))
    s, G = -g.expm1(), g.cumsum(-2)
    last = G[..., -1:, :]
    A = (q @ k.transpose(-1, -2)).tril()
    S = states(last.exp(), k.transpose(-1, -2) @ (s * (last - G).exp()))
    scores = decayed_mix(A, s, G) + (q @ S) * G.exp()
    return unchunk(gla_chunks((scores * scale).softmax(-1), s, v, G), like)


def torch_delta(q, k, v, beta, g=None, size=64):
    """The delta rules: without a gate, with one a token, with one a channel."""
    import torch

    like, scale = v, q.shape[-1] ** -0.5
    q, k, v, beta = (chunks(x, size) for x in (q, k, v, beta[..., None]))
    q = q * scale
    G = None
    if g is None:
        inner, A = (k @ k.transpose(-1, -2)).tril(-1), (q @ k.transpose(-1, -2)).tril()
    elif g.dim() == 3:
        G = chunks(g[..., None], size).cumsum(-2)
        D = scalar_decay(G)
        inner, A = (k @ k.transpose(-1, -2) * D).tril(-1), (q @ k.transpose(-1, -2)) * D
    else:
        G = chunks(g, size).cumsum(-2)
        inner, A = decayed_scores(k, k, G, strict=True), decayed_scores(q, k, G)
    keys, later, decay = k, k, None
    if G is not None:
        last = G[..., -1:, :]
        keys, q, later = k * G.exp(), q * G.exp(), k * (last - G).exp()
        decay = last.exp().transpose(-1, -2)
    # R = beta (v - keys S) less what the chunk's own earlier rows have written.
    sides = torch.cat([beta * v, beta * keys], -1)
    solved = torch.linalg.solve_triangular(beta * inner, sides, upper=False, unitriangular=True)
    u, w = solved.split([v.shape[-1], k.shape[-1]], -1)
    later = later.transpose(-1, -2)
    S = torch.zeros_like(later[:, 0] @ u[:, 0])
    out = []
    for n in range(u.shape[1]):
        R = u[:, n] - w[:, n] @ S
        out.append(q[:, n] @ S + A[:, n] @ R)
        S = (S if decay is None else decay[:, n] * S) + later[:, n] @ R
    return unchunk(torch.stack(out, 1), like)


TORCH = {
    "simple_gla": torch_simple_gla,
    "gla": torch_gla,
    "gsa": torch_gsa,
    "delta_net": torch_delta,
    "gated_delta_net": torch_delta,
    "kda": torch_delta,
}


def make_torch(options, spec, tensors, compiled):
    try:
        import torch
    except ImportError as error:
        raise Unavailable(str(error))
    torch.set_num_threads(options.threads)
    arguments = {name: torch.from_numpy(x) for name, x in tensors.items()}

    def of_size(size):
        def function(**operands):
            return TORCH[spec](size=size, **operands)

        if compiled:
            torch._dynamo.config.recompile_limit = 64
            function = torch.compile(function, fullgraph=True, dynamic=False)

        def run():
            with torch.inference_mode():
                return function(**arguments)

        return run

    # The size that is fastest here.
    best = None
    for size in options.torch_chunks:
        run = of_size(size)
        try:
            run()
        except Exception as error:
            raise Unavailable("%s: %s" % (type(error).__name__, str(error).strip().split("\n")[0]))
        seconds = min(time_once(run) for _ in range(3))
        if best is None or seconds < best[0]:
            best = seconds, run, size
    return best[1], lambda: best[1]().float().numpy(), "chunks of %d" % best[2]


def torch_bf16(spec, tensors):
    """float32 arithmetic on operands of bf16, and a result of bf16."""
    import torch

    rounded = {n: torch.from_numpy(x).bfloat16().float() for n, x in tensors.items()}
    with torch.inference_mode():
        return TORCH[spec](**rounded).bfloat16().float().numpy()


# ONNX Runtime --------------------------------------------------------------------------------------


def make_onnx(options, spec, tensors, dims):
    rule = SPECS[spec][1]
    if not rule:
        raise Unavailable("the operator does not have it")
    try:
        import onnx
        import onnxruntime as ort
    except ImportError as error:
        raise Unavailable(str(error))
    names = {"q": "query", "k": "key", "v": "value", "g": "decay", "beta": "beta"}
    feeds = {names[n]: x.reshape(dims["B"], dims["T"], -1) for n, x in tensors.items()}
    slots = ["query", "key", "value", "", "decay", "beta"]
    node = onnx.helper.make_node(
        "LinearAttention",
        [name if name in feeds else "" for name in slots],
        ["output", "state"],
        domain="com.microsoft",
        q_num_heads=dims["H"],
        kv_num_heads=dims["H"],
        update_rule=rule,
    )
    value = lambda name, shape: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
    graph = onnx.helper.make_graph(
        [node],
        "recurrence",
        [value(name, x.shape) for name, x in feeds.items()],
        [value("output", None), value("state", None)],
    )
    sets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(graph, opset_imports=sets, ir_version=10)
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = options.threads
    try:
        session = ort.InferenceSession(
            model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise Unavailable(str(error).strip().split("\n")[0])
    # Tensors stay where they are: nothing but the operator is timed.
    binding = session.io_binding()
    for name, x in feeds.items():
        binding.bind_cpu_input(name, x)
    shape = (dims["B"], dims["T"], dims["H"] * dims["V"])
    output = ort.OrtValue.ortvalue_from_numpy(np.zeros(shape, np.float32))
    shape = (dims["B"], dims["H"], dims["K"], dims["V"])
    state = ort.OrtValue.ortvalue_from_numpy(np.zeros(shape, np.float32))
    binding.bind_ortvalue_output("output", output)
    binding.bind_ortvalue_output("state", state)
    run = lambda: session.run_with_iobinding(binding)

    def compute():
        run()
        return output.numpy().reshape(dims["B"], dims["T"], dims["H"], dims["V"])

    return run, compute, rule


# Measuring -----------------------------------------------------------------------------------------


def time_once(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def sample(run):
    """Milliseconds of calls, as many as `larc bench` makes."""
    times, end = [], time.perf_counter() + 1
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 200):
        times.append(1e3 * time_once(run))
    return times


def measure(options, spec, dims, folder):
    tensors = make_tensors(spec, dims, options.seed)
    larc = Larc(options, spec, tensors, folder)
    expected = larc.compute("reference")
    rows, runs = {}, {}

    def enter(name, make):
        try:
            run, compute, note = make()
            got = np.asarray(compute())
        except Unavailable as reason:
            rows[name] = {"spec": spec, "contender": name, "unavailable": str(reason)}
            return
        error = relative_error(got, expected)
        rows[name] = {"spec": spec, "contender": name, "note": note, "error": error}
        if not error <= LIMIT:
            rows[name]["unavailable"] = "wrong: relative error %.2g" % error
            return
        rows[name]["times"] = []
        runs[name] = run

    if "onnxruntime" in options.peers:
        enter("onnxruntime", lambda: make_onnx(options, spec, tensors, dims))
    if "torch" in options.peers:
        enter("torch", lambda: make_torch(options, spec, tensors, False))
    if "compiled" in options.peers:
        enter("torch compiled", lambda: make_torch(options, spec, tensors, True))
    for form in options.forms:
        enter("larc " + form, lambda: (form, lambda: larc.compute(form), ""))

    peak = 0.0
    for _ in range(options.repeats):
        for name, run in runs.items():
            # Threads of the one before go to sleep.
            time.sleep(0.3)
            if isinstance(run, str):
                result = larc.bench(run, dims)
                peak = max(peak, result["peak_gflops"])
                rows[name]["times"] += [result["min_ms"], result["median_ms"]]
                rows[name].setdefault("medians", []).append(result["median_ms"])
                if result.get("chunk_size"):
                    rows[name]["note"] = "chunks of %d" % result["chunk_size"]
            else:
                times = sample(run)
                rows[name]["times"] += times
                rows[name].setdefault("medians", []).append(statistics.median(times))

    flops = SPECS[spec][2](dims) * dims["B"] * dims["T"] * dims["H"]
    for row in rows.values():
        if row.get("times"):
            row["min_ms"] = min(row.pop("times"))
            row["median_ms"] = statistics.median(row.pop("medians"))
            row["gflops"] = flops / row["min_ms"] / 1e6
            row["share"] = row["gflops"] / peak if peak else None
            row["peak_gflops"] = peak
        else:
            row.pop("times", None)
    ours = rows.get("larc " + options.forms[0], {}).get("min_ms") if options.forms else None
    for row in rows.values():
        if ours and "min_ms" in row:
            row["larc_ms"], row["ratio"] = ours, row["min_ms"] / ours
    return list(rows.values())


def measure_accuracy(options, spec, dims, folder):
    tensors = make_tensors(spec, dims, options.seed)
    larc = Larc(options, spec, tensors, folder)
    bf16 = ("--dtype=bf16",)
    expected = larc.compute("reference", *bf16)
    row = {"spec": spec, "torch_error": relative_error(torch_bf16(spec, tensors), expected)}
    rows = []
    for form in options.forms:
        try:
            error = relative_error(larc.compute(form, *bf16), expected)
        except Unavailable as reason:
            rows.append({**row, "contender": "larc " + form, "unavailable": str(reason)})
            continue
        ratio = error / row["torch_error"]
        rows.append({**row, "contender": "larc " + form, "error": error, "ratio": ratio})
    return rows


# Tables --------------------------------------------------------------------------------------------

TIMES = [
    ("spec", "spec", "%s"),
    ("contender", "contender", "%s"),
    ("min ms", "min_ms", "%.3f"),
    ("median ms", "median_ms", "%.3f"),
    ("larc ms", "larc_ms", "%.3f"),
    ("over larc", "ratio", "%.2f"),
    ("GFLOP/s", "gflops", "%.0f"),
    ("share", "share", "%.1f %%"),
    ("error", "error", "%.1e"),
    ("", "note", "%s"),
]
ERRORS = [
    ("spec", "spec", "%s"),
    ("contender", "contender", "%s"),
    ("PyTorch's error", "torch_error", "%.3e"),
    ("larc's", "error", "%.3e"),
    ("ratio", "ratio", "%.3f"),
    ("", "note", "%s"),
]


def print_table(columns, rows):
    table = [[title for title, _, _ in columns]]
    for row in rows:
        row = dict(row, note=row.get("unavailable", row.get("note", "")))
        if row.get("share"):
            row["share"] *= 100
        table.append([form % row[key] if row.get(key) is not None else "" for _, key, form in columns])
    widths = [max(map(len, column)) for column in zip(*table)]
    for line in table:
        cells = [c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(line[:-1], widths))]
        print(("  ".join(cells) + "  " + line[-1]).rstrip())
    sys.stdout.flush()


def parse_dims(text):
    dims = {"B": 1, "T": 2048, "H": 4, "K": 128, "V": 128, "M": 64}
    for item in filter(None, text.split(",")):
        name, _, size = item.partition("=")
        if name not in dims or not size.isdigit() or int(size) < 1:
            raise argparse.ArgumentTypeError("expected NAME=SIZE of B, T, H, K, V, M, found '%s'" % item)
        dims[name] = int(size)
    return dims


def parse_list(choices):
    def parse(text):
        names = [name for name in text.split(",") if name]
        for name in names:
            if name not in choices:
                raise argparse.ArgumentTypeError("unknown '%s'; there are %s" % (name, ", ".join(choices)))
        return names

    return parse


def parse_sizes(text):
    sizes = [int(size) for size in text.split(",")]
    if any(size < SUBCHUNK or size % SUBCHUNK for size in sizes):
        raise argparse.ArgumentTypeError("expected multiples of %d" % SUBCHUNK)
    return sizes


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], epilog="docs/benchmarks.md has the rest"
    )
    forms = ["auto", "recurrent", "chunk"]
    peers = ["onnxruntime", "torch", "compiled"]
    add = parser.add_argument
    add("--specs", type=parse_list(SPECS), default=list(SPECS), help="recurrences, comma-separated")
    add("--dims", type=parse_dims, default=parse_dims(""), help="sizes, as T=4096,K=64")
    add("--threads", type=int, default=os.cpu_count() or 1)
    add("--repeats", type=int, default=5, help="rounds in which all take turns")
    add("--forms", type=parse_list(forms), default=forms, help="larc's; the first is what others are compared with")
    add("--peers", type=parse_list(peers), default=peers, help="of onnxruntime, torch and compiled")
    add("--torch-chunks", type=parse_sizes, default=[32, 64, 128], help="chunk sizes of which PyTorch's fastest is timed")
    add("--accuracy", action="store_true", help="compare errors instead of times; needs --dtype=bf16")
    add("--dtype", choices=["f32", "bf16"], default="f32")
    add("--seed", type=int, default=0)
    add("--larc", default=os.path.join(ROOT, "build", "bin", "larc"), help="the driver")
    add("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if options.accuracy != (options.dtype == "bf16"):
        parser.error("--accuracy and --dtype=bf16 go together")
    if not os.access(options.larc, os.X_OK):
        parser.error("no driver at %s" % options.larc)
    if np is None:
        parser.error("needs numpy; docs/benchmarks.md says how to install what is compared")
    return options


def main():
    options = parse_arguments()
    function, columns = (measure_accuracy, ERRORS) if options.accuracy else (measure, TIMES)
    everything = []
    with tempfile.TemporaryDirectory() as folder:
        for spec in options.specs:
            axes = "BTH" + AXES.get(spec, "KV")
            dims = {axis: options.dims[axis] for axis in axes}
            try:
                rows = function(options, spec, dims, folder)
            except Unavailable as reason:
                sys.exit("peers.py: %s: larc: %s" % (spec, reason))
            everything += rows
            if not options.json:
                print_table(columns, rows)
                print()
    if options.json:
        print(json.dumps(everything, indent=2))


if __name__ == "__main__":
    main()
