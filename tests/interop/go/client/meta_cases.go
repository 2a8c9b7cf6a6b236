package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"a2a-interop-go/internal/contract"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
)

var metaCases = []testCase{
	{"meta.tenant", metaTenant},
	{"meta.metadata", metaMetadata},
	{"meta.extensions", metaExtensions},
	{"version.unknown", versionUnknown},
	{"context.reuse", contextReuse},
}

var pushCases = []testCase{
	{"push", pushConfigs},
}

// versionOverride sends the version that the context carries in place of the SDK's own.
type versionOverride struct {
	a2aclient.PassthroughInterceptor
}

type versionKey struct{}

// Before implements [a2aclient.CallInterceptor].
func (versionOverride) Before(ctx context.Context, r *a2aclient.Request) (context.Context, any, error) {
	if version, ok := ctx.Value(versionKey{}).(string); ok {
		r.ServiceParams[a2a.SvcParamVersion] = []string{version}
	}
	return ctx, nil, nil
}

// meta sends the verb "meta" and reads what the executor saw, and the metadata of the artifact.
func (p *peer) meta(ctx context.Context, r *a2a.SendMessageRequest) (seen, metadata map[string]any, err error) {
	task, err := p.completed(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	found, err := artifact(task, "meta")
	if err != nil {
		return nil, nil, err
	}
	if len(found.Parts) != 1 {
		return nil, nil, fmt.Errorf("%d parts", len(found.Parts))
	}
	seen, ok := found.Parts[0].Data().(map[string]any)
	if !ok {
		return nil, nil, fmt.Errorf("the part is %#v", found.Parts[0].Content)
	}
	return seen, found.Metadata, nil
}

func metaTenant(ctx context.Context, p *peer) error {
	r := say("meta")
	r.Tenant = "acme/north"
	seen, _, err := p.meta(ctx, r)
	if err != nil {
		return err
	}
	return wantEqual("tenant", seen["tenant"], any("acme/north"))
}

func metaMetadata(ctx context.Context, p *peer) error {
	onRequest := map[string]any{"request": map[string]any{"n": 1.5, "list": []any{"x", true}}}
	onMessage := map[string]any{"message": "żółw"}
	r := say("meta")
	r.Metadata = onRequest
	r.Message.Metadata = onMessage
	seen, metadata, err := p.meta(ctx, r)
	if err != nil {
		return err
	}
	return errors.Join(
		wantObject("request metadata", seen["requestMetadata"], onRequest),
		wantObject("message metadata", seen["messageMetadata"], onMessage),
		wantObject("artifact metadata", metadata, map[string]any{"k": "v"}),
	)
}

func wantObject(what string, got any, wanted map[string]any) error {
	if !reflect.DeepEqual(got, any(wanted)) {
		return fmt.Errorf("%s: %#v, not %#v", what, got, wanted)
	}
	return nil
}

// metaExtensions cannot assert the activation: the SDK shows no header, metadata or trailer of a reply.
func metaExtensions(ctx context.Context, p *peer) error {
	asking := a2aclient.AttachServiceParams(ctx, a2aclient.ServiceParams{
		a2a.SvcParamExtensions: {contract.EchoExtension, "https://example.com/ext/unknown/v1"},
	})
	seen, _, err := p.meta(asking, say("meta"))
	if err != nil {
		return err
	}
	uris, ok := seen["extensions"].([]any)
	if !ok || !slices.Contains(uris, any(contract.EchoExtension)) {
		return fmt.Errorf("the executor saw the extensions %#v", seen["extensions"])
	}
	return nil
}

func versionUnknown(ctx context.Context, p *peer) error {
	_, err := p.client.SendMessage(context.WithValue(ctx, versionKey{}, "9.9"), say("echo hello"))
	return wantError(err, a2a.ErrVersionNotSupported)
}

func contextReuse(ctx context.Context, p *peer) error {
	tasks, err := p.inContext(ctx, 2)
	if err != nil {
		return err
	}
	if err := wantEqual("context", tasks[1].ContextID, tasks[0].ContextID); err != nil {
		return err
	}
	if tasks[0].ID == tasks[1].ID {
		return errors.New("the second message continued the first task")
	}
	asking, err := p.taskIn(ctx, a2a.TaskStateInputRequired, say("ask"))
	if err != nil {
		return err
	}
	wrong := sayTo(asking, "this one")
	wrong.Message.ContextID = tasks[0].ContextID
	_, err = p.client.SendMessage(ctx, wrong)
	return wantError(err, a2a.ErrInvalidParams)
}

func pushConfigs(ctx context.Context, p *peer) error {
	task, err := p.taskIn(ctx, a2a.TaskStateInputRequired, say("ask"))
	if err != nil {
		return err
	}
	const url = "https://example.com/hook"
	wanted := &a2a.PushConfig{TaskID: task.ID, ID: "hook", URL: url, Token: "token"}
	one := &a2a.GetTaskPushConfigRequest{TaskID: task.ID, ID: wanted.ID}
	list := &a2a.ListTaskPushConfigRequest{TaskID: task.ID}
	gone := &a2a.DeleteTaskPushConfigRequest{TaskID: task.ID, ID: wanted.ID}

	created, creating := p.client.CreateTaskPushConfig(ctx, wanted)
	if !p.card.Capabilities.PushNotifications {
		_, getting := p.client.GetTaskPushConfig(ctx, one)
		_, listing := p.client.ListTaskPushConfigs(ctx, list)
		deleting := p.client.DeleteTaskPushConfig(ctx, gone)
		return errors.Join(
			named("create", wantError(creating, a2a.ErrPushNotificationNotSupported)),
			named("get", wantError(getting, a2a.ErrPushNotificationNotSupported)),
			named("list", wantError(listing, a2a.ErrPushNotificationNotSupported)),
			named("delete", wantError(deleting, a2a.ErrPushNotificationNotSupported)),
		)
	}
	if creating != nil {
		return named("create", creating)
	}
	if err := errors.Join(wantEqual("id", created.ID, wanted.ID), wantEqual("url", created.URL, url)); err != nil {
		return named("create", err)
	}
	found, err := p.client.GetTaskPushConfig(ctx, one)
	if err != nil {
		return named("get", err)
	}
	if err := errors.Join(
		wantEqual("id", found.ID, wanted.ID),
		wantEqual("task", found.TaskID, task.ID),
		wantEqual("url", found.URL, url),
	); err != nil {
		return named("get", err)
	}
	listed, err := p.client.ListTaskPushConfigs(ctx, list)
	if err != nil {
		return named("list", err)
	}
	if len(listed) != 1 || listed[0].ID != wanted.ID {
		return fmt.Errorf("list: %d configurations", len(listed))
	}
	if err := p.client.DeleteTaskPushConfig(ctx, gone); err != nil {
		return named("delete", err)
	}
	_, err = p.client.GetTaskPushConfig(ctx, one)
	return named("get after delete", wantError(err, a2a.ErrTaskNotFound))
}

func named(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
