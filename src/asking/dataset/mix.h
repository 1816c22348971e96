// A mix of traffic classes as a synthetic dataset (domain/traffic_class.h): each row has the class
// that its number gives it, with that class's lengths, shared prefixes, model and fields of the
// request. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "dataset/dataset.h"
#include "domain/traffic_class.h"

namespace assay::dataset {

// "chat,share=0.7,isl=200,osl=100,prefix=1000x4,model=m-lora,priority=1,slo=ttft<=500ms&tpot<=20ms,
// body.user=a": the name first, then what differs from the run's own. Lengths with a comma are
// written with a slash: lognormal:512/0.5. image=512x512, audio=5s and video=64x64x16 (media.h) put
// noise of that size beside the words, once for each time that they stand there. With
// "rate=20,law=gamma/0.5" the class has arrivals of its own (plan/class_arrivals.h), and its share
// is its rate unless it has both. With "concurrency=8,think=2s" it is 8 users, each of whom asks
// again that long after its last reply; its share is then their number.
Result<SyntheticClass> parse_class(std::string_view text);

// As they are kept with a run. REQUIRES: the classes' limits are valid.
TrafficMix mix_of(const std::vector<SyntheticClass>& classes);

// REQUIRES: spec.classes is not empty.
Result<Dataset> make_mix(const SyntheticSpec& spec, std::string name);

}  // namespace assay::dataset
