package faults_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
)

// fake plays a server in a process of its own: MODE WIRE HOST PORT NAME, of which
// the name only marks whose it is. It ends with its process.
func fake(args []string) int {
	mode, wire, address := args[0], args[1], net.JoinHostPort(args[2], args[3])
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for {
		c, err := listener.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		go func() {
			defer c.Close()
			switch mode {
			case "honest": // on wire echo
				_, _ = io.Copy(c, c) // the client goes
			case "garbage":
				nonsense(c)
			case "half":
				half(c, wire)
			}
		}()
	}
}

// nonsense answers whatever comes with bytes that mean nothing on any wire.
func nonsense(c net.Conn) {
	source, said := rand.NewChaCha8([32]byte{1}), make([]byte, 4096)
	for {
		if _, err := c.Read(make([]byte, 64<<10)); err != nil {
			return
		}
		_, _ = source.Read(said) // it never fails
		if _, err := c.Write(said); err != nil {
			return
		}
	}
}

// half waits for a request and answers with the beginning of a reply that is right
// on the wire so far; then it keeps silent until the client goes.
func half(c net.Conn, wire string) {
	from := bufio.NewReader(c)
	if _, err := from.Peek(1); err != nil {
		return
	}
	var said []byte
	switch {
	case wire == "echo":
		said, _ = from.Peek(1)
	case strings.HasPrefix(wire, "http/1.1"), strings.HasPrefix(wire, "connect"):
		said = []byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of ")
	case wire == "baidu_std":
		said = []byte("PRPC\x00\x00")
	default: // over HTTP/2: SETTINGS, and of the frame after it the length
		said = []byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00" + "\x00\x00\x10")
	}
	if _, err := c.Write(said); err == nil {
		_, _ = io.Copy(io.Discard, from)
	}
}
