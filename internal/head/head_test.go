package head_test

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/head"
)

func TestFields(t *testing.T) {
	got, err := head.Parse("Accept: text/html\r\nX-Empty:\n\nContent-Length: 7\nx-key: a: b \nx-key: 2\n")
	want := []head.Field{{"Accept", "text/html"}, {"X-Empty", ""}, {"x-key", "a: b"}, {"x-key", "2"}}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("read %q, %v", got, err)
	}
	if again, err := head.Parse(head.Text(got)); err != nil || !slices.Equal(again, want) {
		t.Errorf("written and read again: %q, %v", again, err)
	}
	value, found, others := head.Take(got, "X-Key")
	if value != "a: b" || !found || len(others) != 2 {
		t.Errorf("took %q, %v, left %q", value, found, others)
	}
}

func TestWhatIsNoHeaderIsRefusedAndNotShown(t *testing.T) {
	for _, text := range []string{"Bearer s3cret", "Authorization: s3cret\x01", ": s3cret", "a b: s3cret", strings.Repeat("X: s3cret\n", head.Most+1), strings.Repeat("x", head.MostBytes+1)} {
		if _, err := head.Parse(text); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	if _, err := head.Parse("X: " + strings.Repeat("x", head.MostBytes-3)); err != nil {
		t.Errorf("a head at its bound: %v", err)
	}
}

func TestSecrets(t *testing.T) {
	for name, want := range map[string]bool{"Authorization": true, "proxy-authorization": true, "Cookie": true, "X-API-Key": true, "X-Auth-Token": true, "Accept": false, "Content-Type": false, "X-Request-Id": false} {
		if head.Secret(name) != want {
			t.Errorf("Secret(%s) is %v", name, !want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("Accept: text/html\nX: ")
	f.Fuzz(func(t *testing.T, text string) {
		fields, err := head.Parse(text)
		if err != nil {
			return
		}
		if again, err := head.Parse(head.Text(fields)); err != nil || !slices.Equal(again, fields) {
			t.Errorf("%q gives %q, and again %q, %v", text, fields, again, err)
		}
	})
}
