package bench

import (
	"strings"
	"testing"
)

func TestMisplacedAddresses(t *testing.T) {
	for _, c := range []struct {
		listen, address string
		want            string // "" for accepted
	}{
		{"127.0.0.1:0", "127.0.0.1:4000", ""},
		{"127.0.0.1:0", "[::ffff:127.0.0.1]:4000", ""},
		{"[fe80::1%eth0]:0", "[fe80::1]:4000", ""},
		{"0.0.0.0:0", "10.1.2.3:4000", ""},
		{"[::]:0", "127.0.0.1:4000", ""},
		{"localhost:0", "127.0.0.1:4000", ""},
		{"127.0.0.1:0", "192.0.2.1:53", "says it listens on 192.0.2.1:53, but it was to bind 127.0.0.1"},
		{"10.77.0.1:0", "127.0.0.1:4000", "but it was to bind 10.77.0.1"},
		{"127.0.0.1:0", "evil.example:80", "but it was to bind 127.0.0.1"},
		{"127.0.0.1:0", "127.0.0.1:0", "expected a port from 1 to 65535"},
		{"127.0.0.1:0", "127.0.0.1:http", "expected a port from 1 to 65535"},
		{"127.0.0.1:0", "127.0.0.1", "expected host:port"},
		{"127.0.0.1:0", "", "expected host:port"},
	} {
		err := misplaced([]string{c.address}, c.listen)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("bound %s, says %q: %v, want %q", c.listen, c.address, err, c.want)
		}
	}
	if err := misplaced([]string{"127.0.0.1:1", "192.0.2.1:53"}, "127.0.0.1:0"); err == nil {
		t.Error("a second address elsewhere is accepted")
	}
}
