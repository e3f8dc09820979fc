package recorded

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// setters enter a column's text into a request, by the column's role. A dash, and nothing,
// stand for what is not known.
var setters = map[string]func(s *seen, text []byte) reason{
	"time":        func(s *seen, text []byte) reason { return s.setTime(text, false) },
	"end":         func(s *seen, text []byte) reason { return s.setTime(text, true) },
	"duration":    func(s *seen, text []byte) reason { return s.setDuration(text, 1e9) },
	"duration_ms": func(s *seen, text []byte) reason { return s.setDuration(text, 1e6) },
	"method":      func(s *seen, text []byte) reason { s.method = known(text); return "" },
	"path":        func(s *seen, text []byte) reason { s.path = known(text); return "" },
	"request":     (*seen).setRequest,
	"status":      (*seen).setStatus,
	"up":          func(s *seen, text []byte) reason { return setBytes(&s.up, text) },
	"down":        func(s *seen, text []byte) reason { return setBytes(&s.down, text) },
	"class":       (*seen).setClass,
}

// unknown tells whether a log has nothing to say.
func unknown(text []byte) bool { return len(text) == 0 || len(text) == 1 && text[0] == '-' }

func known(text []byte) string {
	if unknown(text) {
		return ""
	}
	return string(text)
}

// setRequest takes a request line: method, target, protocol.
func (s *seen) setRequest(text []byte) reason {
	method, rest, found := bytes.Cut(text, []byte(" "))
	end := bytes.LastIndexByte(rest, ' ')
	if !found || end < 0 || !bytes.HasPrefix(rest[end+1:], []byte("HTTP/")) {
		return noMethod
	}
	s.method, s.path = string(method), string(rest[:end])
	return ""
}

func (s *seen) setStatus(text []byte) reason {
	if unknown(text) {
		return ""
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 || n > 999 {
		return noNumber
	}
	s.status = n
	return ""
}

func (s *seen) setClass(text []byte) reason {
	const most = 60
	if s.class = known(text); len(s.class) > most {
		s.class = s.class[:most]
	}
	return ""
}

func setBytes(to *int64, text []byte) reason {
	if unknown(text) {
		return ""
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < -1 { // −1 stands for what is not known, as in HTTP archives
		return noNumber
	}
	*to = max(n, 0)
	return ""
}

// setDuration takes a number of units, each of so many ns. A proxy writes several with
// commas or colons between them where it asked several servers; the last one counts.
func (s *seen) setDuration(text []byte, unit float64) reason {
	if i := bytes.LastIndexAny(text, ",: "); i >= 0 {
		text = text[i+1:]
	}
	if unknown(text) {
		return ""
	}
	x, err := strconv.ParseFloat(string(text), 64)
	ns := x * unit
	if err != nil || !(ns >= 0) || ns > float64(24*time.Hour) {
		return noNumber
	}
	s.takes = int64(math.Round(ns))
	return ""
}

// setTime takes a time: RFC 3339, the form of Apache and nginx, or a number since 1970 in
// s, ms, µs or ns by its size.
func (s *seen) setTime(text []byte, ended bool) reason {
	at, grain, ok := parseTime(text)
	if !ok {
		return noTime
	}
	s.at, s.grain, s.ended = at, grain, ended
	return ""
}

const (
	commonLog = "02/Jan/2006:15:04:05 -0700"
	latest    = 1 << 62 // ns since 1970: the year 2116
)

func parseTime(text []byte) (at, grain int64, ok bool) {
	if len(text) > 64 {
		return 0, 0, false
	}
	if at, grain, ok := parseNumber(text); ok {
		return at, grain, true
	}
	form := time.RFC3339Nano
	if len(text) == len(commonLog) && text[2] == '/' {
		form = commonLog
	}
	t, err := time.Parse(form, string(text))
	if err != nil || t.Year() < 1971 || t.Year() > 2100 {
		return 0, 0, false
	}
	grain = 1e9
	if point := bytes.IndexByte(text, '.'); point >= 0 && form != commonLog {
		for i := point + 1; i < len(text) && text[i] >= '0' && text[i] <= '9' && grain > 1; i++ {
			grain /= 10
		}
	}
	return t.UnixNano(), grain, true
}

// parseNumber reads a number since 1970.
func parseNumber(text []byte) (at, grain int64, ok bool) {
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	n, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil || n <= 0 || len(fraction) > 9 {
		return 0, 0, false
	}
	unit := int64(1)
	for _, u := range []int64{1e9, 1e6, 1e3} {
		if n < latest/u {
			unit = u
			break
		}
	}
	at, grain = n*unit, unit
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return 0, 0, false
		}
		if grain /= 10; grain == 0 {
			return at, 1, true
		}
		at += int64(c-'0') * grain
	}
	return at, max(grain, 1), true
}
