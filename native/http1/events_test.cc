// Where events of replies end, with the cases of internal/events.
#include "http1/events.h"

#include <gtest/gtest.h>

#include <string>

#include "kit/contract.h"

namespace netdyno::http1::test {

namespace {

std::string chats(const std::vector<std::string>& choices) {
  std::string text;
  for (const std::string& choice : choices) text += "data: {\"choices\":[" + choice + "]}\n\n";
  return text;
}

TEST(EventSplitter, EndsEventsWhereTheirFormatSays) {
  const struct {
    EventKind kind;
    std::string reply;
    std::int64_t ended;
    bool last;
  } kCases[] = {
      {EventKind::sse, "data: a\n\ndata: b\n\n", 2, false},
      {EventKind::sse, ": ping\n\nevent: x\n\ndata\n\n", 1, false},
      {EventKind::sse, "data: a\r\ndata: b\r\n\r\ndata:c\r\rdata: d\n", 2, false},
      {EventKind::sse, "date: a\n\ndatas: b\n\n", 0, false},
      {EventKind::sse, "id: 7\ndata: a\n\n", 1, false},
      {EventKind::lines, "{}\n\n{}\r\n{}", 2, true},
      {EventKind::lines, "\r\n\n", 0, false},
      {EventKind::chat, chats({R"({"delta":{"role":"assistant"}})"}), 0, false},
      {EventKind::chat, chats({R"({"delta":{"content":"Hi"}})"}) + "data: [DONE]\n\n", 1, false},
      {EventKind::chat, "data: {\"choices\":\ndata: [{\"text\":\"a\"}]}\n\n", 1, false},
      {EventKind::chat, "data: {\"choices\":[]}\n\ndata: {broken\n\n", 0, false},
      {EventKind::chat, ": keep-alive\r\n\r\ndata: {\"choices\":[{\"text\":\"a\"}]}\r\n\r\n", 1, false},
      {EventKind::chat,
       chats({R"({"delta":{"content":null}})", R"({"delta":{"content":""}})", R"({"delta":null})", "{}",
              R"({"text":""})", R"({"delta":{"tool_calls":[]}})", "7", R"({"delta":"x"})"}),
       0, false},
      {EventKind::chat,
       chats({R"({"delta":{"reasoning_content":"so"}})", R"({"delta":{"reasoning":"so"}})",
              R"({"delta":{"tool_calls":[{"index":0}]}})", R"({"delta":{"content":[{"type":"text"}]}})",
              R"({"delta":{"refusal":"no"}})", R"({"delta":{"function_call":{"name":"f"}}})"}),
       6, false},
      {EventKind::chat,
       "data: {\"choices\":[{\"text\":\"a\"}],\"error\":null,\"usage\":null,\"message\":{}}\n\n", 1, false},
      {EventKind::chat, "data: 7\n\ndata: []\n\ndata: {\"choices\":{}}\n\n", 0, false},
  };
  for (const auto& c : kCases) {
    for (std::size_t step = 1; step <= c.reply.size(); step++) {  // however it is cut, the same events end
      EventSplitter splitter(c.kind);
      std::int64_t ended = 0;
      for (std::size_t at = 0; at < c.reply.size(); at += step) {
        splitter.take(std::string_view(c.reply).substr(at, step));
        ended += splitter.ended(0);
      }
      EXPECT_EQ(splitter.wrong(), "") << c.reply;
      EXPECT_EQ(ended, c.ended) << c.reply << " by " << step;
      splitter.end();
      EXPECT_EQ(splitter.ended(0), c.last ? 1 : 0) << c.reply << " by " << step;
    }
  }
}

TEST(EventSplitter, AChatThatIsBrokenOffIsWrong) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"error":{"message":"out of \u001b[31mmemory","code":500}})", "breaks the reply off: out of ?[31m"},
      {R"({"error":"overloaded"})", "breaks the reply off: \"overloaded\""},
      {R"({"choices":[{"text":"a"}],"error":{"code":502}})", R"({"code":502})"},
      {R"({"object":"error","message":"no such model"})", "no such model"},
  };
  for (const auto& [data, want] : kCases) {
    EventSplitter splitter(EventKind::chat);
    splitter.take(chats({R"({"text":"a"})"}) + "data: " + data + "\n\n" + chats({R"({"text":"b"})"}));
    EXPECT_EQ(splitter.ended(0), 1) << data;
    EXPECT_NE(splitter.wrong().find(want), std::string::npos) << splitter.wrong();
    splitter.next();
    EXPECT_EQ(splitter.wrong(), "");
  }
  EventSplitter splitter(EventKind::chat);
  splitter.take(R"(data: {"error":{"message":")" + std::string(10'000, 'x') + "\"}}\n\n");
  EXPECT_LT(splitter.wrong().size(), 300U);
}

TEST(EventSplitter, OnlyChatKeepsAnEventAndThatIsBounded) {
  const std::string part(64 << 10, 'x');
  for (const EventKind kind : {EventKind::sse, EventKind::lines, EventKind::chat}) {
    EventSplitter splitter(kind);
    splitter.take("data: ");
    for (int i = 0; i < 64; i++) splitter.take(part);
    EXPECT_EQ(splitter.wrong(), kind == EventKind::chat ? "an event of more than 1 MiB" : "");
  }
}

TEST(EventSplitter, TellsNoMoreThanItIsAskedFor) {
  EventSplitter splitter(EventKind::chunks);
  splitter.take("a");
  splitter.take("b");
  EXPECT_EQ(splitter.ended(3), 1) << "they came at once";
  splitter.take("");
  EXPECT_EQ(splitter.ended(3), 0);
  EventSplitter lines(EventKind::lines);
  lines.take("a\nb\nc\nd\n");
  EXPECT_EQ(lines.ended(3), 3);
  lines.take("e\n");
  EXPECT_EQ(lines.ended(3), 0);
  EXPECT_EQ(lines.told(), 3);
}

}  // namespace
}  // namespace netdyno::http1::test
