package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
)

// serveTLS answers over TLS, with a certificate that it signs itself.
func serveTLS(address string, handler http.HandlerFunc) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		give(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		give(err)
	}
	server := http.Server{Addr: address, Handler: handler, TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}},
	}}
	give(server.ListenAndServeTLS("", ""))
}

// serveSocket answers at a Unix socket.
func serveSocket(path string, handler http.HandlerFunc) {
	listener, err := net.Listen("unix", path)
	if err != nil {
		fmt.Println(err) // where nobody has made the folder, nobody asks there
		return
	}
	give(http.Serve(listener, handler))
}

// give gives up.
func give(err error) {
	fmt.Println(err)
	os.Exit(1)
}
