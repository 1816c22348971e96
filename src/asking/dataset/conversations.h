// Conversations to replay, turn by turn: the reference client's agentic dataset. JSON lines, one
// row a message, the rows of a conversation together and in order of `turn`:
//
//   {"conversation_id": "c1", "turn": 1, "role": "user", "content": "…", "system": "…"}
//   {"conversation_id": "c1", "turn": 2, "role": "assistant", "tool_calls": […]}
//   {"conversation_id": "c1", "turn": 3, "role": "tool", "tool_results": [{"tool_call_id",
//   "content"}]}
//
// Where the kind of API hears sounds, a user's row may have one, `audio`, a file beside the data
// set's: it is sent in place of the content, which is its transcript and stands in the histories of
// later turns.
//
// Each row of a user or a tool becomes a sample that asks the whole recorded history up to it. The
// model's new reply is compared and never fed back. The sample's column `expected` holds the row
// that was recorded next. A row's own generation values replace the run's; the first user row's
// model, tools and output limit count for all turns of its conversation.
//
// Memory grows with the square of a conversation's length, since every turn holds its history. A
// file with more than 8 GiB of histories is refused.
// docs/formats/dataset.md.
#pragma once

#include "base/result.h"
#include "dataset/chunks.h"
#include "dataset/dataset.h"
#include "domain/sample.h"

namespace assay::dataset {

Result<Dataset> load_conversations(const Spec& spec);
// Reads the same format from bytes in memory.
Result<Dataset> read_conversations(const Spec& spec, Chunks chunks);

}  // namespace assay::dataset
