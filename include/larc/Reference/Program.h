//===- Program.h - A step as a list of instructions -------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interpreter compiles the region of a flat, bound recurrence once into a
// list of instructions on a frame: one buffer of float64 numbers that holds
// every array of a token and a head. A second buffer of the same layout holds
// the cotangents, so that a view of an array is a view of its cotangent too,
// and operations that only re-label an array cost nothing in either direction.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_REFERENCE_PROGRAM_H
#define LARC_REFERENCE_PROGRAM_H

#include "larc/Dialect/Larc/IR/Larc.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <utility>
#include <vector>

namespace larc {

/// An axis of a view: its size, and the distance in elements between
/// neighbours (0 where the array is the same along it).
struct ViewAxis {
  mlir::StringAttr name;
  int64_t size;
  int64_t stride;
};

/// Where in the frame an array is.
struct View {
  int64_t offset = 0;
  llvm::SmallVector<ViewAxis, 4> axes;
  /// Whether a cotangent is wanted: false for what depends on nothing but
  /// numbers in the spec.
  bool active = false;

  int64_t getNumElements() const {
    int64_t count = 1;
    for (const ViewAxis &axis : axes)
      count *= axis.size;
    return count;
  }
  /// The axis `name`, or null.
  const ViewAxis *find(mlir::StringAttr name) const {
    for (const ViewAxis &axis : axes)
      if (axis.name == name)
        return &axis;
    return nullptr;
  }
};

/// One token of one head.
struct TokenContext {
  /// The frame, and that of the cotangents (null where none are wanted).
  double *values;
  double *cotangents;
  /// Tokens of the sequence up to and including this one.
  int64_t count;
};

/// One array operation. Instructions have no state of their own, so that
/// threads share a program.
class Instruction {
public:
  virtual ~Instruction();
  /// Computes the results.
  virtual void forward(const TokenContext &context) const = 0;
  /// Adds to the operands' cotangents what the results' give them. A cotangent
  /// of zero adds nothing, whatever it would be multiplied by.
  virtual void backward(const TokenContext &context) const = 0;
};

using InstructionList = std::vector<std::unique_ptr<Instruction>>;

/// A compiled step.
struct Program {
  InstructionList code;
  /// Elements of a frame. It starts with what is carried to the next token (the
  /// states, then the anchors), then come the per-head constants.
  int64_t frameSize = 0, carrySize = 0, constantsEnd = 0;
  /// Where arguments are read from and results are written to, by declaration.
  llvm::SmallVector<View> operands, constants, states, nextStates, outputs;
  /// The anchored states and their anchors.
  llvm::SmallVector<unsigned> anchoredStates;
  llvm::SmallVector<View> anchors;
  /// Elements of the frame that never change, with their values.
  llvm::SmallVector<std::pair<int64_t, double>> literals;
  /// Tokens of a period, 0 without one.
  int64_t period = 0;
  /// An estimate of the bytes that instructions and literals take.
  int64_t codeBytes = 0;
};

/// Builds a program from a recurrence.
class ProgramBuilder {
public:
  /// Errors are emitted at the operation that the interpreter does not know.
  static mlir::FailureOr<Program> build(RecurrenceOp recurrence);

  RecurrenceOp getRecurrence() const { return recurrence; }
  const Program &getProgram() const { return program; }

  /// The view of `value`, which has been defined.
  const View &getView(mlir::Value value) const {
    auto it = views.find(value);
    assert(it != views.end() && "the value is not defined yet");
    return it->second;
  }
  /// Gives `value` a view; a body that is built several times redefines its
  /// values.
  void setView(mlir::Value value, View view) { views[value] = std::move(view); }

  /// A new dense array over `type`, with a cotangent if `active`.
  View allocate(ArrayType type, bool active);
  /// A new dense array of the given axes (strides are set).
  View allocate(llvm::ArrayRef<ViewAxis> axes, bool active);
  /// The frame offset of `count` new elements that no view describes.
  int64_t allocateScratch(int64_t count);
  /// A new scalar that never changes.
  View allocateLiteral(double value);
  /// The anchor of the state argument `state`.
  View getAnchor(mlir::Value state) const;

  /// Appends an instruction of the final class `InstructionT`.
  template <typename InstructionT>
  void add(std::unique_ptr<InstructionT> instruction) {
    // What the allocator adds, and a list that has just grown.
    constexpr int64_t overhead = 16 + 3 * sizeof(void *);
    program.codeBytes += sizeof(InstructionT) + overhead;
    code->push_back(std::move(instruction));
  }
  /// An error at `op` if an array had more elements than int64 counts.
  llvm::LogicalResult checkOverflow(mlir::Operation *op) const;
  /// Bytes of the code and of a frame so far.
  uint64_t getByteSize() const;
  /// Whether `bytes` more than `getByteSize` fit the memory; if not, an error
  /// at `op`: `what` needs so many bytes.
  llvm::LogicalResult checkMemory(mlir::Operation *op, uint64_t bytes,
                                  const llvm::Twine &what);

  /// Builds the operations of `block` but its terminator, in order.
  llvm::LogicalResult buildBody(mlir::Block &block);
  /// The same into another list.
  llvm::LogicalResult buildBody(mlir::Block &block, InstructionList &list);

private:
  explicit ProgramBuilder(RecurrenceOp recurrence) : recurrence(recurrence) {}
  llvm::LogicalResult buildArguments();
  llvm::LogicalResult checkSizes();

  RecurrenceOp recurrence;
  Program program;
  InstructionList *code = &program.code;
  llvm::DenseMap<mlir::Value, View> views;
  /// The frame has more elements than int64 counts.
  bool overflowed = false;
};

} // namespace larc

#include "larc/Reference/ReferenceInterfaces.h.inc"

#endif // LARC_REFERENCE_PROGRAM_H
