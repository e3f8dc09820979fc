package main

import (
	"os"
	"regexp"
	"testing"

	"netdyno/internal/contract"
)

// What a transport can do is of use to whom the page tells how to ask for it.
func TestEveryFeatureSaysHowItIsAskedFor(t *testing.T) {
	text, err := os.ReadFile("../../internal/contract/feature.go")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`(?m)^\tFeature\w+ +Feature = "([\w-]+)"`).FindAllSubmatch(text, -1)
	if len(all) < 17 {
		t.Fatalf("feature.go has %d features", len(all))
	}
	for _, f := range all {
		if featureWords([]contract.Feature{contract.Feature(f[1])}) == "" {
			t.Errorf("feature %s has no words in netdyno transports", f[1])
		}
	}
	if got, want := featureWords([]contract.Feature{"unheard", contract.FeatureDeadline, contract.FeatureTLS}), "tls=yes, deadline"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
