// RUN: larc-opt --larc-summarize --split-input-file --verify-diagnostics %s

larc.recurrence @steps(%k[K], %v[V], %beta[V]) state(%S[K, V]) -> (o[V]) {
  %known = larc.contract %S, %k over K
  %error = larc.sub %v, %known
  %step = larc.mul %beta, %error
  %write = larc.mul %k, %step
  // expected-error@+2 {{the sequence cannot be cut into segments: this adds values that factors along other axes than the reads' scale differently, so that no one matrix is the transition of state 'S'}}
  // expected-note@+1 {{one matrix would be the transition if decays and step sizes had only axes that reads sum over, or if all terms had the same factors along others}}
  %next = larc.add %S, %write
  %o = larc.contract %next, %k over K
  larc.yield %next, %o
}

// -----

larc.recurrence @curved(%k[K]) state(%S[K]) -> (o[K]) {
  %sum = larc.add %S, %k
  // expected-error@+2 {{this is no part of a transition that composes: it depends on state 'S'}}
  // expected-note@+1 {{an update that is linear in the state, with coefficients that do not depend on it, would compose}}
  %next = larc.tanh %sum
  larc.yield %next, %next
}

// -----

// expected-error@+2 {{state 'S' changes at the end of a period}}
// expected-note@+1 {{a state that all tokens change by one rule, without larc.fire, would compose}}
larc.recurrence @fires(%k[K]) state(%S[K]) attributes(every = period(4)) -> (o[K]) {
  %sum = larc.add %S, %k
  %next = larc.fire every 1 iter(%X = %sum) {
    %Y = larc.neg %X
    larc.yield %Y
  }
  larc.yield %next, %next
}

// -----

// expected-error@+2 {{state 'S' depends on a state at the start of a period}}
// expected-note@+1 {{coefficients made from the token or from other states, in place of larc.anchor, would be known in every segment}}
larc.recurrence @anchors(%k[K]) state(%S[K]) attributes(every = period(4)) -> (o[K]) {
  %A = larc.anchor %S
  %step = larc.mul %A, %k
  %next = larc.add %S, %step
  larc.yield %next, %next
}

// -----

// expected-error@+4 {{state 'S' has a transition that is sequential, which does not compose}}
// expected-error@+3 {{state 'R' has a transition that is sequential, which does not compose}}
// expected-note@+2 {{a use of 'R' at the start of a period only (larc.anchor) in the update of 'S', or none, would make 'S' a stage before 'R'}}
// expected-note@+1 {{a use of 'S' at the start of a period only (larc.anchor) in the update of 'R', or none, would make 'R' a stage before 'S'}}
larc.recurrence @circle(%k[K]) state(%S[K], %R[K]) -> (o[K]) {
  // expected-note@+1 {{this makes the update of state 'S' use state 'R'}}
  %S_next = larc.mul %R, %k
  // expected-note@+1 {{this makes the update of state 'R' use state 'S'}}
  %R_next = larc.mul %S, %k
  larc.yield %S_next, %R_next, %k
}

// -----

// expected-error@+1 {{is not flat: specialise and expand levels first}}
larc.recurrence @variants(%k[K]) state(%S[K]) attributes(link = a of [a, b]) -> (o[K]) {
  %x = larc.choose link {
    case a { larc.yield %k }
    case b { larc.yield %S }
  }
  larc.yield %x, %x
}
