package arrange

import (
	"context"
	"crypto/x509"
	"fmt"
	"strings"

	"netdyno/internal/input"
	"netdyno/internal/run/rig"
)

// maxAuthorities bounds in bytes the file of certificates that clients trust.
const maxAuthorities = 1 << 20

// buildAt takes the addresses of servers that somebody else started.
func buildExternal(ctx context.Context, c Choice) (rig.Rig, error) {
	if c.argument == "" {
		return nil, fmt.Errorf("rig %q names no server; expected %s, such as at:10.0.0.1:8080", c.text, c.kind.form)
	}
	authorities, err := readAuthorities(ctx, c.options["ca"])
	if err != nil {
		return nil, fmt.Errorf("rig %q: %w", c.text, err)
	}
	at, err := rig.NewExternal(ctx, strings.Split(c.argument, ","), authorities)
	if err != nil {
		return nil, fmt.Errorf("rig %q: %w", c.text, err)
	}
	return at, nil
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
