// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "app/draw/text_metrics.h"

#include <array>
#include <vector>

namespace strata::draw {
namespace {

// Thousandths of the font size, characters 32 to 126.
constexpr std::array<int, 95> kRegular = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr std::array<int, 95> kBold = {
    348, 456,  521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415,  380, 365, 696, 696,  696,
    696, 696,  696, 696, 696, 696,  696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830,  683,
    683, 821,  837, 372, 372, 775,  637, 995, 837, 850, 733, 850, 770, 720,  682, 812, 774, 1103, 771,
    724, 725,  457, 365, 457, 838,  500, 500, 675, 716, 593, 716, 678, 435,  716, 712, 343, 343,  665,
    343, 1042, 712, 687, 716, 716,  493, 595, 478, 712, 652, 924, 645, 652,  582, 712, 365, 712,  838};
constexpr int kOther = 974;

bool continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

int unit_width(char c, const std::array<int, 95>& table) {
  if (continuation(c)) return 0;
  auto u = static_cast<unsigned char>(c);
  return u >= 32 && u < 127 ? table[u - 32] : kOther;
}

}  // namespace

double text_width(std::string_view text, double size, bool bold) {
  const auto& table = bold ? kBold : kRegular;
  long sum = 0;
  for (char c : text) sum += unit_width(c, table);
  return static_cast<double>(sum) * size / 1000;
}

std::string elide(std::string_view text, double width, double size, bool bold) {
  if (text_width(text, size, bold) <= width) return std::string(text);
  std::vector<size_t> starts;
  for (size_t i = 0; i < text.size(); ++i)
    if (!continuation(text[i])) starts.push_back(i);
  starts.push_back(text.size());
  size_t count = starts.size() - 1;
  auto kept = [&](size_t n) {
    size_t tail = n / 3, head = n - tail;
    return std::string(text.substr(0, starts[head])) + "…" + std::string(text.substr(starts[count - tail]));
  };
  size_t low = 0, high = count;  // widths grow with n, so the largest n that fits is found by halving
  while (low + 1 < high) {
    size_t middle = (low + high) / 2;
    (text_width(kept(middle), size, bold) <= width ? low : high) = middle;
  }
  return kept(low);
}

}  // namespace strata::draw
