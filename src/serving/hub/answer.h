// Answer: the hub's REST API as a function from a request to a reply, without sockets.
//
//   GET  /                    the page, which asks for a token and sends it with each request
//   GET  /api/v1/federation   what this party may know: docs/formats/sites.md
//   GET  /api/v1/party        {"organisation", "role"} of the token
//   POST /api/v1/acts         an act; 201 accepted, 200 it was accepted before
//
// A token stands in Authorization: Bearer. There are no cookies, so a page of another origin has
// nothing to send along; a request that a browser marks as such is refused all the same. The page's
// own files have no secret and need no token. One thread, its own Store.
#pragma once

#include <string>
#include <string_view>

#include "hub/ledger.h"
#include "net/http1_request.h"
#include "store/store.h"

namespace assay::hub {

struct Reply {
  int status = 200;
  std::string body{};
  std::string_view content_type = "application/json";
  bool page = false;  // a file of the page, which may run its own script
};

// `at`: now, RFC 3339.
Reply answer(store::Store& store, Ledger& ledger, const net::RequestHead& head,
             std::string_view body, const std::string& at);

}  // namespace assay::hub
