// Package websockettest has servers of WebSocket for tests, which begin well and then misbehave.
package websockettest

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"netdyno/test/loopback"
)

// Shake answers the handshake of a client, with more headers, each with its line end. It returns
// what the client sends from then on; nil of one that asked for nothing.
func Shake(conn net.Conn, more string) *bufio.Reader {
	from := bufio.NewReader(conn)
	r, err := http.ReadRequest(from)
	if err != nil {
		return nil
	}
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) // RFC 6455, section 1.3
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n%s\r\n", base64.StdEncoding.EncodeToString(sum[:]), more)
	return from
}

// Wrong is how a server misbehaves.
type Wrong struct {
	Handshake string // in place of a good one
	More      string // headers of a good one
	Then      string // its bytes behind that, and it ends
	Ends      bool   // it ends early, and nothing else is wrong
	Says      string // a part of the error, which is the worker's; a status is the probe's, too
}

// Serve serves it until the test ends.
func (w Wrong) Serve(t testing.TB) (address string) {
	return loopback.Serve(t, func(conn net.Conn) {
		if w.Handshake == "" {
			Shake(conn, w.More)
		} else {
			_, _ = http.ReadRequest(bufio.NewReader(conn))
		}
		_, _ = io.WriteString(conn, w.Handshake+w.Then)
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn) // else a reset may overtake what was written
	})
}

func status(line, headers string) string {
	return "HTTP/1.1 " + line + "\r\n" + headers + "Content-Length: 4\r\n\r\nnone"
}

// Servers are servers that answer a message of five bytes wrongly.
var Servers = map[string]Wrong{
	"status 200":                    {Handshake: status("200 OK", ""), Says: "200"},
	"status 301":                    {Handshake: status("301 Moved Permanently", "Location: /x\r\n"), Says: "301"},
	"status 401":                    {Handshake: status("401 Unauthorized", "WWW-Authenticate: Basic\r\n"), Says: "401"},
	"status 404":                    {Handshake: status("404 Not Found", ""), Says: "404"},
	"a status of control bytes":     {Handshake: status("500 \x1b[31m", ""), Says: "500"},
	"HTTP/1.0":                      {Handshake: "HTTP/1.0 101 Switching Protocols\r\n\r\n", Says: "not WebSocket"},
	"no HTTP":                       {Handshake: "SSH-2.0-x\r\n", Says: "not WebSocket"},
	"another protocol":              {Handshake: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", Says: "not WebSocket"},
	"no Upgrade":                    {Handshake: "HTTP/1.1 101 Switching Protocols\r\n\r\n", Says: "not WebSocket"},
	"a wrong accept":                {Handshake: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n", Says: "not WebSocket"},
	"a header without a colon":      {More: "x\r\n", Says: "not WebSocket"},
	"an extension nobody asked for": {More: "Sec-WebSocket-Extensions: permessage-deflate\r\n", Says: "not WebSocket"},
	"a protocol nobody asked for":   {More: "Sec-WebSocket-Protocol: chat\r\n", Says: "not WebSocket"},
	"a line without end":            {Handshake: "HTTP/1.1 101 " + strings.Repeat("x", 1<<20), Says: "more than 65536 bytes"},
	"headers without end":           {Handshake: "HTTP/1.1 101 Switching Protocols\r\n" + strings.Repeat("A: b\r\n", 1<<18), Says: "more than 65536 bytes"},
	"an early end of the handshake": {Handshake: "HTTP/1.1 101 Switching", Ends: true},
	"no reply":                      {Ends: true},

	"a masked frame":                {Then: "\x82\x81\x00\x00\x00\x00x", Says: "mask"},
	"an opcode that is reserved":    {Then: "\x83\x01x", Says: "op code"},
	"a control opcode of nobody":    {Then: "\x8b\x00", Says: "op code"},
	"a reserved bit":                {Then: "\xc2\x01x", Says: "rsv"},
	"a ping in fragments":           {Then: "\x09\x01x\x80\x01y", Says: "control frame is not final"},
	"a ping of 126 bytes":           {Then: "\x89\x7e\x00\x7e" + strings.Repeat("x", 126), Says: "control frame payload"},
	"a continuation of nothing":     {Then: "\x80\x05hello", Says: "continuation"},
	"a message within another":      {Then: "\x02\x02he\x82\x05hello", Says: "continuation"},
	"2^63 bytes":                    {Then: "\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x00", Says: "most significant bit"},
	"2^63-1 bytes":                  {Then: "\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", Says: "more than"},
	"1 GiB":                         {Then: "\x82\x7f\x00\x00\x00\x00\x40\x00\x00\x00" + strings.Repeat("x", 1<<16), Says: "more than"},
	"much in fragments":             {Then: "\x02\x7d" + strings.Repeat("x", 125) + "\x00\x7d" + strings.Repeat("x", 125), Says: "more than"},
	"text that is not UTF-8":        {Then: "\x81\x05hell\xff", Says: "UTF-8"},
	"text cut within a character":   {Then: "\x01\x04hell\x80\x01\xc3", Says: "UTF-8"},
	"an early end":                  {Then: "\x82\x05he", Ends: true},
	"an early end of a head":        {Then: "\x82\x7e\x00", Ends: true},
	"an early end of a message":     {Then: "\x02\x02he", Ends: true},
	"an early end after a ping":     {Then: "\x89\x02hi", Ends: true},
	"an early end of a ping":        {Then: "\x02\x02he\x89\x04", Ends: true},
	"a close within a message":      {Then: "\x02\x02he\x88\x02\x03\xe9", Ends: true, Says: "closed with 1001"},
	"a close with 1000":             {Then: "\x88\x02\x03\xe8", Ends: true, Says: "closed with 1000"},
	"a close without a code":        {Then: "\x88\x00", Ends: true, Says: "closed without a code"},
	"a close with 1008":             {Then: "\x88\x08\x03\xf0policy", Says: `closed with 1008 ("policy")`},
	"a close with 1011":             {Then: "\x88\x08\x03\xf3broken", Says: `closed with 1011 ("broken")`},
	"a close with 1012":             {Then: "\x88\x09\x03\xf4restart", Says: `closed with 1012 ("restart")`},
	"a close with 4999":             {Then: "\x88\x02\x13\x87", Says: "closed with 4999"},
	"a close with 1005":             {Then: "\x88\x02\x03\xed", Says: "a close with code 1005"},
	"a close with 999":              {Then: "\x88\x02\x03\xe7", Says: "a close with code 999"},
	"a close with 5000":             {Then: "\x88\x02\x13\x88", Says: "a close with code 5000"},
	"a close of one byte":           {Then: "\x88\x01\x03", Says: "a close with code 0"},
	"a close with control bytes":    {Then: "\x88\x08\x03\xf3a\x1b[2J\x00", Says: `closed with 1011 ("a\x1b[2J\x00")`},
	"a close that is not UTF-8":     {Then: "\x88\x04\x03\xf3\xff\xfe", Says: "UTF-8"},
	"a close of 124 bytes and code": {Then: "\x88\x7e\x00\x7e\x03\xf3" + strings.Repeat("x", 124), Says: "control frame payload"},
}

// Right are the bytes of servers that answer five bytes in odd ways.
var Right = map[string]string{
	"three fragments":         "\x01\x01h\x00\x02el\x80\x02lo",
	"a ping between":          "\x02\x02he\x89\x04ping\x80\x03llo",
	"a pong before":           "\x8a\x00\x82\x05hello",
	"thousands of empty ones": "\x02\x00" + strings.Repeat("\x00\x00", 5000) + "\x80\x05hello",
	"a length of eight bytes": "\x82\x7f\x00\x00\x00\x00\x00\x00\x00\x05hello",
	"a character cut":         "\x01\x03h\xf0\x9f\x80\x02\x98\x80",
}
