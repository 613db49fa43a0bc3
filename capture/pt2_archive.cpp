// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "capture/pt2_archive.h"

#include <fmt/format.h>

#include <algorithm>

#include "capture/torch_save.h"
#include "core/support/error.h"

namespace strata::capture {
namespace {

constexpr const char* kReexport = "export it again with PyTorch 2.9 or later: torch.export.save(program, path)";
constexpr const char* kExport =
    "export the model with PyTorch 2.9 or later: torch.export.save(torch.export.export(model, args), path)";

struct Magic {
  std::string_view bytes;
  size_t offset;
  const char* what;
  const char* hint;
};

const Magic kMagics[] = {
    {std::string_view("\x1f\x8b", 2), 0, "is compressed with gzip", "unpack it first: gunzip"},
    {std::string_view("\x28\xb5\x2f\xfd", 4), 0, "is compressed with zstd", "unpack it first: unzstd"},
    {std::string_view("\xfd"
                      "7zXZ",
                      5),
     0, "is compressed with xz", "unpack it first: unxz"},
    {std::string_view("BZh", 3), 0, "is compressed with bzip2", "unpack it first: bunzip2"},
    {std::string_view("ustar", 5), 257, "is a tar archive", "unpack it first: tar xf"},
    {std::string_view("SQLite format 3", 15), 0, "is an SQLite database (a trace?), not an exported program",
     "open a trace with 'strata view' or 'strata graphs'"},
    {std::string_view("\x93NUMPY", 6), 0, "is a NumPy array, not an exported program", "give it as --input"},
    {std::string_view("GGUF", 4), 0, "is a GGUF file: weights without a program", kExport},
    {std::string_view("\x89HDF", 4), 0, "is an HDF5 file", kExport},
    {std::string_view("ET12", 4), 4, "is an ExecuTorch program", kExport},
    {std::string_view("\x80\x02\x8a\x0al\xfc", 6), 0, "was written by torch.save of PyTorch 1.5 or older", kExport},
    {std::string_view("\x80", 1), 0, "is a Python pickle, not an exported program", kExport},
};

bool looks_like_safetensors(std::string_view text) {
  if (text.size() < 10 || text[8] != '{') return false;
  uint64_t header = 0;
  for (int i = 7; i >= 0; --i) header = header << 8 | static_cast<unsigned char>(text[static_cast<size_t>(i)]);
  return header <= text.size() - 8;
}

/// A protobuf whose first field is ONNX's ir_version, followed by a producer, opset or graph.
bool looks_like_onnx(std::string_view text) {
  return text.size() > 4 && text[0] == 0x08 && text[1] > 0 && text[1] < 32 &&
         (text[2] == 0x12 || text[2] == 0x3a || text[2] == 0x42);
}

bool any(const std::vector<std::string>& names, auto&& predicate) {
  return std::any_of(names.begin(), names.end(), predicate);
}

/// Archives that are no exported program of the layout read here: an error for each known kind.
[[noreturn]] void refuse_layout(const std::string& name, const std::vector<std::string>& names) {
  const auto has = [&](std::string_view end) {
    return any(names, [&](const std::string& n) {
      return n == end || (n.size() > end.size() && n.ends_with(end) && n[n.size() - end.size() - 1] == '/');
    });
  };
  const auto holds = [&](std::string_view part) {
    return any(names, [&](const std::string& n) { return n.find(part) != std::string::npos; });
  };
  if (has("serialized_exported_program.json"))
    throw_user(fmt::format("'{}' is an exported program of PyTorch 2.7 or older", name), kReexport);
  if (holds("data/aotinductor/"))
    throw_user(fmt::format("'{}' is a package of AOTInductor: compiled code without the program", name), kExport);
  if (has("archive_format"))
    throw_user(fmt::format("'{}' is an archive without a program: writing it did not finish", name), kExport);
  if (has("constants.pkl") && holds("code/")) throw_user(fmt::format("'{}' is a TorchScript archive", name), kExport);
  if (has("MAR-INF/MANIFEST.json")) throw_user(fmt::format("'{}' is a model archive of TorchServe", name), kExport);
  if (has("data.pkl"))
    throw_user(fmt::format("'{}' was written by torch.save: weights or a pickled module without a program", name),
               kExport);
  throw_user(fmt::format("'{}' is a zip archive, but holds no exported program (no 'models/' in its {} members)", name,
                         names.size()),
             kExport);
}

std::vector<int64_t> ints(const Json& json) {
  std::vector<int64_t> result;
  for (const Json& item : json.array()) {
    const auto [key, value] = json_union(item);
    result.push_back(value.integer());
  }
  return result;
}

size_t swap_size(DType dtype) { return is_complex(dtype) ? dtype_size(dtype) / 2 : dtype_size(dtype); }

/// `<top>` of `<top>models/<model>.json`; sets `models` to what is there.
std::string find_models(const std::vector<std::string>& names, std::vector<std::string>& models) {
  constexpr std::string_view kFolder = "models/", kEnd = ".json";
  std::string top;
  for (const std::string& n : names) {
    const size_t slash = n.find('/');
    const size_t at = n.starts_with(kFolder) ? 0 : slash == std::string::npos ? std::string::npos : slash + 1;
    if (at == std::string::npos || n.compare(at, kFolder.size(), kFolder) != 0 || !n.ends_with(kEnd)) continue;
    const size_t begin = at + kFolder.size();
    if (n.size() <= begin + kEnd.size()) continue;
    if (models.empty()) top = n.substr(0, at);
    if (n.compare(0, at, top) == 0) models.push_back(n.substr(begin, n.size() - begin - kEnd.size()));
  }
  return top;
}

std::string choose_model(const std::string& name, const std::vector<std::string>& models, std::string_view wanted) {
  if (wanted.empty() && models.size() == 1) return models[0];
  const std::string_view look_for = wanted.empty() ? "model" : wanted;
  if (std::find(models.begin(), models.end(), look_for) != models.end()) return std::string(look_for);
  if (wanted.empty())
    throw_user(fmt::format("'{}' holds {} programs; say which", name, models.size()),
               fmt::format("one of: {}", fmt::join(models, ", ")));
  throw_user(fmt::format("'{}' holds no program '{}'", name, wanted), suggest(wanted, models));
}

}  // namespace

void require_zip(const Bytes& bytes, const std::string& name) {
  const std::string_view text = bytes.text();
  if (text.empty()) throw_user(fmt::format("'{}' is empty", name), kExport);
  if (ZipArchive::looks_like_zip(bytes.data)) return;
  for (const Magic& magic : kMagics)
    if (text.size() >= magic.offset + magic.bytes.size() &&
        text.compare(magic.offset, magic.bytes.size(), magic.bytes) == 0)
      throw_user(fmt::format("'{}' {}", name, magic.what), magic.hint);
  if (looks_like_safetensors(text))
    throw_user(fmt::format("'{}' is a safetensors file: weights without a program", name), kExport);
  if (looks_like_onnx(text)) throw_user(fmt::format("'{}' is an ONNX model", name), kExport);
  throw_user(
      fmt::format("'{}' is not an exported program: expected a zip archive as torch.export.save writes it", name),
      kExport);
}

std::optional<DType> pt2_dtype(int64_t scalar_type) {
  static const std::map<int64_t, DType> kTypes = {
      {1, DType::U8},          {2, DType::I8},          {3, DType::I16},        {4, DType::I32},
      {5, DType::I64},         {6, DType::F16},         {7, DType::F32},        {8, DType::F64},
      {9, DType::C32},         {10, DType::C64},        {11, DType::C128},      {12, DType::Bool},
      {13, DType::BF16},       {28, DType::U16},        {29, DType::F8E4M3FN},  {30, DType::F8E5M2},
      {31, DType::F8E4M3FNUZ}, {32, DType::F8E5M2FNUZ}, {33, DType::F8E8M0FNU}, {34, DType::U32},
      {35, DType::U64}};
  const auto it = kTypes.find(scalar_type);
  return it == kTypes.end() ? std::nullopt : std::optional(it->second);
}

JsonUnion json_union(const Json& json) {
  const std::pair<std::string, Json>* chosen = nullptr;
  const JsonObject& members = json.object();
  for (const auto& member : members) {
    if (member.second.is_null()) continue;
    if (chosen) throw JsonTypeError(&json, fmt::format("expected one of '{}' and '{}'", chosen->first, member.first));
    chosen = &member;
  }
  if (!chosen && members.size() == 1) chosen = &members[0];
  if (!chosen) throw JsonTypeError(&json, "expected an object with one key, found " + describe(json));
  return {chosen->first, chosen->second};
}

void throw_json_error(const Json& document, const std::string& name, const JsonTypeError& error) {
  const std::string path = json_path(document, error.where);
  throw_user(fmt::format("'{}': {}{}{}", name, path, path.empty() ? "" : ": ", error.message),
             "the file is damaged or of an unknown version");
}

Pt2Archive::Pt2Archive(Bytes bytes, const std::string& name, std::string_view model)
    : zip_((require_zip(bytes, name), std::move(bytes)), name) {
  const auto names = zip_.names();
  std::vector<std::string> models;
  top_ = find_models(names, models);
  if (models.empty()) refuse_layout(name, names);
  model_ = choose_model(name, models, model);
  const std::string config = top_ + "data/weights/" + model_ + "_weights_config.json";
  if (!zip_.contains(config)) {
    const Json program = parse_json(this->program().text(), name + ":models/" + model_ + ".json");
    if (zip_.contains(top_ + "data/weights/" + model_ + ".pt") || program.find("tensor_paths"))
      throw_user(fmt::format("'{}' is an exported program of PyTorch 2.8", name), kReexport);
    throw_user(fmt::format("'{}': '{}' is missing", name, config), "the archive is incomplete; export it again");
  }
  if (const auto order = zip_.find(top_ + "byteorder")) {
    if (!order->text().starts_with("little") && !order->text().starts_with("big"))
      throw_user(fmt::format("'{}': byteorder is neither 'little' nor 'big'", name));
    big_endian_ = order->text().starts_with("big");
  }
}

Bytes Pt2Archive::sample_inputs() const {
  return zip_.find(top_ + "data/sample_inputs/" + model_ + ".pt").value_or(Bytes{});
}

Pt2State Pt2Archive::state() const {
  Pt2State state;
  std::map<std::pair<std::string, size_t>, std::shared_ptr<Storage>> storages;
  read_config(top_ + "data/weights/", model_ + "_weights_config.json", state, storages);
  read_config(top_ + "data/constants/", model_ + "_constants_config.json", state, storages);
  return state;
}

void Pt2Archive::read_config(const std::string& folder, const std::string& config, Pt2State& state,
                             std::map<std::pair<std::string, size_t>, std::shared_ptr<Storage>>& storages) const {
  const auto text = zip_.find(folder + config);
  if (!text) return;  // no constants: some writers leave the file out
  const std::string file = name() + ":" + folder + config;
  const auto read_tensor = [&](const std::string& fqn, const std::string& path, const Json& meta) {
    const std::string what = fmt::format("'{}': tensor '{}'", name(), fqn);
    const auto dtype = pt2_dtype(meta.at("dtype").integer());
    if (!dtype)
      throw JsonTypeError(&meta.at("dtype"),
                          fmt::format("element type {} of '{}' is unknown", meta.at("dtype").integer(), fqn));
    const Bytes raw = zip_.read(path);
    auto& storage = storages[{path, big_endian_ ? swap_size(*dtype) : 1}];
    if (!storage) storage = make_storage(big_endian_ ? swap_bytes(raw.data, *dtype) : raw);
    auto shape = ints(meta.at("sizes"));
    if (raw.size() == 0 && std::find(shape.begin(), shape.end(), 0) == shape.end())
      throw_user(what + " has no data in the archive",
                 "it was exported from fake tensors; export it with real weights");
    const Json* offset = meta.find("storage_offset");
    return make_view(storage, *dtype, std::move(shape), ints(meta.at("strides")),
                     offset ? json_union(*offset).value.integer() : 0, what);
  };
  const auto read_entry = [&](const std::string& fqn, const Json& entry) {
    const std::string path = folder + entry.at("path_name").string();
    const Json* meta = entry.find("tensor_meta");
    const Json* pickled = entry.find("use_pickle");
    if (!meta) {
      state.others[fqn] = "it is a Python or TorchScript object";
    } else if (pickled && pickled->boolean()) {
      TorchSaveFile inner(zip_.read(path), name() + ":" + path);
      if (auto tensor = inner.tensor(inner.root()))
        state.tensors[fqn] = *std::move(tensor);
      else
        state.others[fqn] = "it is a tensor subclass";
    } else if (const Json* layout = meta->find("layout"); layout && layout->integer() != 7) {
      state.others[fqn] = "it is a sparse tensor";
    } else {
      state.tensors[fqn] = read_tensor(fqn, path, *meta);
    }
  };
  with_json(parse_json(text->text(), file), file, [&](const Json& document) {
    for (const auto& [fqn, entry] : document.at("config").object()) read_entry(fqn, entry);
  });
}

}  // namespace strata::capture
