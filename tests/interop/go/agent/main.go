// Command agent is the scripted agent of the interop contract, served by the SDK's own handlers.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"a2a-interop-go/internal/contract"

	"github.com/a2aproject/a2a-go/v2/a2a"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
	"google.golang.org/grpc"
)

// lifetime is when the agent ends by itself, should its owner never close its input.
const lifetime = 10 * time.Minute

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	rpc, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	base := "http://" + web.Addr().String()
	card := publicCard(base, rpc.Addr().String())
	handler := requestHandler(card)

	failed := make(chan error, 2)
	grpcServer := grpc.NewServer(grpc.MaxRecvMsgSize(contract.MessageLimit), grpc.MaxSendMsgSize(contract.MessageLimit))
	a2agrpc.NewHandler(handler).RegisterWith(grpcServer)
	go func() { failed <- grpcServer.Serve(rpc) }()
	defer grpcServer.Stop()

	webServer := &http.Server{Handler: webHandler(card, handler)}
	go func() { failed <- webServer.Serve(web) }()
	defer webServer.Close()

	// Both listeners queue connections from here on, so that a client may come before Serve runs.
	ready := map[string]any{"ready": true, "url": base, "sdk": contract.SDK}
	if err := json.NewEncoder(os.Stdout).Encode(ready); err != nil {
		return err
	}

	inputClosed := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(inputClosed)
	}()
	select {
	case <-inputClosed:
		return nil
	case err := <-failed:
		return err
	case <-time.After(lifetime):
		return nil
	}
}

func requestHandler(card *a2a.AgentCard) a2asrv.RequestHandler {
	// The store lists the tasks of named users only; every caller of this agent is the same user.
	store := taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
		Authenticator: func(context.Context) (string, error) { return "interop", nil },
	})
	return a2asrv.NewHandler(
		newExecutor(),
		a2asrv.WithTaskStore(store),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)),
		a2asrv.WithExtendedAgentCard(extendedCard(card)),
		a2asrv.WithCapabilityChecks(&card.Capabilities),
		// The SDK logs each refusal as an error, and refusals are what many cases are about.
		a2asrv.WithLogger(slog.New(slog.DiscardHandler)),
	)
}

func webHandler(card *a2a.AgentCard, handler a2asrv.RequestHandler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	mux.Handle(jsonRPCPath, a2asrv.NewJSONRPCHandler(handler))
	mux.Handle(restPath+"/", newRESTRouter(handler))
	return mux
}
