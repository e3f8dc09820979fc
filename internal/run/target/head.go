package target

import (
	"cmp"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/head"
	"netdyno/internal/run/study"
)

// dress gives a request the head that the clients give theirs.
func (t Target) dress(request *http.Request, body string) error {
	fields, err := t.fields()
	if err != nil {
		return err
	}
	host, _, fields := head.Take(fields, "Host")
	request.Host = cmp.Or(t.Host, host, hostOf(request.URL))
	request.Header.Set("User-Agent", "netdyno")
	if body != "" {
		request.Header.Set("Content-Type", "application/octet-stream")
	}
	for _, f := range fields {
		request.Header.Del(f.Name) // the user's take the place of ours
	}
	for _, f := range fields {
		request.Header.Add(f.Name, f.Value)
	}
	return nil
}

// addAsked adds the options that the requests need.
func (t Target) addAsked(u *url.URL, f *Found, body string, last reply) error {
	setter(f.Levels)("method", t.Method)
	if t.asksURL() {
		path := t.Fill.url(u.RequestURI())
		if t.differs() {
			path = t.filledPath
		}
		f.text("path", path, t.Fill.within(path))
	}
	code := t.Status
	if len(t.Classes)+len(t.Paths) == 0 {
		code = last.code
	}
	if code != 0 && code != http.StatusOK {
		setter(f.Levels)("status", strconv.Itoa(code))
	}
	f.text("body", body, t.Fill.within(body))
	if u.Scheme == "https" {
		t.addTrust(u, f.Levels)
	}
	return t.addNames(u, f)
}

// setter sets options of the client that have a level.
func setter(levels map[string]string) func(option, level string) {
	return func(option, level string) {
		if level != "" {
			levels["opt.client."+option] = level
		}
	}
}

// text sets an option that may name a file, in place of a level where the text cannot
// be one.
func (f *Found) text(option, text string, secret bool) {
	switch {
	case text == "":
	case secret || study.CheckText(text) != nil || strings.TrimSpace(text) != text:
		f.Texts["opt.client."+option] = study.Carried{Bytes: []byte(text), Secret: secret}
	case text[0] == '@':
		f.Levels["opt.client."+option] = "@" + text
	default:
		f.Levels["opt.client."+option] = text
	}
}

// addNames adds the headers and the host that is asked for.
func (t Target) addNames(u *url.URL, f *Found) error {
	fields, err := t.fields()
	if err != nil {
		return err
	}
	secret := slices.ContainsFunc(fields, func(f head.Field) bool { return head.Secret(f.Name) || t.Fill.within(f.Value) })
	host, _, fields := head.Take(fields, "Host")
	f.text("headers", head.Text(fields), secret)
	host = cmp.Or(t.Host, host)
	if ip, err := netip.ParseAddr(u.Hostname()); host == "" && (err != nil || ip.Zone() != "" || t.address(u) != u.Host) {
		host = hostOf(u) // clients connect to an address
	}
	setter(f.Levels)("host", host)
	return nil
}

// addTrust adds what a client needs to trust an encrypting server.
func (t Target) addTrust(u *url.URL, levels map[string]string) {
	set := setter(levels)
	levels["tls"] = "yes"
	set("ca", t.CA)
	if t.CA == "" {
		set("ca", "system")
	}
	set("cert", t.Cert)
	set("key", t.Key)
	set("sni", t.SNI)
	if _, err := netip.ParseAddr(u.Hostname()); t.SNI == "" && err != nil {
		set("sni", u.Hostname())
	}
	if t.Insecure {
		set("insecure", "true")
	}
}

// hostOf is the URL's host as requests name it: a zone is of this host alone
// (RFC 6874, section 4).
func hostOf(u *url.URL) string {
	before, zone, _ := strings.Cut(u.Host, "%")
	if end := strings.IndexByte(zone, ']'); end >= 0 {
		return before + zone[end:]
	}
	return u.Host
}
