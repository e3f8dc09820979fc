package curl

import "strings"

// Flag is one of curl's flags that is none of netdyno's.
type Flag struct {
	Name, Short string
	Valued      bool
	Ignored     bool   // it changes nothing that a server sees; any other is refused
	Why         string // it is ignored or refused, with what to type instead
}

// Flags are all of them, by what they are about. The names are those of curl 8.
func Flags() (all []Flag) {
	for _, g := range groups {
		for _, text := range strings.Fields(g.flags) {
			text, valued := strings.CutSuffix(text, "=")
			name, short, _ := strings.Cut(text, ",")
			all = append(all, Flag{name, short, valued, g.ignored, g.why})
		}
	}
	return all
}

// groups have flags as NAME[,SHORT][=], with = where a value follows.
var groups = []struct {
	ignored    bool
	why, flags string
}{
	{true, "what curl prints and keeps is its own", "silent,s show-error,S output,o= remote-name,O remote-name-all remote-header-name,J remote-time,R include,i verbose,v no-buffer,N progress-bar,# write-out,w= no-progress-meter styled-output no-clobber skip-existing out-null output-dir= create-dirs create-file-mode= xattr stderr= trace= trace-ascii= trace-time trace-ids trace-config= dump-header,D= libcurl= suppress-connect-headers dump-ca-embed remove-on-error etag-save= use-ascii,B raw"},
	{true, "a status of 400 or more is a failed request in any case", "fail,f fail-with-body fail-early"},
	{true, "a URL is taken as it stands in any case", "globoff,g path-as-is"},
	{true, "it is so in any case", "tcp-nodelay basic proxy-basic no-npn no-sessionid disable junk-session-cookies,j expect100-timeout= http0.9 tlsv1,1 tlsv1.0 tlsv1.1 tlsv1.2 ca-native ssl-no-revoke ssl-revoke-best-effort ssl-allow-beast ssl-auto-client-cert"},
	{true, "nothing of it is in a request", "no-keepalive keepalive-time= keepalive-cnt= happy-eyeballs-timeout-ms= egd-file= random-file= engine="},
	{true, "no request is sent again: one that fails is counted", "retry= retry-delay= retry-max-time= retry-connrefused retry-all-errors"},

	{false, "HTTP/1.0 is not spoken; -H 'Connection: close' makes a new connection for every request", "http1.0,0"},
	{false, "the server's challenge would be answered by a second request each time; what comes of it, such as a token, goes into -H, and -u is Basic", "digest ntlm ntlm-wb negotiate anyauth delegation= service-name= krb= sasl-authzid= sasl-ir login-options="},
	{false, "each request would be signed by its time, and requests are made beforehand; k6 signs them by its library k6-jslib-aws", "aws-sigv4="},
	{false, "no file of names and passwords is read; write -u NAME:PASSWORD, or -H @FILE with the header", "netrc netrc-optional netrc-file="},
	{false, "no file of flags is read; write them into the command", "config,K= variable="},
	{false, "a reply is read as fast as it comes; -q RATE says how many are asked for, and --rig 'netns:2?rate=10Mbit' makes a slow link", "limit-rate= speed-limit,Y= speed-time,y="},
	{false, "several requests are classes of --workload FILE, and several URLs are compared", "next,:"},
	{false, "-c says how many connections ask at the same time", "parallel,Z parallel-immediate parallel-max= parallel-max-host="},
	{false, "write the URL by itself", "url="},
	{false, "write it as the URL's path", "request-target="},
	{false, "write -H 'If-None-Match: ETAG'", "etag-compare="},
	{false, "write -H 'If-Modified-Since: DATE'", "time-cond="},
	{false, "write -H 'Range: bytes=N-'", "continue-at,C="},
	{false, "write -H 'TE: gzip'", "tr-encoding"},
	{false, "a reply is read whole, and its length is counted", "max-filesize= ignore-content-length"},
	{false, "the body is sent as it is; change the file", "crlf form-escape"},
	{false, "write -F NAME=TEXT, where TEXT begins with neither @ nor <", "form-string="},
	{false, "a redirection of 301, 302 or 303 is followed by GET; measure the URL where it leads with -X", "post301 post302 post303 follow"},
	{false, "what is measured is the scheme and the port of the URL", "alt-svc= hsts= proto-default= proto-redir= disallow-username-in-url metalink"},
	{false, "the certificate is checked against the authorities of --ca FILE or of this host, and no more", "capath= crlfile= cert-status pinnedpubkey= ech="},
	{false, "--cert and --key are PEM without a password; openssl makes such files", "cert-type= key-type= pass="},
	{false, "both ends choose the version of TLS, 1.2 or 1.3, and its ciphers; restrict them at the server", "tlsv1.3 tls-max= sslv2,2 sslv3,3 ciphers= tls13-ciphers= curves= sigalgs= no-alpn false-start tls-earlydata tlsuser= tlspassword= tlsauthtype="},
	{false, "names are resolved as this host does; --resolve HOST:PORT:ADDRESS says another address", "dns-interface= dns-ipv4-addr= dns-ipv6-addr= dns-servers= doh-url= doh-insecure doh-cert-status ipfs-gateway="},
	{false, "the kernel chooses the port that connections come from; --interface says the address", "local-port="},
	{false, "connections are those of the kernel's TCP, with nothing before the request", "tcp-fastopen mptcp haproxy-protocol haproxy-clientip= ip-tos= vlan-priority="},
	{false, "write -x http://NAME:PASSWORD@HOST:PORT", "proxy-user,U="},
	{false, "no proxy is asked but that of -x; leave it out", "noproxy="},
	{false, "a SOCKS proxy takes each connection by a handshake of its own, which the clients do not speak; -x http://HOST:PORT is an HTTP proxy", "socks4= socks4a= socks5= socks5-hostname= socks5-basic socks5-gssapi socks5-gssapi-nec socks5-gssapi-service= preproxy="},
	{false, "a proxy is asked by HTTP/1.1 as -x says, with Basic authentication, and by CONNECT for https://", "proxy1.0= proxytunnel,p proxy-http2 proxy-header= proxy-anyauth proxy-digest proxy-negotiate proxy-ntlm proxy-service-name= proxy-ca-native proxy-cacert= proxy-capath= proxy-cert= proxy-cert-type= proxy-ciphers= proxy-crlfile= proxy-insecure proxy-key= proxy-key-type= proxy-pass= proxy-pinnedpubkey= proxy-ssl-allow-beast proxy-ssl-auto-client-cert proxy-tls13-ciphers= proxy-tlsauthtype= proxy-tlspassword= proxy-tlsuser= proxy-tlsv1"},
	{false, "it is of another protocol than HTTP", "append,a list-only,l quote,Q= ssl ssl-reqd compressed-ssh hostpubmd5= hostpubsha256= pubkey= disable-eprt disable-epsv ftp-account= ftp-alternative-to-user= ftp-create-dirs ftp-method= ftp-pasv ftp-port,P= ftp-pret ftp-skip-pasv-ip ftp-ssl-ccc ftp-ssl-ccc-mode= ftp-ssl-control mail-auth= mail-from= mail-rcpt= mail-rcpt-allowfails telnet-option,t= tftp-blksize= tftp-no-options upload-flags="},
}

// Elsewhere says of schemes of URLs that are not asked what asks them.
var Elsewhere = map[string]string{
	"h3": http3, "http3": http3, "quic": http3,
	"h2": overHTTP2, "h2c": overHTTP2,
	"udp":        "UDP is not measured by URL; iperf3 -u measures it",
	"ftp":        "FTP is not measured; curl tells the time of a transfer",
	"redis":      "Redis is not measured; memtier_benchmark measures it",
	"mqtt":       "MQTT is not measured; emqtt-bench measures it",
	"amqp":       "AMQP is not measured; RabbitMQ's PerfTest measures it",
	"postgres":   "PostgreSQL is not measured; pgbench measures it",
	"postgresql": "PostgreSQL is not measured; pgbench measures it",
	"mysql":      "MySQL is not measured; sysbench measures it",
}

const (
	http3     = "write https:// with --http3"
	overHTTP2 = "write http:// or https:// with --http2"
)
