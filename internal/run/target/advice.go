package target

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"unicode/utf8"

	"netdyno/internal/printable"
	"netdyno/internal/quantity"
)

// mostSaid bounds what is shown of a reply, in characters.
const mostSaid = 200

// failed is a reply whose status is not measured.
type failed struct {
	status, says string
	code         int
	method, kind string      // of the request: its method and the type of its body
	header       http.Header // of the reply
	proxy        string      // that was asked; "" for none
	other        string      // the status by which the same request was answered another time
	agree        int         // replies that had the same status, one after the other
	wanted       int         // the status that is expected
	by           string      // … what says so
}

func (e failed) Error() string { return e.status }

// failed is a reply that is not measured, with what it says.
func (t Target) failed(request *http.Request, response *http.Response) failed {
	e := failed{status: response.Status, says: said(response), header: response.Header, method: request.Method, kind: request.Header.Get("Content-Type"), code: response.StatusCode, wanted: t.Status, by: t.statusBy()}
	if response.StatusCode < http.StatusBadRequest { // it says what it should
		e.says = ""
	}
	if t.Proxy != nil {
		e.proxy = t.Proxy.Host
	}
	return e
}

var tags = regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>|<[^>]*>`)

// said is the beginning of a reply's text on one line; "" of anything but text.
func said(response *http.Response) string {
	begin, _ := io.ReadAll(io.LimitReader(response.Body, 16*mostSaid)) // a part of it will do
	for range utf8.UTFMax - 1 {                                        // the last character may be cut
		if utf8.Valid(begin) {
			break
		}
		begin = begin[:len(begin)-1]
	}
	if !utf8.Valid(begin) || response.Header.Get("Content-Encoding") != "" {
		return ""
	}
	text := string(begin)
	if strings.Contains(response.Header.Get("Content-Type"), "html") {
		text = tags.ReplaceAllString(text, " ")
	}
	return quantity.Clip(printable.Text(strings.Join(strings.Fields(text), " ")), mostSaid)
}

// explain says what was answered, what that is likely to mean and what to type, and last,
// where all replies agree, how such replies are measured.
func (e failed) explain(where string) error {
	text := where + " answers " + e.status
	if e.says != "" {
		text += fmt.Sprintf(": %q", e.says)
	}
	if e.other != "" {
		text += fmt.Sprintf(", and the same request another time %s", e.other)
	}
	if e.wanted != 0 {
		text += fmt.Sprintf("; %s says %d", e.by, e.wanted)
	}
	if advice := e.advice(); advice != "" {
		text += "; " + advice
	}
	if e.agree > 1 && e.wanted == 0 {
		text += fmt.Sprintf("; or, as all %d replies are so, --expect-status %d measures them", e.agree, e.code)
	}
	return fmt.Errorf("%s", text)
}

// differ is the advice where the same request is not answered alike.
const differ = "the request goes out the same each time, and may be taken once, as an id is: make each differ, by {uuid} in it or by rows of --data-from FILE"

// likely is what a status is likely to mean, and what to type, where nothing but the status
// says so.
var likely = map[int]string{
	400: "the request is not what it expects: compare the query, the headers and the body with its documents",
	401: "it asks who you are: -u NAME:PASSWORD, -H 'Authorization: Bearer TOKEN' or -b NAME=VALUE",
	403: "you may not: add what says who asks (-u, -H 'Authorization: …', -b) or what it wants of browsers (-A, -e, -H 'Origin: …')",
	404: "it has nothing there: check the path, and the host that it is asked for (-H 'Host: …')",
	406: "it has no such form of a reply: change -H 'Accept: …'",
	407: "the proxy asks who you are: -x http://NAME:PASSWORD@HOST:PORT",
	409: differ, 410: "what was there is gone: another path or id may be there", 412: differ, 428: differ,
	411: "it wants a body: -d TEXT or --json TEXT",
	413: "the body is larger than it takes: send less, or raise its limit (nginx: client_max_body_size)",
	414: "the URL is longer than it takes: send it as a body with -d",
	421: "it is not the server of that name: check -H 'Host: …' and --sni",
	422: "it read the body and does not take its values: check them",
	431: "the headers are larger than it takes: leave some out, such as cookies",
	500: "the server failed at it: its log says why",
	501: "it does not know the method: choose another by -X",
	502: "what answers is a proxy, and the server behind it does not: look there",
	504: "what answers is a proxy, and the server behind it does not in time: look there",
}

// advice is what is likely and what to type; "" where nothing is known.
func (e failed) advice() string {
	through := ""
	if e.proxy != "" && (e.code >= 502 || e.code == 403 || e.code == 400) {
		through = "it may be the words of the proxy " + e.proxy + ": try without -x; "
	}
	switch e.code {
	case http.StatusMethodNotAllowed:
		other := cmp.Or(quantity.Clip(printable.Text(e.header.Get("Allow")), 60), "another")
		return fmt.Sprintf("it does not take %s there: -X with %s", e.method, other)
	case http.StatusUpgradeRequired:
		if strings.EqualFold(e.header.Get("Upgrade"), "websocket") {
			return "it speaks WebSocket: write ws:// in place of http://, or wss:// of https://"
		}
	case http.StatusUnsupportedMediaType:
		return fmt.Sprintf("it does not take a body of type %s: -H 'Content-Type: …' or --json", cmp.Or(quantity.Clip(e.kind, 60), "none"))
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		text := "it limits how often it is asked, or is busy: -q RATE asks less often"
		if after := e.header.Get("Retry-After"); after != "" {
			text += "; it says Retry-After: " + quantity.Clip(printable.Text(after), 40)
		}
		return through + text
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusForbidden:
		if e.other != "" {
			return through + differ
		}
	}
	return through + likely[e.code]
}
