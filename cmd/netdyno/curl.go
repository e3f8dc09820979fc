package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"netdyno/internal/run/curl"
	"netdyno/internal/run/target"
)

func curlCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "curl URL… [KEY=LEVEL…]",
		Short: "Measure what a command of curl's requests",
		Long: `Measure what a command of curl's requests: write netdyno before the command, as a
browser's "copy as cURL" gives it. Flags of curl's that change nothing in the request,
such as -s, -o or -v, are named and ignored; what is not offered is refused with the
reason.

It is the same as netdyno URL, but -d is curl's --data alone, and --duration says how
long to go on. Headers and cookies that prove who asks, and --user, are neither shown nor
recorded.`,
		Example: `  netdyno curl 'https://shop.example/cart' -H 'Accept: */*' -b 'id=7' --compressed
  netdyno curl -X PUT --data-binary @order.json http://127.0.0.1:8080/orders connections=1,50`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.typed = append([]string{"curl"}, typedAfter(os.Args, "curl")...)
			return run(cmd.Context(), withScheme(args), f)
		},
	}
	f.url.curls = true
	f.declare(c)
	f.addRequest(c)
	f.result.declare(c.Flags())
	return c
}

// ofCurl is a flag of curl's that is none of netdyno's.
type ofCurl struct {
	curl.Flag
	given bool
}

func (*ofCurl) String() string { return "" }
func (*ofCurl) Type() string   { return "text" }

// Set implements pflag.Value.
func (f *ofCurl) Set(string) error {
	if f.given = true; f.Ignored {
		return nil
	}
	return &notOfferedError{f.Flag}
}

// notOfferedError says why a flag of curl's is refused.
type notOfferedError struct{ curl.Flag }

func (e *notOfferedError) Error() string {
	return fmt.Sprintf("curl's --%s is not offered: %s", e.Name, e.Why)
}

// addCurls declares curl's other flags, hidden: each is refused with the reason, or ignored
// by name. A letter that netdyno has for another flag stays its own.
func addCurls(f *pflag.FlagSet) {
	for _, one := range curl.Flags() {
		if f.Lookup(one.Name) != nil {
			continue
		}
		if f.ShorthandLookup(one.Short) != nil {
			one.Short = ""
		}
		flag := f.VarPF(&ofCurl{Flag: one}, one.Name, one.Short, one.Why)
		if flag.Hidden = true; !one.Valued {
			flag.NoOptDefVal = "true"
		}
	}
}

// idle are flags of netdyno's that change nothing of what some URLs are asked.
var idle = []struct {
	flags []string
	when  func(t *urlFlags, urls []string) bool
	why   string
}{
	{[]string{"insecure", "ca", "cacert", "cert", "key", "sni"}, func(_ *urlFlags, urls []string) bool { return !anyOf(urls, "https", "grpcs", "wss") }, "no URL is https://, grpcs:// or wss://"},
	{[]string{"location", "location-trusted", "max-redirs", "cookie-jar"}, func(_ *urlFlags, urls []string) bool { return !anyOf(urls, "http") }, "no URL is of HTTP, which redirects"},
	{[]string{"max-redirs", "cookie-jar"}, func(t *urlFlags, _ []string) bool { return !t.Follow && !t.Trusting }, "no redirection is followed without -L"},
	{[]string{"cookie"}, func(t *urlFlags, _ []string) bool {
		return !t.Follow && !t.Trusting && slices.Contains(t.words.Cookies, "")
	}, "a cookie of '' sends on what redirections set, and none is followed without -L"},
	{[]string{"get"}, func(t *urlFlags, _ []string) bool { return len(t.words.Pieces) == 0 }, "there is no --data to put into the URL"},
	{[]string{"http1.1", "get"}, func(_ *urlFlags, urls []string) bool { return !anyOf(urls, "http") }, "no URL is of HTTP"},
	{[]string{"header", "user", "oauth2-bearer", "cookie", "user-agent", "referer", "range", "url-query", "compressed", "host"}, func(_ *urlFlags, urls []string) bool { return !anyOf(urls, "http", "grpc", "ws") }, "tcp:// sends bytes without a head"},
}

// anyOf tells whether one of some URLs has a scheme that begins so.
func anyOf(urls []string, schemes ...string) bool {
	return slices.ContainsFunc(urls, func(u string) bool {
		return slices.ContainsFunc(schemes, func(s string) bool { return strings.HasPrefix(target.SchemeOf(u), s) })
	})
}

// sayIgnored names the flags that were given and change nothing, with the reason.
func (t *urlFlags) sayIgnored(urls []string) {
	var reasons []string
	names := map[string][]string{}
	add := func(why, name string) {
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], "--"+name)
	}
	t.flags.Visit(func(f *pflag.Flag) {
		if is, ok := f.Value.(*ofCurl); ok {
			add(is.Why, f.Name)
			return
		}
		for _, i := range idle {
			if slices.Contains(i.flags, f.Name) && i.when(t, urls) {
				add(i.why, f.Name)
				return
			}
		}
	})
	for _, why := range reasons {
		remark("ignored: " + strings.Join(names[why], ", ") + ", as " + why)
	}
}

// withScheme makes URLs of arguments that are no levels, as curl does.
func withScheme(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		key, _, isLevel := strings.Cut(arg, "=")
		if _, is := target.WithScheme(arg); !is && (!isLevel || strings.ContainsAny(key, "./:?")) && !strings.Contains(arg, "://") {
			args[i] = fmt.Sprintf("http://%s", arg)
		}
	}
	return args
}
