package collection

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"netdyno/internal/each"
	"netdyno/internal/head"
	"netdyno/internal/quantity"
	"netdyno/internal/run/recorded"
)

// openAPI reads a document. References to other files are refused.
func (m *maker) openAPI() error {
	const expected = "expected OpenAPI 3.0 or 3.1"
	switch of, version := openAPIVersion(m.text); {
	case of == "swagger":
		return fmt.Errorf("it is Swagger %s; %s: convert it, such as by swagger2openapi", version, expected)
	case of == "":
		what, _ := Recognise(m.text, m.name)
		if what == "" {
			what = "no OpenAPI document (it has no key openapi)"
		}
		return fmt.Errorf("it is %s; %s", what, expected)
	case version != "3.0" && version != "3.1":
		return fmt.Errorf("it is OpenAPI %s; %s", version, expected)
	}
	loader := openapi3.NewLoader()
	loader.Context = m.ctx
	doc, err := loader.LoadFromData(m.text)
	if refused := (*openapi3.DisallowedExternalRefError)(nil); errors.As(err, &refused) {
		return fmt.Errorf("it refers to another file (%s); join them into one, such as by redocly bundle", quantity.Clip(refused.Ref, 100))
	}
	if err != nil {
		return errors.New(quantity.Clip(strings.ReplaceAll(err.Error(), "failed to unmarshal data: ", ""), 400))
	}
	m.lacking.hint = "the document has no example, default or enum for it: give each by --set NAME=VALUE (of one item by --set ITEM.NAME=VALUE)"
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		item := doc.Paths.Value(path)
		for _, method := range recorded.Methods {
			o := operation{maker: m, doc: doc, item: item, of: item.GetOperation(method), method: method, path: path}
			if o.of == nil {
				continue
			}
			if o.name = o.of.OperationID; o.name == "" {
				o.name = method + " " + path
			}
			if !m.keeps(strings.Join(append(slices.Clone(o.of.Tags), o.name), " "), path, method) {
				continue
			}
			if err := o.add(); err != nil {
				return fmt.Errorf("%s %s: %w", method, quantity.Clip(path, 80), err)
			}
		}
	}
	return nil
}

// operation is one of a document.
type operation struct {
	*maker
	doc          *openapi3.T
	item         *openapi3.PathItem
	of           *openapi3.Operation
	name         string
	method, path string
}

// add adds the operation's request, or notes what it lacks.
func (o operation) add() error {
	r := request{name: o.name, method: o.method, status: o.status()}
	if o.accepts() {
		o.addHeader(&r, "Accept", jsonType)
	}
	path, query := o.path, []string(nil)
	for _, p := range o.parameters() {
		text, has := o.parameter(p)
		switch {
		case p.In == "cookie" && p.Required:
			o.withhold("Cookie", p.Name+"=…")
		case p.In == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(p.Name)): // the specification leaves them out
		case p.In == "header" && p.Required && head.Secret(p.Name):
			o.withhold(p.Name, "…")
		case !has:
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", text)
		case p.In == "query":
			query = append(query, text)
		case p.In == "header":
			o.addHeader(&r, p.Name, text)
		}
	}
	o.authorise()
	if err := o.body(&r); err != nil {
		return err
	}
	if len(o.lacking.order) > 0 {
		return nil // it is said of all together
	}
	if i := strings.IndexByte(path, '{'); i >= 0 {
		name, _, _ := strings.Cut(path[i+1:], "}")
		return fmt.Errorf("the path has {%s}, and no parameter is called so", quantity.Clip(name, 60))
	}
	base, err := o.base()
	if r.url = base + path; len(query) > 0 {
		r.url += "?" + strings.Join(query, "&")
	}
	if err != nil {
		return err
	}
	return o.maker.add(r)
}

// parameters are the operation's, and those of its path that it does not have itself.
func (o operation) parameters() (all []*openapi3.Parameter) {
	for _, list := range []openapi3.Parameters{o.of.Parameters, o.item.Parameters} {
		for _, p := range list {
			if p.Value != nil && !slices.ContainsFunc(all, func(own *openapi3.Parameter) bool { return own.Name == p.Value.Name && own.In == p.Value.In }) {
				all = append(all, p.Value)
			}
		}
	}
	return all
}

// parameter is how a parameter is written where it stands, whether it is. One that is not
// required stands where --set gives it.
func (o operation) parameter(p *openapi3.Parameter) (text string, is bool) {
	if given, has := o.given(o.name, p.Name); has {
		return o.styled(&openapi3.Parameter{Name: p.Name, In: p.In}, given)
	}
	if !p.Required && p.In != "path" || p.In == "cookie" {
		return "", false
	}
	value, is := exampleOf(p.Example, p.Examples)
	if !is {
		value, is = o.valueOf(p.Schema, nil)
	}
	if !is {
		if !head.Secret(p.Name) || p.In != "header" {
			o.lacking.add(p.In+" parameter "+p.Name, o.name)
		}
		return "", false
	}
	return o.styled(p, value)
}

// styled writes a value as its parameter's style says where it is the usual one: of a path
// simple, of a query form.
func (o operation) styled(p *openapi3.Parameter, value any) (string, bool) {
	escape, before, between := url.PathEscape, "", ","
	switch p.In {
	case "query":
		escape, before = url.QueryEscape, url.QueryEscape(p.Name)+"="
		if p.Explode == nil || *p.Explode {
			between = "&" + before
		}
	case "header":
		escape = func(s string) string { return s }
	}
	all, several := value.([]any)
	if !several {
		all = []any{value}
	}
	if _, object := value.(map[string]any); object || p.Style != "" && p.Style != "form" && p.Style != "simple" {
		o.lacking.add(p.In+" parameter "+p.Name+", whose style needs --set", o.name)
		return "", false
	}
	return before + strings.Join(each.Of(all, func(one any) string { return escape(plain(one)) }), between), len(all) > 0
}

// plain is a value as text.
func plain(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// exampleOf is an example, or the first of several by name.
func exampleOf(one any, several openapi3.Examples) (any, bool) {
	if one != nil {
		return one, true
	}
	for _, name := range slices.Sorted(maps.Keys(several)) {
		if e := several[name]; e != nil && e.Value != nil && e.Value.Value != nil {
			return e.Value.Value, true
		}
	}
	return nil, false
}

// Bounds of how far schemas are followed, which may refer to themselves.
const (
	mostDepth  = 24
	mostVisits = 1 << 17 // of all schemas of a document
)

// valueOf is a value that a schema has: an example, a default, a constant, the first of an
// enumeration; of an object those of its required properties. Within is where it stands in
// a body; what is lacking there is noted. Without it nothing is.
func (o operation) valueOf(ref *openapi3.SchemaRef, within []string) (any, bool) {
	if o.visits++; ref == nil || ref.Value == nil || len(within) > mostDepth || o.visits > mostVisits {
		return o.lacks(within)
	}
	s := ref.Value
	if len(within) > 0 {
		if text, is := o.given(o.name, strings.Join(within, ".")); is {
			return typed(s, text), true
		}
	}
	for _, value := range []any{s.Example, first(s.Examples), s.Default, s.Const, first(s.Enum)} {
		if value != nil {
			return value, true
		}
	}
	switch {
	case len(s.AllOf) > 0:
		return o.joined(s, within)
	case len(s.OneOf) > 0:
		return o.valueOf(s.OneOf[0], within)
	case len(s.AnyOf) > 0:
		return o.valueOf(s.AnyOf[0], within)
	case s.Type.Is("array") && len(within) == 0:
		one, is := o.valueOf(s.Items, nil)
		return []any{one}, is
	case len(within) == 0:
		return nil, false
	case s.Type.Permits("object") && (len(s.Properties) > 0 || s.Type.Is("object")):
		return o.object(s, within)
	case s.Type.Is("array") && s.MinItems == 0:
		return []any{}, true
	case s.Type.Is("array"):
		one, is := o.valueOf(s.Items, append(slices.Clone(within), "0"))
		return []any{one}, is
	}
	return o.lacks(within)
}

// lacks notes what a body lacks.
func (o operation) lacks(within []string) (any, bool) {
	if len(within) > 0 {
		o.lacking.add(quantity.Clip(strings.Join(within, "."), 120), o.name)
	}
	return nil, false
}

// joined is the object that all of several schemas make.
func (o operation) joined(s *openapi3.Schema, within []string) (any, bool) {
	all, whole := map[string]any{}, true
	for _, part := range append(slices.Clone(s.AllOf), &openapi3.SchemaRef{Value: &openapi3.Schema{Properties: s.Properties, Required: s.Required}}) {
		if part.Value != nil && len(part.Value.Properties)+len(part.Value.AllOf)+len(part.Value.OneOf)+len(part.Value.AnyOf) == 0 && part.Value.Example == nil {
			if of := part.Value; len(s.AllOf) == 1 && part == s.AllOf[0] && !of.Type.Is("object") {
				return o.valueOf(part, within)
			}
			continue
		}
		value, is := o.valueOf(part, within)
		if object, isObject := value.(map[string]any); isObject {
			maps.Copy(all, object)
		}
		whole = whole && is
	}
	return all, whole
}

// object is an object of a schema's required properties, and of others that have a value by
// themselves where none is required.
func (o operation) object(s *openapi3.Schema, within []string) (any, bool) {
	all, whole := map[string]any{}, true
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if p == nil || p.Value == nil || p.Value.ReadOnly {
			continue
		}
		if slices.Contains(s.Required, name) {
			value, is := o.valueOf(p, append(slices.Clone(within), name))
			all[name], whole = value, whole && is
		} else if len(s.Required) == 0 {
			if value, is := o.valueOf(p, nil); is {
				all[name] = value
			}
		}
	}
	return all, whole
}

func first(of []any) any {
	if len(of) == 0 {
		return nil
	}
	return of[0]
}

// typed is a value that was given as text: a text where the schema says so, else JSON, else
// a text.
func typed(s *openapi3.Schema, text string) any {
	var value any
	if s.Type.Is("string") || json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	return value
}

// body makes the body of the request, of JSON before forms before texts.
func (o operation) body(r *request) error {
	if o.of.RequestBody == nil || o.of.RequestBody.Value == nil {
		return nil
	}
	content := o.of.RequestBody.Value.Content
	types := slices.Sorted(maps.Keys(content))
	for _, part := range []string{jsonType, "json", "*/*", formType, "text/"} {
		if i := slices.IndexFunc(types, func(t string) bool { return strings.Contains(t, part) }); i >= 0 {
			return o.content(r, types[i], content[types[i]])
		}
	}
	if !o.of.RequestBody.Value.Required {
		return nil
	}
	return fmt.Errorf("its body is %s, which is not made of a document; --only leaves the item out", quantity.Clip(quantity.Or(types), 100))
}

func (o operation) content(r *request, mediaType string, of *openapi3.MediaType) error {
	value, is := exampleOf(of.Example, of.Examples)
	if given, has := o.given(o.name, "body"); has {
		r.body, is = given, true
	} else if !is {
		value, is = o.valueOf(of.Schema, []string{"body"})
	}
	text, isText := value.(string)
	fields, isObject := value.(map[string]any)
	switch {
	case !is || r.body != "":
	case mediaType == formType && isObject:
		var pairs [][2]string
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			pairs = append(pairs, [2]string{key, plain(fields[key])})
		}
		r.body = form(pairs)
	case isText && (!strings.Contains(mediaType, "json") || json.Valid([]byte(text))):
		r.body = text
	default:
		encoded, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("its example is no JSON: %w", err)
		}
		r.body = string(encoded)
	}
	if mediaType == "*/*" {
		mediaType = jsonType
	}
	r.withType(mediaType)
	return nil
}

// status is the one status of success that the document names; 0 where it names none or
// several.
func (o operation) status() (status int) {
	for code := range o.of.Responses.Map() {
		n, err := strconv.Atoi(code)
		switch {
		case err != nil || n/100 != 2:
		case status != 0:
			return 0
		default:
			status = n
		}
	}
	return status
}

// accepts tells whether a reply of success may be JSON.
func (o operation) accepts() bool {
	for code, r := range o.of.Responses.Map() {
		if strings.HasPrefix(code, "2") && r.Value != nil && r.Value.Content[jsonType] != nil {
			return true
		}
	}
	return false
}

// authorise notes how the operation proves who asks: the first way that the document names.
func (o operation) authorise() {
	security := o.doc.Security
	if o.of.Security != nil {
		security = *o.of.Security
	}
	if len(security) == 0 || o.doc.Components == nil || slices.ContainsFunc(security, func(s openapi3.SecurityRequirement) bool { return len(s) == 0 }) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(security[0])) {
		scheme := o.doc.Components.SecuritySchemes[name]
		switch {
		case scheme == nil || scheme.Value == nil || scheme.Value.Type == "mutualTLS":
		case scheme.Value.Type == "apiKey" && scheme.Value.In == "query":
			o.left["query parameter "+scheme.Value.Name]++
		case scheme.Value.Type == "apiKey" && scheme.Value.In == "cookie":
			o.withhold("Cookie", scheme.Value.Name+"=…")
		case scheme.Value.Type == "apiKey":
			o.withhold(scheme.Value.Name, "…")
		case scheme.Value.Type == "http" && strings.EqualFold(scheme.Value.Scheme, "basic"):
			o.withhold("Authorization", "Basic …")
		default:
			o.withhold("Authorization", "Bearer …")
		}
	}
}

// base is the URL that the operation's path follows, without its last slash: that of the
// first server; "" where none is named.
func (o operation) base() (string, error) {
	servers := o.doc.Servers
	if len(o.item.Servers) > 0 {
		servers = o.item.Servers
	}
	if o.of.Servers != nil && len(*o.of.Servers) > 0 {
		servers = *o.of.Servers
	}
	if len(servers) == 0 || servers[0] == nil {
		return "", nil
	}
	text := servers[0].URL
	for name, v := range servers[0].Variables {
		value, given := o.given(o.name, name)
		if !given && v != nil {
			value = v.Default
		}
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	text = strings.TrimSuffix(text, "/")
	if text != "" && !strings.Contains(text, "://") && !strings.HasPrefix(text, "/") {
		return "", fmt.Errorf("the server %q is no URL", quantity.Clip(text, 100))
	}
	return text, nil
}
