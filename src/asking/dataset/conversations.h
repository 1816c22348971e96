// Conversations to replay, turn by turn: the reference client's agentic dataset. JSON lines, one
// row a message, the rows of a conversation together and in order of `turn`:
//
//   {"conversation_id": "c1", "turn": 1, "role": "user", "content": "…", "system": "…"}
//   {"conversation_id": "c1", "turn": 2, "role": "assistant", "tool_calls": […]}
//   {"conversation_id": "c1", "turn": 3, "role": "tool", "tool_results": [{"tool_call_id",
//   "content"}]}
//
// Each row of a user or a tool becomes a sample that asks the whole recorded history up to it: what
// the model says now is compared and never fed back. What was recorded next is the sample's column
// `expected`. A row's own generation values win over the run's; the first user row's model, tools
// and output limit count for all turns of its conversation.
//
// Memory grows with the square of a conversation's length, since every turn holds its history; a
// file whose histories come to more than 8 GiB is refused.
// docs/formats/dataset.md.
#pragma once

#include "base/result.h"
#include "dataset/chunks.h"
#include "dataset/dataset.h"
#include "domain/sample.h"

namespace assay::dataset {

Result<Dataset> load_conversations(const Spec& spec);
// The same of bytes that are at hand.
Result<Dataset> read_conversations(const Spec& spec, Chunks chunks);

}  // namespace assay::dataset
