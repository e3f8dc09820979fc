package collection

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/head"
	"netdyno/internal/input"
	"netdyno/internal/pattern"
	"netdyno/internal/quantity"
)

// postmanFile is what is read of a collection (schema.getpostman.com/json/collection/v2.1.0).
type postmanFile struct {
	Info struct {
		Schema string `json:"schema"`
	} `json:"info"`
	postmanItem
}

// postmanItem is a folder or a request.
type postmanItem struct {
	Name     string           `json:"name"`
	Item     []postmanItem    `json:"item"`
	Request  *postmanRequest  `json:"request"`
	Variable []postmanPair    `json:"variable"`
	Auth     *postmanAuth     `json:"auth"`
	Event    []postmanScripts `json:"event"`
}

type postmanRequest struct {
	Method string          `json:"method"`
	URL    postmanURL      `json:"url"`
	Header postmanHeaders  `json:"header"`
	Body   *postmanContent `json:"body"`
	Auth   *postmanAuth    `json:"auth"`
}

// UnmarshalJSON takes a text too, which is a URL to be got.
func (r *postmanRequest) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &r.URL.Raw) == nil {
		return nil
	}
	type plain postmanRequest
	return json.Unmarshal(text, (*plain)(r))
}

type postmanURL struct {
	Raw      string        `json:"raw"`
	Variable []postmanPair `json:"variable"`
}

// UnmarshalJSON takes a text too.
func (u *postmanURL) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &u.Raw) == nil {
		return nil
	}
	type plain postmanURL
	return json.Unmarshal(text, (*plain)(u))
}

type postmanHeaders []postmanPair

// UnmarshalJSON takes a text too, of lines.
func (h *postmanHeaders) UnmarshalJSON(text []byte) error {
	var lines string
	if json.Unmarshal(text, &lines) != nil {
		return json.Unmarshal(text, (*[]postmanPair)(h))
	}
	fields, err := head.Parse(lines)
	for _, f := range fields {
		*h = append(*h, postmanPair{Key: f.Name, Value: postmanText(f.Value)})
	}
	return err
}

// postmanPair is a name with a value. Variables have an ID in place of a key, too.
type postmanPair struct {
	Key      string      `json:"key"`
	ID       string      `json:"id"`
	Value    postmanText `json:"value"`
	Type     string      `json:"type"`
	Disabled bool        `json:"disabled"`
	Enabled  *bool       `json:"enabled"` // of an environment
}

// postmanText is a text; a number or a truth value as it is written.
type postmanText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *postmanText) UnmarshalJSON(text []byte) error {
	var is string
	if json.Unmarshal(text, &is) != nil && string(text) != "null" {
		is = string(text)
	}
	*t = postmanText(is)
	return nil
}

type postmanContent struct {
	Mode       string        `json:"mode"`
	Raw        string        `json:"raw"`
	URLEncoded []postmanPair `json:"urlencoded"`
	GraphQL    struct {
		Query     string `json:"query"`
		Variables string `json:"variables"`
	} `json:"graphql"`
	Options struct {
		Raw struct {
			Language string `json:"language"`
		} `json:"raw"`
	} `json:"options"`
	Disabled bool `json:"disabled"`
}

type postmanAuth struct {
	Type   string        `json:"type"`
	APIKey []postmanPair `json:"apikey"`
}

type postmanScripts struct {
	Listen string `json:"listen"`
	Script struct {
		Exec json.RawMessage `json:"exec"`
	} `json:"script"`
}

// mostFolders bounds how deep folders lie in each other.
const mostFolders = 50

// postman reads a collection.
func (m *maker) postman() error {
	var file postmanFile
	if err := m.readJSON(m.text, &file); err != nil {
		return err
	}
	if version := postmanVersion(m.text); version != "2.1" {
		return fmt.Errorf("it is %s; expected a Postman collection of version 2.1, as Postman exports one (Export, Collection v2.1)", version)
	}
	m.lacking.hint = "give each by --set NAME=VALUE, or all by --environment FILE"
	var environment struct {
		Values []postmanPair `json:"values"`
	}
	if m.options.Environment != "" {
		text, err := input.Within(m.ctx, MaxFile)(m.options.Environment)
		if err == nil {
			err = m.readJSON(text, &environment)
		}
		if err == nil && len(environment.Values) == 0 {
			err = errors.New("it has no values; expected an environment as Postman exports one")
		}
		if err != nil {
			return fmt.Errorf("--environment %s: %w", m.options.Environment, err)
		}
	}
	for _, p := range append(environment.Values, file.Variable...) {
		m.lacking.known = append(m.lacking.known, p.Key)
	}
	return m.folder(file.postmanItem, "", postmanScope{maker: m, layers: [][]postmanPair{environment.Values, file.Variable}}, file.Auth, 0)
}

// readJSON reads a text. The error names the line.
func (m *maker) readJSON(text []byte, into any) error {
	err := json.Unmarshal(text, into)
	offset := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		_, field, _ := strings.Cut(kind.Field, ".")
		offset, err = kind.Offset, fmt.Errorf("found %q where %s has another kind of value", kind.Value, cmp.Or(field, "the file"))
	}
	if offset >= 0 && offset <= int64(len(text)) {
		return fmt.Errorf("line %d: %w", 1+strings.Count(string(text[:offset]), "\n"), err)
	}
	return err
}

// folder reads the items of a folder. Variables and the way to prove who asks are inherited.
func (m *maker) folder(of postmanItem, name string, scope postmanScope, auth *postmanAuth, depth int) error {
	if depth > mostFolders {
		return fmt.Errorf("folder %q: more than %d folders lie in each other", quantity.Clip(name, 80), mostFolders)
	}
	for _, item := range of.Item {
		named := strings.TrimPrefix(name+" / "+item.Name, " / ")
		inherited := auth
		if item.Auth != nil {
			inherited = item.Auth
		}
		within := scope.with(item.Variable)
		if item.Request == nil {
			if err := m.folder(item, named, within, inherited, depth+1); err != nil {
				return err
			}
			continue
		}
		if item.Request.Auth != nil {
			inherited = item.Request.Auth
		}
		within.item = named
		if err := m.item(item, within, inherited); err != nil {
			return fmt.Errorf("item %q: %w", quantity.Clip(named, 80), err)
		}
	}
	return nil
}

// item reads a request.
func (m *maker) item(of postmanItem, scope postmanScope, auth *postmanAuth) error {
	asked := of.Request
	r := request{name: scope.item, method: methodOf(asked.Method), status: of.status()}
	if !m.keeps(r.name, asked.URL.Raw, r.method) {
		return nil
	}
	var err error
	if r.url, err = scope.url(asked.URL); err != nil {
		return err
	}
	for _, h := range asked.Header {
		if h.Disabled || head.Secret(h.Key) {
			if !h.Disabled {
				m.addHeader(&r, h.Key, string(h.Value))
			}
			continue
		}
		value, err := scope.fill(string(h.Value))
		if err != nil {
			return err
		}
		m.addHeader(&r, h.Key, value)
	}
	m.authorise(auth)
	if asked.Body != nil && !asked.Body.Disabled {
		if err := scope.body(&r, *asked.Body); err != nil {
			return err
		}
	}
	if len(m.lacking.order) > 0 {
		return nil // it is said of all together
	}
	return m.add(r)
}

// authorise notes how an item proves who asks.
func (m *maker) authorise(auth *postmanAuth) {
	if auth == nil {
		return
	}
	key, in := "X-API-Key", "header"
	for _, p := range auth.APIKey {
		switch p.Key {
		case "key":
			key = string(p.Value)
		case "in":
			in = string(p.Value)
		}
	}
	switch {
	case auth.Type == "noauth":
	case auth.Type == "basic":
		m.withhold("Authorization", "Basic …")
	case auth.Type == "apikey" && in == "query":
		m.left["query parameter "+key]++
	case auth.Type == "apikey":
		m.withhold(key, "…")
	case auth.Type == "bearer", auth.Type == "oauth2", auth.Type == "jwt":
		m.withhold("Authorization", "Bearer …")
	default:
		m.withhold("Authorization", auth.Type+" …")
	}
}

var statusTest = pattern.Once(`to\.have\.status\(\s*(\d{3})\s*\)`)

// status is the status that the item's own test expects of the reply; 0 for none.
func (i postmanItem) status() int {
	for _, e := range i.Event {
		if found := statusTest().FindSubmatch(e.Script.Exec); e.Listen == "test" && found != nil {
			n, _ := strconv.Atoi(string(found[1])) // three digits
			return n
		}
	}
	return 0
}

// postmanScope are the variables that an item sees, the nearest layer last but the
// environment's, which go before all.
type postmanScope struct {
	*maker
	item   string
	layers [][]postmanPair // the environment's, the collection's, those of folders
}

func (s postmanScope) with(layer []postmanPair) postmanScope {
	s.layers = append(slices.Clone(s.layers), layer)
	return s
}

// value is that of a variable, and whether it is known. A secret one counts as known only
// where --set gives it, as it would stand in the file.
func (s postmanScope) value(name string) (string, bool) {
	if value, is := s.given(s.item, name); is {
		return value, true
	}
	for _, layer := range append(s.layers[:1:1], reversed(s.layers[1:])...) {
		for _, p := range layer {
			if off := p.Disabled || p.Enabled != nil && !*p.Enabled; !off && (p.Key == name || p.Key == "" && p.ID == name) {
				return string(p.Value), p.Type != "secret" && !head.Secret(name)
			}
		}
	}
	return "", false
}

func reversed(layers [][]postmanPair) [][]postmanPair {
	layers = slices.Clone(layers)
	slices.Reverse(layers)
	return layers
}

var variable = pattern.Once(`\{\{([^{}]{1,200})\}\}`)

// Bounds of what variables in variables may become.
const (
	mostFilled  = 4 << 20 // bytes
	mostFilling = 20      // how deep
	mostFills   = 10_000  // variables of one text
)

// fill puts the values of variables in their places.
func (s postmanScope) fill(text string) (string, error) {
	count := 0
	return s.fillDeep(text, 0, &count)
}

func (s postmanScope) fillDeep(text string, depth int, count *int) (string, error) {
	var b strings.Builder
	for text != "" {
		at := variable().FindStringSubmatchIndex(text)
		if at == nil {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:at[0]])
		sign, name := text[at[0]:at[1]], strings.TrimSpace(text[at[2]:at[3]])
		text = text[at[1]:]
		value, known := s.value(name)
		if !known {
			s.lacking.add(sign, s.item)
			continue
		}
		if *count++; depth >= mostFilling || *count > mostFills {
			return "", fmt.Errorf("the variable %s leads to itself, or to too many others", quantity.Clip(sign, 80))
		}
		value, err := s.fillDeep(value, depth+1, count)
		if err != nil {
			return "", err
		}
		if b.WriteString(value); b.Len() > mostFilled {
			return "", fmt.Errorf("the variable %s makes a text of more than %d bytes", quantity.Clip(sign, 80), mostFilled)
		}
	}
	return b.String(), nil
}

// url is the URL of an item; the parts of its path that begin with a colon are variables of
// its own.
func (s postmanScope) url(of postmanURL) (string, error) {
	if of.Raw == "" {
		return "", errors.New("it has no URL")
	}
	whole, query, has := strings.Cut(of.Raw, "?")
	parts := strings.Split(whole, "/")
	for i, part := range parts {
		name, is := strings.CutPrefix(part, ":")
		if !is || name == "" {
			continue
		}
		own := postmanScope{s.maker, s.item, [][]postmanPair{nil, of.Variable}}
		value, known := own.value(name)
		if !known || value == "" {
			s.lacking.add(part, s.item)
			continue
		}
		value, err := s.fill(value)
		if err != nil {
			return "", err
		}
		parts[i] = url.PathEscape(value)
	}
	if whole = strings.Join(parts, "/"); has {
		whole += "?" + query
	}
	filled, err := s.fill(whole)
	if err == nil && !strings.Contains(filled, "://") {
		filled = "http://" + filled // as Postman has it
	}
	return filled, err
}

// body makes the body of a request.
func (s postmanScope) body(r *request, of postmanContent) (err error) {
	mediaType := ""
	switch of.Mode {
	case "", "none":
		return nil
	case "raw":
		r.body, err = s.fill(of.Raw)
		mediaType = map[string]string{"json": jsonType, "xml": "application/xml", "html": "text/html", "javascript": "application/javascript"}[of.Options.Raw.Language]
		if mediaType == "" {
			mediaType = "text/plain"
		}
		r.body = compact(r.body, mediaType)
	case "urlencoded":
		pairs, failed := s.pairs(of.URLEncoded)
		r.body, mediaType, err = form(pairs), formType, failed
	case "graphql":
		query, failed := s.fill(of.GraphQL.Query)
		variables, failed2 := s.fill(of.GraphQL.Variables)
		content := map[string]any{"query": query}
		if json.Valid([]byte(variables)) {
			content["variables"] = json.RawMessage(variables)
		}
		text, failed3 := json.Marshal(content)
		r.body, mediaType, err = string(text), jsonType, errors.Join(failed, failed2, failed3)
	default:
		return fmt.Errorf("its body is of mode %q, which is not sent; --only leaves the item out", quantity.Clip(of.Mode, 20))
	}
	r.withType(mediaType)
	return err
}

// pairs are the fields of a form, filled in.
func (s postmanScope) pairs(of []postmanPair) (all [][2]string, err error) {
	for _, p := range of {
		if p.Disabled {
			continue
		}
		value, err := s.fill(string(p.Value))
		if err != nil {
			return nil, err
		}
		all = append(all, [2]string{p.Key, value})
	}
	return all, nil
}
