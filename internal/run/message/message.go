// Package message turns a level of factor message into what workers encode:
// one of the built-in messages, or the user's own from a .proto file and its
// values in JSON.
package message

import (
	"encoding/json"
	"fmt"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/values"
)

// Bounds of what is read. A read function should read no more than one byte
// beyond them.
const (
	MaxProto  = 1 << 20         // bytes of one .proto file
	MaxValues = values.MaxBytes // bytes of one file of values
)

// maxLine is what a message may take of a worker's setup, which is one line of
// the contract; the rest of that line needs a few KiB.
const maxLine = contract.MaxLine - 64<<10

// form is what a level looks like that is no built-in message.
const form = "FILE.proto:pkg.Type:DATA.json, or FILE.proto:pkg.Type:DATA.json:pkg.Reply:REPLY.json"

// Resolve returns the structure that a level names. The level is one of Names
// or, for the user's own message,
//
//	FILE.proto:pkg.Type:DATA.json[:pkg.Reply:REPLY.json]
//
// where the same message comes back when no reply is named. FILE is compiled;
// its imports are looked up beside it, then in the directories above it, then
// among the files that protobuf itself brings. The values follow the protobuf
// JSON mapping. Every file is read by read, which is called from one goroutine
// at a time and returns an error that wraps fs.ErrNotExist for what is not
// there. The error names the file and, where there is one, line and column.
//
// Source: Protocol Buffers documentation, "ProtoJSON Format".
func Resolve(level string, read func(path string) ([]byte, error)) (contract.Structure, error) {
	if s, ok := builtin(level); ok {
		return s, nil
	}
	if !strings.Contains(level, ":") {
		return contract.Structure{}, fmt.Errorf("no message %q; %s; your own is %s", level, quantity.Hint(level, Names()), form)
	}
	parts := strings.Split(level, ":")
	for _, p := range parts {
		if p == "" || len(parts) != 3 && len(parts) != 5 {
			return contract.Structure{}, fmt.Errorf("message %q: found %d parts between colons, expected %s", level, len(parts), form)
		}
	}
	own, err := compile(parts[0], read)
	if err != nil {
		return contract.Structure{}, err
	}
	up, err := own.content(parts[1], parts[2], read)
	if err != nil {
		return contract.Structure{}, err
	}
	down := up
	if len(parts) == 5 {
		if down, err = own.content(parts[3], parts[4], read); err != nil {
			return contract.Structure{}, err
		}
	}
	s := contract.Structure{Name: level, Descriptors: own.descriptors, Up: up, Down: down}
	return s, fits(s)
}

// fits refuses what no line of the contract can hold.
func fits(s contract.Structure) error {
	line, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode message %s: %w", s.Name, err)
	}
	if len(line) > maxLine {
		size := func(n int) string { return quantity.FormatBytes(float64(n)) }
		return fmt.Errorf("message %s takes %s of a worker's setup, which has room for %s: descriptors of %s, values of %s up and %s down",
			s.Name, size(len(line)), size(maxLine), size(len(s.Descriptors)), size(len(s.Up.JSON)), size(len(s.Down.JSON)))
	}
	return nil
}
