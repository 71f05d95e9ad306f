//===- SafetensorsHeader.cpp - The header of a safetensors file -----------===//
//
// Part of the larc project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A parser of its own rather than llvm::json, since the latter recurses as deep
// as the input nests, keeps the last of several equal keys without a word, and
// takes 2.0 for an integer.
//
//===----------------------------------------------------------------------===//

#include "SafetensorsHeader.h"

#include "larc/Support/Error.h"
#include "larc/Support/Tensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace larc;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

namespace {

/// Recursive descent over the text of the header. Only values of unknown keys
/// nest, and those no deeper than `maxDepth`.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : text(text) {}

  Error parse(SafetensorsHeader &header);

private:
  static constexpr unsigned maxDepth = 32;
  /// The largest integer below which JSON readers agree about all of them.
  static constexpr uint64_t maxInteger = uint64_t(1) << 53;

  Error parseMetadata(std::map<std::string, std::string> &metadata);
  Error parseEntry(TensorEntry &entry);
  Error parseIntegers(const Twine &what, llvm::SmallVectorImpl<int64_t> &list);
  Error parseInteger(const Twine &what, int64_t &value);
  Error parseString(const Twine &what, std::string &value);
  Error skipValue(unsigned depth);
  Error skipNumber();

  /// Parses `{ "key": value, ... }`. `what` names the object, and `parseValue`
  /// parses the value that follows a key. Equal keys are an error.
  Error parseObject(const Twine &what,
                    llvm::function_ref<Error(std::string key)> parseValue);

  /// Parses `[ value, ... ]`.
  Error parseArray(const Twine &what, llvm::function_ref<Error()> parseValue);

  /// Skips white space, then returns the next character, or 0 at the end. Zero
  /// bytes of the text are no white space and start no value, so that they
  /// cannot be mistaken for the end.
  char peek() {
    while (pos < text.size() && StringRef(" \t\r\n").contains(text[pos]))
      ++pos;
    return pos < text.size() ? text[pos] : 0;
  }
  bool consume(char c) {
    if (peek() != c || pos == text.size())
      return false;
    ++pos;
    return true;
  }
  /// The rest of the text, cut, for messages.
  std::string describeNext() {
    peek();
    if (pos >= text.size())
      return "the end of the header";
    return quoteName(text.substr(pos, 1)) + " at byte " + std::to_string(pos) +
           " of the header";
  }
  Error expected(const Twine &what) {
    return makeFault("expected " + what + ", found " + describeNext());
  }

  StringRef text;
  size_t pos = 0;
};

} // namespace

Error HeaderParser::parseString(const Twine &what, std::string &value) {
  if (!consume('"'))
    return expected(what);
  size_t begin = pos;
  bool escaped = false;
  for (; pos < text.size() && text[pos] != '"'; ++pos) {
    if (text[pos] == '\\') {
      escaped = true;
      ++pos; // The next character, which may be a quote, is part of the string.
    } else if (static_cast<unsigned char>(text[pos]) < 0x20) {
      return makeFault("control character in a string at byte " + Twine(pos) +
                       " of the header");
    }
  }
  if (pos >= text.size())
    return makeFault("string at byte " + Twine(begin - 1) +
                     " of the header does not end");
  StringRef raw = text.slice(begin, pos);
  ++pos;
  if (!escaped) {
    value = raw.str();
    return Error::success();
  }
  llvm::Expected<llvm::json::Value> decoded =
      llvm::json::parse(text.slice(begin - 1, pos));
  if (!decoded) {
    llvm::consumeError(decoded.takeError());
    return makeFault("bad escape sequence in the string at byte " +
                     Twine(begin - 1) + " of the header");
  }
  if (std::optional<StringRef> string = decoded->getAsString())
    value = string->str();
  return Error::success();
}

Error HeaderParser::skipNumber() {
  size_t begin = pos;
  auto digits = [&] {
    size_t first = pos;
    while (pos < text.size() && llvm::isDigit(text[pos]))
      ++pos;
    return pos > first;
  };
  auto accept = [&](StringRef set) {
    bool found = pos < text.size() && set.contains(text[pos]);
    pos += found;
    return found;
  };
  accept("-");
  size_t first = pos;
  bool valid = digits() && (text[first] != '0' || pos == first + 1);
  if (valid && accept("."))
    valid = digits();
  if (valid && accept("eE")) {
    accept("+-");
    valid = digits();
  }
  if (valid)
    return Error::success();
  return makeFault("malformed number at byte " + Twine(begin) +
                   " of the header");
}

Error HeaderParser::parseInteger(const Twine &what, int64_t &value) {
  char next = peek();
  if (next != '-' && !llvm::isDigit(next))
    return expected(what + " to be a non-negative integer");
  size_t begin = pos;
  if (Error error = skipNumber())
    return error;
  StringRef number = text.slice(begin, pos);
  uint64_t integer;
  if (!llvm::all_of(number, llvm::isDigit))
    return makeFault("expected " + what +
                     " to be a non-negative integer, found " +
                     quoteName(number));
  if (number.getAsInteger(10, integer) || integer > maxInteger)
    return makeFault(what + " is " + quoteName(number) + ", more than 2^53");
  value = int64_t(integer);
  return Error::success();
}

Error HeaderParser::parseObject(
    const Twine &what, llvm::function_ref<Error(std::string)> parseValue) {
  std::string name = what.str();
  if (!consume('{'))
    return expected(name + " to be an object");
  if (consume('}'))
    return Error::success();
  llvm::StringSet<> keys;
  do {
    std::string key;
    if (Error error = parseString("a key of " + name, key))
      return error;
    if (!keys.insert(key).second)
      return makeFault(name + " has two entries named " + quoteName(key));
    if (!consume(':'))
      return expected("':' after the key " + quoteName(key));
    if (Error error = parseValue(std::move(key)))
      return error;
  } while (consume(','));
  return consume('}') ? Error::success() : expected("',' or '}' in " + name);
}

Error HeaderParser::parseArray(const Twine &what,
                               llvm::function_ref<Error()> parseValue) {
  std::string name = what.str();
  if (!consume('['))
    return expected(name + " to be a list");
  if (consume(']'))
    return Error::success();
  do {
    if (Error error = parseValue())
      return error;
  } while (consume(','));
  return consume(']') ? Error::success() : expected("',' or ']' in " + name);
}

Error HeaderParser::skipValue(unsigned depth) {
  if (depth > maxDepth)
    return makeFault("header nests deeper than " + Twine(maxDepth) +
                     " levels at byte " + Twine(pos));
  char next = peek();
  if (next == '{')
    return parseObject("an object",
                       [&](std::string) { return skipValue(depth + 1); });
  if (next == '[')
    return parseArray("a list", [&] { return skipValue(depth + 1); });
  if (next == '"') {
    std::string ignored;
    return parseString("a string", ignored);
  }
  if (next == '-' || llvm::isDigit(next))
    return skipNumber();
  for (StringRef literal : {"true", "false", "null"}) {
    if (text.substr(pos).starts_with(literal)) {
      pos += literal.size();
      return Error::success();
    }
  }
  return expected("a value");
}

Error HeaderParser::parseIntegers(const Twine &what,
                                  llvm::SmallVectorImpl<int64_t> &list) {
  std::string name = what.str();
  return parseArray(name, [&]() -> Error {
    int64_t value = 0;
    if (Error error = parseInteger("an element of " + name, value))
      return error;
    list.push_back(value);
    return Error::success();
  });
}

Error HeaderParser::parseMetadata(
    std::map<std::string, std::string> &metadata) {
  return parseObject("'__metadata__'", [&](std::string key) {
    std::string what =
        "the value of " + quoteName(key) + " in '__metadata__' to be a string";
    return parseString(what, metadata[std::move(key)]);
  });
}

Error HeaderParser::parseEntry(TensorEntry &entry) {
  std::string tensor = "tensor " + quoteName(entry.name);
  bool hasType = false, hasShape = false, hasOffsets = false;
  llvm::SmallVector<int64_t, 2> offsets;
  Error error = parseObject(tensor, [&](std::string key) -> Error {
    if (key == "dtype") {
      hasType = true;
      std::string name;
      if (Error error =
              parseString("dtype of " + tensor + " to be a string", name))
        return error;
      std::optional<DType> type = parseFileDType(name);
      if (!type)
        return makeFault(
            tensor + " has dtype " + quoteName(name) +
            ", expected one of F64, F32, F16, BF16, I32, I64, BOOL");
      entry.type = *type;
      return Error::success();
    }
    if (key == "shape") {
      hasShape = true;
      return parseIntegers("shape of " + tensor, entry.shape);
    }
    if (key == "data_offsets") {
      hasOffsets = true;
      return parseIntegers("data_offsets of " + tensor, offsets);
    }
    // Other keys mean nothing, as in the format's own implementation.
    return skipValue(/*depth=*/2);
  });
  if (error)
    return error;
  if (!hasType || !hasShape || !hasOffsets)
    return makeFault(tensor + " has no " +
                     (!hasType    ? "dtype"
                      : !hasShape ? "shape"
                                  : "data_offsets"));
  if (offsets.size() != 2)
    return makeFault("data_offsets of " + tensor + " has " +
                     Twine(offsets.size()) + " elements, expected 2");
  if (offsets[0] > offsets[1])
    return makeFault("data_offsets of " + tensor + " decrease from " +
                     Twine(offsets[0]) + " to " + Twine(offsets[1]));
  entry.begin = offsets[0];
  entry.end = offsets[1];

  llvm::Expected<int64_t> count = countElements(entry.shape);
  int64_t size;
  if (!count)
    return makeFault(tensor + ": " + llvm::toString(count.takeError()));
  if (llvm::MulOverflow(*count, getByteWidth(entry.type), size))
    return makeFault(tensor + " of shape " + formatShape(entry.shape) +
                     " and dtype " + getFileName(entry.type) +
                     " has more bytes than 64 bits can count");
  if (uint64_t(size) != entry.end - entry.begin)
    return makeFault(tensor + " of shape " + formatShape(entry.shape) +
                     " and dtype " + getFileName(entry.type) + " takes " +
                     Twine(size) + " bytes, but its data_offsets " +
                     Twine(entry.begin) + " and " + Twine(entry.end) +
                     " enclose " + Twine(entry.end - entry.begin));
  return Error::success();
}

Error HeaderParser::parse(SafetensorsHeader &header) {
  if (!text.starts_with("{"))
    return expected("the header to start with '{'");
  size_t badByte = 0;
  if (!llvm::json::isUTF8(text, &badByte))
    return makeFault("header is not UTF-8: bad byte " + Twine(badByte));
  if (Error error = parseObject("the header", [&](std::string key) -> Error {
        if (key == "__metadata__")
          return parseMetadata(header.metadata);
        TensorEntry entry;
        entry.name = std::move(key);
        if (Error error = parseEntry(entry))
          return error;
        header.entries.push_back(std::move(entry));
        return Error::success();
      }))
    return error;
  peek();
  return pos == text.size() ? Error::success()
                            : expected("nothing after the object");
}

/// Sorts the entries by offset and checks that they cover the data.
static Error checkCoverage(SafetensorsHeader &header,
                           std::optional<uint64_t> available) {
  llvm::sort(header.entries, [](const TensorEntry &a, const TensorEntry &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t end = 0;
  StringRef previous;
  for (const TensorEntry &entry : header.entries) {
    if (available && entry.end > *available)
      return makeFault("tensor " + quoteName(entry.name) + " ends at byte " +
                           Twine(entry.end) + " of the data, but there are " +
                           Twine(*available) + " bytes",
                       {"the file may be truncated"});
    if (entry.begin < end)
      return makeFault("tensor " + quoteName(entry.name) + " starts at byte " +
                       Twine(entry.begin) + " of the data, but tensor " +
                       quoteName(previous) + " before it ends at byte " +
                       Twine(end));
    if (entry.begin > end)
      return makeFault("bytes " + Twine(end) + " to " + Twine(entry.begin) +
                       " of the data, before tensor " + quoteName(entry.name) +
                       ", belong to no tensor");
    end = entry.end;
    previous = entry.name;
  }
  if (available && end != *available)
    return makeFault("the tensors end at byte " + Twine(end) +
                     " of the data, but there are " + Twine(*available) +
                     " bytes");
  header.dataSize = end;
  return Error::success();
}

llvm::Expected<SafetensorsHeader>
larc::parseSafetensorsHeader(StringRef text,
                             std::optional<uint64_t> available) {
  SafetensorsHeader header;
  if (Error error = HeaderParser(text).parse(header))
    return std::move(error);
  if (Error error = checkCoverage(header, available))
    return std::move(error);
  return header;
}
