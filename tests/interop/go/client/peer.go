package main

import (
	"context"
	"fmt"
	"iter"

	"a2a-interop-go/internal/contract"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// peer is the agent under test, over one binding.
type peer struct {
	card   *a2a.AgentCard
	client *a2aclient.Client
}

func connect(ctx context.Context, url string, binding a2a.TransportProtocol) (*peer, error) {
	card, err := agentcard.DefaultResolver.Resolve(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("the card: %w", err)
	}
	// A preference alone would let the SDK fall back to another binding.
	only := *card
	only.SupportedInterfaces = nil
	for _, offered := range card.SupportedInterfaces {
		if offered.ProtocolBinding == binding {
			only.SupportedInterfaces = append(only.SupportedInterfaces, offered)
		}
	}
	client, err := a2aclient.NewFromCard(ctx, &only,
		a2agrpc.WithGRPCTransport(
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(
				grpc.MaxCallRecvMsgSize(contract.MessageLimit),
				grpc.MaxCallSendMsgSize(contract.MessageLimit),
			),
		),
		a2aclient.WithCallInterceptors(versionOverride{}),
	)
	if err != nil {
		return nil, fmt.Errorf("the client: %w", err)
	}
	return &peer{card: card, client: client}, nil
}

func (p *peer) close() { _ = p.client.Destroy() }

// request is a request to send a message, which a case may change before it is sent.
func request(parts ...*a2a.Part) *a2a.SendMessageRequest {
	return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, parts...)}
}

func say(text string) *a2a.SendMessageRequest {
	return request(a2a.NewTextPart(text))
}

// sayTo continues a task.
func sayTo(task *a2a.Task, text string) *a2a.SendMessageRequest {
	r := say(text)
	r.Message.TaskID = task.ID
	r.Message.ContextID = task.ContextID
	return r
}

func immediately(r *a2a.SendMessageRequest) *a2a.SendMessageRequest {
	r.Config = &a2a.SendMessageConfig{ReturnImmediately: true}
	return r
}

// task sends a message that is to be answered with a task.
func (p *peer) task(ctx context.Context, r *a2a.SendMessageRequest) (*a2a.Task, error) {
	answer, err := p.client.SendMessage(ctx, r)
	if err != nil {
		return nil, err
	}
	task, ok := answer.(*a2a.Task)
	if !ok {
		return nil, fmt.Errorf("the answer is a %T, not a task", answer)
	}
	if task.ID == "" || task.ContextID == "" {
		return nil, fmt.Errorf("task id %q, context id %q", task.ID, task.ContextID)
	}
	return task, nil
}

// taskIn sends a message whose task is to be in a state.
func (p *peer) taskIn(ctx context.Context, state a2a.TaskState, r *a2a.SendMessageRequest) (*a2a.Task, error) {
	task, err := p.task(ctx, r)
	if err != nil {
		return nil, err
	}
	return task, wantState(task, state)
}

// completed sends a message whose task is to be completed.
func (p *peer) completed(ctx context.Context, r *a2a.SendMessageRequest) (*a2a.Task, error) {
	return p.taskIn(ctx, a2a.TaskStateCompleted, r)
}

// message sends a message that is to be answered with the message text.
func (p *peer) message(ctx context.Context, r *a2a.SendMessageRequest, text string) error {
	answer, err := p.client.SendMessage(ctx, r)
	if err != nil {
		return err
	}
	return wantMessage(answer, text)
}

func (p *peer) release(ctx context.Context, key string) error {
	if err := p.message(ctx, say("release "+key), "released"); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

func (p *peer) stream(ctx context.Context, r *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return p.client.SendStreamingMessage(ctx, r)
}

func (p *peer) subscribe(ctx context.Context, id a2a.TaskID) iter.Seq2[a2a.Event, error] {
	return p.client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: id})
}

func (p *peer) get(ctx context.Context, id a2a.TaskID) (*a2a.Task, error) {
	return p.client.GetTask(ctx, &a2a.GetTaskRequest{ID: id})
}

func (p *peer) cancel(ctx context.Context, id a2a.TaskID) (*a2a.Task, error) {
	return p.client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id})
}

// newKey names one pair of "slow" and "release".
func newKey() string { return a2a.NewMessageID() }
