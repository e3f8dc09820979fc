// Package schema holds the published JSON schemas, as the files beside it.
package schema

import _ "embed"

// Findings is the schema of findings.json. It is generated from the Go types:
//
//	go test . -run TestSchemaOfFindings -update
//
//go:embed findings.json
var Findings []byte
