package load

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"netdyno/internal/contract"
)

// Transport is one named way to move data. An implementation is one package
// under internal/work/transport and one line in its worker's main.
type Transport interface {
	// Describe returns what hello says of the transport.
	Describe() contract.Transport
	// Server listens and serves from its own goroutines until Close, or, of role hop,
	// passes on to its peers what comes. Options
	// are complete: the worker filled in defaults and checked ranges.
	Server(setup contract.Setup) (Server, error)
	// Client connects everything, verifies one message on each connection and
	// returns with no load running.
	Client(setup contract.Setup) (Client, error)
}

// Server is a listening end. Every goroutine may call its methods.
type Server interface {
	Ready() contract.Ready
	// Counts returns sums since it listens.
	Counts() contract.Counts
	// Close ends every connection and returns when its goroutines have ended.
	Close() error
}

// Client is a connected end.
type Client interface {
	Ready() contract.Ready
	Load() *Load
	// Run issues the load until every slot is let go or Close is called. Its
	// error means that no connection is left.
	Run() error
	// Close makes Run return soon, leaving what is in flight unfinished.
	Close() error
}

// Exiter is a server that can end by itself: a program that somebody else wrote
// does the work, or file descriptors run out.
type Exiter interface {
	// Exited delivers, once, why the server has ended. After Close it delivers
	// nothing.
	Exited() <-chan error
}

// Reconnector is a client that may connect again when a connection ended between
// two exchanges, because its protocol allows both ends to close it then. Any
// goroutine may call its method.
type Reconnector interface {
	// Reconnects returns how many connections were made again.
	Reconnects() int64
}

// Options gives typed access to setup.Options, which the worker has checked
// against the transport's description; a wrong name or type here is a bug in
// the transport and panics.
type Options map[string]any

// Int returns an int, bytes or duration option.
func (o Options) Int(name string) int64 { return o[name].(int64) }

// Text returns a choice or text option.
func (o Options) Text(name string) string { return o[name].(string) }

// Bool returns a bool option.
func (o Options) Bool(name string) bool { return o[name].(bool) }

// Failure wraps err with the contract's kind for it.
func Failure(kind contract.ErrorKind, err error) error {
	return &contract.Error{Kind: kind, Text: err.Error(), Fatal: true}
}

// Invalidly gives the error of a reply the kind invalid. An error that has this kind
// already is returned unchanged, with its reason, and nil as nil.
func Invalidly(err error) error {
	if err == nil || KindOf(err) == contract.Invalid {
		return err
	}
	return Failure(contract.Invalid, err)
}

// Given returns a text option that may name a file, which its declaration says
// (contract.Option.FileMax, here most): of "@FILE" what the file holds, "@@TEXT"
// with one @ less, any other as it is. A file is a regular one of at most so many
// bytes. The error is of the option's value.
func (o Options) Given(name string, most int64) (string, error) {
	text := o.Text(name)
	file, found := strings.CutPrefix(text, "@")
	if !found || strings.HasPrefix(file, "@") {
		return file, nil // of a text without @ the whole
	}
	return readGiven(file, most)
}

func readGiven(name string, most int64) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that nobody writes to would hold up the open
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return "", err
	}
	if int64(len(text)) > most {
		return "", fmt.Errorf("%s has more than %d bytes, the most that are taken", name, most)
	}
	return string(text), nil
}
