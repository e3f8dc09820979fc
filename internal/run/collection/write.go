package collection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml"

	"netdyno/internal/contract"
	"netdyno/internal/head"
	"netdyno/internal/pattern"
	"netdyno/internal/printable"
	"netdyno/internal/quantity"
	"netdyno/internal/run/study/source"
)

// class is a class as it is written.
type class struct {
	Name    string        `yaml:"name"`
	Weight  int           `yaml:"weight"`
	Method  string        `yaml:"method"`
	Path    string        `yaml:"path"`
	Headers yaml.MapSlice `yaml:"headers,omitempty"`
	Body    string        `yaml:"body,omitempty"`
	Status  int           `yaml:"status,omitempty"`

	body string // what Body means
}

// workload writes what was read. Requests that are alike become one class that comes as
// often as they do.
func (m *maker) workload(out string) (w Workload, err error) {
	w.Base = m.ofOneHost()
	w.Notes = m.notes()
	if len(m.requests) == 0 {
		return w, fmt.Errorf("%s: no request is left: %s", m.name, strings.Join(append(w.Notes, "it has none")[:max(1, len(w.Notes))], "; "))
	}
	classes := m.classes()
	if w.Classes = len(classes); w.Classes > contract.MostClasses {
		return w, fmt.Errorf("%s: it has %d different requests, and a workload at most %d; --only TEXT takes those whose name, folder or path has the text", m.name, w.Classes, contract.MostClasses)
	}
	w.Headers = slices.Sorted(maps.Keys(m.headers))
	beside := strings.TrimSuffix(filepath.Base(out), filepath.Ext(out)) + ".bodies"
	w.Bodies = map[string][]byte{}
	for i := range classes {
		c := &classes[i]
		if w.Notes = append(w.Notes, secretIn(*c)...); c.body == "" {
			continue
		}
		if c.Body = c.body; !inLine(c.body) {
			file := filepath.Join(beside, fmt.Sprintf("%02d", i+1))
			c.Body, w.Bodies[file] = "@"+file, []byte(c.body)
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What %s asks for. Weights are how often each comes beside the others.\n", printable.Text(filepath.Base(m.name)))
	encoder := yaml.NewEncoder(&b, yaml.UseLiteralStyleIfMultiline(true), yaml.UseSingleQuote(true), yaml.IndentSequence(true))
	if err := errors.Join(encoder.Encode(map[string][]class{"classes": classes}), encoder.Close()); err != nil {
		return w, err
	}
	w.Text = b.Bytes()
	return w, readsBack(out, w.Text, classes)
}

// classes are the requests, each once.
func (m *maker) classes() (all []class) {
	byKey, names := map[string]int{}, map[string]int{}
	for _, r := range m.requests {
		path := pathOf(r.url)
		key := fmt.Sprintf("%s %s %d\n%s\n\n%s", r.method, path, r.status, head.Text(r.headers), r.body)
		if i, known := byKey[key]; known {
			all[i].Weight++
			continue
		}
		byKey[key] = len(all)
		c := class{Name: uniqueName(r.name, names), Weight: 1, Method: r.method, Path: path, Status: r.status, body: r.body}
		for _, h := range r.headers {
			if !slices.ContainsFunc(c.Headers, func(of yaml.MapItem) bool { return strings.EqualFold(of.Key.(string), h.Name) }) {
				c.Headers = append(c.Headers, yaml.MapItem{Key: h.Name, Value: h.Value})
			}
		}
		all = append(all, c)
	}
	return all
}

// uniqueName is a name as a class can have it, with a number where others have it too.
func uniqueName(name string, taken map[string]int) string {
	const most = 60
	without := func(signs string) string {
		return cut(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune(signs, r) }), " "), most)
	}
	if name = without("\ufffd"); !closes(name) {
		name = without("[]{}")
	}
	if name == "" {
		name = "request"
	}
	taken[name]++
	if n := taken[name]; n > 1 {
		ending := fmt.Sprintf(" %d", n)
		return uniqueName(cut(name, most-len(ending))+ending, taken)
	}
	return name
}

// cut is the beginning of a text, of at most so many bytes and whole characters.
func cut(text string, most int) string {
	end := 0
	for i, r := range text {
		next := i + len(string(r))
		if next > most {
			break
		}
		end = next
	}
	return strings.TrimSpace(text[:end])
}

// inLine tells whether a body can stand in the file itself, where people can edit it.
func inLine(body string) bool {
	const most, mostLine = 2 << 10, 800
	if len(body) > most || body[0] == '@' || strings.TrimSpace(body) != body {
		return false
	}
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) > mostLine || strings.TrimRight(line, " \t") != line || strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) }) {
			return false
		}
	}
	return closes(body)
}

// closes tells whether a text closes as many brackets as it opens, which readers of YAML
// count.
func closes(text string) bool {
	return strings.Count(text, "[") == strings.Count(text, "]") && strings.Count(text, "{") == strings.Count(text, "}")
}

// readsBack refuses a file that would not say what was meant.
func readsBack(out string, text []byte, classes []class) error {
	read, err := source.ReadWorkload(out, text)
	if err != nil {
		return fmt.Errorf("what was made cannot be a workload file; --only leaves the class out: %w", err)
	}
	bodies := map[int]string{}
	for _, b := range read.Bodies {
		bodies[b.Class] = b.Text
	}
	for i, c := range classes {
		if of := read.Classes[i]; of.Name != c.Name || of.Path != c.Path || of.Method != c.Method || bodies[i] != c.Body || len(of.Headers) != len(c.Headers) {
			return fmt.Errorf("class %s cannot be written as it is; --only leaves it out", c.Name)
		}
	}
	return nil
}

// member is a name with a value in JSON or a form.
var member = pattern.Once(`"([^"\\]{1,60})"\s*:\s*["0-9]|(?:^|&)([^=&{}"\s]{1,60})=`)

// secretIn says that a body has members that are called like secrets, which stand in the file.
func secretIn(c class) (notes []string) {
	for _, found := range member().FindAllStringSubmatch(c.body, -1) {
		if name := found[1] + found[2]; head.Secret(name) {
			return []string{printable.Text(fmt.Sprintf("written: class %s has %s in its body; whoever reads the file reads it", c.Name, quantity.Clip(name, 60)))}
		}
	}
	return nil
}

// compact is a body of JSON without what stands around it; another as it is.
func compact(body, mediaType string) string {
	if trimmed := strings.TrimSpace(body); strings.Contains(mediaType, "json") && json.Valid([]byte(trimmed)) {
		return trimmed
	}
	return body
}

// form is a body as browsers send a form's fields.
func form(pairs [][2]string) string {
	var all []string
	for _, p := range pairs {
		all = append(all, url.QueryEscape(p[0])+"="+url.QueryEscape(p[1]))
	}
	return strings.Join(all, "&")
}

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

// methodOf is a method in capitals; GET where none is said.
func methodOf(text string) string {
	if text == "" {
		return http.MethodGet
	}
	return strings.ToUpper(text)
}
