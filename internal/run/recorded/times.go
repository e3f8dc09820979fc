package recorded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/traffic"
)

// timesHeader is the text before recorded traffic that says times alone.
const timesHeader = "# Times alone: what comes at each of them is drawn.\nrecorded: {version: 1}\nclasses:\n  - {name: due, requests: %d}\n"

// TimesFile makes recorded traffic, to be replayed for its times alone, of a file that has
// one a line: seconds from any moment on (12.5), a time with its unit (12500ms), or a
// moment (RFC 3339). Empty lines and those that begin with # are passed over. It returns
// how many times there are, and over how long. The error says line and column of what is no
// time, or is earlier than the one before: the order is what is asked for.
func TimesFile(ctx context.Context, out, name string, from io.Reader) (n int64, span time.Duration, err error) {
	spool, err := os.CreateTemp(filepath.Dir(out), ".netdyno-record-*")
	if err != nil {
		return 0, 0, err
	}
	defer spool.Close()
	if err := os.Remove(spool.Name()); err != nil { // it goes with its descriptor, however this ends
		return 0, 0, err
	}
	blocks := bufio.NewWriterSize(spool, 1<<20)
	w := traffic.NewWriter(blocks)
	if n, span, err = times(ctx, name, from, w.Add); err == nil {
		err = errors.Join(w.Close(), blocks.Flush())
	}
	if err == nil {
		_, err = spool.Seek(0, io.SeekStart)
	}
	if err != nil {
		return 0, 0, err
	}
	return n, span, record.WriteAtomic(out, func(to io.Writer) error {
		return traffic.Assemble(to, fmt.Sprintf(timesHeader, n), nil, spool)
	})
}

// times reads them, and gives each, by the first, to add.
func times(ctx context.Context, name string, from io.Reader, add func(traffic.Request) error) (n int64, span time.Duration, err error) {
	const mostLine = 1 << 10
	lines := bufio.NewReaderSize(from, 1<<16)
	first, last, lastLine := int64(0), int64(0), 0
	for line := 1; ; line++ {
		text, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) || len(text) > mostLine {
			return 0, 0, fmt.Errorf("%s:%d:1: the line is longer than %d bytes; expected one time, such as 12.5", name, line, mostLine)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, 0, fmt.Errorf("read %s: %w", name, err)
		}
		said := strings.TrimSpace(string(text))
		if said != "" && said[0] != '#' {
			at := fmt.Sprintf("%s:%d:%d: ", name, line, 1+strings.Index(string(text), said))
			ns, err := timeOf(said)
			switch {
			case err != nil:
				return 0, 0, fmt.Errorf("%s%w", at, err)
			case n == 0:
				first = ns
			case ns < last:
				return 0, 0, fmt.Errorf("%s%s is earlier than line %d; expected times that rise: sort the file", at, quantity.Clip(said, 40), lastLine)
			}
			if err := add(traffic.Request{AtNs: ns - first, Path: traffic.NoPath}); err != nil {
				return 0, 0, fmt.Errorf("%s%w", at, err)
			}
			n, last, lastLine = n+1, ns, line
		}
		if err != nil {
			break
		}
		if line%(1<<16) == 0 && ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
	}
	if n < 2 {
		return 0, 0, fmt.Errorf("%s has %s; expected two or more, one a line: seconds such as 12.5, or moments such as 2026-01-31T12:00:00.5Z", name, quantity.Plural(int(n), "time"))
	}
	if last == first {
		return 0, 0, fmt.Errorf("%s: all %d times are the same; expected some that lie apart", name, n)
	}
	return n, time.Duration(last - first), nil
}

// timeOf reads a time in ns. Seconds are read digit by digit: a float has too few for those
// since 1970.
func timeOf(text string) (ns int64, err error) {
	bad := fmt.Errorf("%q is no time; expected seconds such as 12.5, a time with its unit such as 12500ms, or a moment such as 2026-01-31T12:00:00.5Z", quantity.Clip(text, 40))
	if whole, part, _ := strings.Cut(text, "."); strings.Trim(whole+part, "0123456789") == "" && whole != "" {
		seconds, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || seconds > math.MaxInt64/int64(time.Second)-1 {
			return 0, bad
		}
		const digits = 9
		part = (part + strings.Repeat("0", digits))[:digits]
		fraction, _ := strconv.ParseInt(part, 10, 64) // digits alone
		return seconds*int64(time.Second) + fraction, nil
	}
	if d, err := quantity.ParseDuration(text); err == nil && d >= 0 {
		return int64(d), nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 1971 || t.Year() > 2100 {
		return 0, bad
	}
	return t.UnixNano(), nil
}
