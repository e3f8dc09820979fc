// Package expect compares the bodies of replies with what a user expects of them: all
// are the same, or each has a match of a pattern.
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

// Bodies checks the bodies of replies. Any goroutine may use it.
type Bodies struct {
	pattern *regexp.Regexp // nil where all bodies are the same

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
	case b.pattern == nil && !b.same(body):
		return fmt.Errorf("the body of %d bytes differs from the first reply's", len(body))
	case b.pattern != nil && !b.pattern.Match(body[:min(len(body), mostMatched)]):
		return fmt.Errorf("the body of %d bytes has no match of %q", len(body), quantity.Clip(b.pattern.String(), 80))
	}
	return nil
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

// Expected is what Same or Matching takes to expect the same elsewhere; "" where no body
// was seen.
func (b *Bodies) Expected() string {
	if b.pattern != nil {
		return b.pattern.String()
	}
	if sum := b.sum.Load(); sum != nil {
		return hex.EncodeToString(sum[:])
	}
	return ""
}
