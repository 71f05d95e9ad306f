// RUN: larc-opt %s --convert-tile-to-llvm --larc-expand-kernel-math -split-input-file -verify-diagnostics

// expected-error @below {{expected structured control flow}}
tile.program @blocks() warps 1 {
  cf.br ^next
^next:
  tile.return
}

// -----

tile.program @loop() warps 1 {
  %zero = arith.constant 0 : index
  %true = arith.constant true
  // expected-error @below {{has no meaning on a GPU}}
  scf.while : () -> () {
    scf.condition(%true)
  } do {
    scf.yield
  }
  tile.return
}

// -----

func.func @sine(%x: f32) -> f32 {
  // expected-error @below {{has no instruction on a GPU}}
  %y = math.sin %x : f32
  return %y : f32
}
