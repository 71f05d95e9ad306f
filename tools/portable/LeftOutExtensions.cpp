//===- LeftOutExtensions.cpp - Extensions that are not linked ---*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's link-time optimizer, which comes with lld, asks each extension that
// LLVM was built with (Polly, say) for its passes. larc links no bitcode, so
// none is linked; what stands here has no passes.
//
//===----------------------------------------------------------------------===//

#include "llvm/Plugins/PassPlugin.h"

#define HANDLE_EXTENSION(Name)                                                 \
  llvm::PassPluginLibraryInfo get##Name##PluginInfo();                         \
  llvm::PassPluginLibraryInfo get##Name##PluginInfo() {                        \
    return {LLVM_PLUGIN_API_VERSION, #Name, "", [](llvm::PassBuilder &) {},    \
            nullptr};                                                          \
  }
#include "llvm/Support/Extension.def"
