package recorded

import "bytes"

// accessLog reads the common and the combined form of an access log, as nginx and Apache
// write them: HOST IDENT USER [TIME] "REQUEST" STATUS BYTES …. One goroutine uses it.
type accessLog struct{ time timeCache }

// parse takes a line apart.
func (l *accessLog) parse(line []byte) (s seen, why reason) {
	_, rest, opened := bytes.Cut(line, []byte(" ["))
	at, rest, timed := bytes.Cut(rest, []byte(`] "`))
	request, rest, asked := bytes.Cut(rest, []byte(`" `))
	status, rest, counted := bytes.Cut(rest, []byte(" "))
	if !opened || !timed || !asked || !counted {
		return s, foreign
	}
	size, _, _ := bytes.Cut(rest, []byte(" "))
	for _, why := range []reason{l.time.set(&s, at), s.setRequest(request), s.setStatus(status), setBytes(&s.down, size)} {
		if why != "" {
			return s, why
		}
	}
	return s, ""
}

// timeCache keeps the last time that was read: a busy log has many of each second.
type timeCache struct {
	text      []byte
	at, grain int64
}

// set enters a time at which a request ended.
func (c *timeCache) set(s *seen, text []byte) reason {
	if !bytes.Equal(text, c.text) {
		at, grain, ok := parseTime(text)
		if !ok {
			return noTime
		}
		c.text, c.at, c.grain = append(c.text[:0], text...), at, grain
	}
	s.at, s.grain, s.ended = c.at, c.grain, true
	return ""
}
