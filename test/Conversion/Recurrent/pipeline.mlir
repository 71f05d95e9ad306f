// RUN: larc-opt %s --larc-recurrent-to-loops="operand-types=bf16,f32,f16,f32" --larc-loops-to-llvm | FileCheck %s
// RUN: larc-opt %s --larc-recurrent-to-loops="compute-type=f64 vector-bits=128 cache-bytes=1024" --larc-loops-to-llvm | FileCheck %s --check-prefix=F64
// RUN: larc-opt %s --larc-recurrent-to-loops --larc-loops-to-llvm | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=IR

// The end is the LLVM dialect alone.
// CHECK-NOT:   builtin.unrealized_conversion_cast
// CHECK-NOT:   {{[ =](memref|vector|arith|scf|math|func|affine)\.[a-z]}}
// CHECK:       llvm.func @larc_all(%{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i64, %{{[^:]*}}: i64, %{{[^:]*}}: !llvm.ptr)
// CHECK-NOT:   {{[ =](memref|vector|arith|scf|math|func|affine)\.[a-z]}}
// CHECK:       llvm.mlir.global external constant @larc_all_scratch_bytes
// CHECK-NOT:   builtin.unrealized_conversion_cast

// F64-NOT:     unrealized_conversion_cast
// F64:         llvm.func @larc_all(
// F64:         llvm.mlir.global external constant @larc_all_blocks

// IR-DAG:      define void @larc_all(ptr %{{[^,]*}}, i64 %{{[^,]*}}, i64 %{{[^,]*}}, ptr %{{[^)]*}})
// IR-DAG:      @larc_all_scratch_bytes = constant i64
// IR-DAG:      @larc_all_blocks = constant i64 1
larc.recurrence @all(%q[K], %k[n, K], %v[V, n], %g) constant(%u[K]) state(%S[V, K], %z0 = -inf)
    attributes(p = period(4)) -> (o[V], w) dims(K = 20, V = 12, n = 2) {
  %A = larc.anchor %S
  %a = larc.exp %g
  %s = larc.mul %a, %A
  %T = larc.add %S, %s
  %r = larc.fold n over(%kj = %k, %vj = %v) iter(%X = %T) {
    %kn = larc.normalize %kj over K max 1.0e-6
    %w = larc.mul %kn, %vj
    %Y = larc.add %X, %w
    larc.yield %Y
  }
  %f = larc.fire every 2 iter(%X = %r) {
    %Y = larc.orthogonalize %X over K, V iterations(2)
    larc.yield %Y
  }
  %p = larc.softmax %q over K
  %pu = larc.mul %p, %u
  %o = larc.contract %f, %pu over K
  %m = larc.reduce max %o over V
  %z = larc.logaddexp %z0, %m
  larc.yield %f, %z, %o, %z
}
