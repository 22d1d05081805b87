// Command token-webhook answers TokenReviews as EKS does: the token is checked by aws-iam-authenticator's own verifier,
// and only principals with an access entry come in.
//
// The verifier speaks to https://sts.<region>.amazonaws.com; here that conversation goes to the STS endpoint given by
// --sts, with the Host header left as it was signed. An emulator answers in XML although JSON was asked for.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	authentication "k8s.io/api/authentication/v1"
	"sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

// entries are the access entries: IAM role or user ARN, without session, to Kubernetes groups.
type entries map[string][]string

func (e entries) String() string { return fmt.Sprint(map[string][]string(e)) }

func (e entries) Set(text string) error {
	arn, groups, found := strings.Cut(text, "=")
	if !found || arn == "" || groups == "" {
		return errors.New("an entry is ARN=group[,group]")
	}
	e[strings.ToLower(arn)] = strings.Split(groups, ",")
	return nil
}

func main() {
	log.SetFlags(log.LstdFlags | log.LUTC)
	known := entries{}
	listen := flag.String("listen", "", "loopback address and port to serve on")
	cluster := flag.String("cluster", "", "cluster name that a token has to be signed for")
	region := flag.String("region", "us-east-1", "region of the cluster")
	sts := flag.String("sts", "", "URL of the STS endpoint")
	flag.Var(known, "entry", "access entry ARN=group[,group]; repeatable")
	flag.Parse()
	endpoint, err := url.Parse(*sts)
	if *listen == "" || *cluster == "" || err != nil || endpoint.Host == "" {
		fmt.Fprintln(os.Stderr, "token-webhook: --listen, --cluster and --sts (a URL) are needed")
		os.Exit(2)
	}
	http.DefaultTransport = redirected{to: endpoint, through: http.DefaultTransport}
	reviewer := reviewer{verifier: token.NewVerifier(*cluster, "aws", *region), entries: known}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatalf("cannot listen: %v", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("POST /authenticate", reviewer.serve)
	log.Printf("answering TokenReviews for %s on %s, asking %s", *cluster, listener.Addr(), endpoint)
	log.Fatal(http.Serve(listener, mux))
}

type reviewer struct {
	verifier token.Verifier
	entries  entries
}

func (r reviewer) serve(w http.ResponseWriter, request *http.Request) {
	var review authentication.TokenReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Status = r.status(review.Spec.Token)
	review.Spec = authentication.TokenReviewSpec{}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(review); err != nil {
		log.Printf("could not answer: %v", err)
	}
}

func (r reviewer) status(text string) authentication.TokenReviewStatus {
	identity, err := r.verifier.Verify(text)
	if err != nil {
		log.Printf("refused: %v", err)
		return authentication.TokenReviewStatus{Error: err.Error()}
	}
	groups, known := r.entries[strings.ToLower(identity.CanonicalARN)]
	if !known {
		log.Printf("refused: no access entry for %s", identity.CanonicalARN)
		return authentication.TokenReviewStatus{Error: "no access entry for " + identity.CanonicalARN}
	}
	log.Printf("accepted %s", identity.ARN)
	return authentication.TokenReviewStatus{
		Authenticated: true,
		// EKS's default for a role: the assumed role with its session.
		User: authentication.UserInfo{Username: identity.ARN, UID: identity.UserID, Groups: groups},
	}
}
