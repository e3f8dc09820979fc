package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"netdyno/internal/run/session"
)

// ownMessage is the user's message as flags, a longer way to type a level of
// factor message.
type ownMessage struct {
	proto, kind, data    string
	replyKind, replyData string
}

func (o *ownMessage) declare(flags *pflag.FlagSet) {
	flags.StringVar(&o.proto, "proto", "", "your own message, or a grpc:// URL: the .proto file that describes it")
	flags.StringVar(&o.kind, "message", "", "your own message: its type, as pkg.Type")
	flags.StringVar(&o.replyKind, "reply", "", "the type that comes back, when it is another")
	flags.StringVar(&o.replyData, "reply-data", "", "a file with its values as JSON")
}

// level is the level that the flags spell out; nothing without them.
func (o ownMessage) level() ([]session.Set, error) {
	if o == (ownMessage{}) {
		return nil, nil
	}
	for _, f := range []struct{ name, value string }{{"--proto", o.proto}, {"--message", o.kind}, {"--data", o.data}} {
		if f.value == "" {
			return nil, fmt.Errorf("%s is missing: a message of your own needs --proto FILE, --message pkg.Type and --data FILE", f.name)
		}
	}
	if (o.replyKind == "") != (o.replyData == "") {
		return nil, errors.New("--reply and --reply-data belong together: the type that comes back, and its values")
	}
	level := strings.Join([]string{o.proto, o.kind, o.data}, ":")
	if o.replyKind != "" {
		level += ":" + o.replyKind + ":" + o.replyData
	}
	return []session.Set{{By: "--message", Key: "message", Value: level}}, nil
}
