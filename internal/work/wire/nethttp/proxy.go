package nethttp

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/head"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
)

// ProxyOptions declares how a client asks a server through an HTTP proxy, which is then
// its peer.
func ProxyOptions() []contract.Option {
	client := []contract.Role{contract.Client}
	return []contract.Option{
		{Name: httpwire.ProxiedOption, Type: contract.TypeText, Default: "", Roles: client,
			Doc: "host:port of the server, where what the client connects to is an HTTP proxy: asked for by its whole URL, with TLS through a tunnel (CONNECT)"},
		{Name: "proxy_user", Type: contract.TypeText, Default: "", FileMax: head.MostBytes, Roles: client,
			Doc: "with proxied: NAME:PASSWORD for the proxy"},
	}
}

// throughProxy lets a transport ask the proxy at peer, where the options say that it is
// one, which not every client has. The error is of kind setup.
func throughProxy(setup contract.Setup, t *http.Transport, peer string) error {
	if _, has := setup.Options[httpwire.ProxiedOption]; !has {
		return nil
	}
	o := load.Options(setup.Options)
	user, err := o.Given("proxy_user", head.MostBytes)
	proxied := o.Text(httpwire.ProxiedOption) != ""
	if err == nil && user != "" && !proxied {
		err = errors.New("it goes with option " + httpwire.ProxiedOption + " alone")
	}
	if err != nil {
		return load.Failure(contract.SetupFailed, fmt.Errorf("option proxy_user: %w", err))
	}
	if !proxied {
		return nil
	}
	proxy := &url.URL{Scheme: "http", Host: peer}
	if name, password, told := strings.Cut(user, ":"); told {
		proxy.User = url.UserPassword(name, password)
	}
	t.Proxy = http.ProxyURL(proxy)
	return nil
}
