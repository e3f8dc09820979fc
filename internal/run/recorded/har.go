package recorded

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/http/httpguts"
)

// harEntry is what is read of an entry of an HTTP archive (HTTP Archive 1.2).
type harEntry struct {
	Started string `json:"startedDateTime"`
	Request struct {
		Method string         `json:"method"`
		URL    string         `json:"url"`
		Size   jsontext.Value `json:"bodySize"`
		Post   *struct {
			MediaType string `json:"mimeType"`
			Text      string `json:"text"`
			Encoding  string `json:"encoding"`
		} `json:"postData"`
	} `json:"request"`
	Response struct {
		Status  jsontext.Value `json:"status"`
		Content struct {
			Size jsontext.Value `json:"size"`
		} `json:"content"`
	} `json:"response"`
}

// mostEntry bounds an entry, which may hold a body, in bytes.
const mostEntry = 64 << 20

// harEntries visits the entries of an archive one after the other, by their numbers. What
// follows one that is cut off cannot be found, and is an error.
func harEntries(from *bufio.Reader, visit func(number int, s seen, why reason) error) error {
	bound := &bounded{from: from, left: mostEntry}
	d := jsontext.NewDecoder(bound, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for _, member := range []string{"log", "entries"} {
		if !enter(d, member) {
			return errors.New("it is no HTTP archive: it holds no log.entries")
		}
	}
	if token, err := d.ReadToken(); err != nil || token.Kind() != '[' {
		return errors.New("it is no HTTP archive: log.entries is no list")
	}
	for number := 1; d.PeekKind() != ']'; number++ {
		bound.left = mostEntry
		value, err := d.ReadValue()
		if err != nil {
			return fmt.Errorf("entry %d: it is cut off, is no JSON, or has more than %d bytes", number, mostEntry)
		}
		var e harEntry
		s, why := seen{}, foreign
		if json.Unmarshal(value, &e, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) == nil {
			s, why = e.seen()
		}
		if err := visit(number, s, why); err != nil {
			return err
		}
	}
	return nil
}

// seen is the entry as other logs show a request.
func (e harEntry) seen() (s seen, why reason) {
	s.method = e.Request.Method
	for _, member := range []struct{ role, text string }{
		{"time", e.Started}, {"path", e.Request.URL}, {"up", number(e.Request.Size)}, {"down", number(e.Response.Content.Size)}, {"status", number(e.Response.Status)},
	} {
		if of := setters[member.role](&s, []byte(member.text)); why == "" {
			why = of
		}
	}
	if why == "" && s.at == 0 {
		why = noTime
	}
	if e.carried(&s); s.body != nil {
		s.up = int64(len(s.body))
	}
	return s, why
}

// carried enters what the request carried, where the archive has it.
func (e harEntry) carried(s *seen) {
	post := e.Request.Post
	if post == nil || post.Text == "" {
		size, err := strconv.ParseFloat(string(e.Request.Size), 64)
		s.known = s.up == 0 && (err == nil && size == 0 || !Writes(s.method))
		return
	}
	text, err := []byte(post.Text), error(nil)
	if post.Encoding == "base64" {
		text, err = base64.StdEncoding.DecodeString(post.Text)
	}
	if err == nil && len(text) > 0 && httpguts.ValidHeaderFieldValue(post.MediaType) && len(post.MediaType) < 256 {
		s.known, s.body, s.media = true, text, post.MediaType
	}
}

// Writes tells whether requests of a method carry what they write.
func Writes(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }

// number is a number as it stands; "-" of one that is not known, which an archive has as −1.
func number(v jsontext.Value) string {
	if x, err := strconv.ParseFloat(string(v), 64); err == nil && x < 0 {
		return "-"
	}
	return string(v)
}

// enter reads up to the value of a member.
func enter(d *jsontext.Decoder, member string) bool {
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return false
	}
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		if err != nil || key.String() == member {
			return err == nil
		}
		if d.SkipValue() != nil {
			return false
		}
	}
	return false
}

// bounded reads up to so many bytes more: what a decoder must keep of one entry.
type bounded struct {
	from io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("too long")
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
