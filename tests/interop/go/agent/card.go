package main

import (
	"a2a-interop-go/internal/contract"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

const (
	jsonRPCPath = "/rpc"
	restPath    = "/rest"
)

// mediaTypes are what "echo" takes and gives back.
var mediaTypes = []string{"text/plain", "application/json", "application/octet-stream", "image/png"}

func publicCard(base, grpcAddress string) *a2a.AgentCard {
	return &a2a.AgentCard{
		Name:        "Go interop agent",
		Description: "Answers the verbs of the interop contract.",
		Version:     "1.0.0",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(base+jsonRPCPath, a2a.TransportProtocolJSONRPC),
			a2a.NewAgentInterface(base+restPath, a2a.TransportProtocolHTTPJSON),
			a2a.NewAgentInterface(grpcAddress, a2a.TransportProtocolGRPC),
		},
		Capabilities: a2a.AgentCapabilities{
			Streaming:         true,
			PushNotifications: true,
			ExtendedAgentCard: true,
			Extensions: []a2a.AgentExtension{
				{URI: contract.EchoExtension, Description: "Tells what the caller asked for."},
			},
		},
		DefaultInputModes:  mediaTypes,
		DefaultOutputModes: mediaTypes,
		Skills: []a2a.AgentSkill{
			{ID: "verbs", Name: "Verbs", Description: "Answers a verb and its argument.", Tags: []string{"interop"}},
		},
	}
}

func extendedCard(public *a2a.AgentCard) *a2a.AgentCard {
	extended := *public
	extended.Skills = append([]a2a.AgentSkill{}, public.Skills...)
	extended.Skills = append(extended.Skills, a2a.AgentSkill{
		ID:          contract.ExtendedSkill,
		Name:        "Extended",
		Description: "Shown to those who ask for the extended card.",
		Tags:        []string{"interop"},
	})
	return &extended
}
