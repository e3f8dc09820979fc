package httpwire

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"netdyno/internal/contract"
	"netdyno/internal/head"
	"netdyno/internal/quantity"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// mostBody bounds the body of a user's requests, in bytes.
const mostBody = 64 << 20

// Ask is how a user's options change the requests of a client.
type Ask struct {
	Method           string       // "" leaves it to the content
	Headers          []head.Field // in the order given, without Host
	Body             []byte       // nil for the trial's own content
	Host             string       // "" for the address
	Status           int          // that every reply must have
	Success          bool         // any status 2xx will do
	wire.Expectation              // of the bodies of replies
}

// askOptions declares the options that an Ask is read from.
func askOptions() []contract.Option {
	client := []contract.Role{contract.Client}
	least, most := 100.0, 599.0
	return append([]contract.Option{
		{Name: "method", Type: contract.TypeText, Default: "", Roles: client, Doc: "method of the requests; GET without content and POST with it unless given"},
		{Name: "headers", Type: contract.TypeText, Default: "", FileMax: head.MostBytes, Roles: client, Doc: `headers of the requests, "Name: value", one a line`},
		{Name: "body", Type: contract.TypeText, Default: "", FileMax: mostBody, Roles: client, Doc: "body of the requests, in place of random content; as long as the factor request says"},
		{Name: "host", Type: contract.TypeText, Default: "", Roles: client, Doc: "Host header, or :authority, of the requests; the server's address unless given"},
		{Name: "status", Type: contract.TypeInt, Default: int64(http.StatusOK), Min: &least, Max: &most, Roles: client, Doc: "status that every reply must have"},
		wire.BodiesOption(),
	}, append(fillOptions(), wire.VerifyOptions()...)...)
}

// askOf reads the options. The error is of kind setup and names the option.
func askOf(setup contract.Setup) (Ask, error) {
	o := load.Options(setup.Options)
	a := Ask{Method: o.Text("method"), Host: o.Text("host"), Status: int(o.Int("status"))}
	var err error
	if a.Expectation, err = wire.ExpectationOf(o); err != nil {
		return Ask{}, err
	}
	a.Success = o.Text("paths") != "" && a.Status == http.StatusOK
	fail := func(option, format string, args ...any) (Ask, error) {
		return Ask{}, load.Failure(contract.SetupFailed, fmt.Errorf("option "+option+": "+format, args...))
	}
	if a.Method != "" && !httpguts.ValidHeaderFieldName(a.Method) { // both are tokens (RFC 9110, section 5.6.2)
		return fail("method", "%q is not a method, such as GET or PUT", quantity.Clip(a.Method, 40))
	}
	text, err := o.Given("headers", head.MostBytes)
	if err == nil {
		a.Headers, err = head.Parse(text)
	}
	if err != nil {
		return fail("headers", "%w", err)
	}
	host, _, others := head.Take(a.Headers, "Host")
	if a.Host, a.Headers = cmp.Or(a.Host, host), others; a.Host != "" && !httpguts.ValidHostHeader(a.Host) {
		return fail("host", "%q is not a host, such as example.org or example.org:8080", quantity.Clip(a.Host, 80))
	}
	body, err := o.Given("body", mostBody)
	if err != nil {
		return fail("body", "%w", err)
	}
	if body != "" {
		if len(setup.Exchange.UpSizes) > 0 {
			return fail("body", "it is one body, and the factor request says that sizes vary")
		}
		if int64(len(body)) != setup.Exchange.UpBytes && o.Text("data") == "" {
			return fail("body", "it has %d bytes and the factor request says %d; expected the same", len(body), setup.Exchange.UpBytes)
		}
		a.Body = []byte(body)
	}
	return a, nil
}

// method returns the method of a request with or without content.
func (a Ask) method(content bool) string {
	switch {
	case a.Method != "":
		return a.Method
	case content:
		return http.MethodPost
	}
	return http.MethodGet
}

// Takes tells whether a reply may have the status.
func (a *Ask) Takes(status int) bool {
	return status == a.Status || a.Success && status/100 == 2
}

// Expected says which status a reply must have.
func (a *Ask) Expected() string {
	if a.Success {
		return "2xx"
	}
	return fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status))
}

// Set puts the user's headers into a library's: the first of a name in the place of
// the library's own, the others beside it.
func (a *Ask) Set(set, add func(name, value string)) {
	for i, f := range a.Headers {
		if slices.ContainsFunc(a.Headers[:i], func(before head.Field) bool { return strings.EqualFold(before.Name, f.Name) }) {
			add(f.Name, f.Value)
		} else {
			set(f.Name, f.Value)
		}
	}
}
