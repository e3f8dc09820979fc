// Package curl reads the words by which curl(1) is told what to request, so that what
// a user or a browser wrote for curl can be measured as it stands.
package curl

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"netdyno/internal/head"
	"netdyno/internal/quantity"
)

// Kind is the flag of a piece of a body.
type Kind string

// The kinds, by their flags.
const (
	Data   Kind = "data"           // TEXT, or @FILE without its line ends
	Raw    Kind = "data-raw"       // TEXT, whatever it begins with
	Binary Kind = "data-binary"    // TEXT, or @FILE as it is
	Encode Kind = "data-urlencode" // [NAME]=TEXT or [NAME]@FILE, escaped
	JSON   Kind = "json"           // as Binary, and says that it is JSON
)

// Piece is one of curl's flags with its value.
type Piece struct {
	Kind Kind
	Text string
}

// Words are what curl's flags say.
type Words struct {
	Headers               []string // -H: "Name: value", "Name;" for an empty one, "Name:" for none, @FILE
	Pieces                []Piece  // in order
	Upload                string   // -T: FILE, or - for standard input
	Forms                 []string // -F: NAME=TEXT, NAME=@FILE, NAME=<FILE
	User                  string   // -u: NAME:PASSWORD
	Cookies               []string // -b: NAME=VALUE, or "" to send on those that redirections set
	Jar                   string   // -c: a file, which is not written
	Agent, Refers         string   // -A, -e
	Bearer, Range         string   // --oauth2-bearer, -r
	Queries               []string // --url-query: as --data-urlencode, or +TEXT as it is
	Compressed, Get, Head bool     // --compressed, -G, -I
}

// Request is what they make of a request.
type Request struct {
	Method  string // "" where the body says it
	Headers []string
	Close   bool // a new connection for every request
	Body    string
	Query   string   // to be added to the URL
	File    string   // the name that a URL which ends in a slash lacks
	Jar     bool     // the cookies that redirections set are sent on
	LeftOut []string // names of fields that were given and that clients make themselves

	WebSocket bool // one of them asks for it
}

// Read reads a file of at most the bytes that a body may have; "-" is standard input.
type Read func(name string) ([]byte, error)

// Request makes the request. The error names the flag, and shows no secret.
func (w Words) Request(read Read) (r Request, err error) {
	if err := w.contradicts(); err != nil {
		return r, err
	}
	body, media, err := w.body(read)
	if err != nil {
		return r, err
	}
	if w.Get {
		r.Query, media = body, ""
	} else {
		r.Body = body
	}
	switch {
	case w.Upload != "":
		r.Method = "PUT"
		if w.Upload != "-" {
			r.File = filepath.Base(w.Upload)
		}
	case w.Head:
		r.Method = "HEAD"
	case len(w.Pieces) > 0 && !w.Get && body == "": // a body says it otherwise
		r.Method = "POST"
	}
	queries, err := w.queries(read)
	if err != nil {
		return r, err
	}
	r.Query = strings.Join(slices.DeleteFunc(append([]string{r.Query}, queries...), func(q string) bool { return q == "" }), "&")
	cookies := slices.DeleteFunc(slices.Clone(w.Cookies), func(c string) bool { return c == "" })
	r.Jar = len(cookies) < len(w.Cookies) || w.Jar != ""
	own := []head.Field{{Name: "Content-Type", Value: media}, {Name: "User-Agent", Value: w.Agent}, {Name: "Referer", Value: w.Refers}, {Name: "Cookie", Value: strings.Join(cookies, ";")}}
	if len(w.Pieces) > 0 && w.Pieces[0].Kind == JSON {
		own = append(own, head.Field{Name: "Accept", Value: "application/json"})
	}
	if w.Compressed {
		own = append(own, head.Field{Name: "Accept-Encoding", Value: "gzip, deflate, br"})
	}
	if w.User != "" {
		own = append(own, head.Field{Name: "Authorization", Value: basic(w.User)})
	} else if w.Bearer != "" {
		own = append(own, head.Field{Name: "Authorization", Value: "Bearer " + w.Bearer})
	}
	if w.Range != "" {
		own = append(own, head.Field{Name: "Range", Value: "bytes=" + w.Range})
	}
	given, err := w.given(read)
	if err != nil {
		return r, err
	}
	err = r.headers(own, given)
	return r, err
}

// queries are what --url-query adds to the URL.
func (w Words) queries(read Read) (all []string, err error) {
	for _, text := range w.Queries {
		q, asItIs := strings.CutPrefix(text, "+")
		if !asItIs {
			if q, err = (Piece{Encode, text}).encode(read); err != nil {
				return nil, fmt.Errorf("--url-query: %w", err)
			}
		}
		all = append(all, q)
	}
	return all, nil
}

// body is what the flags make of a body, and its media type.
func (w Words) body(read Read) (body, media string, err error) {
	switch {
	case w.Upload != "":
		text, err := read(w.Upload)
		if err != nil {
			return "", "", fmt.Errorf("--upload-file: %w", err)
		}
		return string(text), "", nil
	case len(w.Forms) > 0:
		return w.form(read)
	}
	return w.data(read)
}

// given are the user's headers, with the lines of files in their place: what is secret
// need not be typed.
func (w Words) given(read Read) (lines []string, err error) {
	for _, text := range w.Headers {
		file, named := strings.CutPrefix(text, "@")
		if !named {
			lines = append(lines, text)
			continue
		}
		held, err := read(file)
		if err != nil {
			return nil, fmt.Errorf("--header: %w", err)
		}
		for line := range strings.Lines(string(held)) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines, nil
}

func (w Words) contradicts() error {
	_, _, complete := strings.Cut(w.User, ":")
	switch {
	case len(w.Forms) > 0 && len(w.Pieces) > 0:
		return errors.New("--form and --data both make the body; expected one of them")
	case w.Upload != "" && len(w.Pieces)+len(w.Forms) > 0:
		return errors.New("--upload-file and --data or --form both make the body; expected one of them")
	case w.Upload != "" && (w.Get || w.Head):
		return errors.New("--upload-file sends a body, and --get and --head have none; expected one of them")
	case len(w.Forms) > 0 && w.Get:
		return errors.New("--get puts data into the URL, and a form cannot be there")
	case w.User != "" && !complete:
		return errors.New("--user: expected NAME:PASSWORD; nobody is asked for the password")
	case w.User != "" && w.Bearer != "":
		return errors.New("--user and --oauth2-bearer both say who asks; expected one of them")
	case w.Head && len(w.Pieces)+len(w.Forms) > 0 && !w.Get:
		return errors.New("--head asks for no body, and --data or --form sends one; expected one of them, or --get to put it into the URL")
	case slices.ContainsFunc(w.Cookies, func(c string) bool { return c != "" && !strings.Contains(c, "=") }):
		return errors.New("--cookie: expected NAME=VALUE, or '' to send on what redirections set; a file of cookies is not read")
	}
	return nil
}

// gone are fields of a connection that clients make themselves.
var gone = []string{"connection", "keep-alive", "proxy-connection", "upgrade", "http2-settings", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"}

// headers sets the fields that flags make and the user's fields, which replace a flag's
// field of the same name. Fields that clients make themselves are left out.
func (r *Request) headers(own []head.Field, given []string) error {
	var users []head.Field
	replaced := map[string]bool{}
	for i, text := range given {
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, ":") { // of HTTP/2, as some browsers write it
			r.LeftOut = append(r.LeftOut, ":"+strings.SplitN(text, ":", 3)[1])
			continue
		}
		name, value, found := strings.Cut(text, ":")
		if empty, ok := strings.CutSuffix(text, ";"); !found && ok {
			name, found = empty, true
		} else if found && strings.TrimSpace(value) == "" { // curl's word for: do not send it
			replaced[strings.ToLower(strings.TrimSpace(name))] = true
			continue
		}
		fields, err := head.Parse(name + ":" + value)
		lower := strings.ToLower(strings.TrimSpace(name))
		switch {
		case !found || err != nil || strings.ContainsAny(value, "\r\n"):
			return fmt.Errorf("--header, the %s of them: expected Name: value", ordinal(i+1))
		case len(fields) == 0 || slices.Contains(gone, lower):
			r.WebSocket = r.WebSocket || lower == "upgrade" && strings.EqualFold(strings.TrimSpace(value), "websocket")
			r.Close = r.Close || lower == "connection" && strings.Contains(strings.ToLower(value), "close")
			if replaced[lower] = true; lower != "connection" || !strings.EqualFold(strings.TrimSpace(value), "keep-alive") && !r.Close { // which is done
				r.LeftOut = append(r.LeftOut, strings.TrimSpace(name))
			}
			continue
		}
		replaced[lower] = true
		users = append(users, fields[0])
	}
	for _, f := range own {
		if f.Value != "" && !replaced[strings.ToLower(f.Name)] {
			users = append(users, f)
		}
	}
	for _, f := range users {
		r.Headers = append(r.Headers, f.Name+": "+f.Value)
	}
	if _, err := head.Parse(strings.Join(r.Headers, "\n")); err != nil {
		return fmt.Errorf("headers: %w", err)
	}
	return nil
}

func ordinal(n int) string {
	if n > 3 {
		return fmt.Sprintf("%dth", n)
	}
	return []string{"first", "second", "third"}[n-1]
}

// data joins the pieces as curl does.
func (w Words) data(read Read) (body, media string, err error) {
	var b strings.Builder
	for i, p := range w.Pieces {
		text, err := p.readPiece(read)
		if err != nil {
			return "", "", fmt.Errorf("--%s: %w", p.Kind, err)
		}
		if i > 0 && p.Kind != JSON {
			b.WriteByte('&')
		}
		b.WriteString(text)
		if media = "application/x-www-form-urlencoded"; p.Kind == JSON {
			media = "application/json"
		}
	}
	return b.String(), media, nil
}

func (p Piece) readPiece(read Read) (string, error) {
	file, named := strings.CutPrefix(p.Text, "@")
	switch {
	case p.Kind == Encode:
		return p.encode(read)
	case p.Kind == Raw || !named:
		return p.Text, nil
	}
	text, err := read(file)
	if p.Kind == Data {
		text = slices.DeleteFunc(text, func(b byte) bool { return b == '\r' || b == '\n' || b == 0 })
	}
	return string(text), err
}

// encode escapes what follows the name.
func (p Piece) encode(read Read) (string, error) {
	i := strings.IndexAny(p.Text, "=@")
	if i < 0 {
		return query(p.Text), nil
	}
	name, text := p.Text[:i], p.Text[i+1:]
	if p.Text[i] == '@' {
		held, err := read(text)
		if err != nil {
			return "", err
		}
		text = string(held)
	}
	if name != "" {
		name += "="
	}
	return name + query(text), nil
}

func query(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// form makes a multipart body, the same for the same words.
func (w Words) form(read Read) (body, media string, err error) {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	sum := sha256.Sum256([]byte(strings.Join(w.Forms, "\n")))
	if err := m.SetBoundary("netdyno-" + hex.EncodeToString(sum[:12])); err != nil {
		return "", "", err
	}
	for _, f := range w.Forms {
		if err := part(m, f, read); err != nil {
			name, _, _ := strings.Cut(f, "=")
			return "", "", fmt.Errorf("--form %s: %w", quantity.Clip(name, 40), err)
		}
	}
	err = m.Close()
	return b.String(), m.FormDataContentType(), err
}

// part writes NAME=TEXT, NAME=@FILE or NAME=<FILE, with ;type= and ;filename= after it.
func part(m *multipart.Writer, form string, read Read) error {
	name, value, found := strings.Cut(form, "=")
	if !found || name == "" {
		return errors.New("expected NAME=TEXT or NAME=@FILE")
	}
	value, attributes := attributesOf(value)
	disposition := map[string]string{"name": name}
	header := textproto.MIMEHeader{}
	content := []byte(value)
	if named := strings.HasPrefix(value, "@"); named || strings.HasPrefix(value, "<") {
		var err error
		if content, err = read(value[1:]); err != nil {
			return err
		}
		if named {
			disposition["filename"] = filepath.Base(value[1:])
			header.Set("Content-Type", typeOf(value[1:]))
		}
	}
	if given := attributes["filename"]; given != "" {
		disposition["filename"] = given
	}
	if given := attributes["type"]; given != "" {
		header.Set("Content-Type", given)
	}
	header.Set("Content-Disposition", mime.FormatMediaType("form-data", disposition))
	p, err := m.CreatePart(header)
	if err == nil {
		_, err = p.Write(content)
	}
	return err
}

func attributesOf(value string) (content string, attributes map[string]string) {
	parts := strings.Split(value, ";")
	attributes = map[string]string{}
	for len(parts) > 1 {
		key, text, found := strings.Cut(strings.TrimSpace(parts[len(parts)-1]), "=")
		if !found || key != "type" && key != "filename" {
			break
		}
		attributes[key], parts = strings.Trim(text, `"`), parts[:len(parts)-1]
	}
	return strings.Join(parts, ";"), attributes
}

func typeOf(file string) string {
	if known := mime.TypeByExtension(filepath.Ext(file)); known != "" {
		return known
	}
	return "application/octet-stream"
}
