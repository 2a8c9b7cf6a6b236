// Command client runs the cases of the interop contract with the SDK's own client:
//
//	client URL BINDING
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// programLimit is when the whole program ends by itself.
const programLimit = 5 * time.Minute

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: client URL BINDING")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), programLimit)
	defer cancel()
	if err := runAll(ctx, os.Args[1], a2a.TransportProtocol(os.Args[2])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
