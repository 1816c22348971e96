// What a request of a described kind asks for (domain/described_kind.h): the kind's template, read
// backwards. A value that stands where the template has a slot is the slot's. Only for ask.cc.
//
// Pure; any thread.
#pragma once

#include <string_view>
#include <variant>

#include "domain/described_kind.h"
#include "endpoint/ask.h"

namespace assay::endpoint {

std::variant<std::monostate, ApiError> read_described_ask(const DescribedKind& kind,
                                                          std::string_view body, Ask& ask);

// Whether `path` is the kind's route, below any prefix; `model` is what stands for {model}.
bool is_route_of(const DescribedKind& kind, std::string_view path, std::string_view& model);

}  // namespace assay::endpoint
