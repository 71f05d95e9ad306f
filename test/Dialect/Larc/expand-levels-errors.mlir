// RUN: larc-opt %s --larc-expand-levels --split-input-file --verify-diagnostics

larc.recurrence @choice(%x[K]) attributes(link = a of [a]) -> (o[K]) {
  // expected-error @+1 {{is not resolved: levels are expanded after specialisation}}
  %o = larc.choose link {
    case a { larc.yield %x }
  }
  larc.yield %o
}

// -----

larc.recurrence @above(%x[K] per L) attributes(every[L] = [1, 2]) -> (o[K]) {
  // expected-error @+1 {{names level 2 of a family with 2 members from level 0}}
  %o = larc.member %x[2]
  larc.yield %o
}

// -----

larc.recurrence @below(%x[K], %y[K] per L from 1) attributes(every[L] = [1, 2]) -> (o[K]) {
  %o = larc.levels %l = 1 to L iter(%a = %x) {
    // expected-error @+1 {{names level 0 of a family with 1 members from level 1}}
    %b = larc.member %y[%l -1]
    larc.yield %b
  }
  larc.yield %o
}

// -----

larc.recurrence @inserted(%x[K]) state(%S[K] per L) attributes(every[L] = [1, 2]) -> (o[K]) {
  %F = larc.levels %l = 0 to L iter(%G = %S) {
    // expected-error @+1 {{names level 2 of a family with 2 members from level 0}}
    %H = larc.insert %x into %G[%l 1]
    larc.yield %H
  }
  larc.yield %F, %x
}

// -----

larc.recurrence @slice(%x[K], %g[L]) attributes(every[L] = [1, 2]) -> (o[K]) {
  %o = larc.levels %l = 0 to L iter(%a = %x) {
    // expected-error @+1 {{takes index -1 of axis 'L'}}
    %b = larc.slice %g[L = %l -1]
    %c = larc.mul %a, %b
    larc.yield %c
  }
  larc.yield %o
}

// -----

larc.recurrence @interval(%x[K]) attributes(period = period(2), every[L] = [1, 2]) -> (o[K]) {
  %o = larc.levels %l = 0 to L iter(%a = %x) {
    // expected-error @+1 {{takes entry 2 of 'every', which has 2}}
    %b = larc.fire every every[%l 1] iter(%X = %a) {
      %c = larc.exp %X
      larc.yield %c
    }
    larc.yield %b
  }
  larc.yield %o
}
