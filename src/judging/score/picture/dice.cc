// dice: 3D U-Net's figure, the mean DICE of kidney (1) and tumour (2) over the cases of KiTS19. A
// reply is a case's volume of classes, one number a voxel, as the suite's program packs it: C
// order, of any width that numpy has (uint8 by default). The truth is the case's segmentation, a
// NIfTI file (.nii or .nii.gz) that the column `segmentation` names, relative to the folder that
// extras.folder names, if there is one.
//
// DICE of a class = (2 · both + 1e-6) ÷ (said + true + 1e-6). The first reply of a case counts.
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/base64.h"
#include "base/format.h"
#include "score/picture/nifti.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

constexpr unsigned kClasses = 3;

// The class at `index` of a payload whose numbers are `width` bytes wide; kClasses: none.
unsigned class_at(std::string_view bytes, std::size_t index, std::size_t width) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * width, width);
  if (bits < kClasses) return static_cast<unsigned>(bits);
  // 1.0 and 2.0 as float16, float32 and float64.
  double value = -1;
  if (width == 2) value = bits == 0x3C00 ? 1 : bits == 0x4000 ? 2 : -1;
  if (width == 4) value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (width == 8) value = std::bit_cast<double>(bits);
  return value == 1 || value == 2 ? static_cast<unsigned>(value) : kClasses;
}

class Dice final : public Scorer {
 public:
  explicit Dice(const ScorerOptions& options) : options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "segmentation";
  }

  Result<void> add(const Row& row) override {
    judged_ = {};
    if (!seen_.insert(row.sample).second) return {};
    ASSIGN_OR_RETURN(const std::string name, column_text(row, options_.ground_truth));
    const std::filesystem::path folder(std::string(options_.extra["folder"].as_string()));
    ASSIGN_OR_RETURN(const Volume truth, read_nifti(folder / name));
    std::array<double, 2> dice{};
    if (row.answered) {
      const auto bytes = decode_base64(row.reply);
      if (!bytes) return invalid("the reply is not base64 of a volume");
      ASSIGN_OR_RETURN(dice, dice_of(*bytes, truth));
    }
    kidney_.add(row.sample, dice[0]);
    tumour_.add(row.sample, dice[1]);
    mean_.add(row.sample, (dice[0] + dice[1]) / 2);
    judged_.set("rule", "DICE of kidney and tumour")
        .set("truth", name)
        .set("score", (dice[0] + dice[1]) / 2);
    return {};
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (mean_.samples.empty()) return verdict;
    verdict.score.set("mean_dice", mean_.value())
        .set("kidney", kidney_.value())
        .set("tumor", tumour_.value());
    verdict.figures.push_back(figure_of("mean_dice", std::move(mean_)));
    verdict.figures.push_back(figure_of("kidney", std::move(kidney_)));
    verdict.figures.push_back(figure_of("tumor", std::move(tumour_)));
    return verdict;
  }

 private:
  static Result<std::array<double, 2>> dice_of(std::string_view bytes, const Volume& truth) {
    const std::size_t voxels = truth.classes.size();
    const std::size_t width = bytes.size() / voxels;
    if (bytes.size() % voxels != 0 || !(width == 1 || width == 2 || width == 4 || width == 8)) {
      return invalid(format("the reply has {} bytes, and the segmentation {} × {} × {} voxels",
                            bytes.size(), truth.size[0], truth.size[1], truth.size[2]));
    }
    std::array<std::array<double, kClasses>, 3> count{};  // both, said, true
    std::size_t at = 0;
    for (std::size_t x = 0; x < truth.size[0]; ++x) {
      for (std::size_t y = 0; y < truth.size[1]; ++y) {
        for (std::size_t z = 0; z < truth.size[2]; ++z, ++at) {
          const unsigned said = class_at(bytes, at, width);
          const unsigned real = truth.classes[x + truth.size[0] * (y + truth.size[1] * z)];
          if (said >= kClasses) return invalid(format("voxel {} is not a class from 0 to 2", at));
          if (real >= kClasses) return invalid("the segmentation has a class above 2");
          ++count[1][said];
          ++count[2][real];
          if (said == real) ++count[0][said];
        }
      }
    }
    std::array<double, 2> out{};
    for (unsigned one = 1; one < kClasses; ++one) {
      out[one - 1] = (2 * count[0][one] + 1e-6) / (count[1][one] + count[2][one] + 1e-6);
    }
    return out;
  }

  ScorerOptions options_;
  std::set<std::uint32_t> seen_{};
  Tally mean_{.kind = FigureKind::mean};
  Tally kidney_{.kind = FigureKind::mean};
  Tally tumour_{.kind = FigureKind::mean};
  Json judged_{};
};

}  // namespace

Made make_dice(std::string_view, const ScorerOptions& options) {
  return std::make_unique<Dice>(options);
}

}  // namespace assay::score
