// Package expect compares the bodies of replies with what a user expects of them: all are the
// same, each has a match of a pattern or none, or a member of its JSON is as it must be.
package expect

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync/atomic"

	"netdyno/internal/quantity"
)

// MostPattern bounds a pattern, mostMatched the begin of a body that it is matched
// with, in bytes.
const (
	MostPattern = 4 << 10
	mostMatched = 1 << 20
)

// Kind is what is expected of bodies: a level of option verify, and what --expect begins with.
type Kind string

// The kinds, with the text that each needs.
const (
	Body      Kind = "body"       // all are the same, whose SHA-256 the text is; "" for that of the first
	Regexp    Kind = "regexp"     // a match of a pattern
	NotRegexp Kind = "not-regexp" // none
	JSON      Kind = "json"       // a condition: $.a.b[0] == 1
)

// Kinds are all of them.
var Kinds = []Kind{Body, Regexp, NotRegexp, JSON}

// Of expects what a kind and its text say. The error says where the text is wrong.
func Of(kind Kind, text string) (*Bodies, error) {
	if len(text) > MostPattern || text == "" && kind != Body {
		return nil, fmt.Errorf("what is expected has %d bytes; expected 1 to %d", len(text), MostPattern)
	}
	switch kind {
	case Body:
		return Same(text)
	case JSON:
		c, err := parseCondition(text)
		return &Bodies{condition: c}, err
	}
	b, err := Matching(text)
	if err == nil {
		b.lacks = kind == NotRegexp
	}
	return b, err
}

// Bodies checks the bodies of replies. Any goroutine may use it.
type Bodies struct {
	pattern   *regexp.Regexp // nil of other kinds
	lacks     bool           // no match may be there
	condition *condition     // nil of other kinds

	sum  atomic.Pointer[[sha256.Size]byte] // of every body; nil before the first
	seed maphash.Seed
	like atomic.Pointer[uint64] // the quick hash of a body that had the sum
}

// Same expects the body whose SHA-256 is given in hexadecimal digits; "" is for that of
// the first reply.
func Same(digits string) (*Bodies, error) {
	b := &Bodies{seed: maphash.MakeSeed()}
	if digits == "" {
		return b, nil
	}
	sum, err := hex.DecodeString(digits)
	if err != nil || len(sum) != sha256.Size {
		return nil, fmt.Errorf("%q is no SHA-256; expected 64 hexadecimal digits", quantity.Clip(digits, 80))
	}
	b.sum.Store((*[sha256.Size]byte)(sum))
	return b, nil
}

// Matching expects a match of a pattern, in RE2's syntax, within the first MiB of each
// body. The error says where the pattern is wrong.
func Matching(pattern string) (*Bodies, error) {
	if pattern == "" || len(pattern) > MostPattern {
		return nil, fmt.Errorf("the pattern has %d bytes; expected 1 to %d", len(pattern), MostPattern)
	}
	compiled, err := regexp.Compile(pattern)
	var wrong *syntax.Error
	if errors.As(err, &wrong) {
		at := max(0, strings.Index(pattern, wrong.Expr)) // the library says which part, not where
		return nil, fmt.Errorf("the pattern %q is wrong at byte %d, %q: %s; expected RE2's syntax", quantity.Clip(pattern, 80), at+1, quantity.Clip(wrong.Expr, 40), wrong.Code)
	}
	return &Bodies{pattern: compiled}, err
}

// Check checks the body of a reply, in time that is linear in its length.
func (b *Bodies) Check(body []byte) error {
	switch {
	case b.condition != nil:
		return b.condition.check(body)
	case b.pattern == nil && !b.same(body):
		return fmt.Errorf("the body of %d bytes differs from the first reply's", len(body))
	case b.pattern != nil && b.pattern.Match(body[:min(len(body), mostMatched)]) == b.lacks:
		return fmt.Errorf("the body of %d bytes has %s match of %q", len(body), map[bool]string{false: "no", true: "a"}[b.lacks], quantity.Clip(b.pattern.String(), 80))
	}
	return nil
}

// Matches tells whether bodies are matched with a pattern, which a part of a reply may be, too.
func (b *Bodies) Matches() bool { return b.pattern != nil }

// Reason says in a few words, the same for all bodies, why one was not as expected.
func (b *Bodies) Reason() string {
	switch {
	case b.condition != nil:
		return "not " + quantity.Clip(b.condition.text, 80)
	case b.lacks:
		return fmt.Sprintf("body has a match of %q", quantity.Clip(b.pattern.String(), 80))
	}
	return "body differs"
}

// same compares SHA-256 until one body had the expected sum: from then on a seeded hash
// of 64 bits, which costs a client a fraction of that.
func (b *Bodies) same(body []byte) bool {
	quick := maphash.Bytes(b.seed, body)
	if like := b.like.Load(); like != nil {
		return quick == *like
	}
	sum := sha256.Sum256(body)
	if !b.sum.CompareAndSwap(nil, &sum) && !bytes.Equal(sum[:], b.sum.Load()[:]) {
		return false
	}
	b.like.CompareAndSwap(nil, &quick)
	return true
}

// Expected is what Of takes to expect the same elsewhere; "" where no body
// was seen.
func (b *Bodies) Expected() string {
	if b.condition != nil {
		return b.condition.text
	}
	if b.pattern != nil {
		return b.pattern.String()
	}
	if sum := b.sum.Load(); sum != nil {
		return hex.EncodeToString(sum[:])
	}
	return ""
}
