package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"a2a-interop-go/internal/contract"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

var cardCases = []testCase{
	{"card", card},
	{"card.extended", cardExtended},
}

var sendCases = []testCase{
	{"echo.unary", echoUnary},
	{"echo.stream", echoStream},
	{"stream.unary", streamUnary},
	{"stream.chunks", streamChunks},
	{"stream.live", streamLive},
	{"send.immediate", sendImmediate},
}

func card(_ context.Context, p *peer) error {
	if p.card.Name == "" || p.card.Version == "" {
		return fmt.Errorf("name %q, version %q", p.card.Name, p.card.Version)
	}
	var bindings []string
	for _, offered := range p.card.SupportedInterfaces {
		bindings = append(bindings, string(offered.ProtocolBinding))
	}
	if err := wantEqual("interfaces", strings.Join(bindings, " "), "JSONRPC HTTP+JSON GRPC"); err != nil {
		return err
	}
	for _, extension := range p.card.Capabilities.Extensions {
		if extension.URI == contract.EchoExtension {
			return wantEqual("the extension is required", extension.Required, false)
		}
	}
	return errors.New("the extension is missing")
}

func cardExtended(ctx context.Context, p *peer) error {
	extended, err := p.client.GetExtendedAgentCard(ctx, &a2a.GetExtendedAgentCardRequest{})
	if !p.card.Capabilities.ExtendedAgentCard {
		if errors.Is(err, a2a.ErrUnsupportedOperation) {
			return nil
		}
		return wantError(err, a2a.ErrExtendedCardNotConfigured)
	}
	if err != nil {
		return err
	}
	for _, skill := range extended.Skills {
		if skill.ID == contract.ExtendedSkill {
			return nil
		}
	}
	return fmt.Errorf("the skill is missing among %d", len(extended.Skills))
}

func echoUnary(ctx context.Context, p *peer) error {
	task, err := p.completed(ctx, say("echo hello"))
	if err != nil {
		return err
	}
	return wantArtifactText(task, "echo", "hello")
}

func echoStream(ctx context.Context, p *peer) error {
	f, err := ended(p.stream(ctx, say("echo hello")), a2a.TaskStateCompleted, nil)
	if err != nil {
		return err
	}
	return wantArtifactText(f.task, "echo", "hello")
}

const chunks = 100

func chunkText(i int) string { return fmt.Sprintf("%d ", i) }

func allChunks() string {
	var text strings.Builder
	for i := range chunks {
		text.WriteString(chunkText(i))
	}
	return text.String()
}

func streamUnary(ctx context.Context, p *peer) error {
	task, err := p.completed(ctx, say(fmt.Sprintf("stream %d", chunks)))
	if err != nil {
		return err
	}
	if err := wantEqual("artifacts", len(task.Artifacts), 1); err != nil {
		return err
	}
	return wantArtifactText(task, "stream", allChunks())
}

func streamChunks(ctx context.Context, p *peer) error {
	received := 0
	f, err := ended(p.stream(ctx, say(fmt.Sprintf("stream %d", chunks))), a2a.TaskStateCompleted,
		func(_ *fold, event a2a.Event) error {
			update, ok := event.(*a2a.TaskArtifactUpdateEvent)
			if !ok {
				return nil
			}
			if got := joined(update.Artifact.Parts); got != chunkText(received) {
				return fmt.Errorf("chunk %d is %q", received, got)
			}
			received++
			return wantEqual(fmt.Sprintf("chunk %d is the last", received), update.LastChunk, received == chunks)
		})
	if err != nil {
		return err
	}
	if err := wantEqual("chunks", received, chunks); err != nil {
		return err
	}
	if err := f.wantTaskFirst(); err != nil {
		return err
	}
	last, ok := f.events[len(f.events)-1].(*a2a.TaskStatusUpdateEvent)
	if !ok || last.Status.State != a2a.TaskStateCompleted {
		return fmt.Errorf("the last event is not the status COMPLETED but %T", f.events[len(f.events)-1])
	}
	return wantArtifactText(f.task, "stream", allChunks())
}

// releaseAfterFirst lets a "slow" task go on as soon as its first chunk has been received.
func (p *peer) releaseAfterFirst(ctx context.Context, key string) func(*fold, a2a.Event) error {
	released := false
	return func(f *fold, _ a2a.Event) error {
		if released || f.task == nil || wantArtifactText(f.task, "slow", "first") != nil {
			return nil
		}
		released = true
		return p.release(ctx, key)
	}
}

func streamLive(ctx context.Context, p *peer) error {
	key := newKey()
	f, err := ended(p.stream(ctx, say("slow "+key)), a2a.TaskStateCompleted, p.releaseAfterFirst(ctx, key))
	if err != nil {
		return err
	}
	return wantArtifactText(f.task, "slow", "firstsecond")
}

func sendImmediate(ctx context.Context, p *peer) error {
	key := newKey()
	task, err := p.task(ctx, immediately(say("slow "+key)))
	if err != nil {
		return err
	}
	if task.Status.State.Terminal() {
		return fmt.Errorf("the first answer is already %s", task.Status.State)
	}
	if err := p.release(ctx, key); err != nil {
		return err
	}
	// GetTask gives no signal, so that the end can only be polled for; the limit of the case bounds it.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !task.Status.State.Terminal() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("still %s: %w", task.Status.State, ctx.Err())
		}
		if task, err = p.get(ctx, task.ID); err != nil {
			return err
		}
	}
	if err := wantState(task, a2a.TaskStateCompleted); err != nil {
		return err
	}
	return wantArtifactText(task, "slow", "firstsecond")
}
