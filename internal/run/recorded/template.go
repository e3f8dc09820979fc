package recorded

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"netdyno/internal/quantity"
)

// The usual forms of a line.
const (
	nginxCombined = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`
	envoyDefault  = `[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% ` +
		`%BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" ` +
		`"%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"`
)

// What variables mean, by role. Of several with one role the later in this order counts,
// where the line has them: bytes without headers go before those with them.
var (
	nginxRoles = map[string]string{
		"time_local": "end", "time_iso8601": "end", "msec": "end", "request_time": "duration",
		"request": "request", "request_method": "method", "request_uri": "path", "uri": "path", "status": "status",
		"body_bytes_sent": "down", "bytes_sent": "down", "content_length": "up", "http_content_length": "up",
	}
	envoyRoles = map[string]string{
		"START_TIME": "time", "DURATION": "duration_ms", "RESPONSE_CODE": "status", "BYTES_RECEIVED": "up", "BYTES_SENT": "down",
		"REQ(:METHOD)": "method", "REQ(:PATH)": "path", "REQ(X-ENVOY-ORIGINAL-PATH?:PATH)": "path",
	}
)

var (
	nginxVariable = regexp.MustCompile(`\$(?:\{([a-z0-9_]+)\}|([a-z0-9_]+))`)
	envoyVariable = regexp.MustCompile(`%([A-Z_0-9]+(?:\([^)%]*\))?(?::\d+)?)%`)
	directive     = regexp.MustCompile(`(?s)^\s*log_format\s+\S+\s+(?:escape=\w+\s+)?(.*?);?\s*$`)
	quotedPart    = regexp.MustCompile(`'([^']*)'`)
)

func openNginx(o Options) (source, error) {
	form := nginxCombined
	if o.LogFormat != "" {
		form = o.LogFormat
	}
	if d := directive.FindStringSubmatch(form); d != nil { // as the server's own file has it
		form = ""
		for _, part := range quotedPart.FindAllStringSubmatch(d[1], -1) {
			form += part[1]
		}
	}
	return compile(form, nginxVariable, nginxRoles)
}

func openEnvoy(o Options) (source, error) {
	form := envoyDefault
	if o.LogFormat != "" {
		form = o.LogFormat
	}
	return compile(strings.TrimSuffix(form, `\n`), envoyVariable, envoyRoles)
}

// template is a line's form: texts, and variables after each. One goroutine uses it.
type template struct {
	begins []byte
	fields []field
	times  timeCache
}

// field is a variable and the text that ends it; none for the end of the line.
type field struct {
	set  func(s *seen, text []byte) reason // nil for one that means nothing here
	ends []byte
}

// compile reads a form. The error names the column.
func compile(form string, variable *regexp.Regexp, roles map[string]string) (*template, error) {
	t, last, timed := &template{}, 0, false
	for i, at := range variable.FindAllStringSubmatchIndex(form, -1) {
		between := []byte(form[last:at[0]])
		name := ""
		for group := 2; group < len(at); group += 2 {
			if at[group] >= 0 {
				name = form[at[group]:at[group+1]]
			}
		}
		switch {
		case i == 0:
			t.begins = between
		case len(between) == 0:
			return nil, fmt.Errorf("--log-format:1:%d: nothing stands between two variables, so nobody can tell where the first one ends", at[0]+1)
		default:
			t.fields[i-1].ends = between
		}
		role := roles[name]
		timed = timed || role == "time" || role == "end"
		set := setters[role]
		if role == "time" || role == "end" {
			set = t.times.setter(role == "end")
		}
		t.fields = append(t.fields, field{set: set})
		last = at[1]
	}
	switch {
	case len(t.fields) == 0:
		return nil, fmt.Errorf("--log-format: %q has no variable", quantity.Clip(form, 80))
	case !timed:
		return nil, errors.New("--log-format: no variable says when a request came, so it cannot be replayed; nginx has $time_local, $time_iso8601 and $msec, Envoy %START_TIME%")
	}
	t.fields[len(t.fields)-1].ends = []byte(form[last:])
	return t, nil
}

func (t *template) read(from *bufio.Reader, take func(int, seen) error, refuse func(int, reason, []byte) error) error {
	return eachLine(from, t.parse, take, refuse)
}

// parse takes a line apart.
func (t *template) parse(line []byte) (s seen, why reason) {
	rest, found := bytes.CutPrefix(line, t.begins)
	if !found {
		return s, foreign
	}
	for _, f := range t.fields {
		text := rest
		if len(f.ends) > 0 {
			end := bytes.Index(rest, f.ends)
			if end < 0 {
				return s, foreign
			}
			text, rest = rest[:end], rest[end+len(f.ends):]
		}
		if f.set == nil {
			continue
		}
		if why := f.set(&s, text); why != "" {
			return s, why
		}
	}
	if s.at == 0 {
		return s, noTime
	}
	return s, ""
}

// timeCache keeps the last time that was read: a busy log has many of each second.
type timeCache struct {
	text      []byte
	at, grain int64
}

func (c *timeCache) setter(ended bool) func(*seen, []byte) reason {
	return func(s *seen, text []byte) reason {
		if !bytes.Equal(text, c.text) {
			at, grain, ok := parseTime(text)
			if !ok {
				return noTime
			}
			c.text, c.at, c.grain = append(c.text[:0], text...), at, grain
		}
		if s.at == 0 || c.grain < s.grain { // of several times the finest
			s.at, s.grain, s.ended = c.at, c.grain, ended
		}
		return ""
	}
}
