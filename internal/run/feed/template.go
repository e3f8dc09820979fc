package feed

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/rows"
)

// Place is where a template stands, which says how fields are escaped in it.
type Place int

// The places.
const (
	URL    Place = iota // its path and query
	Header              // the value of one
	JSON
	Form // application/x-www-form-urlencoded
	Text
)

// PlaceOf is that of a body, by its media type and what it looks like: curl calls what -d
// says a form, and many bodies name no type.
func PlaceOf(mediaType, body string) Place {
	mediaType, body = strings.ToLower(mediaType), strings.TrimSpace(body)
	looksJSON := strings.HasPrefix(body, "[") || strings.HasPrefix(body, "{") && !firstHole.MatchString(body)
	switch {
	case strings.Contains(mediaType, "json"):
		return JSON
	case looksJSON && (mediaType == "" || strings.Contains(mediaType, "form-urlencoded")):
		return JSON
	case strings.Contains(mediaType, "form-urlencoded"):
		return Form
	}
	return Text
}

const (
	names    = `[A-Za-z_][A-Za-z0-9_.-]*(?::[0-9]+)?`
	mostName = 200 // bytes
)

var (
	bare      = regexp.MustCompile(`^` + names + `$`)
	firstHole = regexp.MustCompile(`^\{` + names + `\}`)
	made      = regexp.MustCompile(`\{(?:` + rows.UUID + `|` + rows.Number + `|` + rows.Now + `|` + rows.Random + `(?::[0-9]*)?)\}`)
	// selections of GraphQL, such as {shop{items}}.
	selections = regexp.MustCompile(`[A-Za-z0-9_)]\{` + names + `\}[} ]`)
	others     = regexp.MustCompile(`\{\{ *` + names + ` *\}\}|\$?\{` + names + `\}`) // what looks like a template
)

// Template makes of what a user wrote a template for the workers. what names it in errors.
// Without a file a text is one where it names a value that is made; else it goes out as it is.
func (f *Feed) Template(at Place, what, text string) (string, error) {
	if f.shown == "" && !f.names(at, text) {
		if found := others.FindString(selections.ReplaceAllString(text, "")); found != "" {
			f.remark(found, what)
		}
		return strings.ReplaceAll(text, "{", "{{"), nil
	}
	s := scanner{feed: f, at: at, what: what, whole: at != URL && at != Header}
	if err := s.scan(text); err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return s.out.String(), nil
}

// remark says of what looks like a template that it is none.
func (f *Feed) remark(found, what string) {
	f.Remarks = append(f.Remarks, fmt.Sprintf("%s goes out as it is in %s: --data-from FILE gives {column} a value, and {uuid}, {n}, {random:8} and {now} are made", quantity.Clip(found, 60), what))
}

// names tells whether a text names a value that is made.
func (f *Feed) names(at Place, text string) bool {
	if at == URL || at == Form {
		text = decoded.Replace(text)
	}
	return made.MatchString(text) || f.keys && strings.Contains(text, "{"+rows.Key+"}")
}

var decoded = strings.NewReplacer("%7B", "{", "%7b", "{", "%7D", "}", "%7d", "}")

// scanner reads a user's template.
type scanner struct {
	feed  *Feed
	at    Place
	what  string
	whole bool // a field may be all of the text, as it is
	out   strings.Builder

	inString, escaped bool // of JSON
}

func (s *scanner) scan(text string) error {
	for i := 0; i < len(text); {
		width := s.brace(text[i:], "{", "%7b")
		if width == 0 {
			s.literal(text[i])
			i++
			continue
		}
		if width == 1 && strings.HasPrefix(text[i:], "{{") {
			if err := s.twice(text[i+2:]); err != nil && !strings.HasSuffix(text[:i], "{{") {
				return err
			}
			s.out.WriteString("{{")
			i += 2
			continue
		}
		name, length := s.inner(text[i+width:])
		if err := s.check(name, length, width, text[i+width:]); err != nil {
			return err
		}
		if length == 0 || !s.known(name) {
			for _, c := range []byte(text[i : i+width]) {
				s.literal(c)
			}
			i += width
			continue
		}
		s.fill(name, s.whole && i == 0 && width+length == len(text))
		i += width + length
	}
	return nil
}

// twice refuses a name in two braces, as other tools write it.
func (s *scanner) twice(text string) error {
	text, _, closed := strings.Cut(text, "}}")
	name := strings.TrimSpace(text)
	switch {
	case !closed || !bare.MatchString(name):
		return nil
	case s.known(name):
		return fmt.Errorf("found {{%s}}; expected {%s}, with one brace ({{{{%s}} sends it as it is)", text, name, text)
	}
	return s.check(name, len(name), 1, "")
}

// brace returns how long the brace is that a text begins with; 0 where it begins with none.
func (s *scanner) brace(text, brace, coded string) int {
	switch {
	case strings.HasPrefix(text, brace):
		return len(brace)
	case (s.at == URL || s.at == Form) && len(text) >= len(coded) && strings.EqualFold(text[:len(coded)], coded):
		return len(coded)
	}
	return 0
}

// inner returns the name before the next closing brace, and how long both are; 0 for none.
func (s *scanner) inner(text string) (name string, length int) {
	for i := range min(len(text), mostName) {
		if n := s.brace(text[i:], "}", "%7d"); n > 0 {
			return text[:i], i + n
		}
		if strings.IndexByte("{\"\n", text[i]) >= 0 {
			break
		}
	}
	return "", 0
}

// check refuses a name that nothing has, and a brace that is not closed.
func (s *scanner) check(name string, length, width int, text string) error {
	switch {
	case width > 1 || s.known(name) && length > 0:
		return nil
	case length == 0:
		if name = opened.FindString(text); s.known(name) {
			return fmt.Errorf("nothing closes {%s; expected {%s}, or {{ for a brace", name, name)
		}
		return nil
	case !bare.MatchString(name):
		return nil
	case name == rows.Random || strings.HasPrefix(name, rows.Random+":"):
		return fmt.Errorf("found {%s}; expected its length, 1 to %d, such as {random:8}", quantity.Clip(name, 40), rows.MostRandom)
	case s.feed.shown == "":
		s.feed.remark("{"+name+"}", s.what)
		return nil
	}
	kinds := slices.Concat(s.feed.columns, []string{rows.UUID, rows.Number, rows.Random + ":8", rows.Now})
	for i, c := range kinds {
		kinds[i] = quantity.Clip(c, 40)
	}
	also := "write {{ for a brace"
	if s.feed.form == (texts{}) {
		also += "; it is read as a text a line, and as CSV where its name ends in .csv or its first line has commas"
	}
	return fmt.Errorf("%s has no column %q; %s (%s)", quantity.Clip(s.feed.shown, 200), quantity.Clip(name, 40), quantity.Hint(name, kinds), also)
}

var opened = regexp.MustCompile(`^` + names)

// known tells whether a name is a column's, or of a value that is made.
func (s *scanner) known(name string) bool {
	return name != "" && (slices.Contains(s.feed.columns, name) || s.feed.made(name) != "")
}

// made is what workers call a value that is made; "" for none.
func (f *Feed) made(name string) string {
	switch name {
	case rows.UUID, rows.Number, rows.Now:
		return name
	case rows.Key:
		if f.keys {
			return name
		}
	}
	if length, is := strings.CutPrefix(name, rows.Random+":"); is {
		if n, err := strconv.Atoi(length); err == nil && n >= 1 && n <= rows.MostRandom {
			return rows.Random + strconv.Itoa(n)
		}
	}
	return ""
}

// literal adds a byte that goes out as it is.
func (s *scanner) literal(c byte) {
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = s.inString
	case c == '"':
		s.inString = !s.inString
	}
	if s.out.WriteByte(c); c == '{' {
		s.out.WriteByte(c)
	}
}

// fill adds what is filled in: a column before a value that is made.
func (s *scanner) fill(name string, alone bool) {
	column := slices.Index(s.feed.columns, name)
	if column < 0 {
		if !slices.Contains(s.feed.makes, name) {
			s.feed.makes = append(s.feed.makes, name)
		}
		s.out.WriteString("{" + s.feed.made(name) + "}")
		return
	}
	number := slices.Index(s.feed.used, column)
	if number < 0 {
		number = len(s.feed.used)
		s.feed.used = append(s.feed.used, column)
	}
	escape := ""
	switch {
	case alone:
	case s.at == URL || s.at == Form:
		escape = "u"
	case s.at == JSON && s.inString:
		escape = "j"
	case s.at == Header:
		if !slices.Contains(s.feed.head, column) {
			s.feed.head = append(s.feed.head, column)
		}
	}
	s.out.WriteString("{" + strconv.Itoa(number) + escape + "}")
}

// Refuse refuses a template where none is filled.
func (f *Feed) Refuse(what, text string) error {
	if f.names(Text, text) || f.shown != "" && others.MatchString(text) {
		return fmt.Errorf("%s: no template is filled there; it may stand in the path, the query, a header's value or the body", what)
	}
	return nil
}

// OfHTTP refuses templates for a server that is not asked by HTTP.
func (f *Feed) OfHTTP(scheme string, texts []string) error {
	if f.shown != "" || slices.ContainsFunc(texts, func(text string) bool { return f.names(Text, text) }) {
		return fmt.Errorf("--data-from and what {uuid}, {n}, {random:8} and {now} stand for go with http:// and ws:// URLs: each request to %s:// is the same", scheme)
	}
	return nil
}

// Escaped escapes what is literal in a template for the workers, as Template makes them.
func Escaped(template string, escape func(string) string) (string, error) {
	var out strings.Builder
	err := rows.Scan(template, func(literal string) { out.WriteString(escape(literal)) }, func(name string) error {
		out.WriteString("{" + name + "}")
		return nil
	})
	return out.String(), err
}
