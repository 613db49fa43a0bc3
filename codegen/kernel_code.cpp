// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "codegen/kernel_code.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <type_traits>

#include "codegen/math_symbol.h"
#include "core/support/error.h"

namespace strata::codegen {
namespace {

// ------------------------------------------------------------------------------------------------------------- objects

constexpr size_t kStub = 8, kSlot = 8;  // a jump through a slot (6 bytes), and the slot

/// Reads an object; everything in it is checked, for it says where to write.
class ObjectReader {
 public:
  ObjectReader(std::span<const char> object, const std::string& symbol) : object_(object), symbol_(symbol) {
    header_ = read<Elf64_Ehdr>(0);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_machine != EM_X86_64)
      fail("it is not an x86-64 object");
    for (size_t i = 0; i < header_.e_shnum; ++i) {
      sections_.push_back(read<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
      if (sections_.back().sh_type == SHT_SYMTAB) symbols_ = i;
    }
    places_.resize(sections_.size());
  }

  KernelCode link() {
    code_.symbol = symbol_;
    place_sections();
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != SHT_RELA || s.sh_info >= sections_.size() || !places_[s.sh_info]) continue;
      for (size_t at = 0; at + sizeof(Elf64_Rela) <= s.sh_size; at += sizeof(Elf64_Rela))
        relocate(read<Elf64_Rela>(s.sh_offset + at), s.sh_info);
    }
    find_entry();
    return std::move(code_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw_internal("cannot link kernel '" + symbol_ + "': " + what);
  }

  std::span<const char> bytes(size_t offset, size_t size) const {
    if (offset > object_.size() || size > object_.size() - offset) fail("its object ends too early");
    return object_.subspan(offset, size);
  }
  template <class T>
  T read(size_t offset) const {
    T value;
    std::memcpy(&value, bytes(offset, sizeof value).data(), sizeof value);
    return value;
  }
  const Elf64_Shdr& section(size_t i) const {
    if (i >= sections_.size()) fail(fmt::format("it has no section {}", i));
    return sections_[i];
  }
  Elf64_Sym symbol(size_t i) const { return read<Elf64_Sym>(section(symbols_).sh_offset + i * sizeof(Elf64_Sym)); }
  std::string name_of(const Elf64_Sym& s) const {
    const Elf64_Shdr& names = section(section(symbols_).sh_link);
    if (s.st_name >= names.sh_size) fail("a symbol's name lies outside");
    const auto rest = bytes(names.sh_offset + s.st_name, names.sh_size - s.st_name);
    return {rest.data(), strnlen(rest.data(), rest.size())};
  }

  /// Code and constants, one after the other. Tables for unwinding stay out: nothing throws through a kernel.
  void place_sections() {
    for (size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& s = sections_[i];
      const bool kept = (s.sh_flags & SHF_ALLOC) && s.sh_type == SHT_PROGBITS && s.sh_size > 0;
      if (!kept || section_name(s) == ".eh_frame") continue;
      if (s.sh_flags & SHF_WRITE) fail("it has variables");
      const size_t align = std::max<size_t>(s.sh_addralign, 1);
      if (align > 4096 || (align & (align - 1)) != 0) fail("a section has an odd alignment");
      code_.alignment = std::max(code_.alignment, static_cast<uint32_t>(align));
      places_[i] = (code_.image.size() + align - 1) / align * align;
      const auto content = bytes(s.sh_offset, s.sh_size);
      code_.image.resize(*places_[i] + content.size());
      std::memcpy(code_.image.data() + *places_[i], content.data(), content.size());
    }
  }
  std::string section_name(const Elf64_Shdr& s) const {
    const Elf64_Shdr& names = section(header_.e_shstrndx);
    if (s.sh_name >= names.sh_size) fail("a section's name lies outside");
    const auto rest = bytes(names.sh_offset + s.sh_name, names.sh_size - s.sh_name);
    return {rest.data(), strnlen(rest.data(), rest.size())};
  }

  size_t grow(size_t size) {
    const size_t at = (code_.image.size() + 7) / 8 * 8;
    code_.image.resize(at + size);
    return at;
  }

  /// Where the address of a function of another library will stand.
  size_t import_slot(const std::string& name) {
    const auto [it, is_new] = slots_.emplace(name, 0);
    if (!is_new) return it->second;
    it->second = grow(kSlot);
    code_.imports.emplace_back(static_cast<uint32_t>(it->second), name);
    return it->second;
  }
  /// Code that jumps there, for calls.
  size_t import_stub(const std::string& name) {
    const auto [it, is_new] = stubs_.emplace(name, 0);
    if (!is_new) return it->second;
    const size_t slot = import_slot(name), at = grow(kStub);
    const auto distance = static_cast<int32_t>(static_cast<int64_t>(slot) - static_cast<int64_t>(at + 6));
    const unsigned char jump[2] = {0xff, 0x25};  // jmp *distance(%rip)
    std::memcpy(code_.image.data() + at, jump, 2);
    std::memcpy(code_.image.data() + at + 2, &distance, 4);
    it->second = at;
    return at;
  }

  void relocate(const Elf64_Rela& r, size_t in) {
    const Elf64_Sym s = symbol(ELF64_R_SYM(r.r_info));
    const auto type = ELF64_R_TYPE(r.r_info);
    const size_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
    if (r.r_offset > section(in).sh_size || section(in).sh_size - r.r_offset < width) fail("a relocation lies outside");
    const size_t at = *places_[in] + r.r_offset;
    const bool known = s.st_shndx != SHN_UNDEF;
    std::optional<size_t> inside;
    if (known) {
      if (s.st_shndx >= sections_.size() || !places_[s.st_shndx]) fail("a relocation leads out of the code");
      inside = *places_[s.st_shndx] + s.st_value;
    }
    switch (type) {
      case R_X86_64_PC32:
      case R_X86_64_PLT32:
        return put_distance(at, inside ? *inside : import_stub(name_of(s)), r.r_addend, 4);
      case R_X86_64_PC64:
        if (!inside) fail("it reads from another library");
        return put_distance(at, *inside, r.r_addend, 8);
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
        return put_distance(at, inside ? own_slot(*inside) : import_slot(name_of(s)), r.r_addend, 4);
      case R_X86_64_64:
        if (!inside) fail("it holds the address of '" + name_of(s) + "'");
        return put_base(at, static_cast<int64_t>(*inside) + r.r_addend);
      default:
        fail(fmt::format("relocation {} is unknown", type));
    }
  }

  void put_distance(size_t at, size_t target, int64_t addend, size_t width) {
    const int64_t distance = static_cast<int64_t>(target) + addend - static_cast<int64_t>(at);
    if (width == 4 && (distance > INT32_MAX || distance < INT32_MIN)) fail("it is too large");
    std::memcpy(code_.image.data() + at, &distance, width);  // little endian: the low bytes come first
  }
  void put_base(size_t at, int64_t value) {
    std::memcpy(code_.image.data() + at, &value, 8);
    code_.bases.push_back(static_cast<uint32_t>(at));
  }
  size_t own_slot(size_t target) {
    const size_t at = grow(kSlot);
    put_base(at, static_cast<int64_t>(target));
    return at;
  }

  void find_entry() {
    const size_t count = section(symbols_).sh_size / sizeof(Elf64_Sym);
    for (size_t i = 0; i < count; ++i) {
      const Elf64_Sym s = symbol(i);
      if (s.st_shndx == SHN_UNDEF || s.st_shndx >= sections_.size() || !places_[s.st_shndx]) continue;
      if (name_of(s) != symbol_) continue;
      code_.entry = static_cast<uint32_t>(*places_[s.st_shndx] + s.st_value);
      return;
    }
    fail("its object has no such function");
  }

  std::span<const char> object_;
  const std::string& symbol_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
  size_t symbols_ = 0;
  std::vector<std::optional<size_t>> places_;  // of sections in the image
  std::map<std::string, size_t> slots_, stubs_;
  KernelCode code_;
};

// ----------------------------------------------------------------------------------------------------------- flat form

class Packer {
 public:
  void number(uint64_t v) {
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>(v >> (8 * i)));
  }
  void bytes(const void* data, size_t size) {
    number(size);
    const auto* p = static_cast<const std::byte*>(data);
    out.insert(out.end(), p, p + size);
  }
  void text(const std::string& s) { bytes(s.data(), s.size()); }
  std::vector<std::byte> out;
};

/// After the first wrong number everything reads as zero, and `good` is false.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> data) : rest_(data) {}
  uint64_t number() {
    if (rest_.size() < 8) return fail();
    uint64_t v = 0;
    for (int i = 0; i < 8; ++i) v |= std::to_integer<uint64_t>(rest_[i]) << (8 * i);
    rest_ = rest_.subspan(8);
    return v;
  }
  uint32_t small() {
    const uint64_t v = number();
    return static_cast<uint32_t>(v <= UINT32_MAX ? v : fail());
  }
  /// A count of things that take at least `each` bytes.
  size_t count(size_t each) {
    const uint64_t n = number();
    return n <= rest_.size() / each ? n : fail();
  }
  std::span<const std::byte> bytes() {
    const size_t n = count(1);
    const auto taken = rest_.first(n);
    rest_ = rest_.subspan(n);
    return taken;
  }
  std::string text() {
    const auto b = bytes();
    return {reinterpret_cast<const char*>(b.data()), b.size()};
  }
  bool good() const { return good_; }
  bool done() const { return good_ && rest_.empty(); }

 private:
  uint64_t fail() {
    good_ = false;
    rest_ = {};
    return 0;
  }
  std::span<const std::byte> rest_;
  bool good_ = true;
};

bool is_sound(const KernelCode& c) {
  const auto holds = [&](uint32_t at) { return c.image.size() >= 8 && at <= c.image.size() - 8; };
  const bool aligned = c.alignment >= 1 && c.alignment <= 4096 && (c.alignment & (c.alignment - 1)) == 0;
  return aligned && c.entry < c.image.size() && std::all_of(c.bases.begin(), c.bases.end(), holds) &&
         std::all_of(c.imports.begin(), c.imports.end(), [&](const auto& i) { return holds(i.first); });
}

void pack_text(Packer& p, const KernelText& t) {
  p.text(t.kind);
  p.text(t.text);
  p.number(t.lines.size());
  for (const auto& entries : t.lines) {
    p.number(entries.size());
    for (uint32_t e : entries) p.number(e);
  }
}

KernelText unpack_text(Unpacker& u) {
  KernelText t{u.text(), u.text(), {}};
  t.lines.resize(u.count(8));
  for (auto& entries : t.lines) {
    entries.resize(u.count(8));
    for (uint32_t& e : entries) e = u.small();
  }
  return t;
}

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace

KernelCode link_image(std::span<const char> object, const std::string& symbol) {
  return ObjectReader(object, symbol).link();
}

std::vector<std::byte> pack_code(const KernelCode& code) {
  Packer p;
  p.text(code.symbol);
  p.bytes(code.image.data(), code.image.size());
  p.number(code.alignment);
  p.number(code.entry);
  p.number(code.imports.size());
  for (const auto& [at, name] : code.imports) {
    p.number(at);
    p.text(name);
  }
  p.number(code.bases.size());
  for (uint32_t at : code.bases) p.number(at);
  p.number(code.texts.size());
  for (const KernelText& t : code.texts) pack_text(p, t);
  return std::move(p.out);
}

bool unpack_code(std::span<const std::byte> data, KernelCode& code) {
  Unpacker u(data);
  code = {};
  code.symbol = u.text();
  const auto image = u.bytes();
  code.image.assign(image.begin(), image.end());
  code.alignment = u.small();
  code.entry = u.small();
  for (size_t n = u.count(16); n > 0 && u.good(); --n) {
    const uint32_t at = u.small();
    code.imports.emplace_back(at, u.text());
  }
  for (size_t n = u.count(8); n > 0 && u.good(); --n) code.bases.push_back(u.small());
  for (size_t n = u.count(24); n > 0 && u.good(); --n) code.texts.push_back(unpack_text(u));
  return u.done() && is_sound(code);
}

bool LoadedCode::can_load(const KernelCode& code) {
  return std::all_of(code.imports.begin(), code.imports.end(), [](const auto& i) { return math_symbol(i.second); });
}

LoadedCode::LoadedCode(std::span<const KernelCode> codes) {
  std::vector<size_t> places;
  for (const KernelCode& c : codes) {
    if (!is_sound(c)) throw_internal("the code of kernel '" + c.symbol + "' is malformed");
    places.push_back(round_up(size_, c.alignment));
    size_ = places.back() + c.image.size();
  }
  size_ = round_up(std::max<size_t>(size_, 1), static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  for (const KernelCode& c : codes) {
    for (const auto& [at, name] : c.imports) {
      if (!math_symbol(name))
        throw_runtime("generated code needs the function '" + name + "', which this system does not have");
    }
  }
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw_runtime(fmt::format("no memory for {} bytes of code: {}", size_, std::strerror(errno)));
  memory_ = static_cast<std::byte*>(memory);
  for (size_t i = 0; i < codes.size(); ++i) {
    const KernelCode& c = codes[i];
    std::byte* const at = memory_ + places[i];
    std::copy(c.image.begin(), c.image.end(), at);
    for (uint32_t base : c.bases) {
      uint64_t value;
      std::memcpy(&value, at + base, 8);
      value += reinterpret_cast<uint64_t>(at);
      std::memcpy(at + base, &value, 8);
    }
    for (const auto& [slot, name] : c.imports) {
      void* const address = math_symbol(name);
      std::memcpy(at + slot, &address, 8);
    }
    functions_.push_back(at + c.entry);
  }
  if (mprotect(memory_, size_, PROT_READ | PROT_EXEC) == 0) return;
  const int error = errno;
  munmap(memory_, size_);
  throw_runtime(fmt::format("this system does not let generated code run: {}", std::strerror(error)));
}

LoadedCode::~LoadedCode() {
  if (memory_) munmap(memory_, size_);
}

}  // namespace strata::codegen
