package target

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"netdyno/internal/head"
)

// Fill are values by name that stand for {name} in URLs, headers and bodies. They are
// secret: no text that has one is recorded, and none is shown.
type Fill map[string]string

// url fills a URL or its path, where { may be escaped by now.
func (f Fill) url(text string) string {
	for name, value := range f {
		value = strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
		text = strings.NewReplacer("{"+name+"}", value, "%7B"+name+"%7D", value).Replace(text)
	}
	return text
}

// plain fills a text with values that escape writes.
func (f Fill) plain(text string, escape func(string) string) string {
	pairs := make([]string, 0, 2*len(f))
	for name, value := range f {
		pairs = append(pairs, "{"+name+"}", escape(value))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// header fills the value of a header.
func (f Fill) header(field head.Field) (head.Field, error) {
	filled := f.plain(field.Value, func(value string) string { return value })
	if filled != field.Value && !httpguts.ValidHeaderFieldValue(filled) {
		return field, fmt.Errorf("header %.80s: a value of --take has a line end or another control character, which a header cannot have", field.Name)
	}
	field.Value = filled
	return field, nil
}

// placeholder is a name in braces.
var placeholder = regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_]*\}`)

// body fills a body: within JSON the values are escaped as JSON's strings are, within a
// form as its fields, else they stand as they are.
func (f Fill) body(text string, fields []head.Field) string {
	if len(f) == 0 {
		return text
	}
	media, _, _ := head.Take(fields, "Content-Type")
	whole := strings.TrimSpace(placeholder.ReplaceAllString(text, "0"))
	switch object := strings.HasPrefix(whole, "{") || strings.HasPrefix(whole, "["); {
	case object && json.Valid([]byte(whole)), strings.Contains(media, "json"):
		return f.plain(text, inJSON)
	case strings.HasPrefix(media, "application/x-www-form-urlencoded"):
		return f.plain(text, url.QueryEscape)
	}
	return f.plain(text, func(value string) string { return value })
}

// inJSON is a text as it stands between the quotes of a string of JSON.
func inJSON(text string) string {
	quoted, _ := json.Marshal(text) // of a string it never fails
	return string(quoted[1 : len(quoted)-1])
}

// In tells whether a text has a name that is to be filled.
func (f Fill) In(text string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(f)), func(name string) bool {
		return strings.Contains(text, "{"+name+"}") || strings.Contains(text, "%7B"+name+"%7D")
	})
}

// forms are how a value may stand in what is asked.
func forms(value string) []string { return []string{value, url.QueryEscape(value), inJSON(value)} }

// within tells whether a filled text has a value.
func (f Fill) within(text string) bool {
	for _, value := range f {
		if slices.ContainsFunc(forms(value), func(form string) bool { return strings.Contains(text, form) }) {
			return true
		}
	}
	return false
}

// Hide is a text without the values, whole or cut short, but for those so short that any
// text has them.
func (f Fill) Hide(text string) string {
	for _, value := range f {
		for _, form := range forms(value) {
			if len(form) > 3 {
				text = hide(text, form)
			}
		}
	}
	return text
}

// hide puts *** where a text has a value, or as much of its begin as no chance makes.
func hide(text, value string) string {
	const telling = 8
	begin := value[:min(len(value), telling)]
	var b strings.Builder
	for {
		at := strings.Index(text, begin)
		if at < 0 {
			return b.String() + text
		}
		end := len(begin)
		for end < len(value) && at+end < len(text) && text[at+end] == value[end] {
			end++
		}
		b.WriteString(text[:at] + "***")
		text = text[at+end:]
	}
}
