#include "endpoint/dialect/dialect.h"

#include "base/check.h"
#include "endpoint/dialect/kinds.h"

namespace assay::endpoint {

std::unique_ptr<Dialect> make_dialect(Route route, const DialectOptions& options) {
  switch (route) {
    case Route::chat:
    case Route::completions:
    case Route::generate:
      return nullptr;
    case Route::responses:
      return make_responses(options);
    case Route::messages:
      return make_messages(options);
    case Route::ollama_chat:
      return make_ollama(options, true);
    case Route::ollama_generate:
      return make_ollama(options, false);
    case Route::embeddings:
    case Route::rerank:
    case Route::score:
    case Route::classify:
    case Route::images:
      return make_vectors(options, route);
    case Route::image_edits:
      return make_vectors(options, Route::images);
    case Route::kserve:
      return make_tensors();
    case Route::kserve_grpc:
      return make_tensors_grpc();
    case Route::videos:
    case Route::video_jobs:  // its replies are of the job (worker_jobs.cc)
      return make_videos();
    case Route::transcriptions:
    case Route::translations:
      return make_transcripts(options);
    case Route::speech:
      return make_speech(options);
    case Route::realtime:
      return make_realtime(options);
    case Route::described:
    case Route::described_units:
      CHECK(options.described != nullptr);
      return make_described(*options.described, options);
  }
  return nullptr;
}

}  // namespace assay::endpoint
