package collection

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"netdyno/internal/head"
	"netdyno/internal/input"
	"netdyno/internal/pattern"
	"netdyno/internal/quantity"
)

// target is the first line of one of vegeta's targets.
var target = pattern.Once(`^([A-Z]+)\s+(\S+)$`)

// mostBody bounds the body of a request that lies in a file, in bytes.
const mostBody = 32 << 20

// vegeta reads targets as vegeta's -format=http has them: METHOD URL, lines of headers, and
// @FILE, whose content is the body. Lines that begin with # are comments.
func (m *maker) vegeta() error {
	lines := bufio.NewScanner(bytes.NewReader(m.text))
	lines.Buffer(nil, 1<<20)
	var all []request
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if first := target().FindStringSubmatch(line); first != nil {
			all = append(all, request{name: first[1] + " " + pathOf(first[2]), method: first[1], url: first[2]})
			continue
		}
		file, isBody := strings.CutPrefix(line, "@")
		name, value, isHeader := strings.Cut(line, ":")
		switch {
		case len(all) == 0 || !isBody && !isHeader:
			return fmt.Errorf("line %d: %q is no target; expected a method and a URL, such as GET http://127.0.0.1:8080/items/1, then headers as Name: value and @FILE for a body", number, quantity.Clip(line, 60))
		case isBody:
			body, err := input.Within(m.ctx, mostBody)(file)
			if err != nil {
				return fmt.Errorf("line %d: %w", number, err)
			}
			all[len(all)-1].body = string(body)
		default:
			r := &all[len(all)-1]
			r.headers = append(r.headers, head.Field{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	for _, r := range all {
		if !m.keeps(r.name, r.url, r.method) {
			continue
		}
		headers := r.headers
		r.headers = nil
		for _, h := range headers {
			m.addHeader(&r, h.Name, h.Value)
		}
		if err := m.add(r); err != nil {
			return err
		}
	}
	return nil
}
