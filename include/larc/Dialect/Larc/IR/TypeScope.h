//===- TypeScope.h - Types of SSA names while parsing -*- C++ -*- ---------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// MLIR's parser resolves an operand only against a type that the caller already
// knows, and larc's syntax writes none. What the parser does tell an operation
// are the names: of its operands and of the results it is bound to. A
// recurrence therefore keeps a table from names to types while its region is
// parsed; every operation looks its operands up there, infers its results and
// records them.
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_LARC_IR_TYPESCOPE_H
#define LARC_DIALECT_LARC_IR_TYPESCOPE_H

#include "larc/Dialect/Larc/IR/Larc.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace larc {

/// The names that a region introduces; scopes nest like the regions.
class TypeScope {
public:
  /// `isolated`: names of enclosing scopes are not visible.
  explicit TypeScope(bool isolated = false);
  ~TypeScope();
  TypeScope(const TypeScope &) = delete;
  TypeScope &operator=(const TypeScope &) = delete;

  /// The type of `operand`, or null where no such name is visible.
  static mlir::Type lookup(const mlir::OpAsmParser::UnresolvedOperand &operand);
  /// Records the type of `name` (without `%`), result `number` of it.
  static void define(llvm::StringRef name, unsigned number, mlir::Type type);

private:
  llvm::StringMap<llvm::SmallVector<mlir::Type, 1>> types;
  TypeScope *parent;
  bool isolated;
};

namespace asm_format {

/// Parses `%x`, finds its type and appends the value to `result.operands`.
mlir::ParseResult parseOperand(mlir::OpAsmParser &parser,
                               mlir::OperationState &result);
/// As above for an operand already parsed.
mlir::ParseResult resolve(mlir::OpAsmParser &parser,
                          mlir::OperationState &result,
                          const mlir::OpAsmParser::UnresolvedOperand &operand);
/// Gives `result` the types that `OpTy` infers from its operands and
/// attributes, and records them under the names the operation is bound to.
mlir::ParseResult recordTypes(mlir::OpAsmParser &parser,
                              mlir::OperationState &result,
                              mlir::ArrayRef<mlir::Type> types);
template <typename OpTy>
mlir::ParseResult inferTypes(mlir::OpAsmParser &parser,
                             mlir::OperationState &result) {
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Value> operands(result.operands.begin(),
                                          result.operands.end());
  if (mlir::failed(OpTy::inferReturnTypes(
          parser.getContext(), result.location, operands,
          result.attributes.getDictionary(parser.getContext()),
          result.getRawProperties(), result.regions, types)))
    return mlir::failure();
  return recordTypes(parser, result, types);
}

/// `K` as a string attribute.
mlir::ParseResult parseAxis(mlir::OpAsmParser &parser, mlir::StringAttr &axis);
/// `K, V` (at least one), as an array of strings.
mlir::ParseResult parseAxes(mlir::OpAsmParser &parser, mlir::ArrayAttr &axes);
void printAxes(mlir::OpAsmPrinter &printer,
               mlir::ArrayRef<mlir::Attribute> axes);
/// A real number: `1.5`, `2`, `-3.0e-4`, `inf`, `-inf`, `nan`.
mlir::ParseResult parseReal(mlir::OpAsmParser &parser, mlir::FloatAttr &value);
void printReal(mlir::OpAsmPrinter &printer, mlir::FloatAttr value);
void printReal(llvm::raw_ostream &os, mlir::FloatAttr value);

/// An index into levels: `2`, `%l`, `%l -1`. Sets `offset` and appends the
/// operand if there is one.
mlir::ParseResult parseLevelIndex(mlir::OpAsmParser &parser,
                                  mlir::OperationState &result,
                                  int64_t &offset);
void printLevelIndex(mlir::OpAsmPrinter &printer, mlir::Value index,
                     int64_t offset);

/// `iter(%x = %init, …)`, possibly empty or absent: appends arguments with
/// types.
mlir::ParseResult parseBindings(
    mlir::OpAsmParser &parser, llvm::StringRef keyword,
    llvm::SmallVectorImpl<mlir::OpAsmParser::Argument> &arguments,
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &values);
void printBindings(mlir::OpAsmPrinter &printer, llvm::StringRef keyword,
                   mlir::ValueRange arguments, mlir::ValueRange values);

/// Parses a region whose arguments have types, in a scope of its own. Without
/// operations it lacks its `terminator`.
mlir::ParseResult
parseScopedRegion(mlir::OpAsmParser &parser, mlir::Region &region,
                  llvm::ArrayRef<mlir::OpAsmParser::Argument> arguments,
                  llvm::StringRef terminator = "larc.yield");
/// ` with {…}` for the attributes that are not among the `inherent` ones, or
/// nothing, and then the operation's only region.
void printRestAndRegion(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                        llvm::ArrayRef<llvm::StringRef> inherent);
/// The types of the values that the region's terminator yields.
llvm::SmallVector<mlir::Type> yieldedTypes(mlir::Region &region);

} // namespace asm_format
} // namespace larc

#endif // LARC_DIALECT_LARC_IR_TYPESCOPE_H
