// What there is without OpenSSL: nothing.
#include "tls/work.h"

namespace netdyno::tls {

std::unique_ptr<const Work> over(const contract::Setup&, std::string_view, std::unique_ptr<const Work> work) {
  return work;  // a setup with tls was refused: no transport has the feature
}

std::vector<std::string> with_tls(std::vector<std::string> features) { return features; }

std::vector<contract::Option> with_trust(std::vector<contract::Option> options) { return options; }

std::vector<contract::Library> with_library(std::vector<contract::Library> libraries) { return libraries; }

std::string sha256(std::string_view) { return {}; }

}  // namespace netdyno::tls
