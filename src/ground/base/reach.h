// Reach: how far this process may talk. With ASSAY_LOOPBACK_ONLY=1 in its environment it connects
// to this machine's addresses only and listens on no other: for agents, and for sites whose data
// may not leave. With ASSAY_NO_PROGRAMS=1 it starts no program that its arguments or its config
// name. The rooms that open sockets or start programs ask. Any thread.
#pragma once

namespace assay {

inline constexpr const char* kLoopbackOnly = "ASSAY_LOOPBACK_ONLY";

inline constexpr const char* kNoPrograms = "ASSAY_NO_PROGRAMS";

// Both are read once, at the first call.
bool loopback_only();
bool no_programs();

}  // namespace assay
