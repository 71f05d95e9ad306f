// RUN: larc-opt %s --convert-chunk-to-loops --split-input-file --verify-diagnostics

// expected-error @+1 {{has no chunk.scan: derive it first}}
larc.recurrence @none(%x[K]) state(%s[K]) -> (o[K]) dims(K = 4) {
  larc.yield %s, %x
}

// -----

larc.recurrence @nests(%x[K]) state(%s[K]) -> (o[K]) dims(K = 4) {
  larc.yield %s, %x
}
chunk.scan @nests size 4 tokens(token from 0 size 4) dims(K = 4)
    operands(%x[K]) states(%s[K]: constant) {
  // expected-error @+1 {{is not in a nest: form nests before loops are made}}
  %o = larc.exp %x
  chunk.yield %s, %o
}
