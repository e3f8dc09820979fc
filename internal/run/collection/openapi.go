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

	"netdyno/internal/each"
	"netdyno/internal/head"
	"netdyno/internal/quantity"
	"netdyno/internal/run/recorded"
)

// openAPI reads a document. References to other files are refused.
func (m *maker) openAPI() error {
	const expected = "expected OpenAPI 3.0 or 3.1"
	of, version := openAPIVersion(m.text)
	switch {
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
	doc, err := m.document(version)
	if err != nil {
		return errors.New(quantity.Clip(err.Error(), 400))
	}
	m.lacking.hint = "the document has no example, default or enum for it: give each by --set NAME=VALUE (of one item by --set ITEM.NAME=VALUE)"
	for _, path := range doc.get("paths").names() {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		item := doc.get("paths").get(path)
		for _, method := range recorded.Methods {
			o := operation{maker: m, doc: doc, item: item, of: item.get(strings.ToLower(method)), method: method, path: path}
			if o.of.value == nil {
				continue
			}
			if o.name = o.of.get("operationId").text(); o.name == "" {
				o.name = method + " " + path
			}
			if !m.keeps(strings.Join(append(o.of.get("tags").texts(), o.name), " "), path, method) {
				continue
			}
			if err := o.add(); err != nil && doc.doc.err == nil {
				return fmt.Errorf("%s %s: %w", method, quantity.Clip(path, 80), err)
			}
		}
	}
	return doc.doc.err
}

// operation is one of a document.
type operation struct {
	*maker
	doc, item, of node
	name          string
	method, path  string
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
		case p.in == "cookie" && p.required:
			o.withhold("Cookie", p.name+"=…")
		case p.in == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(p.name)): // the specification leaves them out
		case p.in == "header" && p.required && head.Secret(p.name):
			o.withhold(p.name, "…")
		case !has:
		case p.in == "path":
			path = strings.ReplaceAll(path, "{"+p.name+"}", text)
		case p.in == "query":
			query = append(query, text)
		case p.in == "header":
			o.addHeader(&r, p.name, text)
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

// parameter is one of an operation.
type parameter struct {
	of              node
	name, in, style string
	required, apart bool // apart: each item of a list is written with the name
}

// parameters are the operation's, and those of its path that it does not have itself.
func (o operation) parameters() (all []parameter) {
	for _, of := range append(o.of.get("parameters").list(), o.item.get("parameters").list()...) {
		p := parameter{of: of, name: of.get("name").text(), in: of.get("in").text(), style: of.get("style").text(), required: of.get("required").yes()}
		p.apart = of.get("explode").value == nil || of.get("explode").yes()
		if of.value != nil && !slices.ContainsFunc(all, func(own parameter) bool { return own.name == p.name && own.in == p.in }) {
			all = append(all, p)
		}
	}
	return all
}

// parameter is how a parameter is written where it stands, whether it is. One that is not
// required stands where --set gives it.
func (o operation) parameter(p parameter) (text string, is bool) {
	if given, has := o.given(o.name, p.name); has {
		return o.styled(parameter{name: p.name, in: p.in}, given)
	}
	if !p.required && p.in != "path" || p.in == "cookie" {
		return "", false
	}
	value, is := exampleOf(p.of)
	if !is {
		value, is = o.valueOf(p.of.get("schema"), nil)
	}
	if !is {
		if !head.Secret(p.name) || p.in != "header" {
			o.lacking.add(p.in+" parameter "+p.name, o.name)
		}
		return "", false
	}
	return o.styled(p, value)
}

// styled writes a value as its parameter's style says where it is the usual one: of a path
// simple, of a query form.
func (o operation) styled(p parameter, value any) (string, bool) {
	escape, before, between := url.PathEscape, "", ","
	switch p.in {
	case "query":
		escape, before = url.QueryEscape, url.QueryEscape(p.name)+"="
		if p.apart {
			between = "&" + before
		}
	case "header":
		escape = func(s string) string { return s }
	}
	all, several := value.([]any)
	if !several {
		all = []any{value}
	}
	if _, object := value.(map[string]any); object || p.style != "" && p.style != "form" && p.style != "simple" {
		o.lacking.add(p.in+" parameter "+p.name+", whose style needs --set", o.name)
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
func exampleOf(of node) (any, bool) {
	if one := of.fields()["example"]; one != nil {
		return one, true
	}
	for _, name := range of.get("examples").names() {
		if value := of.get("examples").get(name).fields()["value"]; value != nil {
			return value, true
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
func (o operation) valueOf(s node, within []string) (any, bool) {
	anything, _ := s.value.(bool) // a schema that says nothing
	if o.visits++; s.value == nil || anything || len(within) > mostDepth || o.visits > mostVisits {
		return o.lacks(within)
	}
	if len(within) > 0 {
		if text, is := o.given(o.name, strings.Join(within, ".")); is {
			return typed(s, text), true
		}
	}
	fields := s.fields()
	for _, value := range []any{fields["example"], first(fields["examples"]), fields["default"], fields["const"], first(fields["enum"])} {
		if value != nil {
			return value, true
		}
	}
	if len(s.get("allOf").list()) > 0 {
		return o.joined(s, within)
	}
	if of := append(s.get("oneOf").list(), s.get("anyOf").list()...); len(of) > 0 {
		return o.valueOf(of[0], within)
	}
	isArray := isOf(s, "array")
	switch {
	case isArray && len(within) == 0:
		one, is := o.valueOf(s.get("items"), nil)
		return []any{one}, is
	case len(within) == 0:
		return nil, false
	case isOf(s, "object") || (len(types(s)) == 0 || slices.Contains(types(s), "object")) && len(s.get("properties").names()) > 0:
		return o.object(s, within)
	case isArray && slices.Contains([]string{"", "0"}, s.get("minItems").text()):
		return []any{}, true
	case isArray:
		one, is := o.valueOf(s.get("items"), append(slices.Clone(within), "0"))
		return []any{one}, is
	}
	return o.lacks(within)
}

// types are those that a schema's values may have beside null; none for all.
func types(s node) []string {
	of := s.get("type")
	if _, several := of.value.([]any); of.value != nil && !several {
		return []string{of.text()}
	}
	return slices.DeleteFunc(of.texts(), func(name string) bool { return name == "null" })
}

// isOf tells whether a schema's values are of one type.
func isOf(s node, name string) bool { return slices.Equal(types(s), []string{name}) }

// lacks notes what a body lacks.
func (o operation) lacks(within []string) (any, bool) {
	if len(within) > 0 {
		o.lacking.add(quantity.Clip(strings.Join(within, "."), 120), o.name)
	}
	return nil, false
}

// joined is the object that all of several schemas make.
func (o operation) joined(s node, within []string) (any, bool) {
	all, whole := map[string]any{}, true
	parts := s.get("allOf").list()
	own := s
	own.value = map[string]any{"properties": s.fields()["properties"], "required": s.fields()["required"]}
	for i, part := range append(parts, own) {
		of := len(part.get("properties").names()) + len(part.get("allOf").list()) + len(part.get("oneOf").list()) + len(part.get("anyOf").list())
		switch {
		case of > 0 || part.fields()["example"] != nil:
		case i == 0 && len(parts) == 1 && !isOf(part, "object"):
			return o.valueOf(part, within)
		default:
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
func (o operation) object(s node, within []string) (any, bool) {
	all, whole := map[string]any{}, true
	required := s.get("required").texts()
	for _, name := range s.get("properties").names() {
		p := s.get("properties").get(name)
		if fields, _ := p.value.(map[string]any); fields["readOnly"] == true || p.value == nil {
			continue
		}
		if slices.Contains(required, name) {
			value, is := o.valueOf(p, append(slices.Clone(within), name))
			all[name], whole = value, whole && is
		} else if len(required) == 0 {
			if value, is := o.valueOf(p, nil); is {
				all[name] = value
			}
		}
	}
	return all, whole
}

// first is the first item of a list; nil of what is none.
func first(of any) any {
	if all, _ := of.([]any); len(all) > 0 {
		return all[0]
	}
	return nil
}

// typed is a value that was given as text: a text where the schema says so, else JSON, else
// a text.
func typed(s node, text string) any {
	var value any
	if isOf(s, "string") || json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	return value
}

// body makes the body of the request, of JSON before forms before texts.
func (o operation) body(r *request) error {
	content := o.of.get("requestBody").get("content")
	types := content.names()
	for _, part := range []string{jsonType, "json", "*/*", formType, "text/"} {
		if i := slices.IndexFunc(types, func(t string) bool { return strings.Contains(t, part) }); i >= 0 {
			return o.content(r, types[i], content.get(types[i]))
		}
	}
	if !o.of.get("requestBody").get("required").yes() {
		return nil
	}
	return fmt.Errorf("its body is %s, which is not made of a document; --only leaves the item out", quantity.Clip(quantity.Or(types), 100))
}

func (o operation) content(r *request, mediaType string, of node) error {
	value, is := exampleOf(of)
	if given, has := o.given(o.name, "body"); has {
		r.body, is = given, true
	} else if !is {
		value, is = o.valueOf(of.get("schema"), []string{"body"})
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
	for _, code := range o.of.get("responses").names() {
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
	all := o.of.get("responses")
	return slices.ContainsFunc(all.names(), func(code string) bool {
		return strings.HasPrefix(code, "2") && all.get(code).get("content").get(jsonType).value != nil
	})
}

// authorise notes how the operation proves who asks: the first way that the document names.
func (o operation) authorise() {
	security := o.of.get("security")
	if security.value == nil {
		security = o.doc.get("security")
	}
	ways := security.list()
	if len(ways) == 0 || slices.ContainsFunc(ways, func(way node) bool { return len(way.fields()) == 0 }) {
		return
	}
	for _, name := range ways[0].names() {
		scheme := o.doc.get("components").get("securitySchemes").get(name)
		kind, in, key := scheme.get("type").text(), scheme.get("in").text(), scheme.get("name").text()
		switch {
		case scheme.value == nil || kind == "mutualTLS":
		case kind == "apiKey" && in == "query":
			o.left["query parameter "+key]++
		case kind == "apiKey" && in == "cookie":
			o.withhold("Cookie", key+"=…")
		case kind == "apiKey":
			o.withhold(key, "…")
		case kind == "http" && strings.EqualFold(scheme.get("scheme").text(), "basic"):
			o.withhold("Authorization", "Basic …")
		default:
			o.withhold("Authorization", "Bearer …")
		}
	}
}

// base is the URL that the operation's path follows, without its last slash: that of the
// first server; "" where none is named.
func (o operation) base() (string, error) {
	var servers []node
	for _, of := range []node{o.of, o.item, o.doc} {
		servers = append(servers, of.get("servers").list()...)
	}
	if len(servers) == 0 {
		return "", nil
	}
	text, variables := servers[0].get("url").text(), servers[0].get("variables")
	for _, name := range variables.names() {
		value, given := o.given(o.name, name)
		if !given {
			value = variables.get(name).get("default").text()
		}
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	text = strings.TrimSuffix(text, "/")
	if text != "" && !strings.Contains(text, "://") && !strings.HasPrefix(text, "/") {
		return "", fmt.Errorf("the server %q is no URL", quantity.Clip(text, 100))
	}
	return text, nil
}
