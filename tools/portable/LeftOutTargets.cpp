//===- LeftOutTargets.cpp - Back ends that are not linked -------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass of MLIR and lld initialize all back ends that LLVM was built with, by
// name. Of those that portable tools do without, this initializes nothing: to
// compile for one is then the error that there is no such target.
//
//===----------------------------------------------------------------------===//

#define LEFT_OUT_TARGET(Name)                                                  \
  extern "C" void LLVMInitialize##Name##Target() {}                            \
  extern "C" void LLVMInitialize##Name##TargetInfo() {}                        \
  extern "C" void LLVMInitialize##Name##TargetMC() {}                          \
  extern "C" void LLVMInitialize##Name##AsmParser() {}                         \
  extern "C" void LLVMInitialize##Name##AsmPrinter() {}                        \
  extern "C" void LLVMInitialize##Name##Disassembler() {}
#include "LeftOutTargets.def"
