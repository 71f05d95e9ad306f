//===- ChunkSyntax.h - Shared pieces of the operations -*- C++ -*- --------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_LIB_DIALECT_CHUNK_IR_CHUNKSYNTAX_H
#define LARC_LIB_DIALECT_CHUNK_IR_CHUNKSYNTAX_H

#include "larc/Dialect/Chunk/IR/Chunk.h"
#include "larc/Dialect/Larc/IR/TypeScope.h"

namespace larc::chunk {

/// `[K, V]`, for messages.
std::string spell(ArrayType type);
/// `[K, V]`, or nothing for a scalar: the axes behind an argument's name.
void printArgumentAxes(mlir::OpAsmPrinter &printer, ArrayType type);
/// `%x[K, V]`, `[...]` optional.
mlir::ParseResult parseArgumentWithAxes(mlir::OpAsmParser &parser,
                                        mlir::OpAsmParser::Argument &argument);

/// `keyword(%a, %b)`, possibly absent; appends the operands to `result` and
/// counts them.
mlir::ParseResult parseGroup(mlir::OpAsmParser &parser, llvm::StringRef keyword,
                             mlir::OperationState &result, int32_t &count);
/// As above with at most one operand.
mlir::ParseResult parseOptionalOne(mlir::OpAsmParser &parser,
                                   llvm::StringRef keyword,
                                   mlir::OperationState &result,
                                   int32_t &count);
void printGroup(mlir::OpAsmPrinter &printer, llvm::StringRef keyword,
                mlir::ValueRange values);
mlir::ParseResult
resolveAll(mlir::OpAsmParser &parser, mlir::OperationState &result,
           llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> values);

/// `token to source`.
mlir::ParseResult parseTokenToSource(mlir::OpAsmParser &parser,
                                     mlir::StringAttr &token,
                                     mlir::StringAttr &source);

mlir::InFlightDiagnostic emitAt(mlir::MLIRContext *context,
                                std::optional<mlir::Location> loc);
/// Appends the types of `values`, which must all have the axis `token`.
mlir::LogicalResult requireAxis(mlir::MLIRContext *context,
                                std::optional<mlir::Location> loc,
                                llvm::StringRef what, mlir::ValueRange values,
                                mlir::StringAttr token,
                                llvm::SmallVectorImpl<ArrayType> &types);

/// Checks that `op` stands in a scan, of which `axis` counts tokens, and
/// returns what the scan declares of it.
mlir::FailureOr<TokenAxisAttr> requireTokenAxis(mlir::Operation *op,
                                                mlir::StringAttr axis);
/// Checks that `token` and `source` count the same tokens.
mlir::LogicalResult verifyTokenAndSource(mlir::Operation *op,
                                         mlir::StringAttr token,
                                         mlir::StringAttr source);

} // namespace larc::chunk

#endif // LARC_LIB_DIALECT_CHUNK_IR_CHUNKSYNTAX_H
