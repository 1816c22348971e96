// Tensors as rows: NumPy's .npy and .npz files, and rows that name files of tensors.
//
// An array's first dimension counts its rows: row i of float32 (1000, 3, 224, 224) is a tensor FP32
// [1, 3, 224, 224]. Each array of an .npz is one input of the model, by its name there; the one of
// an .npy has the file's stem as its name. An array truth.NAME is no input: it is the rows' column
// NAME, for scorers. `parser` renames them (parser.INPUT=ARRAY). Bools,
// integers, floats (of 2, 4 and 8 bytes, little-endian) and texts (S, U) are read; pickled objects
// never.
//
// A row of another format may name files in its list `inputs`: {"name": "x", "file": "x.npy"},
// which is sent whole, or raw bytes with {"datatype", "shape", "file"}; paths are seen from the
// data set's folder. Errors name the file and what is wrong. Any thread; files are only read.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "dataset/dataset.h"

namespace assay::dataset {

bool is_tensor_format(std::string_view format);  // npy or npz
// REQUIRES: is_tensor_format(format).
Result<Dataset> load_tensors(const Spec& spec, std::string_view format);

// Reads the files that rows name in `inputs` into their attachments.
Result<void> attach_tensor_files(Dataset& dataset, const std::string& path);

// An .npy file's array: the datatype, the whole shape and its bytes.
Result<Attachment> read_npy(std::string_view bytes);

}  // namespace assay::dataset
