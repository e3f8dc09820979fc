// PMI's lines and what the server makes of them: as the libraries send them, cut
// anywhere, and as nobody should.
#include "mpi/pmi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kit/contract.h"
#include "kit/random.h"

namespace netdyno::mpi_worker {

using contract::ErrorKind;
using contract::Failure;

namespace {

/// The failure that something ends in; fails the test when there is none.
Failure failure_of(const std::function<void()>& something) {
  try {
    something();
  } catch (const Failure& failure) {
    return failure;
  }
  ADD_FAILURE() << "no Failure";
  return Failure(ErrorKind::bug, "none");
}

std::vector<std::string> read(PmiLines& lines) {
  std::vector<std::string> all;
  while (auto line = lines.next()) all.push_back(*line);
  return all;
}

/// The lines of a text that arrives in pieces of at most so many bytes.
std::vector<std::string> cut(std::string_view text, std::size_t piece) {
  PmiLines lines;
  std::vector<std::string> all;
  while (!text.empty()) {
    lines.add(text.substr(0, piece));
    std::ranges::move(read(lines), std::back_inserter(all));
    text.remove_prefix(std::min(piece, text.size()));
  }
  return all;
}

TEST(PmiLine, KeepsItsWordsInOrder) {
  const PmiLine line = PmiLine::parse("cmd=put kvsname=a key=b=c value=d e  -");
  EXPECT_EQ(line.command(), "put");
  EXPECT_EQ(line.at("key"), "b=c");
  EXPECT_EQ(line.at("value"), "d e  -") << "it takes the rest of the line";
  EXPECT_EQ(line.text(), "cmd=put kvsname=a key=b=c value=d e  -\n");
  EXPECT_EQ(line.find("nothing"), std::nullopt);
}

TEST(PmiLine, NamesWhatIsMissing) {
  EXPECT_STREQ(failure_of([] { PmiLine::parse("key=value"); }).what(),
               "speak PMI: a line does not begin with cmd=");
  EXPECT_STREQ(failure_of([] { PmiLine::parse("cmd=get").at("key"); }).what(),
               "speak PMI: cmd=get has no key=");
  EXPECT_STREQ(failure_of([] { PmiLine::parse("cmd=x rc=1e").number("rc"); }).what(),
               "speak PMI: cmd=x has rc=1e, expected a number");
}

TEST(PmiLines, MayBeCutAnywhere) {
  const std::string text = "cmd=init pmi_version=1 pmi_subversion=1\n\ncmd=get_maxes\ncmd=finalize\n";
  const std::vector<std::string> whole = cut(text, text.size());
  EXPECT_EQ(whole, (std::vector<std::string>{"cmd=init pmi_version=1 pmi_subversion=1", "", "cmd=get_maxes",
                                             "cmd=finalize"}));
  for (std::size_t piece = 1; piece < text.size(); piece++) EXPECT_EQ(cut(text, piece), whole) << piece;
}

TEST(PmiLines, AreBounded) {
  const std::string longest(kMaxPmiLine - 1, 'x');
  EXPECT_EQ(cut(longest + "\n", 100), std::vector<std::string>{longest});
  EXPECT_THROW(cut(longest + "x\n", 4096), Failure);
  EXPECT_THROW(cut(longest + "x", 7), Failure) << "before its end came";
  EXPECT_THROW(cut(std::string(100'000, '\n'), 100'000), Failure) << "more than anybody sends at once";
}

/// The one answer to a line, which goes to the rank itself.
std::string answer(PmiServer& server, int rank, const std::string& line) {
  const std::vector<PmiAnswer> answers = server.answer(rank, line);
  if (answers.size() != 1) return std::to_string(answers.size()) + " answers";
  EXPECT_EQ(answers[0].rank, rank);
  return answers[0].line;
}

TEST(PmiServer, AnswersWhatBothLibrariesAsk) {
  PmiServer server(true);
  const std::vector<std::pair<std::string, std::string>> conversation = {
      {"cmd=init pmi_version=1 pmi_subversion=1",
       "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"},
      {"cmd=get_maxes", "cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=800\n"},
      {"cmd=get_appnum", "cmd=appnum appnum=0\n"},
      {"cmd=get_my_kvsname", "cmd=my_kvsname kvsname=netdyno\n"},
      {"cmd=get_universe_size", "cmd=universe_size size=2\n"},
      {"cmd=get kvsname=netdyno key=PMI_process_mapping",
       "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n"},
      {"cmd=get kvsname=netdyno key=card", "cmd=get_result rc=-1 msg=no_such_key\n"},
      {"cmd=put kvsname=netdyno key=card value=abc  -", "cmd=put_result rc=0 msg=success\n"},
      {"cmd=get kvsname=netdyno key=card", "cmd=get_result rc=0 msg=success value=abc  -\n"},
      {"cmd=finalize", "cmd=finalize_ack\n"},
  };
  for (const auto& [question, expected] : conversation) EXPECT_EQ(answer(server, 1, question), expected);
  EXPECT_TRUE(server.finished(1));
  EXPECT_FALSE(server.finished(0));
}

TEST(PmiServer, SaysThatTwoNodesShareNothing) {
  PmiServer server(false);
  EXPECT_EQ(answer(server, 0, "cmd=get key=PMI_process_mapping"),
            "cmd=get_result rc=0 msg=success value=(vector,(0,2,1))\n");
}

TEST(PmiServer, ABarrierWaitsForBoth) {
  PmiServer server(true);
  for (int round = 0; round < 3; round++) {
    const int first = round % 2;
    EXPECT_TRUE(server.answer(first, "cmd=barrier_in").empty());
    EXPECT_EQ(answer(server, 1 - first, "cmd=get_appnum"), "cmd=appnum appnum=0\n");
    const std::vector<PmiAnswer> out = server.answer(1 - first, "cmd=barrier_in");
    ASSERT_EQ(out.size(), 2U);
    EXPECT_NE(out[0].rank, out[1].rank);
    for (const PmiAnswer& each : out) EXPECT_EQ(each.line, "cmd=barrier_out\n");
  }
}

TEST(PmiServer, NobodySpeaksAtABarrier) {
  PmiServer server(true);
  server.answer(0, "cmd=barrier_in");
  const Failure failure = failure_of([&] { server.answer(0, "cmd=barrier_in"); });
  EXPECT_EQ(failure.kind(), ErrorKind::invalid);
  EXPECT_STREQ(failure.what(), "serve PMI: rank 0 said cmd=barrier_in while it waited at a barrier");
}

TEST(PmiServer, RefusesWhatIsNotTheProtocols) {
  PmiServer server(true);
  EXPECT_EQ(failure_of([&] { server.answer(1, "cmd=spawn nprocs=1000"); }).kind(), ErrorKind::invalid);
  EXPECT_EQ(failure_of([&] { server.answer(1, "GET / HTTP/1.1"); }).kind(), ErrorKind::invalid);
  EXPECT_EQ(failure_of([&] { server.answer(1, "cmd=put value=1"); }).kind(), ErrorKind::invalid);
  EXPECT_EQ(failure_of([&] { server.answer(1, "cmd=abort exitcode=3"); }).kind(), ErrorKind::peer);
}

TEST(PmiServer, KeepsABoundedNumberOfBoundedValues) {
  PmiServer server(true);
  const auto put = [&server](const std::string& key, const std::string& value) {
    return answer(server, 0, "cmd=put key=" + key + " value=" + value).find("rc=0") != std::string::npos;
  };
  EXPECT_TRUE(put(std::string(kMaxPmiKey, 'k'), std::string(kMaxPmiValue, 'v')));
  EXPECT_FALSE(put(std::string(kMaxPmiKey + 1, 'k'), "v"));
  EXPECT_FALSE(put("k", std::string(kMaxPmiValue + 1, 'v')));
  int kept = 0;
  for (int i = 0; i < 10'000; i++) kept += put("key" + std::to_string(i), "v") ? 1 : 0;
  EXPECT_GT(kept, 1000);
  EXPECT_LT(kept, 5000);
}

/// Lines made of pieces of real ones: each is answered or refused, and an answer is a
/// line that its reader takes.
TEST(PmiServer, AnyLineIsAnsweredOrRefused) {
  const std::vector<std::string> pieces = {"cmd=",      "init",  "put",     "get",    "barrier_in",
                                           "finalize",  " key=", " value=", " rc=",   "=",
                                           "  ",        "\0x",   "-1",      "a",      "cmd",
                                           "get_maxes", "abort", "\t",      "\x7f\1", std::string(200, 'y')};
  std::uint64_t state = 7;
  for (int i = 0; i < 20'000; i++) {
    PmiServer server(i % 2 == 0);
    std::string line = split_mix(state) % 4 == 0 ? "" : "cmd=";
    for (std::uint64_t n = split_mix(state) % 8; n > 0; n--) line += pieces[split_mix(state) % pieces.size()];
    try {
      for (const PmiAnswer& each : server.answer(static_cast<int>(split_mix(state) % 2), line)) {
        PmiLines lines;
        lines.add(each.line);
        const auto back = lines.next();
        ASSERT_TRUE(back) << each.line;
        EXPECT_EQ(PmiLine::parse(*back).text(), each.line);
      }
    } catch (const Failure& failure) {
      EXPECT_TRUE(failure.kind() == ErrorKind::invalid || failure.kind() == ErrorKind::peer) << line;
    }
  }
}

}  // namespace
}  // namespace netdyno::mpi_worker
