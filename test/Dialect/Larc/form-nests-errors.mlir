// RUN: larc-opt %s --larc-form-nests --split-input-file --verify-diagnostics

// expected-error @+1 {{is not flat: specialise and expand levels first}}
larc.recurrence @family(%x[K] per L) attributes(every[L] = [1, 2]) -> (o[K]) dims(K = 4) {
  %o = larc.member %x[0]
  larc.yield %o
}

// -----

// expected-error @+1 {{is not flat: specialise and expand levels first}}
larc.recurrence @choice(%x[K]) attributes(link = a of [a]) -> (o[K]) dims(K = 4) {
  %o = larc.choose link {
    case a { larc.yield %x }
  }
  larc.yield %o
}

// -----

larc.recurrence @composite(%x[K]) -> (o[K]) dims(K = 4) {
  // expected-error @+1 {{is composite: decompose it first}}
  %o = larc.softmax %x over K
  larc.yield %o
}
