//===- ChunkAttributes.td - Attributes of the chunk dialect -*- tablegen -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LARC_DIALECT_CHUNK_IR_CHUNKATTRIBUTES_TD
#define LARC_DIALECT_CHUNK_IR_CHUNKATTRIBUTES_TD

include "larc/Dialect/Chunk/IR/ChunkDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Chunk_Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::larc::chunk";
}

def Chunk_CombineKind : Chunk_Enum<"CombineKind", "how the values of tokens combine", [
    I32EnumCase<"Sum", 0, "sum">, I32EnumCase<"Product", 1, "product">,
    I32EnumCase<"Max", 2, "max">]>;
def Chunk_CombineKindAttr : EnumAttr<Chunk_Dialect, Chunk_CombineKind, "combine">;

def Chunk_TransitionClass : Chunk_Enum<"TransitionClass",
    "what kind of map a token applies to a state", [
    I32EnumCase<"Constant", 0, "constant">,
    I32EnumCase<"Diagonal", 1, "diagonal">,
    I32EnumCase<"LowRank", 2, "low_rank">,
    I32EnumCase<"Implicit", 3, "implicit">,
    I32EnumCase<"Semiring", 4, "semiring">,
    I32EnumCase<"Elementwise", 5, "elementwise">,
    I32EnumCase<"Sequential", 6, "sequential">]>;
def Chunk_TransitionClassAttr
    : EnumAttr<Chunk_Dialect, Chunk_TransitionClass, "transition">;

class Chunk_Attr<string cppName, string attrMnemonic>
    : AttrDef<Chunk_Dialect, cppName> {
  let mnemonic = attrMnemonic;
}

def Chunk_TokenAxisAttr : Chunk_Attr<"TokenAxis", "tokens"> {
  let summary = "an axis that counts tokens of the chunk";
  let description = [{
    Index i of the axis is token `offset + i` of the chunk. A sub-block of the
    chunk has an axis of its own with its offset. Printed `token from 0 size 64`.
  }];
  let parameters = (ins "::mlir::StringAttr":$axis, "int64_t":$offset, "int64_t":$size);
  let assemblyFormat = "`<` $axis `from` $offset `size` $size `>`";
}

#endif // LARC_DIALECT_CHUNK_IR_CHUNKATTRIBUTES_TD
