// Is an answer the true one, by a rule of a task? The comparisons of two texts; instructions and
// code are judged elsewhere. Pure; any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "task/task.h"

namespace assay::score {

// REQUIRES: rule.metric is not instructions or code. Fails if the truth can't be one: a choice that
// is no letter and no index, a number that is none.
Result<bool> is_true_answer(const task::Rule& rule, const std::string& answer,
                            const std::string& truth);

}  // namespace assay::score
