package probe

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
)

// Fit refuses what was given for another kind of URL than any of these.
func (t Target) Fit(urls []string) error {
	has := func(schemes ...string) bool {
		return slices.ContainsFunc(urls, func(u string) bool {
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
	switch {
	case !slices.Contains([]string{"", "status", "length"}, t.Expect):
		return fmt.Errorf("--expect %s: expected status or length", quantity.Clip(t.Expect, 40))
	case t.Expect == "length" && len(t.Paths) > 0:
		return errors.New("--expect length does not go with --paths, whose replies differ")
	case t.Status != 0 && (t.Status < 200 || t.Status > 599 || !has("http", "https") || len(t.Paths) > 0):
		return fmt.Errorf("--expect-status %d: expected 200 to 599, for http:// URLs without --paths", t.Status)
	}
	return nil
}
