//===- OrthogonalizeModel.cpp - Newton-Schulz iteration ---------*- C++ -*-===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// X = C / (|C|_F + eps), then repeatedly X <- X P with G = X^T X and
// P = c0 I + c1 G + c2 G^2. The frame keeps every X; G and P, small and
// symmetric, are made again for the derivative.
//
//===----------------------------------------------------------------------===//

#include "Nest.h"
#include "ReferenceModels.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace larc;

/// out += a b for row-major a [n, m], b [m, l].
static void addProduct(double *__restrict out, const double *a, const double *b,
                       int64_t n, int64_t m, int64_t l) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j)
      for (int64_t k = 0; k < l; ++k)
        out[i * l + k] += a[i * m + j] * b[j * l + k];
}

/// out += a^T b for row-major a [n, m], b [n, l].
static void addTransposedProduct(double *__restrict out, const double *a,
                                 const double *b, int64_t n, int64_t m,
                                 int64_t l) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j)
      for (int64_t k = 0; k < l; ++k)
        out[j * l + k] += a[i * m + j] * b[i * l + k];
}

namespace {

class OrthogonalizeInstruction final : public Instruction {
public:
  /// Scratch for each index of the other axes: `iterates` has iterations + 1
  /// matrices and a norm; `grams` is five column by column matrices and two of
  /// the operand's shape, shared.
  struct Layout {
    int64_t rows, columns, iterations;
    SmallVector<double, 3> coefficients;
    double eps;
    int64_t iterates, shared;

    int64_t getMatrixSize() const { return rows * columns; }
    int64_t getBatchSize() const {
      return (iterations + 1) * rows * columns + 1;
    }
    int64_t getSharedSize() const {
      return 5 * columns * columns + 2 * rows * columns;
    }
  };

  OrthogonalizeInstruction(Layout layout, const View &x, const View &y,
                           StringAttr rows, StringAttr columns)
      : layout(std::move(layout)), active(x.active) {
    View xBatch = x, yBatch = y;
    auto drop = [&](View &view, Matrix &matrix) {
      matrix.rowStride = view.find(rows)->stride;
      matrix.columnStride = view.find(columns)->stride;
      llvm::erase_if(view.axes, [&](const ViewAxis &axis) {
        return axis.name == rows || axis.name == columns;
      });
    };
    drop(xBatch, operand);
    drop(yBatch, result);
    batch = Nest<2>({&xBatch, &yBatch});
  }

  void forward(const TokenContext &context) const override {
    double *v = context.values;
    int64_t index = 0;
    forEachElement(batch, [&](const auto &at) {
      double *iterates = v + layout.iterates + index++ * layout.getBatchSize();
      iterate(v + at[0], iterates, v + layout.shared);
      const double *last =
          iterates + layout.iterations * layout.getMatrixSize();
      for (int64_t i = 0; i < layout.rows; ++i)
        for (int64_t j = 0; j < layout.columns; ++j)
          v[at[1] + i * result.rowStride + j * result.columnStride] =
              last[i * layout.columns + j];
    });
  }

  void backward(const TokenContext &context) const override {
    if (!active)
      return;
    double *v = context.values, *c = context.cotangents;
    int64_t index = 0;
    forEachElement(batch, [&](const auto &at) {
      const double *iterates =
          v + layout.iterates + index++ * layout.getBatchSize();
      differentiate(v + at[0], c + at[0], c + at[1], iterates,
                    c + layout.shared);
    });
  }

private:
  struct Matrix {
    int64_t rowStride, columnStride;
  };

  void iterate(const double *x, double *iterates, double *shared) const {
    int64_t n = layout.rows, m = layout.columns, size = n * m;
    double square = 0;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < m; ++j) {
        double value = x[i * operand.rowStride + j * operand.columnStride];
        iterates[i * m + j] = value;
        square += value * value;
      }
    double norm = std::sqrt(square);
    iterates[(layout.iterations + 1) * size] = norm;
    for (int64_t i = 0; i < size; ++i)
      iterates[i] /= norm + layout.eps;
    for (int64_t step = 0; step < layout.iterations; ++step) {
      const double *current = iterates + step * size;
      double *next = iterates + (step + 1) * size;
      double *gram = shared, *factor = shared + m * m;
      computeFactor(current, gram, factor);
      std::fill_n(next, size, 0.0);
      addProduct(next, current, factor, n, m, m);
    }
  }

  /// G = X^T X and P = c0 I + c1 G + c2 G^2.
  void computeFactor(const double *x, double *gram, double *factor) const {
    int64_t n = layout.rows, m = layout.columns;
    std::fill_n(gram, m * m, 0.0);
    addTransposedProduct(gram, x, x, n, m, m);
    std::fill_n(factor, m * m, 0.0);
    if (layout.coefficients.size() > 2) {
      addProduct(factor, gram, gram, m, m, m);
      for (int64_t i = 0; i < m * m; ++i)
        factor[i] *= layout.coefficients[2];
    }
    for (int64_t i = 0; i < m * m; ++i)
      factor[i] += layout.coefficients[1] * gram[i];
    for (int64_t i = 0; i < m; ++i)
      factor[i * m + i] += layout.coefficients[0];
  }

  void differentiate(const double *x, double *xCotangent,
                     const double *yCotangent, const double *iterates,
                     double *shared) const {
    int64_t n = layout.rows, m = layout.columns, size = n * m, square = m * m;
    double *gram = shared, *factor = gram + square, *toFactor = factor + square;
    double *toGram = toFactor + square, *both = toGram + square;
    double *current = both + square, *previous = current + size;
    bool allZero = true;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < m; ++j) {
        double g = yCotangent[i * result.rowStride + j * result.columnStride];
        current[i * m + j] = g;
        allZero &= g == 0;
      }
    if (allZero)
      return;

    for (int64_t step = layout.iterations - 1; step >= 0; --step) {
      // With g of X P: X gets g P + X (dG + dG^T), where dP = X^T g and
      // dG = c1 dP + c2 (dP G + G dP); G and P are symmetric.
      const double *iterate = iterates + step * size;
      computeFactor(iterate, gram, factor);
      std::fill_n(toFactor, square, 0.0);
      addTransposedProduct(toFactor, iterate, current, n, m, m);
      std::fill_n(toGram, square, 0.0);
      if (layout.coefficients.size() > 2) {
        addProduct(toGram, toFactor, gram, m, m, m);
        addProduct(toGram, gram, toFactor, m, m, m);
        for (int64_t i = 0; i < square; ++i)
          toGram[i] *= layout.coefficients[2];
      }
      for (int64_t i = 0; i < square; ++i)
        toGram[i] += layout.coefficients[1] * toFactor[i];
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < m; ++j)
          both[i * m + j] = toGram[i * m + j] + toGram[j * m + i];
      std::fill_n(previous, size, 0.0);
      addProduct(previous, current, factor, n, m, m);
      addProduct(previous, iterate, both, n, m, m);
      std::swap(current, previous);
    }

    // X = C / d, d = |C| + eps; the derivative of the norm at 0 is 0.
    double norm = iterates[(layout.iterations + 1) * size];
    double divisor = norm + layout.eps, along = 0;
    for (int64_t i = 0; i < size; ++i)
      along += guarded(current[i], iterates[i]);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < m; ++j) {
        double g = current[i * m + j];
        double value = x[i * operand.rowStride + j * operand.columnStride];
        double term = g == 0 ? 0 : g / divisor;
        if (norm != 0)
          term -= guarded(along, value / (norm * divisor));
        xCotangent[i * operand.rowStride + j * operand.columnStride] += term;
      }
  }

  Layout layout;
  Matrix operand, result;
  Nest<2> batch; // operand, result, without rows and columns
  bool active;
};

struct OrthogonalizeModel
    : ReferenceOpInterface::ExternalModel<OrthogonalizeModel, OrthogonalizeOp> {
  LogicalResult buildReference(Operation *op, ProgramBuilder &builder) const {
    auto orthogonalize = cast<OrthogonalizeOp>(op);
    auto iterations = dyn_cast<IntegerAttr>(orthogonalize.getIterations());
    if (!iterations)
      return op->emitOpError(
          "has a number of iterations that is not bound yet");
    View x = builder.getView(orthogonalize.getOperand());
    View y = builder.allocate(orthogonalize.getType(), x.active);
    StringAttr rows = orthogonalize.getRowsAttr();
    StringAttr columns = orthogonalize.getColumnsAttr();
    OrthogonalizeInstruction::Layout layout;
    layout.rows = x.find(rows)->size;
    layout.columns = x.find(columns)->size;
    layout.iterations = iterations.getInt();
    layout.coefficients.assign(orthogonalize.getCoefficients().begin(),
                               orthogonalize.getCoefficients().end());
    layout.eps = orthogonalize.getEps().convertToDouble();
    if (failed(builder.checkOverflow(op)))
      return failure();
    uint64_t matrix = layout.getMatrixSize();
    uint64_t numBatches = x.getNumElements() / matrix;
    uint64_t iterates = llvm::SaturatingMultiply<uint64_t>(
        numBatches,
        llvm::SaturatingMultiplyAdd<uint64_t>(
            llvm::SaturatingAdd<uint64_t>(layout.iterations, 1), matrix, 1));
    uint64_t square =
        llvm::SaturatingMultiply<uint64_t>(layout.columns, layout.columns);
    uint64_t shared = llvm::SaturatingMultiplyAdd<uint64_t>(
        square, 5, llvm::SaturatingMultiply<uint64_t>(matrix, 2));
    if (failed(builder.checkMemory(
            op,
            llvm::SaturatingMultiply<uint64_t>(
                llvm::SaturatingAdd(iterates, shared), sizeof(double)),
            "the iteration's work space")))
      return failure();
    layout.iterates = builder.allocateScratch(iterates);
    layout.shared = builder.allocateScratch(shared);
    builder.add(std::make_unique<OrthogonalizeInstruction>(layout, x, y, rows,
                                                           columns));
    builder.setView(orthogonalize.getResult(), y);
    return success();
  }
};

} // namespace

void larc::attachOrthogonalizeModel(MLIRContext &context) {
  OrthogonalizeOp::attachInterface<OrthogonalizeModel>(context);
}
