// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
/// `strata cache`: what compiles keep on disk for later processes.

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/json_text.h"
#include "codegen/object_cache.h"
#include "core/support/error.h"

namespace strata::cli {
namespace {

struct CacheOptions {
  std::string action = "show";
  bool json = false;
};

double mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

void show(const codegen::ObjectCache& cache, bool as_json) {
  const codegen::ObjectCache::Contents c = cache.contents();
  if (as_json) {
    print(to_text(Json{JsonObject{{"folder", json(cache.folder().string())},
                                  {"on", json(cache.is_on())},
                                  {"why_off", json(cache.why_off())},
                                  {"entries", json(c.entries)},
                                  {"bytes", json(c.bytes)},
                                  {"limit", json(c.limit)}}}));
  } else if (!cache.is_on()) {
    print(fmt::format("the cache is off: {}\n", cache.why_off()));
  } else {
    print(fmt::format("{}\n{} entries, {:.1f} MiB of at most {:.0f} MiB\n", cache.folder().string(), c.entries,
                      mebibytes(c.bytes), mebibytes(c.limit)));
  }
}

void clear(const codegen::ObjectCache& cache, bool as_json) {
  if (!cache.is_on()) throw_user("there is no cache to clear: " + cache.why_off());
  const size_t removed = cache.clear();
  if (as_json)
    print(to_text(Json{JsonObject{{"folder", json(cache.folder().string())}, {"removed", json(removed)}}}));
  else
    print(fmt::format("{}\nremoved {} entries\n", cache.folder().string(), removed));
}

void run_cache(const CacheOptions& o) {
  check_word("action", o.action, {"show", "clear"});
  const auto cache = codegen::ObjectCache::from_environment();
  o.action == "clear" ? clear(cache, o.json) : show(cache, o.json);
}

}  // namespace

void add_cache(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand("cache", "what compiles keep on disk: kernels and measurements");
  auto options = std::make_shared<CacheOptions>();
  command->add_option("ACTION", options->action, "show (default) or clear");
  command->add_flag("--json", options->json, "results as JSON");
  command->callback([options] { run_cache(*options); });
}

}  // namespace strata::cli
