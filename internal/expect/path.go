package expect

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/theory/jsonpath"

	"netdyno/internal/quantity"
)

// mostJSON bounds a body that is read as JSON, in bytes.
const mostJSON = 16 << 20

// condition is what the members of a JSON document must be that a path of RFC 9535 selects.
type condition struct {
	text  string
	path  *jsonpath.Path
	op    string // "==" or "!=" with value; "" where a member must be there
	value any
}

const pathForm = `expected a path of RFC 9535 such as $.data.items[0] or $['a b'], alone or with == or != and a JSON value, such as $.errors == null`

// parseCondition reads a condition: a path, which must select something, or that with == or
// != and a JSON value.
func parseCondition(text string) (*condition, error) {
	text = strings.TrimSpace(text)
	path, err := jsonpath.Parse(text)
	if err == nil {
		return &condition{text: text, path: path}, nil
	}
	for _, op := range []string{"==", "!="} { // the last one, as a path may have some in a filter
		i := strings.LastIndex(text, op)
		if i < 0 {
			continue
		}
		c := condition{text: text, op: op}
		wrong := json.Unmarshal([]byte(text[i+len(op):]), &c.value)
		if wrong != nil {
			err = fmt.Errorf("%s is no JSON value: %w", text[i+len(op):], wrong)
			continue
		}
		if c.path, wrong = jsonpath.Parse(strings.TrimSpace(text[:i])); wrong == nil {
			return &c, nil
		}
		err = wrong
	}
	return nil, fmt.Errorf("%q: %s; %s", quantity.Clip(text, 80), quantity.Clip(strings.TrimPrefix(err.Error(), "jsonpath: "), 120), pathForm)
}

// check checks a body. Numbers are compared as IEEE 754 doubles; what is not there is null.
func (c *condition) check(body []byte) error {
	if len(body) > mostJSON {
		return fmt.Errorf("the body of %d bytes is not read as JSON; at most %d are", len(body), mostJSON)
	}
	var document any
	if err := json.Unmarshal(body, &document); err != nil {
		return fmt.Errorf("the body of %d bytes is no JSON: %w", len(body), err)
	}
	found, shown := c.path.Select(document), "not there"
	switch {
	case c.op == "" && len(found) > 0:
		return nil
	case c.op != "" && len(found) == 0:
		found = append(found, nil)
	}
	wrong := slices.IndexFunc(found, func(at any) bool { return reflect.DeepEqual(at, c.value) != (c.op == "==") })
	if wrong < 0 && c.op != "" {
		return nil
	}
	if wrong >= 0 {
		text, _ := json.Marshal(found[wrong]) // it was JSON
		shown = string(text)
	}
	return fmt.Errorf("the body of %d bytes does not have %s: it is %s", len(body), quantity.Clip(c.text, 80), quantity.Clip(shown, 80))
}
