package rig

import (
	"context"
	"crypto/x509"
	"fmt"
	"strings"

	"netdyno/internal/input"
)

// maxAuthorities bounds in bytes the file of certificates that clients trust.
const maxAuthorities = 1 << 20

// ExternalKind is the rig of servers that stand already, as users choose it.
var ExternalKind = Kind{Name: ExternalName, Form: "at:HOST:PORT[,HOST:PORT…][?ca=FILE]", Options: []string{"ca"}, Build: buildExternal}

// buildExternal takes the addresses of servers that somebody else started.
func buildExternal(ctx context.Context, c Choice) (Rig, error) {
	if c.Argument == "" {
		return nil, c.Errorf("it names no server; expected %s, such as at:10.0.0.1:8080", c.Form)
	}
	authorities, err := readAuthorities(ctx, c.Options["ca"])
	if err != nil {
		return nil, c.Errorf("%w", err)
	}
	r, err := NewExternal(ctx, strings.Split(c.Argument, ","), authorities)
	if err != nil {
		return nil, c.Errorf("%w", err)
	}
	return r, nil
}

// readAuthorities reads a file of PEM certificates; "" of no file.
func readAuthorities(ctx context.Context, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := input.Within(ctx, maxAuthorities)(path)
	if err != nil {
		return "", fmt.Errorf("ca: %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(text) {
		return "", fmt.Errorf("ca: %s holds no certificate; expected PEM text, such as the certificate.pem that netdyno listen leaves in its directory", path)
	}
	return string(text), nil
}
