package hop

import (
	"path/filepath"
	"text/template"
)

// haproxy in one process without checks, logs or limits on connections.
//
// Source: HAProxy Configuration Manual 2.6, sections 3, 5.1 and 5.2.
var haproxy = kind{
	name: "haproxy", doc: "a hop: HAProxy, which speaks the clients' protocol to the server too", get: "apt-get install haproxy",
	wires: []string{http1, http2, grpc, echo, stream}, file: "haproxy.cfg",
	argv: func(s site) []string {
		return []string{s.Program, "-db", "-q", "-f", filepath.Join(s.Dir, "haproxy.cfg")}
	},
	text: template.Must(template.New("haproxy").Parse(`global
	nbthread {{.Threads}}
	maxconn {{.Files}}
defaults
	mode {{if .TCP}}tcp{{else}}http{{end}}
	backlog 4096
	timeout connect 10s
	timeout client 1h
	timeout server 1h
{{- if not .TCP}}
	timeout http-keep-alive 1h
	timeout http-request 1h
{{- end}}
frontend clients
	bind {{.Listen}}{{if and .TLS (not .TCP)}} ssl crt {{.Dir}}/identity.pem ssl-min-ver TLSv1.3 alpn {{if .HTTP2}}h2{{else}}http/1.1{{end}}{{else if .HTTP2}} proto h2{{end}}
	default_backend servers
backend servers
	balance roundrobin
{{- range $i, $server := .Servers}}
	server s{{$i}} {{$server}}{{if and $.TLS (not $.TCP)}} ssl verify required ca-file {{$.Dir}}/authorities.pem ssl-min-ver TLSv1.3 alpn {{if $.HTTP2}}h2{{else}}http/1.1{{end}}{{else if $.HTTP2}} proto h2{{end}}
{{- end}}
`)),
}
