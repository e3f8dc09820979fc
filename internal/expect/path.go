package expect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
)

// mostJSON bounds a body that is read as JSON, in bytes.
const mostJSON = 16 << 20

// condition is what a member of a JSON document must be.
type condition struct {
	text  string
	path  []any  // names as string, places as int
	op    string // "==" or "!=" with value; "" where the member must be there
	value any
}

// step is one step of a path: .name, ['name'] or [0].
var step = regexp.MustCompile(`^(?:\.([A-Za-z_][A-Za-z0-9_-]*)|\['((?:[^'\\]|\\.)*)'\]|\[([0-9]{1,6})\])`)

const pathForm = `expected a path such as $.data.items[0] or $['a b'], alone or with == or != and a JSON value, such as $.errors == null`

// parseCondition reads a condition: $.a.b[0], which must be there, or that with == or != and
// a JSON value. The error says where it is wrong.
func parseCondition(text string) (*condition, error) {
	wrong := func(rest, what string) error {
		return fmt.Errorf("%q is wrong at byte %d: %s; %s", quantity.Clip(text, 80), len(text)-len(rest)+1, what, pathForm)
	}
	c := &condition{text: strings.TrimSpace(text)}
	rest, found := strings.CutPrefix(strings.TrimLeft(text, " "), "$")
	if !found {
		return nil, wrong(rest, "it begins with no $")
	}
	for m := step.FindStringSubmatch(rest); m != nil; m = step.FindStringSubmatch(rest) {
		switch rest = rest[len(m[0]):]; {
		case m[1] != "":
			c.path = append(c.path, m[1])
		case m[3] != "":
			i, _ := strconv.Atoi(m[3]) // of six digits
			c.path = append(c.path, i)
		default:
			c.path = append(c.path, strings.NewReplacer(`\'`, `'`, `\\`, `\`).Replace(m[2]))
		}
	}
	rest = strings.TrimSpace(rest)
	if rest == "" {
		return c, nil
	}
	for _, op := range []string{"==", "!="} {
		if value, is := strings.CutPrefix(rest, op); is {
			c.op = op
			var err error
			if c.value, err = decode([]byte(value)); err != nil {
				return nil, wrong(value, "it is no JSON value: "+err.Error())
			}
			return c, nil
		}
	}
	return nil, wrong(rest, "it goes on as no path does")
}

// decode reads one JSON document; its numbers stay as they are written.
func decode(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&value); err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return value, nil
		}
		err = errors.New("something follows it")
	} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	return nil, err
}

// check checks a body.
func (c *condition) check(body []byte) error {
	if len(body) > mostJSON {
		return fmt.Errorf("the body of %d bytes is not read as JSON; at most %d are", len(body), mostJSON)
	}
	at, err := decode(body)
	if err != nil {
		return fmt.Errorf("the body of %d bytes is no JSON: %w", len(body), err)
	}
	there := true
	for _, s := range c.path {
		switch s := s.(type) {
		case string:
			members, _ := at.(map[string]any)
			at, there = members[s]
		case int:
			elements, _ := at.([]any)
			if there = s < len(elements); there {
				at = elements[s]
			} else {
				at = nil
			}
		}
	}
	holds := there
	if c.op != "" { // what is not there is null
		holds = same(at, c.value) == (c.op == "==")
	}
	if holds {
		return nil
	}
	found, _ := json.Marshal(at) // it was JSON
	if !there {
		found = []byte("not there")
	}
	return fmt.Errorf("the body of %d bytes does not have %s: it is %s", len(body), quantity.Clip(c.text, 80), quantity.Clip(string(found), 80))
}

// same compares two JSON values, numbers by their value.
func same(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, is := b.(json.Number)
		x, _ := a.Float64() // beyond the range it is infinite
		y, _ := b.Float64()
		return is && (a == b || x == y && !isInt(a, b))
	case []any:
		b, is := b.([]any)
		if !is || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, is := b.(map[string]any)
		if !is || len(a) != len(b) {
			return false
		}
		for name := range a {
			if other, has := b[name]; !has || !same(a[name], other) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

// isInt tells whether both are whole numbers of 64 bits, which a float may not tell apart.
func isInt(a, b json.Number) bool {
	_, one := a.Int64()
	_, other := b.Int64()
	return one == nil && other == nil
}
