package hop

import (
	"path/filepath"
	"text/template"
)

// nginx with its event loop, connections to the servers kept, and nothing written to disk.
// It speaks HTTP/1.1 to servers, and gRPC, so that HTTP/2 is passed on as gRPC alone.
//
// Source: nginx.org, Module ngx_http_upstream_module, directive keepalive.
var nginx = kind{
	name: "nginx", doc: "a hop: nginx, with connections to the server kept", get: "apt-get install nginx",
	wires: []string{http1, grpc, echo, stream}, file: "nginx.conf",
	argv: func(s site) []string {
		return []string{s.Program, "-e", "stderr", "-c", filepath.Join(s.Dir, "nginx.conf")}
	},
	lacking: map[string]string{`unknown directive "stream"`: "apt-get install libnginx-mod-stream"},
	text: template.Must(template.New("nginx").Parse(`daemon off;
worker_processes {{.Threads}};
worker_rlimit_nofile {{.Files}};
error_log stderr warn;
pid {{.Dir}}/nginx.pid;
{{- if .TCP}}
include /etc/nginx/modules-enabled/*mod-stream.conf;
{{- end}}
events { worker_connections {{.Files}}; }
{{- if .TCP}}
stream {
	upstream servers {
{{- range .Servers}}
		server {{.}};
{{- end}}
	}
	server {
		listen {{.Listen}} backlog=4096;
		tcp_nodelay on;
		proxy_timeout 1h;
		proxy_pass servers;
	}
}
{{- else}}
http {
	access_log off;
	client_body_temp_path {{.Dir}}/body;
	proxy_temp_path {{.Dir}}/proxy;
	fastcgi_temp_path {{.Dir}}/fastcgi;
	uwsgi_temp_path {{.Dir}}/uwsgi;
	scgi_temp_path {{.Dir}}/scgi;
	client_max_body_size 0;
	keepalive_timeout 1h;
	keepalive_requests 1000000000;
	upstream servers {
{{- range .Servers}}
		server {{.}};
{{- end}}
		keepalive {{.Connections}};
		keepalive_timeout 1h;
		keepalive_requests 1000000000;
	}
	server {
		listen {{.Listen}} backlog=4096{{if .TLS}} ssl{{end}}{{if .HTTP2}} http2{{end}};
{{- if .TLS}}
		ssl_certificate {{.Dir}}/identity.pem;
		ssl_certificate_key {{.Dir}}/identity.pem;
		ssl_protocols TLSv1.3;
{{- end}}
		location / {
{{- if .GRPC}}
			grpc_pass grpc{{if .TLS}}s{{end}}://servers;
{{- if .TLS}}
			grpc_ssl_protocols TLSv1.3;
			grpc_ssl_trusted_certificate {{.Dir}}/authorities.pem;
			grpc_ssl_name netdyno.trial;
			grpc_ssl_verify on;
{{- end}}
{{- else}}
			proxy_pass http{{if .TLS}}s{{end}}://servers;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_request_buffering off;
			proxy_max_temp_file_size 0;
{{- if .TLS}}
			proxy_ssl_protocols TLSv1.3;
			proxy_ssl_trusted_certificate {{.Dir}}/authorities.pem;
			proxy_ssl_name netdyno.trial;
			proxy_ssl_verify on;
{{- end}}
{{- end}}
		}
	}
}
{{- end}}
`)),
}
