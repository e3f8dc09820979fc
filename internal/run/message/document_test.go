package message

import (
	"os"
	"strings"
	"testing"
)

// The example in docs/messages.md works, and fails as it says there.
func TestTheDocumentsExample(t *testing.T) {
	document, err := os.ReadFile("../../../docs/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	proto, data := block(t, string(document), "proto"), block(t, string(document), "json")
	const level = "order.proto:shop.Order:order.json"
	if _, err := Resolve(level, in(map[string]string{"order.proto": proto, "order.json": data})); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ level, proto, data string }{
		{level, proto, strings.Replace(data, `"quantity": 6`, `"quantity": "six"`, 1)},
		{level, proto, strings.Replace(data, `"id"`, `"idd"`, 1)},
		{"order.proto:Order:order.json", proto, data},
		{level, strings.Replace(proto, "ordered_at = 3;\n}\n", "ordered_at = 3\n}\n", 1), data},
	} {
		_, err := Resolve(c.level, in(map[string]string{"order.proto": c.proto, "order.json": c.data}))
		if err == nil || !strings.Contains(string(document), "\n"+err.Error()+"\n") {
			t.Errorf("the document does not show: %v", err)
		}
	}
}

// block returns the first block of a language.
func block(t *testing.T, document, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(document, "```"+language+"\n")
	text, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("no block of %s", language)
	}
	return text
}
