package curl

import (
	"encoding/base64"
	"fmt"
	"net"
	"strings"
)

func basic(user string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user))
}

// Addresses says where connections go in place of what URLs name: resolve has
// HOST:PORT:ADDRESS, connect has HOST:PORT:HOST:PORT, of which the first pair may be
// empty for any. The function takes and returns host:port.
func Addresses(resolve, connect []string) (func(address string) string, error) {
	type rule struct{ host, port, toHost, toPort string }
	var rules []rule
	for _, text := range resolve {
		fields := split(strings.TrimPrefix(text, "+"))
		if len(fields) < 3 || fields[2] == "" && len(fields) == 3 {
			return nil, fmt.Errorf("--resolve %.80s: expected HOST:PORT:ADDRESS", text)
		}
		first, _, _ := strings.Cut(strings.Join(fields[2:], ":"), ",") // an address of IPv6 may stand without brackets
		rules = append(rules, rule{strings.Trim(fields[0], "*"), fields[1], first, ""})
	}
	for _, text := range connect {
		fields := split(text)
		if len(fields) != 4 {
			return nil, fmt.Errorf("--connect-to %.80s: expected HOST:PORT:HOST:PORT", text)
		}
		rules = append(rules, rule{fields[0], fields[1], fields[2], fields[3]})
	}
	return func(address string) string {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return address
		}
		for _, r := range rules {
			if (r.host == "" || strings.EqualFold(strings.Trim(r.host, "[]"), host)) && (r.port == "" || r.port == port) {
				if r.toHost != "" {
					host = strings.Trim(r.toHost, "[]")
				}
				if r.toPort != "" {
					port = r.toPort
				}
				break
			}
		}
		return net.JoinHostPort(host, port)
	}, nil
}

// split parts a text at its colons that are not within brackets.
func split(text string) []string {
	var fields []string
	from, within := 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '[' || c == ']':
			within = c == '['
		case c == ':' && !within:
			fields, from = append(fields, text[from:i]), i+1
		}
	}
	return append(fields, text[from:])
}
