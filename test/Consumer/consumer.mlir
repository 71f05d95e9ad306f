// Linear attention with a running sum of keys as its denominator.
larc.recurrence @normalized(%q[K], %k[K], %v[V])
    state(%S[K, V], %z[K]) -> (o[V]) {
  %write = larc.mul %k, %v
  %S1    = larc.add %S, %write
  %z1    = larc.add %z, %k
  %num   = larc.contract %S1, %q over K
  %den   = larc.contract %z1, %q over K
  %o     = larc.div %num, %den
  larc.yield %S1, %z1, %o
}
