package collection

import (
	"bytes"
	"fmt"

	"netdyno/internal/pattern"
)

var (
	postmanSchema = pattern.Once(`schema\.(?:getpostman|postman)\.com/(?:json/)?(?:collection/)?(?:json/)?(?:collection/)?v(\d+\.\d+)`)
	postmanOld    = pattern.Once(`"requests"\s*:\s*\[`)
	openAPIKey    = pattern.Once(`(?m)(?:^["']?|^[\s]*[{,]?\s*")(openapi|swagger)["']?\s*:\s*["']?(\d+\.\d+)`)
	script        = pattern.Once(`(?m)from\s+['"]k6(?:/|['"])|require\(['"]k6`)
	testPlan      = pattern.Once(`<jmeterTestPlan\b`)
)

// postmanVersion is the version of a collection, or what the text is instead.
func postmanVersion(text []byte) string {
	if found := postmanSchema().FindSubmatch(text); found != nil {
		if string(found[1]) == "2.1" {
			return "2.1"
		}
		return "a Postman collection of version " + string(found[1])
	}
	if postmanOld().Match(text) {
		return "a Postman collection of version 1"
	}
	if what, _ := Recognise(text, "FILE"); what != "" {
		return what
	}
	return "no Postman collection (it names no schema under info)"
}

// openAPIVersion is the version of a document, of OpenAPI or of Swagger; "" of none.
func openAPIVersion(begin []byte) (of, version string) {
	if found := openAPIKey().FindSubmatch(begin); found != nil {
		return string(found[1]), string(found[2])
	}
	return "", ""
}

// Recognise says what a file of another tool is by how it begins, and what to do with it; ""
// for one that is not known.
func Recognise(begin []byte, name string) (what, do string) {
	record := func(format string) string {
		return fmt.Sprintf("netdyno record %s %s makes a workload file of it", format, name)
	}
	of, version := openAPIVersion(begin)
	switch first := target().Find(firstLine(begin)); {
	case postmanSchema().Match(begin):
		return "a Postman collection", record("postman")
	case of == "openapi":
		return "an OpenAPI document (" + version + ")", record("openapi")
	case of == "swagger":
		return "a Swagger document (" + version + ")", "convert it to OpenAPI 3.0, such as by swagger2openapi, of which netdyno record openapi makes a workload file"
	case first != nil:
		return "a list of vegeta's targets", record("vegeta")
	case script().Match(begin):
		return "a script for k6", "netdyno runs no scripts: write its requests as classes of a workload file (docs/workloads.md), or run k6"
	case testPlan().Match(begin):
		return "a test plan of JMeter", "netdyno reads none: write its samplers as classes of a workload file (docs/workloads.md)"
	}
	return "", ""
}

// firstLine is the first line that is neither empty nor a comment.
func firstLine(begin []byte) []byte {
	for line := range bytes.Lines(begin) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return line
		}
	}
	return nil
}
