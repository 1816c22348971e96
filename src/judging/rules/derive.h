// Facts about a tree that several rules need, computed once after reading.
#pragma once

#include "rules/submission.h"

namespace assay::rules {

// Fills every "Derived" field of the tree.
void derive(Submission& tree);

// True for an integer in 1..32.
bool valid_c_min(const Json& value);

// Reads the entries of an accuracy file and records its faults.
void read_accuracy(Accuracy& accuracy);

}  // namespace assay::rules
