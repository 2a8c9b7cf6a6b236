package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"a2a-interop-go/internal/contract"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// bigLength is above the default limits that peers meet: 1 MiB of a body and 4 MiB of a gRPC message.
const bigLength = 5 << 20

var partCases = []testCase{
	{"parts.file", partsFile},
	{"parts.data", partsData},
	{"parts.echo", partsEcho},
	{"parts.unicode", partsUnicode},
	{"parts.empty_text", partsEmptyText},
	{"parts.big_reply", partsBigReply},
	{"parts.big_request", partsBigRequest},
	{"parts.big_stream", partsBigStream},
}

var messageCases = []testCase{
	{"message.unary", messageUnary},
	{"message.stream", messageStream},
}

var artifactCases = []testCase{
	{"artifacts.many", artifactsMany},
	{"artifacts.appends", artifactsAppends},
}

func wantRaw(part *a2a.Part, content []byte, name, mediaType string) error {
	if !bytes.Equal(part.Raw(), content) {
		return fmt.Errorf("raw: %d bytes differ from %d", len(part.Raw()), len(content))
	}
	return wantFile(part, name, mediaType)
}

func wantURL(part *a2a.Part, url a2a.URL, name, mediaType string) error {
	return errors.Join(wantEqual("url", part.URL(), url), wantFile(part, name, mediaType))
}

func wantFile(part *a2a.Part, name, mediaType string) error {
	return errors.Join(wantEqual("filename", part.Filename, name), wantEqual("media type", part.MediaType, mediaType))
}

func wantData(part *a2a.Part, wanted any) error {
	if !reflect.DeepEqual(part.Data(), wanted) {
		return fmt.Errorf("data: %#v, not %#v", part.Data(), wanted)
	}
	return nil
}

func partsFile(ctx context.Context, p *peer) error {
	task, err := p.completed(ctx, say("file"))
	if err != nil {
		return err
	}
	found, err := parts(task, "file", 2)
	if err != nil {
		return err
	}
	return errors.Join(
		wantRaw(found[0], contract.AllBytes(), "bytes.bin", "application/octet-stream"),
		wantURL(found[1], "https://example.com/a.png", "a.png", "image/png"),
	)
}

func partsData(ctx context.Context, p *peer) error {
	task, err := p.completed(ctx, say("data"))
	if err != nil {
		return err
	}
	found, err := parts(task, "data", 1)
	if err != nil {
		return err
	}
	return wantData(found[0], any(contract.Data()))
}

func partsEcho(ctx context.Context, p *peer) error {
	raw := a2a.NewRawPart(contract.AllBytes())
	raw.Filename, raw.MediaType = "all.bin", "application/octet-stream"
	url := a2a.NewFileURLPart("https://example.com/b.png", "image/png")
	url.Filename = "b.png"
	object := map[string]any{"n": 1.5, "nested": map[string]any{"list": []any{"x", true, nil}}}
	task, err := p.completed(ctx, request(a2a.NewTextPart("echo four parts"), raw, url, a2a.NewDataPart(object)))
	if err != nil {
		return err
	}
	found, err := parts(task, "echo", 4)
	if err != nil {
		return err
	}
	return errors.Join(
		wantEqual("text", found[0].Text(), "four parts"),
		wantRaw(found[1], contract.AllBytes(), "all.bin", "application/octet-stream"),
		wantURL(found[2], "https://example.com/b.png", "b.png", "image/png"),
		wantData(found[3], any(object)),
	)
}

// echoed sends a text to be echoed as the only text part.
func (p *peer) echoed(ctx context.Context, text string) error {
	task, err := p.completed(ctx, say("echo "+text))
	if err != nil {
		return err
	}
	found, err := parts(task, "echo", 1)
	if err != nil {
		return err
	}
	got, ok := found[0].Content.(a2a.Text)
	if !ok {
		return fmt.Errorf("the part is a %T, not a text", found[0].Content)
	}
	return wantText(string(got), text)
}

func wantText(got, wanted string) error {
	if got != wanted {
		return fmt.Errorf("%d bytes of text, not %d: %q", len(got), len(wanted), shorten(got))
	}
	return nil
}

func partsUnicode(ctx context.Context, p *peer) error {
	return p.echoed(ctx, "żółw 🐢 \u2028 \" \\ <&>")
}

func partsEmptyText(ctx context.Context, p *peer) error {
	return p.echoed(ctx, "")
}

func wantBig(task *a2a.Task) error {
	found, err := parts(task, "big", 1)
	if err != nil {
		return err
	}
	return wantText(found[0].Text(), strings.Repeat("x", bigLength))
}

func partsBigReply(ctx context.Context, p *peer) error {
	task, err := p.completed(ctx, say(fmt.Sprintf("big %d", bigLength)))
	if err != nil {
		return err
	}
	return wantBig(task)
}

func partsBigRequest(ctx context.Context, p *peer) error {
	return p.echoed(ctx, strings.Repeat("y", bigLength))
}

func partsBigStream(ctx context.Context, p *peer) error {
	f, err := ended(p.stream(ctx, say(fmt.Sprintf("big %d", bigLength))), a2a.TaskStateCompleted, nil)
	if err != nil {
		return err
	}
	return wantBig(f.task)
}

func messageUnary(ctx context.Context, p *peer) error {
	return p.message(ctx, say("message hi"), "hi")
}

func messageStream(ctx context.Context, p *peer) error {
	f, err := collect(p.stream(ctx, say("message hi")), nil)
	if err != nil {
		return err
	}
	if err := wantEqual("events", len(f.events), 1); err != nil {
		return err
	}
	return wantMessage(f.events[0], "hi")
}

func artifactsMany(ctx context.Context, p *peer) error {
	const count = 20
	task, err := p.completed(ctx, say(fmt.Sprintf("artifacts %d", count)))
	if err != nil {
		return err
	}
	if err := wantEqual("artifacts", len(task.Artifacts), count); err != nil {
		return err
	}
	for i, found := range task.Artifacts {
		if !isNamed(found, fmt.Sprintf("a%d", i)) {
			return fmt.Errorf("artifact %d is %q (%s)", i, found.Name, found.ID)
		}
		if err := wantEqual("text", joined(found.Parts), fmt.Sprintf("artifact %d", i)); err != nil {
			return err
		}
	}
	return nil
}

func artifactsAppends(ctx context.Context, p *peer) error {
	task, err := p.completed(ctx, say("appends"))
	if err != nil {
		return err
	}
	if err := wantEqual("artifacts", len(task.Artifacts), 2); err != nil {
		return err
	}
	for _, name := range []string{"a", "b"} {
		found, err := parts(task, name, 2)
		if err != nil {
			return err
		}
		if found[0].Text() != name+"1" || found[1].Text() != name+"2" {
			return fmt.Errorf("artifact %q has %q and %q", name, found[0].Text(), found[1].Text())
		}
	}
	return nil
}
