package main

import (
	"context"
	"errors"
	"fmt"
	neturl "net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"netdyno/internal/head"
	"netdyno/internal/input"
	"netdyno/internal/quantity"
	"netdyno/internal/run/curl"
	"netdyno/internal/run/session"
	"netdyno/internal/run/target"
)

// pieces is a flag of curl's that adds to the body.
type pieces struct {
	kind curl.Kind
	to   *[]curl.Piece
}

func (p pieces) String() string { return "" }
func (p pieces) Type() string   { return "text" }

// Set implements pflag.Value.
func (p pieces) Set(text string) error {
	*p.to = append(*p.to, curl.Piece{Kind: p.kind, Text: text})
	return nil
}

// either is -d: how long to go on, as users of load tools type it, or else curl's
// --data.
type either struct {
	duration *string
	data     pieces
}

func (e either) String() string { return "" }
func (e either) Type() string   { return "duration or text" }

// Set implements pflag.Value.
func (e either) Set(text string) error {
	if _, err := quantity.ParseDuration(text); err == nil {
		*e.duration = text
		return nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return fmt.Errorf("expected a unit, such as %ss, or --data %s for what is sent", text, text)
	}
	return e.data.Set(text)
}

// counts is -c: numbers of connections; to netdyno curl, what begins with no digit is
// curl's --cookie-jar.
type counts struct{ t *urlFlags }

func (c counts) String() string {
	if c.t == nil {
		return ""
	}
	return c.t.connections
}
func (c counts) Type() string { return "string" }

// Set implements pflag.Value.
func (c counts) Set(text string) error {
	if c.t.curls && text != "" && (text[0] < '0' || text[0] > '9') {
		c.t.words.Jar = text
		return nil
	}
	c.t.connections = text
	return nil
}

// wordFlags are curl's flags that say what is requested, beside those of urlFlags.add.
var wordFlags = []string{"data-raw", "data-binary", "data-urlencode", "json", "form", "upload-file", "user", "cookie", "cookie-jar", "oauth2-bearer", "user-agent", "referer", "range", "url-query", "compressed", "get", "head", "location", "location-trusted", "max-redirs", "request", "data-ascii", "proxy", "resolve", "connect-to", "address", "ipv4", "ipv6", "interface", "unix-socket", "abstract-unix-socket", "http1.1", "http2-prior-knowledge", "cacert", "d"}

// addWords declares them, one line each.
func (t *urlFlags) addWords(f *pflag.FlagSet) {
	w := &t.words
	for _, kind := range []struct {
		curl.Kind
		usage string
	}{
		{curl.Data, "body, as curl has it: TEXT, @FILE or @-; several are joined by &; of a grpc:// URL the request as JSON, or the messages of its stream, one after the other; of your own message a file with its values as JSON"},
		{curl.Raw, "body, also where it begins with @"},
		{curl.Binary, "body, and a @FILE as it is"},
		{curl.Encode, "body, escaped: [NAME]=TEXT or [NAME]@FILE"},
		{curl.JSON, "body that is JSON, TEXT or @FILE"},
	} {
		short := ""
		if t.curls && kind.Kind == curl.Data {
			short = "d"
		}
		f.VarP(pieces{kind.Kind, &w.Pieces}, string(kind.Kind), short, kind.usage)
	}
	f.StringArrayVarP(&w.Forms, "form", "F", nil, "field of a form, NAME=TEXT or NAME=@FILE; repeatable")
	f.StringVarP(&w.Upload, "upload-file", "T", "", "put a file, - for standard input (method PUT); its name is added to a URL that ends in a slash")
	f.StringVarP(&w.User, "user", "u", "", "NAME:PASSWORD; neither shown nor recorded")
	f.StringVar(&w.Bearer, "oauth2-bearer", "", "token of who asks (Authorization: Bearer); neither shown nor recorded")
	f.StringArrayVarP(&w.Cookies, "cookie", "b", nil, "cookies, NAME=VALUE; neither shown nor recorded; '' with -L sends on those that redirections set")
	f.StringVar(&w.Jar, "cookie-jar", "", "as --cookie ''; the file is not written")
	f.StringVarP(&w.Agent, "user-agent", "A", "", "User-Agent of the requests")
	f.StringVarP(&w.Refers, "referer", "e", "", "Referer of the requests")
	f.BoolVar(&w.Compressed, "compressed", false, "ask for compressed replies, which are counted as they come; of gRPC pack requests by gzip")
	f.BoolVarP(&w.Get, "get", "G", false, "put --data into the URL")
	f.BoolVarP(&w.Head, "head", "I", false, "ask for the head alone (method HEAD)")
	f.StringVarP(&w.Range, "range", "r", "", "ask for these bytes alone, such as 0-1023")
	f.StringArrayVar(&w.Queries, "url-query", nil, "add to the URL's query, escaped: [NAME]=TEXT or [NAME]@FILE; +TEXT as it is; repeatable")
	f.BoolVarP(&t.Follow, "location", "L", false, "measure where redirections end")
	f.BoolVar(&t.Trusting, "location-trusted", false, "the same, and other hosts are told who asks")
	f.IntVar(&t.Moves, "max-redirs", 50, "redirections that -L follows at most")
	f.StringArrayVar(&t.resolve, "resolve", nil, "connect to an address in place of a host, HOST:PORT:ADDRESS[,ADDRESS]; repeatable")
	f.StringArrayVar(&t.connectTo, "connect-to", nil, "connect elsewhere, HOST:PORT:HOST:PORT; repeatable")
	f.StringVar(&t.addresses, "address", "all", "of a name with several addresses: all, which connections take in turn, or the first alone")
	f.BoolVarP(&t.ipv4, "ipv4", "4", false, "addresses of IPv4 alone")
	f.BoolVarP(&t.ipv6, "ipv6", "6", false, "addresses of IPv6 alone")
	f.StringVar(&t.source, "interface", "", "local address to connect from, or the interface that has it")
	f.StringVarP(&t.proxy, "proxy", "x", "", "ask through an HTTP proxy, [http://][NAME:PASSWORD@]HOST:PORT")
	f.StringVar(&t.Socket, "unix-socket", "", "connect to a Unix socket by its path; the URL still says host and path")
	f.StringVar(&t.abstract, "abstract-unix-socket", "", "connect to a Unix socket by its name in the abstract namespace")
	f.BoolVar(&t.HTTP1, "http1.1", false, "ask for HTTP/1.1, over https:// too")
	f.BoolVar(&t.HTTP2, "http2-prior-knowledge", false, "as --http2")
	f.StringVar(&t.CA, "cacert", "", "as --ca")
	f.StringVar(&t.Method, "request", "", "as --method")
	f.Var(pieces{curl.Data, &w.Pieces}, "data-ascii", "as --data")
	if !t.curls {
		f.VarP(either{&t.duration, pieces{curl.Data, &w.Pieces}}, "d", "d", "as --duration where it is one, such as 10s; else as --data")
	}
	for _, name := range []string{"http2-prior-knowledge", "cacert", "d", "data-urlencode", "referer", "request", "data-ascii", "cookie-jar", "location-trusted"} {
		_ = f.MarkHidden(name) // d may be --data's own
	}
	addCurls(f)
}

// asked completes the target with what curl's words say of a URL. A call's message is
// not the body that the words make.
func (t *urlFlags) asked(url string, read curl.Read) (asked target.Target, r curl.Request, err error) {
	asked = t.Target
	words := t.words
	if strings.HasPrefix(url, "grpc") {
		asked.Packed, words.Compressed = words.Compressed, false
		if words.Pieces, words.Forms = nil, nil; words.Upload != "" {
			return asked, r, errors.New("--upload-file goes with http:// URLs; for grpc:// write --data @FILE")
		}
	}
	if r, err = words.Request(read); err != nil {
		return asked, r, err
	}
	if anyOf([]string{url}, "ws") { // a handshake has no body
		r.Method = ""
		r.Headers = slices.DeleteFunc(r.Headers, func(h string) bool { return strings.HasPrefix(strings.ToLower(h), "content-type:") })
	} else if r.WebSocket {
		return asked, r, errors.New("--header Upgrade: write ws:// or wss:// in place of http:// or https://, which asks for it")
	}
	if err := t.way(&asked); err != nil {
		return asked, r, err
	}
	if asked.Dial, err = curl.Addresses(t.resolve, t.connectTo); err != nil {
		return asked, r, err
	}
	if asked.Key == "" {
		asked.Key = asked.Cert
	}
	asked.Jar, asked.Follow = r.Jar, asked.Follow || asked.Trusting
	asked.Headers, asked.Close, asked.URL = r.Headers, r.Close, withQuery(withFile(url, r.File), r.Query)
	if asked.Method == "" {
		asked.Method = r.Method
	}
	asked.Body, asked.BodyFile = t.body, t.bodyFile
	if file, ok := strings.CutPrefix(t.body, "@"); ok {
		asked.Body, asked.BodyFile = "", file
	}
	if r.Body != "" {
		if t.body != "" || t.bodyFile != "" {
			return asked, r, errors.New("--body and --data or --upload-file both make the body; expected one of them")
		}
		asked.Body = r.Body
	}
	if t.proxy != "" {
		if asked.Proxy, err = target.ParseProxy(t.proxy); err != nil {
			return asked, r, err
		}
	}
	if t.abstract != "" {
		asked.Socket = "@" + t.abstract
	}
	if (t.abstract != "" || t.Socket != "") && strings.HasPrefix(url, "tcp:") || t.abstract != "" && t.Socket != "" {
		return asked, r, errors.New("--unix-socket and --abstract-unix-socket go with http:// and grpc:// URLs, one of them alone")
	}
	if t.Moves < 1 {
		return asked, r, fmt.Errorf("--max-redirs %d: expected 1 or more; without -L none is followed", t.Moves)
	}
	return asked, r, nil
}

// way says which addresses connections go to and come from.
func (t *urlFlags) way(asked *target.Target) error {
	switch {
	case t.ipv4 && t.ipv6:
		return errors.New("--ipv4 and --ipv6 contradict each other")
	case t.ipv4:
		asked.Family = "4"
	case t.ipv6:
		asked.Family = "6"
	}
	switch asked.First = t.addresses == "first"; {
	case !asked.First && t.addresses != "all" && t.addresses != "":
		return fmt.Errorf("--address %s: %s", quantity.Clip(t.addresses, 40), quantity.Hint(t.addresses, []string{"all", "first"}))
	case t.source == "":
		return nil
	case t.proxy != "" || t.Socket != "" || t.abstract != "":
		return errors.New("--interface goes with connections to the server itself; leave out the proxy or the Unix socket")
	}
	var err error
	asked.Source, err = curl.Local(t.source, asked.Family)
	return err
}

// namedFiles reads the files that curl's words name, each once: standard input has no
// second time.
func namedFiles(ctx context.Context) curl.Read {
	held, within := map[string][]byte{}, input.Within(ctx, session.MostText)
	return func(name string) (text []byte, err error) {
		if name == "-" {
			name = "/dev/stdin"
		}
		text, known := held[name]
		if !known {
			text, err = within(name)
			held[name] = text
		}
		return slices.Clone(text), err
	}
}

// withFile adds to a URL whose path ends in a slash the name of the file that is put
// there.
func withFile(url, file string) string {
	end := len(url)
	if i := strings.IndexByte(url, '?'); i >= 0 {
		end = i
	}
	path := url[:end]
	_, inner, found := strings.Cut(path, "://")
	if !found {
		inner = path // unix:PATH:/
	}
	if file == "" || strings.Contains(inner, "/") && !strings.HasSuffix(inner, "/") {
		return url
	}
	return strings.TrimSuffix(path, "/") + "/" + neturl.PathEscape(file) + url[end:]
}

// withQuery adds to a URL what --get puts there.
func withQuery(url, query string) string {
	switch {
	case query == "":
		return url
	case strings.Contains(url, "?"):
		return url + "&" + query
	}
	return url + "?" + query
}

// hide returns what was typed without what is secret in it, and with URLs whole.
func (t *urlFlags) hide(typed []string) []string {
	var secrets []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			secrets = append(secrets, s)
		}
	}
	for _, h := range t.words.Headers {
		if name, value, found := strings.Cut(h, ":"); found && head.Secret(name) {
			add(value)
		}
	}
	_, password, _ := strings.Cut(t.words.User, ":")
	add(password)
	add(t.words.Bearer)
	for _, c := range t.words.Cookies {
		add(c)
	}
	for _, s := range t.steps {
		add(s.command) // it may have a password anywhere
	}
	if i := strings.LastIndexByte(t.proxy, '@'); i >= 0 {
		_, user, _ := strings.Cut("//"+strings.TrimPrefix(t.proxy[:i], "http://"), "//")
		add(user)
	}
	hidden := slices.Clone(typed)
	for i, arg := range hidden {
		if url, is := target.WithScheme(arg); is {
			hidden[i] = url
			if u, err := target.Parse(url); err == nil && u.User != nil {
				shown := target.Shown(u)
				hidden[i] = strings.Replace(shown, "://", "://"+u.User.Username()+":***@", 1)
			}
			continue
		}
		for _, s := range secrets {
			if before, ends := strings.CutSuffix(arg, s); ends {
				hidden[i] = before + "***"
			} else if len(s) > 3 {
				hidden[i] = strings.ReplaceAll(arg, s, "***")
			}
			arg = hidden[i]
		}
	}
	return hidden
}

// nameArgs are the names that --name gives.
func (t *urlFlags) nameArgs(arms int) ([]string, error) {
	if t.names == "" {
		return nil, nil
	}
	names := strings.Split(t.names, ",")
	if len(names) != arms {
		return nil, fmt.Errorf("--name has %d names; expected one for each of %d URLs or protocols, such as --name old,new", len(names), arms)
	}
	return names, nil
}
