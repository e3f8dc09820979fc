package paths_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/paths"
)

func TestParse(t *testing.T) {
	got, err := paths.Parse("list", []byte("# first\n/a\n\n  /b?x=1&y=%20 \r\n/c"))
	if err != nil || !slices.Equal(got, []string{"/a", "/b?x=1&y=%20", "/c"}) {
		t.Errorf("%q, %v", got, err)
	}
	var many strings.Builder
	for i := range paths.Most {
		fmt.Fprintf(&many, "/%d\n", i)
	}
	if got, err = paths.Parse("list", []byte(many.String())); err != nil || len(got) != paths.Most {
		t.Errorf("%d paths, %v", len(got), err)
	}
	for text, want := range map[string]string{
		"":                                "list holds no path",
		"# none\n\n":                      "list holds no path",
		"/a\nb":                           `list:2: "b" is not a path; expected one that begins with one slash`,
		"//host/a":                        "list:1: ",
		"/a\n#\nhttp://host/a":            `list:3: "http://host/a" is a URL; expected a path alone`,
		"/a b":                            "write it as %20",
		"/a#b":                            "write it as %23",
		"/\x1b[31m":                       "write it as %1B",
		"/é":                              "write it as %C3",
		"/100%":                           "hexadecimal",
		"/" + strings.Repeat("x", 1<<13):  "list:1: a path of 8193 bytes, expected at most 8192",
		many.String() + "/more\n":         "list:100001: more than 100000 paths",
		strings.Repeat("# long\n", 3<<20): "expected at most 16777216",
	} {
		if _, err := paths.Parse("list", []byte(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParse: what is taken can be asked for, and is read back the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"/a\n/b", "# x\n/?q=%41", "/\x00", "/..//a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := paths.Parse("list", []byte(text))
		if err != nil {
			return
		}
		again, err := paths.Parse("list", []byte(strings.Join(got, "\n")))
		if err != nil || !slices.Equal(got, again) {
			t.Errorf("%q: %q becomes %q, %v", text, got, again, err)
		}
	})
}
