package recorded

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// harRoles are the members of an entry that are read (HTTP Archive 1.2).
var harRoles = map[string]string{
	"startedDateTime": "time", "request.method": "method", "request.url": "path", "request.bodySize": "up",
	"response.status": "status", "response.content.size": "down",
}

// mostEntry bounds an entry, which may hold a body, in bytes.
const mostEntry = 64 << 20

type har struct{}

func openHAR(Options) (source, error) { return har{}, nil }

// read finds log.entries and reads one entry after the other.
func (har) read(from *bufio.Reader, take func(int, seen) error, refuse func(int, reason, []byte) error) error {
	bound := &bounded{from: from, left: mostEntry}
	d := jsontext.NewDecoder(bound, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	found, err := enter(d, "log")
	if err == nil && found {
		found, err = enter(d, "entries")
	}
	if err == nil && (!found || d.PeekKind() != '[') {
		err = errors.New("it holds no log.entries")
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	if err != nil {
		return fmt.Errorf("it is no HTTP archive: %w", short(err))
	}
	for number := 1; d.PeekKind() != ']'; number++ {
		bound.left = mostEntry
		var s seen
		why, err := walk(d, &s, "", harRoles)
		switch {
		case errors.Is(err, errLong):
			return fmt.Errorf("entry %d has more than %d bytes", number, mostEntry)
		case err != nil: // what follows cannot be found
			return refuse(number, cutOff, []byte(short(err).Error()))
		case why == "" && s.at == 0:
			why = noTime
		}
		if why != "" {
			err = refuse(number, why, []byte(s.method+" "+s.path))
		} else {
			err = take(number, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enter reads up to the value of a member.
func enter(d *jsontext.Decoder, member string) (bool, error) {
	if d.PeekKind() != '{' {
		_, err := d.ReadToken()
		return false, err
	}
	if _, err := d.ReadToken(); err != nil {
		return false, err
	}
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return false, err
		}
		if key.String() == member {
			return true, nil
		}
		if err := d.SkipValue(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// bounded reads up to so many bytes more: what a decoder must keep of one entry.
type bounded struct {
	from io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// short is an error of the decoder without the text that it quotes.
func short(err error) error {
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) && syntactic.Err != nil {
		return fmt.Errorf("byte %d: %w", syntactic.ByteOffset, syntactic.Err)
	}
	return err
}
