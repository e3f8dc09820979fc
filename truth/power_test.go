package main

import "testing"

// Made-up searches and meshes, few of each, say nothing that they have no power to say.
func TestNothingIsSaidWithoutPower(t *testing.T) {
	searches, err := searchesWithoutPower(2)
	if err != nil {
		t.Fatal(err)
	}
	meshes, err := meshesWithoutPower(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range append(searches, meshes...) {
		t.Logf("%s: %s", a.what, a.measured)
		if !a.met {
			t.Errorf("%s: %s, asked %s", a.what, a.measured, a.asked)
		}
	}
}
