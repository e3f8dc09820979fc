package tool

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// perftestMajor is the version whose arguments and output are known.
const perftestMajor = "6"

var perftestVersion = regexp.MustCompile(`^Version: (\d{1,4})\.(\d{1,4})`)

// checkPerftest refuses another version, whose output may mean something else.
func checkPerftest(name, version string) error {
	found := perftestVersion.FindStringSubmatch(version)
	switch {
	case found == nil:
		return load.Failure(contract.Unsupported, fmt.Errorf("%s --version says %.80q, expected \"Version: %s.…\"", name, version, perftestMajor))
	case found[1] != perftestMajor:
		return load.Failure(contract.Unsupported, fmt.Errorf("%s is version %s.%s of perftest, expected %s: other versions take other arguments", name, found[1], found[2], perftestMajor))
	}
	return nil
}

// perftestColumns head the lines of a program that runs until it is stopped; the
// programs that play ping-pong print nothing before they end.
const perftestColumns = "#bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]"

// readPerftest reads what an interrupted client has printed: a line a second. The
// second in which it was interrupted has none.
func readPerftest(stdout []byte) (selfReport, error) {
	s := selfReport{values: map[string]float64{}}
	seconds, heading := 0, false
	var rates float64
	for line := range bytes.Lines(stdout) {
		fields := strings.Fields(string(line))
		text := strings.Join(fields, " ")
		switch {
		case strings.HasPrefix(text, "#bytes"):
			if text != perftestColumns {
				return s, fmt.Errorf("perftest's columns are %.120q, expected %q: another version?", text, perftestColumns)
			}
			heading = true
		case heading && len(fields) > 0 && !strings.HasPrefix(text, "---"):
			moved, rate, err := perftestLine(fields)
			if err != nil {
				return s, err
			}
			if s.sent > 1<<62-moved {
				return s, errors.New("perftest reports more bytes than can be")
			}
			s.sent += moved
			rates += rate
			seconds++
		}
	}
	if seconds > 0 {
		s.values["bytes_per_s"] = rates / float64(seconds)
	}
	s.received = s.sent // one of the two is nothing that the port counted
	return s, nil
}

// perftestLine reads one line: bytes of a message, messages, the peak, the mean in
// units of 2^20 bytes, and millions of messages a second.
func perftestLine(fields []string) (moved int64, rate float64, err error) {
	const columns = 5
	if len(fields) != columns {
		return 0, 0, fmt.Errorf("perftest's line %.80q has %d columns, expected %d", strings.Join(fields, " "), len(fields), columns)
	}
	size, err1 := strconv.ParseUint(fields[0], 10, 31)
	count, err2 := strconv.ParseUint(fields[1], 10, 31)
	mean, err3 := strconv.ParseFloat(fields[3], 64)
	if err := errors.Join(err1, err2, err3); err != nil || !(mean >= 0 && mean < 1e9) {
		return 0, 0, fmt.Errorf("perftest's line %.80q holds no sizes and rates", strings.Join(fields, " "))
	}
	return int64(size * count), mean * (1 << 20), nil
}
