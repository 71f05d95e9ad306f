// RUN: larc-opt %s --larc-specialize="attributes=link=relu2;steps=3;scale=0.25;every=1,3" | FileCheck %s
// RUN: larc-opt %s --larc-specialize | FileCheck %s --check-prefix=DEFAULT

// The region of the value replaces the choice; its users read what it yields.
// CHECK-LABEL: larc.recurrence @choice(%q[K])
// CHECK:         link = relu2 of [softmax, relu, relu2]
// CHECK-NOT:     larc.choose
// CHECK:         %[[Y:.*]] = larc.square %q
// CHECK-NEXT:    larc.yield %[[Y]]
// DEFAULT-LABEL: larc.recurrence @choice
// DEFAULT:         %[[Y:.*]] = larc.softmax %q over K
// DEFAULT-NEXT:    larc.yield %[[Y]]
larc.recurrence @choice(%q[K])
    attributes(link = softmax of [softmax, relu, relu2], steps = 5, %scale = 1.0, every[L] = [1, 2]) -> (o[K]) {
  %o = larc.choose link {
    case softmax {
      %y = larc.softmax %q over K
      larc.yield %y
    }
    case relu, relu2 {
      %y = larc.square %q
      larc.yield %y
    }
  }
  larc.yield %o
}

// Of nested choices, those in variants not chosen disappear.
// CHECK-LABEL: larc.recurrence @nested
// CHECK:         %[[A:.*]] = larc.relu %q
// CHECK-NEXT:    %[[B:.*]] = larc.neg %[[A]]
// CHECK-NEXT:    larc.yield %[[B]]
larc.recurrence @nested(%q[K])
    attributes(link = softmax of [softmax, relu2], steps = 5, %scale = 1.0, every[L] = [1]) -> (o[K]) {
  %o = larc.choose link {
    case relu2 {
      %a = larc.relu %q
      %b = larc.choose link {
        case softmax { larc.yield %a }
        case relu2 {
          %c = larc.neg %a
          larc.yield %c
        }
      }
      larc.yield %b
    }
    case softmax {
      %a = larc.choose link {
        case softmax { larc.yield %q }
        case relu2 { larc.yield %q }
      }
      larc.yield %a
    }
  }
  larc.yield %o
}

// Declarations take the values; iterations the number.
// CHECK-LABEL: larc.recurrence @values
// CHECK:         attributes(link = relu2 of [relu2], steps = 3, %scale = 0.25, every[L] = [1, 3])
// CHECK:         larc.orthogonalize %S over K, V iterations(3)
// DEFAULT-LABEL: larc.recurrence @values
// DEFAULT:         larc.orthogonalize %S over K, V iterations(5)
larc.recurrence @values(%q[K]) state(%S[K, V])
    attributes(link = relu2 of [relu2], steps = 5, %scale = 1.0, every[L] = [1, 2]) -> (o[V]) {
  %X = larc.orthogonalize %S over K, V iterations(steps)
  %o = larc.contract %X, %q over K
  larc.yield %X, %o
}
