package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// redirected sends every request to one endpoint, with the Host header that the caller signed.
type redirected struct {
	to      *url.URL
	through http.RoundTripper
}

func (r redirected) RoundTrip(request *http.Request) (*http.Response, error) {
	outgoing := request.Clone(request.Context())
	outgoing.Host = request.URL.Host
	outgoing.URL.Scheme = r.to.Scheme
	outgoing.URL.Host = r.to.Host
	response, err := r.through.RoundTrip(outgoing)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the answer of STS: %w", err)
	}
	if strings.HasPrefix(strings.TrimSpace(string(body)), "<") {
		if body, err = asJSON(body); err != nil {
			return nil, fmt.Errorf("reading the XML of STS: %w", err)
		}
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Del("Content-Length")
	return response, nil
}

// result has one set of names for both forms, XML and JSON.
type result struct {
	Account string `xml:"Account" json:"Account"`
	Arn     string `xml:"Arn" json:"Arn"`
	UserID  string `xml:"UserId" json:"UserId"`
}

// asJSON turns the XML of GetCallerIdentity into what STS answers to `Accept: application/json`.
func asJSON(body []byte) ([]byte, error) {
	var answer struct {
		Result result `xml:"GetCallerIdentityResult"`
	}
	if err := xml.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"GetCallerIdentityResponse": map[string]any{"GetCallerIdentityResult": answer.Result},
	})
}
