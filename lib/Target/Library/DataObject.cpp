//===- DataObject.cpp - The tables of a library -----------------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../Runtime/LibraryData.h"
#include "Describe.h"

#include "larc/Runtime/CudaDriverApi.h"
#include "larc/Support/Error.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

#include <cstring>

using namespace larc;

using Role = LibraryTensor::Role;

//===----------------------------------------------------------------------===//
// Object files
//===----------------------------------------------------------------------===//

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return makeFault("this machine is no target of LLVM's: " + message);
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, /*CPU=*/"", /*Features=*/"",
                                  llvm::TargetOptions(), llvm::Reloc::PIC_));
}

static llvm::Expected<std::string> emitObject(llvm::Module &module,
                                              llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager codegen;
  if (machine.addPassesToEmitFile(codegen, stream, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return makeFault("this machine's target emits no object files");
  codegen.run(module);
  return stream.str().str();
}

static void setTarget(llvm::Module &module, llvm::TargetMachine &machine) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple());
}

llvm::Expected<std::string> larc::makeEmptyObject() {
  auto machine = createMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  llvm::Module module("empty", context);
  setTarget(module, **machine);
  return emitObject(module, **machine);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {

/// Makes constants of the structures in LibraryData.h, member by member.
class DataBuilder {
public:
  DataBuilder(llvm::Module &module, LibraryContents &contents)
      : module(module), context(module.getContext()), contents(contents),
        tensors(describeTensors(contents)) {}

  void build(llvm::StringRef manifest);

private:
  using Constants = llvm::SmallVector<llvm::Constant *>;

  llvm::Constant *u32(uint64_t value) {
    return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value);
  }
  llvm::Constant *i64(int64_t value) {
    return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context), value);
  }
  llvm::Constant *null() {
    return llvm::ConstantPointerNull::get(
        llvm::PointerType::getUnqual(context));
  }
  llvm::Constant *record(llvm::ArrayRef<llvm::Constant *> members) {
    return llvm::ConstantStruct::getAnon(context, members);
  }
  llvm::GlobalVariable *define(llvm::Constant *value, llvm::StringRef name,
                               unsigned alignment);
  llvm::Constant *bytes(llvm::StringRef data, unsigned alignment = 1);
  llvm::Constant *string(llvm::StringRef text) {
    return bytes((text + llvm::Twine('\0')).str());
  }
  llvm::Constant *array(const Constants &elements);
  /// A symbol of another object.
  llvm::Constant *external(const llvm::Twine &name);

  llvm::Constant *makeTensors();
  void addRow(DescribedTensor &tensor);
  Constants makeMaps(const CudaForm &form);
  llvm::Constant *makeCuda();
  llvm::Constant *makeCPU();
  unsigned getCPULevels() const;

  llvm::Module &module;
  llvm::LLVMContext &context;
  LibraryContents &contents;
  std::vector<DescribedTensor> tensors;
  /// Rows of initial values, and where that of each state lies.
  std::string rows;
  std::vector<int64_t> rowOffsets;
};

} // namespace

llvm::GlobalVariable *DataBuilder::define(llvm::Constant *value,
                                          llvm::StringRef name,
                                          unsigned alignment) {
  auto *global = new llvm::GlobalVariable(
      module, value->getType(), /*isConstant=*/true,
      name.empty() ? llvm::GlobalValue::PrivateLinkage
                   : llvm::GlobalValue::ExternalLinkage,
      value, name);
  if (!name.empty())
    global->setVisibility(llvm::GlobalValue::HiddenVisibility);
  global->setAlignment(llvm::Align(alignment));
  return global;
}

llvm::Constant *DataBuilder::bytes(llvm::StringRef data, unsigned alignment) {
  if (data.empty())
    return null();
  return define(llvm::ConstantDataArray::getString(context, data,
                                                   /*AddNull=*/false),
                "", alignment);
}

llvm::Constant *DataBuilder::array(const Constants &elements) {
  if (elements.empty())
    return null();
  auto *type =
      llvm::ArrayType::get(elements.front()->getType(), elements.size());
  return define(llvm::ConstantArray::get(type, elements), "", 8);
}

llvm::Constant *DataBuilder::external(const llvm::Twine &name) {
  std::string symbol = name.str();
  llvm::GlobalVariable *global = module.getNamedGlobal(symbol);
  if (!global)
    global = new llvm::GlobalVariable(
        module, llvm::Type::getInt8Ty(context), /*isConstant=*/true,
        llvm::GlobalValue::ExternalLinkage, nullptr, symbol);
  global->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return global;
}

/// Keeps a row of the state's initial value.
void DataBuilder::addRow(DescribedTensor &tensor) {
  auto decl =
      llvm::cast<StateDeclAttr>(contents.recurrence.getStates()[tensor.state]);
  double value = decl.getInit() ? decl.getInit().getValueAsDouble() : 0.0;
  rows.resize(llvm::alignTo(rows.size(), 16));
  rowOffsets[tensor.state] = static_cast<int64_t>(rows.size());
  char element[8];
  convertElements(&value, DType::F64, element, tensor.dtype, 1);
  for (int64_t i = 0; i < countRowElements(tensor); ++i)
    rows.append(element, getByteWidth(tensor.dtype));
}

llvm::Constant *DataBuilder::makeTensors() {
  static_assert(unsigned(Role::FinalAnchor) == LARC_ROLE_FINAL_ANCHOR,
                "roles are numbered alike");
  rowOffsets.assign(contents.recurrence.getStates().size(), 0);
  for (DescribedTensor &tensor : tensors)
    if (tensor.role == Role::InitialState)
      addRow(tensor);
  Constants elements;
  for (const DescribedTensor &tensor : tensors) {
    bool starts =
        tensor.role == Role::InitialState || tensor.role == Role::InitialAnchor;
    elements.push_back(
        record({string(tensor.name), u32(static_cast<unsigned>(tensor.role)),
                u32(tensor.required), u32(getByteWidth(tensor.dtype)),
                u32(tensor.alignment), i64(countElements(tensor)),
                i64(countRowElements(tensor)),
                i64(starts ? rowOffsets[tensor.state] : 0)}));
  }
  return array(elements);
}

DataBuilder::Constants DataBuilder::makeMaps(const CudaForm &form) {
  auto getType = [](DType type) {
    return type == DType::F32   ? LARC_CU_TENSOR_F32
           : type == DType::F16 ? LARC_CU_TENSOR_F16
                                : LARC_CU_TENSOR_BF16;
  };
  Constants maps;
  for (const CudaTensorMap &map : form.maps)
    maps.push_back(record(
        {u32(map.tensor), u32(map.rows), u32(getType(map.type)), u32(0)}));
  return maps;
}

llvm::Constant *DataBuilder::makeCuda() {
  Constants codes;
  for (const CudaCode &code : contents.cuda) {
    Constants forms;
    for (const CudaForm &form : code.forms) {
      Constants launches;
      for (const CudaFormLaunch &launch : form.launches)
        launches.push_back(
            record({string(launch.kernel), u32(32 * launch.warps),
                    u32(launch.sharedBytes), u32(launch.parts),
                    u32(launch.segmented), u32(launch.onlyIfCut), u32(0)}));
      forms.push_back(record(
          {u32(form.form), u32(form.launches.size()), i64(form.chunkSize),
           i64(form.leastTokens), i64(form.leastSegmentTokens),
           i64(form.blocksPerSM), i64(form.segmentBytes), bytes(form.cubin, 64),
           array(launches), array(makeMaps(form)),
           i64(static_cast<int64_t>(form.maps.size()))}));
    }
    // Hopper's code has instructions of that architecture alone.
    bool exact = code.computeCapability == 90;
    codes.push_back(record({u32(code.computeCapability / 10),
                            u32(code.computeCapability % 10), u32(exact),
                            u32(code.forms.size()), array(forms)}));
  }
  return array(codes);
}

llvm::Constant *DataBuilder::makeCPU() {
  Constants forms;
  if (contents.cpu)
    for (const CPUFormCode &form : contents.cpu->forms) {
      forms.push_back(
          record({u32(toLibraryForm(form.form)), u32(0), i64(form.chunkSize),
                  i64(form.leastTokens), external("larc_" + form.symbol),
                  external("larc_" + form.symbol + "_scratch_bytes"),
                  external("larc_" + form.symbol + "_blocks")}));
    }
  return array(forms);
}

unsigned DataBuilder::getCPULevels() const {
  unsigned levels = 0;
  if (contents.cpu)
    for (const std::string &level : contents.cpu->levels)
      levels |= level == "avx512" ? LARC_CPU_AVX512 : LARC_CPU_AVX2;
  return levels;
}

void DataBuilder::build(llvm::StringRef manifest) {
  llvm::Constant *text = string(manifest);
  llvm::Constant *table = makeTensors();
  llvm::Constant *cuda = makeCuda();
  llvm::Constant *cpu = makeCPU();
  define(record({text, table, cuda, cpu, bytes(rows, 16),
                 i64(static_cast<int64_t>(rows.size())), u32(tensors.size()),
                 u32(contents.cuda.size()),
                 u32(contents.cpu ? contents.cpu->forms.size() : 0),
                 u32(getCPULevels())}),
         "larc_library_data", 8);
  Constants functions = {u32(LARC_LIBRARY_VERSION), u32(tensors.size()), text};
  for (const LibraryFunction &function : getLibraryFunctions().drop_back())
    functions.push_back(external(function.implementation));
  define(record(functions), "larc_library_table", 8);
}

llvm::Expected<std::string> larc::makeDataObject(LibraryContents &contents,
                                                 llvm::StringRef manifest) {
  auto machine = createMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  llvm::Module module("library", context);
  setTarget(module, **machine);
  DataBuilder(module, contents).build(manifest);
  return emitObject(module, **machine);
}
