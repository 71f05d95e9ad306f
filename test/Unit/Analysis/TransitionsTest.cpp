//===- TransitionsTest.cpp - What the analysis knows of values --*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Reference/ReferenceTestUtils.h"

#include "larc/Analysis/Transitions.h"

using namespace mlir;
using namespace larc;
using namespace larc::test;

using chunk::TransitionClass;

namespace {

class TransitionsTest : public ReferenceTest {
protected:
  TransitionAnalysis analyze(StringRef source) {
    recurrence = parse(source);
    EXPECT_TRUE(succeeded(prepareForAnalysis(recurrence)));
    return TransitionAnalysis(recurrence);
  }
  StringAttr axis(StringRef name) { return StringAttr::get(&context, name); }
  /// The value that the spec calls `name`.
  Value find(StringRef name) {
    Value found;
    for (Operation &op : recurrence.getBody().front())
      if (auto loc = dyn_cast<NameLoc>(op.getLoc()))
        if (loc.getName() == name)
          found = op.getResult(0);
    EXPECT_TRUE(found) << name.str();
    return found;
  }

  RecurrenceOp recurrence;
};

TEST_F(TransitionsTest, Facts) {
  TransitionAnalysis analysis = analyze(R"(
    larc.recurrence @facts(%k[K], %v[V], %beta) constant(%w[K])
        state(%S[K, V], %n[K]) attributes(p = period(4)) -> (o[V]) {
      %A = larc.anchor %S
      %size = larc.contract %A, %A over K
      %decay = larc.exp %w
      %decayed = larc.mul %decay, %S
      %known = larc.contract %decayed, %k over K
      %error = larc.sub %v, %known
      %step = larc.mul %beta, %error
      %write = larc.mul %k, %step
      %next = larc.add %decayed, %write
      %n_next = larc.add %n, %k
      %weight = larc.contract %n_next, %k over K
      %read = larc.contract %next, %w over K
      %scaled = larc.mul %read, %weight
      %o = larc.mul %scaled, %size
      larc.yield %next, %n_next, %o
    })");
  EXPECT_TRUE(analysis.dependsOn(find("known"), 0));
  EXPECT_FALSE(analysis.dependsOn(find("known"), 1));
  EXPECT_TRUE(analysis.dependsOn(find("weight"), 1));
  EXPECT_FALSE(analysis.isState(find("size")));
  EXPECT_TRUE(analysis.isInvariant(find("size")));
  EXPECT_TRUE(analysis.isInvariant(find("decay")));
  EXPECT_FALSE(analysis.isInvariant(find("known")));
  EXPECT_TRUE(analysis.holdsWhole(find("next"), 0));
  EXPECT_FALSE(analysis.holdsWhole(find("known"), 0));
  EXPECT_TRUE(analysis.getMatrixForm(find("next")));
  EXPECT_FALSE(analysis.getMatrixForm(find("known")));
  ASSERT_EQ(analysis.getTransitions().size(), 2u);
  const StateTransition &S = analysis.getTransitions()[0];
  EXPECT_EQ(S.transitionClass, TransitionClass::LowRank);
  ASSERT_TRUE(S.update);
  EXPECT_EQ(S.update->decay.size(), 1u);
  EXPECT_EQ(S.update->writes.size(), 1u);
  EXPECT_EQ(S.keyAxes.size(), 1u);
  EXPECT_EQ(S.keyAxes.front(), axis("K"));
  ASSERT_EQ(S.reads.size(), 2u);
  EXPECT_TRUE(S.reads[0].isInner);
  EXPECT_FALSE(S.reads[1].isInner);
  EXPECT_EQ(analysis.getRead(S.reads[0].getResult()), &S.reads[0]);
}

TEST_F(TransitionsTest, Split) {
  TransitionAnalysis analysis = analyze(R"(
    larc.recurrence @split(%k[K], %v[V], %c, %w[K, V])
        state(%S[K, V]) -> (o[V]) {
      %known = larc.contract %S, %k over K
      %gate = larc.contract %known, %v over V
      %s = larc.add %known, %v
      %key = larc.exp %k
      %all = larc.exp %w
      %t = larc.mul %key, %s
      %next = larc.add %S, %t
      %o = larc.contract %next, %k over K
      %o2 = larc.mul %o, %gate
      %x = larc.contract %all, %k over K
      %o3 = larc.add %o2, %x
      %o4 = larc.mul %o3, %c
      larc.yield %next, %o4
    })");
  Product product{2.0, {find("key"), find("s"), find("gate"), find("all")}, {}};
  product.divisors.push_back(recurrence.getOperandArguments()[2]);
  SplitProduct split = analysis.split(product, {axis("K")});
  EXPECT_EQ(split.key.coefficient, 2.0);
  EXPECT_EQ(split.key.factors.size(), 1u);
  EXPECT_EQ(split.key.divisors.size(), 1u);
  // The scalar that depends on a read is solved for.
  EXPECT_EQ(split.value.factors.size(), 2u);
  EXPECT_EQ(split.straddling.factors.size(), 1u);
  Product joined = split.key * split.value * split.straddling;
  EXPECT_EQ(joined.coefficient, product.coefficient);
  EXPECT_EQ(joined.factors.size(), product.factors.size());
  EXPECT_EQ(product.getAxes(&context).getRank(), 2u);
}

TEST_F(TransitionsTest, Order) {
  // Declared in the reverse order of what uses what.
  TransitionAnalysis analysis = analyze(R"(
    larc.recurrence @order(%q[K], %k[K], %v[V], %i)
        state(%S[K, V], %n[K], %m) -> (o[V]) {
      %m_next = larc.max %m, %i
      %a = larc.sub %m, %m_next
      %d = larc.exp %a
      %nd = larc.mul %n, %d
      %n_next = larc.add %nd, %k
      %r = larc.contract %n_next, %q over K
      %g = larc.sigmoid %r
      %Sd = larc.mul %S, %g
      %w = larc.mul %k, %v
      %S_next = larc.add %Sd, %w
      %o = larc.contract %S_next, %q over K
      larc.yield %S_next, %n_next, %m_next, %o
    })");
  ArrayRef<SmallVector<unsigned>> order = analysis.getGroupsInOrder();
  ASSERT_EQ(order.size(), 3u);
  EXPECT_EQ(order[0].front(), 2u);
  EXPECT_EQ(order[1].front(), 1u);
  EXPECT_EQ(order[2].front(), 0u);
  EXPECT_EQ(analysis.getTransitions()[2].stage, 0u);
  EXPECT_EQ(analysis.getTransitions()[1].stage, 0u);
  EXPECT_EQ(analysis.getTransitions()[0].stage, 1u);
  for (unsigned group = 0; group < 3; ++group)
    EXPECT_EQ(analysis.getTransitions()[order[group].front()].group, group);
  EXPECT_EQ(analysis.getTransitions()[2].semiring->kind,
            SemiringForm::Kind::Max);
}

TEST_F(TransitionsTest, StatelessStep) {
  TransitionAnalysis analysis =
      analyze("larc.recurrence @none(%k[K]) -> (o[K]) { larc.yield %k }");
  EXPECT_TRUE(analysis.getTransitions().empty());
  EXPECT_TRUE(analysis.getGroupsInOrder().empty());
  EXPECT_FALSE(analysis.isState(recurrence.getOperandArguments()[0]));
}

} // namespace
