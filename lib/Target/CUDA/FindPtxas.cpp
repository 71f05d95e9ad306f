//===- FindPtxas.cpp - Looks for NVIDIA's assembler -----------------------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "larc/Support/Error.h"
#include "larc/Target/CUDA/Ptxas.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <optional>

using namespace larc;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr llvm::StringLiteral programName = "ptxas";

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static std::string getVariable(llvm::StringRef name) {
  return llvm::sys::Process::GetEnv(name).value_or("");
}

/// Folders and files in `folder` whose name starts with `prefix`, the newest
/// version, which sorts last, first.
static std::vector<std::string> list(const llvm::Twine &folder,
                                     llvm::StringRef prefix) {
  std::vector<std::string> entries;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code))
    if (path::filename(it->path()).starts_with(prefix))
      entries.push_back(it->path());
  llvm::sort(entries, [](llvm::StringRef left, llvm::StringRef right) {
    return left.compare_numeric(right) > 0;
  });
  return entries;
}

namespace {
/// Collects the assemblers that exist.
class CandidateList {
public:
  explicit CandidateList(std::vector<std::string> &found) : found(found) {}

  /// The program `file`, if it is one.
  void addProgram(llvm::StringRef file);
  /// That of a toolkit in `root`.
  void addToolkit(llvm::StringRef root);
  /// Those of the Python packages in `folder` (`site-packages`).
  void addPackages(const llvm::Twine &folder);
  /// Those of the Python installed below `prefix`.
  void addPython(llvm::StringRef prefix);

private:
  std::vector<std::string> &found;
  /// The same program may be found by several names.
  std::vector<fs::UniqueID> ids;
};
} // namespace

void CandidateList::addProgram(llvm::StringRef file) {
  fs::UniqueID id;
  if (!fs::can_execute(file) || fs::getUniqueID(file, id) ||
      llvm::is_contained(ids, id))
    return;
  found.push_back(file.str());
  ids.push_back(id);
}

void CandidateList::addToolkit(llvm::StringRef root) {
  llvm::SmallString<256> file(root);
  path::append(file, "bin", programName);
  if (!root.empty())
    addProgram(file);
}

void CandidateList::addPackages(const llvm::Twine &folder) {
  llvm::SmallString<256> packages;
  path::append(packages, folder, "nvidia");
  for (const std::string &package : list(packages, ""))
    addToolkit(package);
}

void CandidateList::addPython(llvm::StringRef prefix) {
  if (prefix.empty())
    return;
  llvm::SmallString<256> libraries(prefix);
  path::append(libraries, "lib");
  for (const std::string &python : list(libraries, "python3"))
    for (llvm::StringRef name : {"site-packages", "dist-packages"})
      addPackages(python + "/" + name);
}

/// The folder `site-packages` that this program is in; empty if it is in none.
static std::string getOwnPackages() {
  std::string file =
      fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&getOwnPackages));
  for (llvm::StringRef folder = path::parent_path(file); !folder.empty();
       folder = path::parent_path(folder))
    if (llvm::is_contained({"site-packages", "dist-packages"},
                           path::filename(folder)))
      return folder.str();
  return "";
}

PtxasPlaces PtxasPlaces::fromEnvironment(llvm::StringRef option) {
  PtxasPlaces places;
  places.given = option.str();
  places.givenBy = "--ptxas";
  if (places.given.empty()) {
    places.given = getVariable("LARC_PTXAS");
    places.givenBy = "LARC_PTXAS";
  }

  CandidateList candidates(places.candidates);
  candidates.addToolkit(getVariable("CUDA_HOME"));
  candidates.addToolkit(getVariable("CUDA_PATH"));
  if (auto program = llvm::sys::findProgramByName(programName))
    candidates.addProgram(*program);
  candidates.addToolkit("/usr/local/cuda");
  for (const std::string &toolkit : list("/usr/local", "cuda-"))
    candidates.addToolkit(toolkit);

  if (std::string packages = getOwnPackages(); !packages.empty())
    candidates.addPackages(packages);
  candidates.addPython(getVariable("VIRTUAL_ENV"));
  candidates.addPython(getVariable("CONDA_PREFIX"));
  llvm::SmallString<256> home;
  if (path::home_directory(home)) {
    path::append(home, ".local");
    candidates.addPython(home);
  }
  if (auto python = llvm::sys::findProgramByName("python3"))
    candidates.addPython(path::parent_path(path::parent_path(*python)));
  candidates.addPython("/usr/local");
  return places;
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// What a user can do about it.
static std::vector<std::string> makeRemedies(const PtxasNeed &need) {
  return {"'pip install nvidia-cuda-nvcc' brings a current one (13.5); it is "
          "found in the active Python environment",
          "--ptxas=FILE or the variable LARC_PTXAS names one of version " +
              need.version.getAsString() + " or newer"};
}

/// Why `ptxas` does not meet `need`.
static std::string describeUnfit(const Ptxas &ptxas, const PtxasNeed &need) {
  return "ptxas " + ptxas.getVersion().getAsString() + " " + need.reason +
         ": expected version " + need.version.getAsString() + " or newer";
}

llvm::Expected<Ptxas> larc::findPtxas(const PtxasPlaces &places,
                                      const PtxasNeed &need) {
  if (!places.given.empty()) {
    auto ptxas = Ptxas::open(places.given);
    if (!ptxas)
      return makeUsageFault(places.givenBy + ": " +
                            llvm::toString(ptxas.takeError()));
    if (ptxas->getVersion() < need.version)
      return makeFileFault(places.given, describeUnfit(*ptxas, need),
                           makeRemedies(need));
    return ptxas;
  }
  std::vector<std::string> unfit;
  for (const std::string &candidate : places.candidates) {
    auto ptxas = Ptxas::open(candidate);
    if (!ptxas)
      unfit.push_back(llvm::toString(ptxas.takeError()));
    else if (ptxas->getVersion() < need.version)
      unfit.push_back(candidate + ": " + describeUnfit(*ptxas, need));
    else
      return ptxas;
  }
  std::vector<std::string> remedies = makeRemedies(need);
  if (unfit.empty())
    return makeFault("no ptxas, NVIDIA's assembler, was found",
                     std::move(remedies));
  llvm::append_range(unfit, remedies);
  return makeFault("no ptxas of version " + need.version.getAsString() +
                       " or newer was found",
                   std::move(unfit));
}
