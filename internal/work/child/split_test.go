package child

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"echo -p {port}":              {"echo", "-p", "7"},
		"  a\tb\n c ":                 {"a", "b", "c"},
		`sh -c 'exec x --at {host}'`:  {"sh", "-c", "exec x --at h"},
		`a "b c"'d' ""`:               {"a", "b cd", ""},
		"a $(reboot); `b` && c > d *": {"a", "$(reboot);", "`b`", "&&", "c", ">", "d", "*"}, // words like any other
		`a "it's" 'say "x"'`:          {"a", "it's", `say "x"`},
		"x {port}{port} {elsewhere}":  {"x", "77", "{elsewhere}"},
		"  ":                          nil,
	} {
		got, err := Split("command", line, "h", "7")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", line, got, err, want)
		}
	}
}

func TestSplitRefuses(t *testing.T) {
	for line, want := range map[string]string{`a "b`: "not closed", "a 'b": "option command"} {
		if got, err := Split("command", line, "h", "7"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want an error that it is %s", line, got, err, want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add(`a "b c" 'd' {port}`)
	f.Fuzz(func(t *testing.T, line string) {
		argv, err := Split("command", line, "h", "7")
		if blank := strings.Trim(line, " \t\n") == ""; err == nil && blank != (len(argv) == 0) {
			t.Fatalf("%q gives the words %q", line, argv)
		}
	})
}
