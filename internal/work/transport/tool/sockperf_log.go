package tool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"netdyno/internal/hist"
)

// readSockperf takes the messages of the window from the full log, and what
// sockperf says of all of them from its summary.
func readSockperf(f flow, stdout []byte, w window) (selfReport, error) {
	s, err := readSummary(stdout, f.size)
	if err != nil || !w.known {
		return s, err
	}
	file, err := os.Open(f.log)
	if err != nil {
		return selfReport{}, err
	}
	defer file.Close()
	s.service, err = readLog(file, w)
	return s, err
}

// readLog returns the round trips that were completed inside the window. Its
// lines are "number, txTime(sec), rxTime(sec), rtt(usec)" behind a preamble,
// in the order of the messages; with --no-rdtsc the times are of CLOCK_MONOTONIC.
// Source: sockperf's client.cpp, dumpFullLog.
func readLog(log io.Reader, w window) (*hist.Histogram, error) {
	const (
		heading = "packet, txTime(sec), rxTime(sec), rtt(usec)"
		second  = 1_000_000_000
	)
	lines := bufio.NewScanner(log)
	for found := false; !found; found = lines.Text() == heading {
		if !lines.Scan() {
			return nil, errors.Join(fmt.Errorf("read sockperf's log: the line %q is missing", heading), lines.Err())
		}
	}
	service, first, last := hist.New(), int64(0), int64(0)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "---") {
		sent, received, err := logTimes(lines.Text())
		if err != nil {
			return nil, err
		}
		if first == 0 {
			first = sent
		}
		if last = received; last >= w.from && last < w.to {
			service.Record(received-sent, 1)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read sockperf's log: %w", err)
	}
	switch {
	case first == 0:
		return nil, errors.New("read sockperf's log: it holds no message")
	case first > w.from:
		return nil, fmt.Errorf("sockperf's log begins %.2f s after the window did: expected a warm-up so much longer", float64(first-w.from)/second)
	case last < w.to-maxSilence:
		return nil, fmt.Errorf("sockperf's log ends %.2f s before the window did: expected option duration to hold warm-up and window", float64(w.to-last)/second)
	}
	return service, nil
}

// maxSilence is for how long nothing may have come back at the end of the
// window: longer than a retransmission takes, and the log ended too early.
const maxSilence = 500_000_000 // ns

// logTimes reads when a message was sent and when it came back, in ns.
func logTimes(line string) (sent, received int64, err error) {
	fields := strings.Split(line, ", ")
	if len(fields) != 4 {
		return 0, 0, fmt.Errorf("read sockperf's log: %.80q, expected 4 fields", line)
	}
	if sent, err = nanoseconds(fields[1]); err == nil {
		received, err = nanoseconds(fields[2])
	}
	if err == nil && received < sent {
		err = errors.New("came back before it was sent")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read sockperf's log: %.80q: %w", line, err)
	}
	return sent, received, nil
}

// nanoseconds reads seconds with nine decimals exactly, which a float64 would not.
func nanoseconds(text string) (int64, error) {
	const decimals, mostDigits = 9, 9
	whole, fraction, _ := strings.Cut(text, ".")
	if len(fraction) != decimals || len(whole) > mostDigits {
		return 0, fmt.Errorf("%.40q is no time in seconds with %d decimals", text, decimals)
	}
	n, err := strconv.ParseUint(whole+fraction, 10, 63)
	return int64(n), err
}

// The lines of the summary; between them stand colours for a terminal.
var (
	messagesLine = regexp.MustCompile(`\[Total Run\].*SentMessages=(\d{1,13}); ReceivedMessages=(\d{1,13})`)
	meanLine     = regexp.MustCompile(`Summary: Round trip is (\d{1,15}\.\d{1,9}) usec`)
)

// readSummary reads what sockperf prints in the end.
func readSummary(stdout []byte, size int64) (selfReport, error) {
	messages, mean := messagesLine.FindSubmatch(stdout), meanLine.FindSubmatch(stdout)
	if messages == nil || mean == nil {
		return selfReport{}, errors.New("read sockperf's summary: it names no total of messages and no round trip")
	}
	sent, _ := strconv.ParseInt(string(messages[1]), 10, 64) // digits that fit
	received, _ := strconv.ParseInt(string(messages[2]), 10, 64)
	us, _ := strconv.ParseFloat(string(mean[1]), 64)
	return selfReport{
		sent: sent * size, received: received * size,
		values: map[string]float64{"round_trip_mean_us": us},
	}, nil
}
