package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/run/study/source"
)

// Of a study those arms are run whose programs are on PATH.
func TestArmsWithoutTheirProgramsAreLeftOut(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	wrk := filepath.Join(os.Getenv("PATH"), "wrk")
	if err := os.WriteFile(wrk, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	text, left, err := present("../http1.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(left, "wrk") || !slices.Contains(left, "bombardier") || !slices.Contains(left, "wrk2-rate") || slices.Contains(left, "http1-uring") {
		t.Errorf("left out are %v", left)
	}
	s, err := source.ParseFile("http1.yaml", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	trials, _, err := s.Plan()
	arms := map[string]bool{}
	for _, one := range trials {
		arms[one.Arm] = true
	}
	if err != nil || !arms["wrk"] || !arms["http1-uring"] || arms["oha"] || strings.Contains(string(text), "oha") {
		t.Errorf("%v, planned are %v", err, arms)
	}
}
