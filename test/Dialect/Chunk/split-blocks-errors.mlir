// RUN: larc-opt %s -chunk-split-blocks=block=0 -verify-diagnostics

larc.recurrence @r(%x) -> (y) {
  larc.yield %x
}

// expected-error @+1 {{blocks have at least one token, not 0}}
chunk.scan @r size 4 tokens(token from 0 size 4) operands(%x) {
  chunk.yield %x
}
