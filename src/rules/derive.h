// What several rules need to know of a tree, worked out once after reading.
#pragma once

#include "rules/submission.h"

namespace assay::rules {

// Fills every "Derived" field of the tree.
void derive(Submission& tree);

// The entries of an accuracy file and what is wrong with them.
void read_accuracy(Accuracy& accuracy);

}  // namespace assay::rules
