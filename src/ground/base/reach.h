// Reach: how far this process may talk. With ASSAY_LOOPBACK_ONLY=1 in its environment it connects
// to this machine's addresses only and listens on no other: for agents, and for sites whose data
// may not leave. The rooms that open sockets ask. Any thread.
#pragma once

namespace assay {

inline constexpr const char* kLoopbackOnly = "ASSAY_LOOPBACK_ONLY";

// Read once, at the first call.
bool loopback_only();

}  // namespace assay
