// Debian's libfmt is built by gcc, and clang 14 gives one function of it another symbol: this
// defines it for clang. (FMT_HEADER_ONLY would too, and costs seconds in each file.)
#include "base/format.h"

#ifdef __clang__
#include <fmt/format.h>

template void fmt::detail::vformat_to<char>(
    buffer<char>& out, basic_string_view<char> text,
    basic_format_args<buffer_context<type_identity_t<char>>> args, locale_ref locale);
#endif
