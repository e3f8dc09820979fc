#include "baidu/work.h"

#include "baidu/client.h"
#include "baidu/server.h"

namespace netdyno::baidu {
namespace {

class BaiduWork final : public Work {
 public:
  explicit BaiduWork(const contract::Setup& setup) : content_(setup), buffers_(buffers_of(setup.options)) {}

  std::unique_ptr<Flow> client(std::uint32_t number, std::span<Slot> slots, Agenda& agenda) const override {
    return std::make_unique<BaiduClient>(content_, buffers_, Calls(number, slots, agenda));
  }
  std::unique_ptr<Flow> server(std::size_t, Traffic& traffic) const override {
    return std::make_unique<BaiduServer>(content_, buffers_, traffic);
  }
  std::unique_ptr<Verification> verification(std::int64_t connection) const override {
    return std::make_unique<VerificationCall>(content_, buffers_, connection);
  }

 private:
  Content content_;
  Buffers buffers_;
};

}  // namespace

std::unique_ptr<const Work> work_of(const contract::Setup& setup) {
  return std::make_unique<BaiduWork>(setup);
}

}  // namespace netdyno::baidu
