package programs

import (
	"os"
	"path/filepath"
	"strings"
)

// Nginx is an nginx in the foreground, of one worker, that serves the files of a
// directory and logs no access. Its other directives are as they are given.
type Nginx struct {
	Own    string // the directory of its configuration and of what it writes; made if need be
	Root   string // the directory whose files it serves; only its user need have access
	Listen string // of directive listen: 127.0.0.1:8080 ssl
	Events string // more directives, by their block
	HTTP   string
	Server string
}

// Command writes the configuration and returns the command that starts it.
func (n Nginx) Command() ([]string, error) {
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;" // else its worker would be nobody
	}
	text := strings.NewReplacer("OWN", n.Own, "ROOT", n.Root, "LISTEN", n.Listen, "USER", user,
		"EVENTS", n.Events, "HTTP", n.HTTP, "SERVER", n.Server).Replace(`USER
daemon off;
worker_processes 1;
pid OWN/pid;
error_log stderr;
events { EVENTS }
http {
  access_log off;
  HTTP
  client_body_temp_path OWN/body;
  proxy_temp_path OWN/proxy;
  fastcgi_temp_path OWN/fastcgi;
  uwsgi_temp_path OWN/uwsgi;
  scgi_temp_path OWN/scgi;
  server {
    listen LISTEN; root ROOT;
    SERVER
  }
}
`)
	if err := os.MkdirAll(n.Own, 0o700); err != nil {
		return nil, err
	}
	config := filepath.Join(n.Own, "nginx.conf")
	return []string{"nginx", "-p", n.Own, "-e", "stderr", "-c", config}, os.WriteFile(config, []byte(text), 0o600)
}
