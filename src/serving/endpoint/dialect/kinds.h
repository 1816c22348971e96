// The dialects, one a file. Pure; any thread.
#pragma once

#include <memory>

#include "endpoint/dialect/dialect.h"

namespace assay::endpoint {

std::unique_ptr<Dialect> make_responses(const DialectOptions& options);
std::unique_ptr<Dialect> make_messages(const DialectOptions& options);
// `chat`: /api/chat, else /api/generate.
std::unique_ptr<Dialect> make_ollama(const DialectOptions& options, bool chat);
std::unique_ptr<Dialect> make_tensors();
// The same as a framed message of gRPC.
std::unique_ptr<Dialect> make_tensors_grpc();
std::unique_ptr<Dialect> make_videos();
std::unique_ptr<Dialect> make_speech(const DialectOptions& options);
std::unique_ptr<Dialect> make_realtime(const DialectOptions& options);
std::unique_ptr<Dialect> make_transcripts(const DialectOptions& options);
// `kind` must outlive the dialect.
std::unique_ptr<Dialect> make_described(const DescribedKind& kind, const DialectOptions& options);
// Embeddings, rankings, scores, classes and pictures.
std::unique_ptr<Dialect> make_vectors(const DialectOptions& options, Route route);

}  // namespace assay::endpoint
