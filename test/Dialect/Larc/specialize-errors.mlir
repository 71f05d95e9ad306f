// RUN: not larc-opt %s --larc-specialize="attributes=stps=3" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not larc-opt %s --larc-specialize="attributes=steps=three" 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: not larc-opt %s --larc-specialize="attributes=steps=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not larc-opt %s --larc-specialize="attributes=period=0" 2>&1 | FileCheck %s --check-prefix=PERIOD
// RUN: not larc-opt %s --larc-specialize="attributes=scale=big" 2>&1 | FileCheck %s --check-prefix=REAL
// RUN: not larc-opt %s --larc-specialize="attributes=link=tanh" 2>&1 | FileCheck %s --check-prefix=CHOICE
// RUN: not larc-opt %s --larc-specialize="attributes=every=2,4" 2>&1 | FileCheck %s --check-prefix=START
// RUN: not larc-opt %s --larc-specialize="attributes=every=1,4,4" 2>&1 | FileCheck %s --check-prefix=INCREASE
// RUN: not larc-opt %s --larc-specialize="attributes=every=1,x" 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not larc-opt %s --larc-specialize="attributes=steps" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not larc-opt %s --larc-specialize="attributes=every=1" 2>&1 | FileCheck %s --check-prefix=SHORT

// UNKNOWN:  error: recurrence 'r' has no attribute 'stps'
// INTEGER:  error: attribute 'steps' needs an integer from 0 on, not 'three'
// NEGATIVE: error: attribute 'steps' needs an integer from 0 on, not '-1'
// PERIOD:   error: attribute 'period' needs an integer from 1 on, not '0'
// REAL:     error: attribute 'scale' needs a number, not 'big'
// CHOICE:   error: attribute 'link' has no value 'tanh': expected one of softmax, relu
// START:    error: entry 0 of 'every' is 2: a schedule starts at 1
// INCREASE: error: entry 2 of 'every' is 4 after 4: a schedule increases strictly
// ENTRY:    error: entry 1 of 'every' is no integer: 'x'
// EMPTY:    error: attribute 'steps' needs an integer from 0 on, not ''
// SHORT:    error: 'larc.recurrence' op declares the family 'u' from level 2, but 'L' has 1 level
larc.recurrence @r(%x[K]) constant(%u[K] per L from 2)
    attributes(%scale = 1.0, steps = 5, period = period(4), link = softmax of [softmax, relu], every[L] = [1, 2])
    -> (o[K]) {
  larc.yield %x
}
