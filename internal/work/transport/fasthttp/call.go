package gofasthttp

import (
	"errors"
	"fmt"

	"github.com/valyala/fasthttp"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// call makes the exchanges of one slot, whose goroutine owns it.
type call struct {
	host        *fasthttp.HostClient
	content     *codec.Exchange
	url, method string
	mediaType   string
	fresh       bool
	room        []byte // of the encoded request
	accept      func([]byte) error
	over        func() // tells that the exchange is complete
}

// do carries out one exchange and returns the payload bytes that came back.
func (c *call) do() (int64, error) {
	content, err := c.content.Request(c.room)
	if err != nil {
		return 0, load.Failure(contract.Bug, fmt.Errorf("encode the request: %w", err))
	}
	if c.content.Structured() {
		c.room = content
	}
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	request.SetRequestURI(c.url)
	request.Header.SetMethod(c.method)
	if c.method == fasthttp.MethodPost {
		request.Header.SetContentType(c.mediaType)
		request.SetBodyRaw(content)
	}
	if c.fresh {
		request.SetConnectionClose()
	}
	if err := c.host.Do(request, response); err != nil {
		return 0, c.judge(err)
	}
	c.over()
	return c.content.DownBytes, c.take(response)
}

// take checks a reply. What is wrong with it is an error of kind invalid.
func (c *call) take(response *fasthttp.Response) error {
	if status := response.StatusCode(); status != fasthttp.StatusOK {
		return load.Failure(contract.Invalid, fmt.Errorf("the reply has status %d %s%s, expected 200 OK",
			status, fasthttp.StatusMessage(status), wire.HTTPReason(response.Body())))
	}
	reply := response.Body()
	if n := int64(len(reply)); n != c.content.DownBytes {
		return load.Failure(contract.Invalid, fmt.Errorf("the reply has %d bytes, expected %d", n, c.content.DownBytes))
	}
	if err := c.accept(reply); err != nil {
		return load.Failure(contract.Invalid, err)
	}
	return nil
}

// judge gives an error of the library its kind.
func (c *call) judge(err error) error {
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		return load.Failure(contract.Invalid, fmt.Errorf("the reply has more than the expected %d bytes", c.content.DownBytes))
	}
	return err
}
