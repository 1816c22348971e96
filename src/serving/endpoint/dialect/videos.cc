// trtllm-serve's videos, as the reference client asks for them: the path of a video, or its bytes,
// which are the beginning of an MP4.
#include <string_view>

#include "base/base64.h"
#include "base/format.h"
#include "endpoint/dialect/kinds.h"
#include "endpoint/dialect/whole.h"

namespace assay::endpoint {
namespace {

class Videos final : public Whole {
 public:
  std::string plain(const ReplyState& state, const DialectState& own,
                    const Wire::Plain&) const override {
    const std::string id = format("video_{:016x}", state.id);
    if (own.vectors.addresses) {
      return format(R"({{"video_id":"{0}","video_path":"/videos/{0}.mp4"}})", id);
    }
    constexpr std::string_view kBeginning(
        "\0\0\0\x10"
        "ftypisom\0\0\0\0",
        16);
    return format(R"({{"video_id":"{}","video_bytes":"{}"}})", id, encode_base64(kBeginning));
  }
};

}  // namespace

std::unique_ptr<Dialect> make_videos() { return std::make_unique<Videos>(); }

}  // namespace assay::endpoint
