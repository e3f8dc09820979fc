package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"netdyno/internal/run/target"
)

// without are curl's flags that change nothing in the request, with the values of those
// that take one.
var without = []struct {
	name, short string
	valued      bool
}{
	{"silent", "s", false}, {"show-error", "S", false}, {"output", "o", true}, {"remote-name", "O", false},
	{"include", "i", false}, {"verbose", "v", false}, {"fail", "f", false}, {"globoff", "g", false},
	{"no-buffer", "N", false}, {"progress-bar", "#", false}, {"write-out", "w", true}, {"max-time", "m", true},
	{"connect-timeout", "", true}, {"retry", "", true}, {"max-redirs", "", true}, {"path-as-is", "", false},
	{"no-progress-meter", "", false}, {"tcp-nodelay", "", false}, {"no-keepalive", "", false}, {"create-dirs", "", false},
}

func curlCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "curl URL… [KEY=LEVEL…]",
		Short: "Measure what a command of curl's requests",
		Long: `Measure what a command of curl's requests: write netdyno before the command, as a
browser's "copy as cURL" gives it. Flags of curl's that change nothing in the request,
such as -s, -o or -v, are named and ignored; another one that is unknown is refused.

It is the same as netdyno URL, but -d is curl's --data alone, and --duration says how
long to go on. Headers and cookies that prove who asks, and --user, are neither shown nor
recorded.`,
		Example: `  netdyno curl 'https://shop.example/cart' -H 'Accept: */*' -b 'id=7' --compressed
  netdyno curl -X PUT --data-binary @order.json http://127.0.0.1:8080/orders connections=1,50`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			sayIgnored(cmd.Flags())
			f.typed = append([]string{"curl"}, typedAfter(os.Args, "curl")...)
			return run(cmd.Context(), withScheme(args), f)
		},
	}
	f.declare(c)
	f.url.curls = true
	f.addRequest(c)
	f.result.declare(c.Flags())
	for _, w := range without {
		flag := c.Flags().VarPF(new(ignored), w.name, w.short, "ignored")
		if flag.Hidden = true; !w.valued {
			flag.NoOptDefVal = "true"
		}
	}
	return c
}

// ignored takes any value.
type ignored struct{}

func (*ignored) String() string   { return "" }
func (*ignored) Type() string     { return "text" }
func (*ignored) Set(string) error { return nil }

// sayIgnored names the flags that were given and change nothing.
func sayIgnored(flags *pflag.FlagSet) {
	var names []string
	flags.Visit(func(f *pflag.Flag) {
		if _, is := f.Value.(*ignored); is {
			names = append(names, "--"+f.Name)
		}
	})
	if len(names) > 0 {
		remark("ignored, as they change nothing in the request: " + strings.Join(names, ", "))
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
