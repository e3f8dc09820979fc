// The codec of baidu_std against the vectors that Go runs, and against bytes that
// nobody would send.
#include "baidu/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "baidu/reader.h"
#include "kit/random.h"
#include "test/vectors.h"

namespace netdyno::baidu {
namespace {

using nlohmann::json;

std::string unhex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

/// A frame that owns its bytes.
struct Owned {
  std::string service, method, error_text, message, attachment;
  Meta meta;  // its texts aside

  explicit Owned(const Frame& frame)
      : service(frame.meta.service.value_or("none")),
        method(frame.meta.method.value_or("none")),
        error_text(frame.meta.error_text),
        message(frame.message),
        attachment(frame.attachment),
        meta(frame.meta) {
    meta.service = meta.method = std::nullopt;
    meta.error_text = {};
  }
  bool operator==(const Owned&) const = default;
};

/// What a reader makes of a connection's bytes.
struct Story {
  std::vector<Owned> frames;
  std::string end;  // what was malformed; "torn" or empty for what was not
  bool operator==(const Story&) const = default;
};

/// Reads bytes in pieces of at most so many.
Story read(std::string_view bytes, std::size_t capacity, std::size_t max_body, std::size_t piece) {
  Story story;
  Reader reader(capacity, max_body);
  try {
    while (!bytes.empty()) {
      const auto buffer = reader.read_buffer();
      const std::size_t n = std::min({buffer.size(), bytes.size(), piece});
      std::memcpy(buffer.data(), bytes.data(), n);
      bytes.remove_prefix(n);
      reader.received(n);
      while (const auto frame = reader.next()) story.frames.emplace_back(*frame);
    }
    if (reader.torn()) story.end = "torn";
  } catch (const Malformed& malformed) {
    story.end = malformed.what();
  }
  return story;
}

/// Writes a frame as a worker does.
std::string written(const Frame& frame) {
  std::string bytes;
  append_head(bytes, frame.meta, frame.message.size());
  return bytes.append(frame.message).append(frame.attachment);
}

/// A vector's frame, whose texts lie in the vector.
Frame frame_of(const json& vector) {
  const json& says = vector.at("meta");
  Frame frame;
  if (says.contains("service")) frame.meta.service = says.at("service").get_ref<const std::string&>();
  if (says.contains("method")) frame.meta.method = says.at("method").get_ref<const std::string&>();
  if (says.contains("error_text"))
    frame.meta.error_text = says.at("error_text").get_ref<const std::string&>();
  frame.meta.error_code = says.value("error_code", 0);
  frame.meta.compression = says.value("compression", 0);
  frame.meta.correlation_id = says.value("correlation_id", std::int64_t{0});
  frame.meta.attachment_bytes = says.value("attachment_bytes", 0);
  return frame;
}

TEST(Frame, FollowsTheVectors) {
  const json vectors = test::vectors("baidu_std.json");
  const std::size_t max_body = vectors.at("max_body");
  ASSERT_FALSE(vectors.at("frames").empty());
  for (const json& vector : vectors.at("frames")) {
    SCOPED_TRACE(vector.at("name"));
    const std::string bytes = unhex(vector.at("frame"));
    const std::string message = unhex(vector.value("message", ""));
    const std::string attachment = unhex(vector.value("attachment", ""));
    Frame frame = frame_of(vector);
    frame.message = message;
    frame.attachment = attachment;
    if (!vector.value("read_only", false)) {
      EXPECT_EQ(written(frame), bytes);
    }
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
      const Story story = read(bytes, 16, max_body, piece);
      ASSERT_EQ(story.frames.size(), 1U) << story.end;
      EXPECT_EQ(story.frames[0], Owned(frame));
    }
  }
}

TEST(Frame, RefusesWhatTheVectorsCallMalformed) {
  const json vectors = test::vectors("baidu_std.json");
  ASSERT_FALSE(vectors.at("malformed").empty());
  for (const json& vector : vectors.at("malformed")) {
    const Story story = read(unhex(vector.at("bytes")), 16, vectors.at("max_body"), 1000);
    EXPECT_TRUE(story.frames.empty()) << vector.at("name");
    EXPECT_TRUE(story.end.starts_with("malformed baidu_std frame: "))
        << vector.at("name") << ": " << story.end;
  }
}

TEST(Frame, RefusesGroupsBeyondMeasure) {
  const auto nested = [](int depth) {
    std::string meta(static_cast<std::size_t>(depth), '\x4b');
    return meta.append(static_cast<std::size_t>(depth), '\x4c');
  };
  EXPECT_NO_THROW(parse_meta(nested(100)));
  EXPECT_THROW(parse_meta(nested(102)), Malformed);
  EXPECT_THROW(parse_meta(std::string(kMaxMeta, '\x4b')), Malformed);
}

TEST(Reader, MemoryFollowsWhatHasCome) {
  const std::string header = std::string("PRPC\x40\x00\x00\x00\x00\x00\x00\x00", 12);  // 1 GiB
  Reader reader(16 << 10, 1 << 30);
  std::memcpy(reader.read_buffer().data(), header.data(), header.size());
  reader.received(header.size());
  std::size_t have = header.size();
  while (have < 1 << 20) {
    ASSERT_FALSE(reader.next());
    const auto buffer = reader.read_buffer();
    ASSERT_GT(buffer.size(), 0U);
    ASSERT_LE(buffer.size(), std::max<std::size_t>(64 << 10, have));
    std::fill(buffer.begin(), buffer.end(), '\0');
    reader.received(buffer.size());
    have += buffer.size();
  }
}

TEST(Reader, KeepsItsBufferForFramesOfOneSize) {
  Frame frame;
  const std::string message(300'000, 'm');
  frame.message = message;
  const std::string bytes = written(frame);
  Reader reader(4096, 1 << 20);
  const char* place = nullptr;
  for (int i = 0; i < 5; i++) {
    for (std::string_view rest = bytes; !rest.empty();) {
      const auto buffer = reader.read_buffer();
      const std::size_t n = std::min(buffer.size(), rest.size());
      std::memcpy(buffer.data(), rest.data(), n);
      rest.remove_prefix(n);
      reader.received(n);
      const auto whole = reader.next();
      ASSERT_EQ(whole.has_value(), rest.empty());
      if (!whole) continue;
      EXPECT_TRUE(i == 0 || whole->message.data() == place) << "it was moved";
      place = whole->message.data();
      EXPECT_FALSE(reader.next());
    }
  }
}

/// Spoils bytes in one to four ways.
void mutate(std::string& bytes, std::uint64_t& random) {
  for (std::uint64_t n = 1 + split_mix(random) % 4; n > 0; n--) {
    if (bytes.empty()) return;
    // Mostly near the start, where sizes and tags are.
    const std::size_t reach =
        split_mix(random) % 4 == 0 ? bytes.size() : std::min<std::size_t>(bytes.size(), 40);
    const std::size_t at = split_mix(random) % reach;
    const auto byte = static_cast<char>(split_mix(random));
    switch (split_mix(random) % 6) {
      case 0:
        bytes[at] = byte;
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << split_mix(random) % 8));
        break;
      case 2:
        bytes.insert(at, 1 + split_mix(random) % 12, byte);
        break;
      case 3:
        bytes.erase(at, 1 + split_mix(random) % 12);
        break;
      case 4:
        bytes.resize(at);
        break;
      default:
        bytes[at] = "\x00\x01\x7f\x80\xff"[split_mix(random) % 5];
    }
  }
}

/// What was read can be written and read again, and comes out the same.
void expect_to_return(const Story& story) {
  for (const Owned& owned : story.frames) {
    Frame frame;
    frame.meta = owned.meta;
    if (owned.service != "none") {
      frame.meta.service = owned.service;
      frame.meta.method = owned.method;
      frame.meta.error_code = 0;  // a request's is not written
    } else {
      frame.meta.error_text = owned.error_text;
    }
    frame.message = owned.message;
    frame.attachment = owned.attachment;
    const Story again = read(written(frame), 64, 1 << 20, 1 << 20);
    ASSERT_EQ(again.frames.size(), 1U) << again.end;
    ASSERT_EQ(again.frames[0], Owned(frame));
  }
}

TEST(Reader, BearsWhatNobodyWouldSend) {
  const json vectors = test::vectors("baidu_std.json");
  std::vector<std::string> seeds;
  for (const json& vector : vectors.at("frames")) seeds.push_back(unhex(vector.at("frame")));
  for (const json& vector : vectors.at("malformed")) seeds.push_back(unhex(vector.at("bytes")));
  std::uint64_t random = 20'240'607;
  int refused = 0;
  int read_whole = 0;
  for (int i = 0; i < 200'000; i++) {
    std::string bytes = seeds[split_mix(random) % seeds.size()];
    if (i % 3 == 0) bytes += seeds[split_mix(random) % seeds.size()];
    if (i % 50 == 0) {
      for (char& byte : bytes) byte = static_cast<char>(split_mix(random));
      if (i % 100 == 0) bytes.replace(0, 4, "PRPC");
    }
    mutate(bytes, random);
    const Story whole = read(bytes, 1 << 10, 2048, bytes.size());
    // A small buffer grows to just the frame, so that ASan notices a look beyond its end.
    const Story pieces = read(bytes, 12 + split_mix(random) % 50, 2048, 1 + split_mix(random) % 20);
    ASSERT_EQ(whole, pieces) << "case " << i << ": " << whole.end << " against " << pieces.end;
    expect_to_return(whole);
    if (testing::Test::HasFatalFailure()) return;
    refused += whole.end.starts_with("malformed") ? 1 : 0;
    read_whole += whole.frames.empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 10'000) << "the mutations are too mild";
  EXPECT_GT(read_whole, 10'000) << "the mutations are too rough";
}

}  // namespace
}  // namespace netdyno::baidu
