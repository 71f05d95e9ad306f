// RUN: larc-translate --mlir-to-ptx --split-input-file --verify-diagnostics %s

llvm.func @exponential(%x: f32) -> f32 {
  // expected-error @below {{'llvm.intr.exp' op cannot be compiled for a GPU: the target has no instruction for it}}
  %y = llvm.intr.exp(%x) : (f32) -> f32
  llvm.return %y : f32
}

// -----

llvm.func @double(%x: f64) -> f64 {
  // expected-error @below {{the target has no instruction for it in float64}}
  %y = llvm.intr.exp2(%x) : (f64) -> f64
  llvm.return %y : f64
}

// -----

llvm.func @exact(%x: f32) -> f32 {
  // expected-error @below {{the target has an approximate instruction only, which the operation's fast-math flags do not allow}}
  %y = llvm.intr.tanh(%x) : (f32) -> f32
  llvm.return %y : f32
}

// -----

llvm.func @elsewhere(f32) -> f32

llvm.func @caller(%x: f32) -> f32 {
  // expected-error @below {{calls 'elsewhere', which nothing defines}}
  %y = llvm.call @elsewhere(%x) : (f32) -> f32
  llvm.return %y : f32
}
