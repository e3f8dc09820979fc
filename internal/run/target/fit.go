package target

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
)

// expectations are what --expect may say.
var expectations = []string{"", "status", "length", "body", "regexp"}

// Fit refuses what was given for another kind of URL than any of these.
func (t Target) Fit(urls []string) error {
	has := func(schemes ...string) bool {
		return slices.ContainsFunc(urls, func(u string) bool {
			_, u = socketOf(u)
			scheme, _, _ := strings.Cut(u, "://")
			return slices.Contains(schemes, scheme)
		})
	}
	if t.Message != "" {
		return errors.New("--message does not go with a URL: a method of grpc:// says the type of its request")
	}
	if !has("grpc", "grpcs") && t.Proto != "" {
		return errors.New("--proto goes with grpc:// URLs")
	}
	if !has("http", "https") && (t.Body != "" || t.BodyFile != "" || t.Method != "" || len(t.Paths) > 0 || t.HTTP2) {
		return errors.New("--body, --body-file, --method, --paths and --http2 go with http:// URLs; for grpc:// write --data JSON and name the method in the URL")
	}
	switch kind, _ := t.expects(); {
	case !slices.Contains(expectations, kind) || kind != "regexp" && kind != t.Expect:
		return fmt.Errorf("--expect %s: %s; a pattern is written regexp:PATTERN", quantity.Clip(t.Expect, 40), quantity.Hint(kind, expectations[1:]))
	case (kind == "length" || kind == "body") && len(t.Paths) > 0:
		return fmt.Errorf("--expect %s does not go with --paths, whose replies differ", kind)
	case kind != "" && has("tcp"):
		return errors.New("--expect goes with http:// and grpc:// URLs")
	case t.Status != 0 && (t.Status < 200 || t.Status > 599 || !has("http", "https") || len(t.Paths) > 0):
		return fmt.Errorf("--expect-status %d: expected 200 to 599, for http:// URLs without --paths", t.Status)
	}
	return nil
}
